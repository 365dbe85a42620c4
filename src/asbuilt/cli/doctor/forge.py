"""Look whether pull requests could be opened from here. Its one rule: it asks gh alone, for no token."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

from asbuilt.cli.doctor.facts import ForgeFacts
from asbuilt.cli.doctor.programs import version_of
from asbuilt.cli.doctor.repository import trouble_of
from asbuilt.errors import ForgeFailed, GitFailed, NotFound
from asbuilt.git.forge import open_forge
from asbuilt.git.gh import Gh
from asbuilt.git.repository import open_repository

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def look_at_forge(start: Path, environ: Mapping[str, str], *, wanted: bool) -> ForgeFacts | None:
    """Say where pull requests would be opened; None where there is nowhere, and nobody `wanted` to."""
    if shutil.which("git") is None:
        return None
    try:
        address = open_forge(open_repository(start), environ).address
    except (NotFound, GitFailed):
        return None
    except ForgeFailed as error:
        return ForgeFacts(wanted=wanted, trouble=trouble_of(error)) if wanted else None
    host = address.partition("/")[0]
    path = environ.get("PATH", os.defpath)
    program = shutil.which("gh", path=path)
    if program is None and not wanted:
        return None
    seen = ForgeFacts(wanted=wanted, host=host, version=version_of(program, path) if program else None)
    try:
        Gh(host=host, environment=environ).require_login()
    except ForgeFailed as error:
        return replace(seen, trouble=trouble_of(error))
    return seen
