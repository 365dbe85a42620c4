"""Find agents on PATH and get their versions.

Rule: an agent's program gets only PATH and an empty home, and is killed after 5 s.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from asbuilt.agents.roster import lacking
from asbuilt.cli.commands.doctor.facts import Agent, AgentsFacts
from asbuilt.policy.kinds import KINDS

_TIMEOUT_S: Final = 5
_HEARD: Final = 4_096
_VERSION: Final = re.compile(r"\d+\.\d+[0-9A-Za-z.+-]*")


def look_for_agents(environ: Mapping[str, str]) -> AgentsFacts:
    """Return the agents on PATH, and those that this version supports."""
    path = environ.get("PATH", os.defpath)
    looked_for = [kind for kind in KINDS.values() if kind.program]
    programs = {one.name: place for one in looked_for if (place := shutil.which(one.program, path=path))}
    return AgentsFacts(
        looked_for=tuple(kind.name for kind in looked_for),
        found=tuple(
            Agent(name=name, version=version_of(program, path)) for name, program in programs.items()
        ),
        driven=tuple(KINDS),
        lacking=tuple((kind.own, kind.program, kind.install) for kind in lacking(KINDS, path)),
    )


def version_of(program: str, path: str) -> str | None:
    """Return the version that a program prints; None if it prints none within 5 s."""
    # The output goes to a file: a surviving child process would hold a pipe open forever.
    with (
        tempfile.TemporaryDirectory(prefix="asbuilt-home-", ignore_cleanup_errors=True) as home,
        tempfile.TemporaryFile() as heard,
    ):
        try:
            process = subprocess.Popen(  # noqa: S603 - a program of the user's, by PATH
                [program, "--version"],
                cwd=home,
                env={"PATH": path, "HOME": home},
                stdin=subprocess.DEVNULL,
                stdout=heard,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            return None
        try:
            process.wait(_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        heard.seek(0)
        found = _VERSION.search(heard.read(_HEARD).decode("utf-8", "replace"))
    return found[0] if found and process.returncode == 0 else None
