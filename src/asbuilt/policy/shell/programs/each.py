"""Commands that run for each of many files: by xargs, or by find -exec.

Rule: the list may contain any name, so the command must be harmless with any name. It may read contents only
if the list was not made to find secrets.
"""

from __future__ import annotations

from asbuilt.policy.shell.lexer import Word
from asbuilt.policy.shell.place import writes
from asbuilt.policy.shell.programs import find
from asbuilt.policy.shell.programs.spec import Program
from asbuilt.policy.shell.programs.spec import look as look_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.policy.shell.place import Place

_NAMERS = frozenset(("ls", "stat", "du", "basename", "dirname", "echo"))
"""Programs without a harmful option that show only names."""
_PLAIN_NAMERS = frozenset(("basename", "dirname", "echo"))
"""Programs that print names as given, and open nothing."""
_READERS = frozenset(("grep", "md5sum", "sha1sum", "sha256sum", "wc"))
"""Programs without a harmful option that do not print whole files."""
_LISTERS = frozenset(("fd", "fdfind", "find", "git", "grep", "ls", "rg"))
_UNSURE = frozenset(("-regex", "-iregex", "-samefile", "-inum", "-lname", "-ilname"))
"""Tests of find that can select a file without its name."""
_ALLOWED = "git ls-files '*.py' | xargs grep -n PATTERN"
_XARGS = Program(
    "-0 -r -t -n=N -L=N -P=N -s=N -x -d=T --null --no-run-if-empty --max-args=N --max-procs=N --delimiter=T",
    "texts",
    globs="none",
    least=1,
    ordered=True,
    late=True,
)


def look(name: str, words: Sequence[Word], place: Place) -> None:
    """Judge xargs; raises Refused."""
    given = look_at(name, _XARGS, words, place)
    feeding = [word.text for word in place.fed]
    if feeding[:1] == [] or feeding[0] not in _LISTERS:
        raise writes("the names that xargs is given are not certain", _ALLOWED)
    is_list = feeding[:1] == ["find"] or feeding[:2] == ["git", "ls-files"]
    look_at_each(given.operands, place.fed[1:] if is_list else None, place)


def look_at_each(inner: Sequence[Word], found_by: Sequence[Word] | None, place: Place) -> None:
    """Judge a command that gets more names; `found_by` are the words that find them, None if unknown."""
    name = inner[0].text if inner else ""
    look_inside = find(name) if inner and inner[0].bare else None
    if look_inside is None or name not in _NAMERS | _READERS:
        raise writes(f"{name or 'nothing'} may do harm with a file name that it is given", _ALLOWED)
    if name in _READERS:
        if found_by is None:
            raise writes(f"what {name} reads then is not certain", _ALLOWED)
        _aims_at_none(found_by, place)
    if name not in _PLAIN_NAMERS:
        _leads_nowhere(found_by or (), place)
    look_inside(name, [*inner[1:], Word("x")], place)


def _aims_at_none(words: Sequence[Word], place: Place) -> None:
    for word in words:
        if word.text in _UNSURE:
            raise writes(f"which files {word.text} finds is not certain", _ALLOWED)
        if not word.text.startswith("-"):
            place.filtered(word.text)
            place.content(word)
            place.tree(word)


def _leads_nowhere(words: Sequence[Word], place: Place) -> None:
    """Check links among the names that are found: the command opens their targets."""
    texts = [word.text for word in words]
    only_files = "-type" in texts and texts[texts.index("-type") + 1 :][:1] == ["f"]
    if only_files and not {"-L", "-follow", "-o", "-or", "!", "-not"} & {*texts}:
        return
    first = next((at for at, text in enumerate(texts) if text[:1] in ("-", "(", "!")), len(texts))
    starts = words[:first] if texts[:1] != ["ls-files"] else ()
    for word in starts or [Word(".")]:
        place.followed(word, "find . -type f … | xargs …, git grep -n PATTERN")
