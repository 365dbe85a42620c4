"""The tools that the user has listed in `planning.tools`, as a flat file: a hook reads no settings.

The one rule: a list counts only as long as the settings file is the very one that it was made of.
"""

from __future__ import annotations

import os

from asbuilt.session.conversation import put, state_home, text_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_NAME = "tools"


def listed(environ: Mapping[str, str]) -> frozenset[str]:
    """Read the names and patterns that are listed."""
    text = text_in(_folder(environ), _NAME)
    if text is None:
        return frozenset()
    made_of, stamp, *names = text.split("\n")
    return frozenset(filter(None, names)) if _stamp(made_of) == stamp else frozenset()


def keep_listed(environ: Mapping[str, str], names: Iterable[str], *, made_of: str) -> None:
    """Write them down as they stand in a settings file now."""
    put(_folder(environ), _NAME, "\n".join([made_of, _stamp(made_of), *names]))


def _folder(environ: Mapping[str, str]) -> str:
    return f"{state_home(environ)}/conversations"


def _stamp(file: str) -> str:
    try:
        about = os.stat(file)
    except OSError:
        return "none"
    return f"{about.st_mtime_ns} {about.st_size} {about.st_ino}"
