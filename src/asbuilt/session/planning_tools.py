"""The user's `planning.tools` list as a flat file, because a hook reads no settings.

Rule: the list is valid only while the settings file is unchanged (same mtime, size and inode).
"""

from __future__ import annotations

import os

from asbuilt.session.conversation import put, state_home, text_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_NAME = "tools"


def listed(environ: Mapping[str, str]) -> frozenset[str]:
    """Read the listed names and patterns."""
    text = text_in(_folder(environ), _NAME)
    if text is None:
        return frozenset()
    made_of, stamp, *names = text.split("\n")
    return frozenset(filter(None, names)) if _stamp(made_of) == stamp else frozenset()


def keep_listed(environ: Mapping[str, str], names: Iterable[str], *, made_of: str) -> None:
    """Write the list, stamped with the settings file it was made of."""
    put(_folder(environ), _NAME, "\n".join([made_of, _stamp(made_of), *names]))


def _folder(environ: Mapping[str, str]) -> str:
    return f"{state_home(environ)}/conversations"


def _stamp(file: str) -> str:
    try:
        about = os.stat(file)
    except OSError:
        return "none"
    return f"{about.st_mtime_ns} {about.st_size} {about.st_ino}"
