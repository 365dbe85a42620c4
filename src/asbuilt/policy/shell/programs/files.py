"""Further rules for programs of the table: what a combination of options reads, follows or never ends.

Recursive searches stay out of folders that hold secrets.
"""

from __future__ import annotations

from asbuilt.policy.shell.lexer import Word
from asbuilt.policy.shell.programs.spec import follow_all, read_all
from asbuilt.policy.shell.working_folder import writes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.policy.shell.programs.spec import Given
    from asbuilt.policy.shell.working_folder import Place


def tail(given: Given, _: Place) -> None:
    """Judge tail: `+5` is a line number to it, and no file."""
    if given.has("-f", "-F", "--follow", "--retry"):
        raise writes("tail -f never ends", "tail -n 50 FILE")
    given.operands = [word for word in given.operands if not word.text.removeprefix("+").isdigit()]


def diff(given: Given, place: Place) -> None:
    """Judge diff: even without -r it compares the contents of two folders, and with -N those of one."""
    for word in [*given.operands, *map(Word, given.values("--from-file", "--to-file"))]:
        place.tree(word)
        if not given.has("--no-dereference"):
            place.followed(word, "the same with --no-dereference")


def iconv(given: Given, _: Place) -> None:
    """Judge iconv."""
    if not given.has("-f", "-t", "-l", "--from-code", "--to-code", "--list"):
        raise writes("iconv needs -f or -t to be understood")


def bat(given: Given, _: Place) -> None:
    """Judge bat, which may start a pager."""
    if any(value not in ("never", "auto") for value in given.values("--paging")):
        raise writes("bat would start a pager", "bat --paging=never FILE")


def no_lists(given: Given, _: Place) -> None:
    """Judge a program that reads more options from a file named with @."""
    texts = (*(word.text for word in given.operands), *(value for _, value in given.options))
    if any(text.startswith("@") for text in texts):
        raise writes(f"{given.name} takes more options from a file named with @")


def date(given: Given, _: Place) -> None:
    """Judge date."""
    if any(not word.text.startswith("+") for word in given.operands):
        raise writes("date with a number sets the clock", "date -u +%F")


def fd(given: Given, place: Place) -> None:
    """Judge fd: a pattern, then folders."""
    for word in given.operands[1:]:
        place.listing(word)
    if given.has("-L", "--follow"):
        named = [*given.operands[1:], *map(Word, given.values("--search-path", "--base-directory"))]
        follow_all(named, place, "the same without -L")


def ls(given: Given, place: Place) -> None:
    """Judge ls: with -d it shows the names that the shell has inserted, and nothing that is in them."""
    if given.has("-L", "--dereference"):
        follow_all(given.operands, place, "the same without -L")
    if given.has("-d", "--directory"):
        given.operands = [word for word in given.operands if not word.pattern]


def tree(given: Given, place: Place) -> None:
    """Judge tree."""
    if given.has("-l"):
        follow_all(given.operands, place, "the same without -l")


def du(given: Given, place: Place) -> None:
    """Judge du: a link that is named without a slash is counted as a link."""
    if given.has("-L", "--dereference"):
        follow_all(given.operands, place, "the same without -L")
    elif not given.has("-D", "-H", "--dereference-args"):
        given.operands = [word for word in given.operands if not word.pattern or word.text.endswith("/")]


def grep(given: Given, place: Place) -> None:
    """Judge grep."""
    files = _files(given, "-e", "--regexp", "-f", "--file")
    read_all(files, place)
    for pattern in given.values("--exclude"):
        place.left_out(pattern)
    recursive = given.has("-r", "-R", "--recursive", "--dereference-recursive")
    if recursive or "recurse" in given.values("-d", "--directories"):
        _through(files, place)
    if given.has("-R", "--dereference-recursive"):
        follow_all(files, place, "the same with -r instead of -R")


def rg(given: Given, place: Place) -> None:
    """Judge ripgrep."""
    for kind in given.values("--type-add"):
        place.filtered(kind.partition(":")[2])
    lists = given.has("--files", "--type-list")
    files = given.operands if lists else _files(given, "-e", "--regexp", "-f", "--file")
    if given.has("-L", "--follow"):
        follow_all(files, place, f"the same without {'-L' if given.has('-L') else '--follow'}")
    if given.has("--files"):
        for word in files:
            place.listing(word)
        return
    read_all(files, place)
    _through(files, place)
    if not {*given.values("--engine")} <= {"default", "pcre2", "auto"}:
        raise writes("rg --engine is default, pcre2 or auto")


def ag(given: Given, place: Place) -> None:
    """Judge the silver searcher."""
    files = _files(given)
    read_all(files, place)
    _through(files, place)


def _files(given: Given, *patterns: str) -> Sequence[Word]:
    """Return the operands that are files: all but the first, unless an option holds the pattern.

    A first operand with a wildcard counts too, because the shell may replace it with file names.
    """
    if given.has(*patterns):
        return given.operands
    if not given.operands:
        raise writes(f"{given.name} lacks what it is to look for", f"{given.name} 'PATTERN' FILE")
    return [*(word for word in given.operands[:1] if word.pattern), *given.operands[1:]]


def _through(files: Sequence[Word], place: Place) -> None:
    for word in files or [Word(".")]:
        if word.text != "-":
            place.tree(word)
