"""asbuilt's own commands that only read. Joined to another command they are refused.

Rule: commands that change a plan, a run, a mode or a setting are for people to type.
"""

from __future__ import annotations

from asbuilt.policy.shell.place import Refused
from asbuilt.policy.shell.programs.spec import Program
from asbuilt.policy.shell.programs.spec import look as look_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.policy.shell.lexer import Word
    from asbuilt.policy.shell.place import Place

_TELLS = Program("--json --plain --no-color -q -v --no-input --all -h --help", "texts", globs="none")
_ALONE = ("status", "why", "log", "report", "next")
_GROUPS = {
    "plan": ("show", "list", "check"),
    "mode": ("show",),
    "session": ("status", "list"),
    "gate": ("check",),
    "author": ("next", "status"),
}


def look(name: str, words: Sequence[Word], place: Place) -> None:
    """Judge one of asbuilt's own commands; raises Refused."""
    texts = [word.text for word in words]
    if texts in (["--version"], ["--help"], ["-h"]):
        return
    if texts[:1] and texts[0] in _ALONE:
        rest = words[1:]
    elif len(texts) > 1 and texts[1] in _GROUPS.get(texts[0], ()):
        rest = words[2:]
    else:
        raise Refused(
            f"asbuilt {' '.join(texts[:2])}".rstrip() + " is a person's to type while planning is held.",
            "asbuilt status, asbuilt why, asbuilt plan show SLUG",
        )
    look_at(name, _TELLS, rest, place)
