"""Judge a command line in plan mode, and separate plain commands from those that need a shell. Pure.

Rule: in doubt the stricter answer wins: refused, or left to the shell. An argv from here is exactly what the
shell would have made of the text.
"""

from __future__ import annotations

from asbuilt.policy.shell.lexer import Unreadable, commands
from asbuilt.policy.shell.programs import find
from asbuilt.policy.shell.working_folder import Place, Refused, writes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from asbuilt.policy.shell.lexer import Command

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=+@%")
_BLANK = frozenset(" \t")
_LIVE_IN_DOUBLE_QUOTES = frozenset('$`\\"!')
# Words that are no program, or mean something else to the shell than the program of that name.
# fmt: off
_SHELL_WORDS = frozenset((
    ".", ":", "alias", "bg", "break", "case", "cd", "command", "continue", "declare", "do", "done",
    "elif", "else", "esac", "eval", "exec", "exit", "export", "fc", "fg", "fi", "for", "function",
    "getopts", "hash", "if", "jobs", "let", "local", "read", "readonly", "return", "select", "set",
    "shift", "source", "then", "time", "times", "trap", "type", "typeset", "ulimit", "umask",
    "unalias", "unset", "until", "wait", "while",
))
# fmt: on


def argv_of(text: str) -> tuple[str, ...]:
    """Return the argv of a command: its words if it has no shell syntax, else the shell with the text."""
    words = _words(text)
    if not words or words[0] in _SHELL_WORDS or "=" in words[0]:
        # A text that starts with a dash would be parsed as options of the shell itself.
        return ("/bin/sh", "-c", f" {text}" if text[:1] in ("-", "+") else text)
    return tuple(words)


def _words(text: str) -> list[str] | None:
    words: list[str] = []
    word: str | None = None
    at = 0
    while at < len(text):
        character = text[at]
        if character in _BLANK:
            words += [] if word is None else [word]
            word = None
        elif character in "'\"":
            end = text.find(character, at + 1)
            inside = text[at + 1 : end]
            if end < 0 or (character == '"' and not _LIVE_IN_DOUBLE_QUOTES.isdisjoint(inside)):
                return None
            word = (word or "") + inside
            at = end
        elif character in _PLAIN:
            word = (word or "") + character
        else:
            return None
        at += 1
    return [*words, *([] if word is None else [word])]


def verdict(  # noqa: PLR0913  what a command line is judged by
    text: str,
    *,
    cwd: str,
    home: str,
    root: str = "",
    resolve: Callable[[str], str] | None = None,
    exists: Callable[[str], bool] | None = None,
    names: Callable[[str], Sequence[str]] | None = None,
    opened: Sequence[str] = (),
) -> str | None:
    """Return why a command line may not run in plan mode, or None if it may.

    `root` is the conversation's repository, `opened` lists other readable paths of a home. `resolve` returns
    the real path of a path, `exists` whether it exists, `names` the names in a folder, links first. Without
    them links are not seen, wildcards are judged by their text alone, and a repository inside the repository
    only by its name.
    """
    if not cwd.startswith("/"):
        return "It is not known where this command would run."
    place = Place(cwd=cwd, home=home, root=root, resolve=resolve, exists=exists, names=names, opened=opened)
    try:
        _judge(commands(text, home=place.home), place)
    except Unreadable as refused:
        return f"plan mode is read-only and this command cannot be read for certain: {refused}."
    except Refused as refused:
        return f"{refused.why} Allowed: {refused.allowed}" if refused.allowed else refused.why
    return None


def _judge(line: Sequence[Command], place: Place) -> None:
    lost: list[str] = []
    """Folders in which the shell is if an earlier cd failed."""
    either = False
    for at, command in enumerate(line):
        if command.joined in (";", "||"):
            place.folders = list(dict.fromkeys([*place.folders, *lost]))
            lost = []
            either = command.joined == "||"
        place.fed = line[at - 1].words if command.joined == "|" and not command.inputs else []
        for source in command.inputs:
            place.content(source)
        name = command.words[0]
        if name.text == "cd":
            before = place.folders
            piped = command.joined == "|" or (at + 1 < len(line) and line[at + 1].joined == "|")
            _go(command, place, alone=not either and not piped)
            lost += before
        else:
            _program(command, place, alone=len(line) == 1)


def _go(command: Command, place: Place, *, alone: bool) -> None:
    words = command.words[1:]
    if len(words) == 2 and words[0].text in ("--", "-P", "-L"):
        words = words[1:]
    if len(words) != 1 or words[0].pattern or words[0].text.startswith("-") or not command.words[0].bare:
        raise Refused("Where this cd leads is not certain.", "cd src && ls")
    place.inside(words[0].text, alone=alone)


def _program(command: Command, place: Place, *, alone: bool) -> None:
    word = command.words[0]
    if not word.bare or word.pattern:
        raise writes(f"{word.text} is not the plain name of a program")
    if "=" in word.text:
        raise writes("an assignment before or instead of a program changes what runs")
    if word.text.endswith("asbuilt") and not alone:
        raise Refused("asbuilt's own commands stand alone.", "the same command without the others")
    judge = find(word.text)
    if judge is None:
        refused = __import__("asbuilt.policy.shell.programs.refused", fromlist=["said_of"])
        why, allowed = refused.said_of(word.text)
        raise writes(why, allowed)
    for given in command.words[1:]:
        if given.pattern:
            place.expanded(given)
    judge(word.text, command.words[1:], place)
