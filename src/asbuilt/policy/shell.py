"""Tell a plain command from one that needs a shell. Pure, and conservative: in doubt it is the shell's.

The one rule: an argv given here is exactly what the shell would have made of the text.
"""

from __future__ import annotations

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
    """Give the argv of a command: its words when it has no shell syntax, else the shell with the text."""
    words = _words(text)
    if not words or words[0] in _SHELL_WORDS or "=" in words[0]:
        # A text that begins with a dash would be read as more options of the shell itself.
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
