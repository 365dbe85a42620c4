"""find and xargs, and the command that each of them runs for every file.

Rule: a find expression is read word by word. The list of files may contain any name, so the command must be
harmless with any name, and it may read contents only if the list was not made to find secrets.
"""

from __future__ import annotations

from asbuilt.policy.shell.lexer import Word
from asbuilt.policy.shell.programs import find
from asbuilt.policy.shell.programs.spec import Program, follow_all, unquoted
from asbuilt.policy.shell.programs.spec import judge as judge_options
from asbuilt.policy.shell.working_folder import writes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.policy.shell.working_folder import Place

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
    "texts plain least=1 ordered late: -0 -r -t -n=N -L=N -P=N -s=N -x -d=T --null --no-run-if-empty"
    " --max-args=N --max-procs=N --delimiter=T"
)
# fmt: off
_FIND_ALONE = frozenset((
    "-empty", "-executable", "-readable", "-writable", "-nouser", "-nogroup", "-true", "-false", "-print",
    "-print0", "-prune", "-quit", "-ls", "-depth", "-d", "-daystart", "-mount", "-xdev", "-x", "-noleaf",
    "-ignore_readdir_race", "-noignore_readdir_race", "-not", "-o", "-or", "-a", "-and", "-follow", "-warn",
    "-nowarn", "-E", "(", ")", "!", ",",
))
_FIND_VALUED = frozenset((
    "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-lname",
    "-ilname",
    "-type", "-xtype", "-size", "-mtime", "-atime", "-ctime", "-mmin", "-amin", "-cmin", "-newer", "-anewer",
    "-cnewer", "-samefile", "-inum", "-links", "-uid", "-gid", "-user", "-group", "-perm", "-maxdepth",
    "-mindepth", "-regextype", "-used", "-fstype", "-printf", "-context",
))
# fmt: on
_NEWER = frozenset("aBcm")


def judge(name: str, words: Sequence[Word], place: Place) -> None:
    """Judge find or xargs; raises Refused."""
    if name == "find":
        _find(words, place)
        return
    given = judge_options(name, _XARGS, words, place)
    feeding = [word.text for word in place.fed]
    if feeding[:1] == [] or feeding[0] not in _LISTERS:
        raise writes("the names that xargs is given are not certain", _ALLOWED)
    is_list = feeding[:1] == ["find"] or feeding[:2] == ["git", "ls-files"]
    _judge_each(given.operands, place.fed[1:] if is_list else None, place)


def _judge_each(inner: Sequence[Word], found_by: Sequence[Word] | None, place: Place) -> None:
    """Judge a command that gets more names; `found_by` are the words that find them, None if unknown."""
    name = inner[0].text if inner else ""
    judge_inner = find(name) if inner and inner[0].bare else None
    if judge_inner is None or name not in _NAMERS | _READERS:
        raise writes(f"{name or 'nothing'} may do harm with a file name that it is given", _ALLOWED)
    if name in _READERS:
        if found_by is None:
            raise writes(f"what {name} reads then is not certain", _ALLOWED)
        _aims_at_none(found_by, place)
    if name not in _PLAIN_NAMERS:
        _leads_nowhere(found_by or (), place)
    judge_inner(name, [*inner[1:], Word("x")], place)


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
    follow_all(starts, place, "find . -type f … | xargs …, git grep -n PATTERN")


def _executed(words: Sequence[Word], rest: list[Word], place: Place) -> list[Word]:
    """Judge the command of -exec, and return the words after it."""
    end = next((at for at, word in enumerate(rest) if word.text in (";", "+")), 0)
    if rest[end - 1 : end] == [] or rest[end - 1].text != "{}":
        raise writes("find -exec is understood only with {} last", "find . -name '*.py' -exec wc -l {} +")
    _judge_each(rest[: end - 1], words, place)
    return rest[end + 1 :]


def _find(words: Sequence[Word], place: Place) -> None:
    rest = [*words]
    starts = []
    while rest and rest[0].text in ("-H", "-L", "-P", "-E", "-x", "-s"):
        del rest[0]
    if rest and rest[0].text in ("--help", "--version", "-version", "-help"):
        return
    while rest and rest[0].text[:1] not in ("-", "(", "!", ","):
        word = rest.pop(0)
        if word.leads:
            raise writes(
                f"{word.text} may stand for a file whose name is an action of find", f"find ./{word.text}"
            )
        place.listing(word)
        starts.append(word)
    for word in words:
        if word.text in ("-L", "-follow"):
            follow_all(starts, place, f"the same without {word.text}")
    while rest:
        word = rest.pop(0)
        if word.pattern:
            raise unquoted(word, "find … ")
        if word.text in _FIND_ALONE:
            continue
        if word.text == "-exec":
            rest = _executed(words, rest, place)
            continue
        valued = word.text in _FIND_VALUED or (
            len(word.text) == 8
            and word.text.startswith("-newer")
            and word.text[6] in _NEWER
            and word.text[7] in (*_NEWER, "t")
        )
        if not valued:
            raise writes(
                f"find {word.text} is not on the list of what only finds", "find . -name '*.py' -print"
            )
        if not rest:
            raise writes(f"{word.text} of find lacks its value")
        value = rest.pop(0)
        if value.pattern:
            raise unquoted(value, f"find … {word.text} ")
