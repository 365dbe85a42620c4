"""Shell builtins, and programs that start another, which is judged as if it were alone.

Rule: bash and zsh evaluate a subscript or a number wherever they can, so neither is accepted there.
"""

from __future__ import annotations

from asbuilt.policy.shell.programs import find
from asbuilt.policy.shell.programs.spec import Program
from asbuilt.policy.shell.programs.spec import judge as judge_options
from asbuilt.policy.shell.working_folder import writes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.policy.shell.lexer import Word
    from asbuilt.policy.shell.working_folder import Place

_DIGITS = frozenset("0123456789")
_FIGURES = frozenset("0123456789abcdefABCDEFxX.+-")
# fmt: off
_UNARY = frozenset((
    "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-L", "-n", "-p", "-r", "-s", "-S", "-u", "-w", "-x",
    "-z",
))
# fmt: on
_OF_FILES = _UNARY - {"-n", "-z"}
_OF_TWO_FILES = frozenset(("-nt", "-ot", "-ef"))
_TEXTUAL = frozenset(("=", "==", "!=", "-nt", "-ot", "-ef"))
_NUMERIC = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_OPERATING = ("-", "=", "!", "&", "|")
_MISREAD = frozenset(("&&", "||", "/", "=", "=="))
"""Operands that shells read differently in a test."""
_NUMBER_FORMATS = frozenset("diouxXeEfFgGaA")
_NEVER_INNER = frozenset(("asbuilt", "cd", "command", "nice", "time", "timeout", "[["))
_NAMES = "texts plain: -a -t -p -P -s"
_ROWS = {
    **dict.fromkeys(("true", "false", ":"), "texts plain:"),
    **dict.fromkeys(("type", "which", "whereis"), _NAMES),
    "pwd": "none: -L -P --help",
    "sleep": "texts plain least=1:",
}


def judge(name: str, words: Sequence[Word], place: Place) -> None:
    """Judge one of these; raises Refused."""
    if name in _ROWS:
        judge_options(name, Program(_ROWS[name]), words, place)
    elif name == "printf":
        _printf(words)
    elif name in ("test", "[", "[["):
        _test(name, words, place)
    elif name == "command" and words and words[0].text in ("-v", "-V"):
        judge_options("command", Program(_NAMES), words[1:], place)
    elif name != "echo":
        _wrapped(name, [*words], place)


def _printf(words: Sequence[Word]) -> None:
    """Check a format: %n sets a variable, and zsh evaluates numbers, with subscripts and what they run."""
    rest = words[1:] if words and words[0].text == "--" else words
    if not rest or rest[0].text.startswith("-") or rest[0].pattern:
        raise writes("printf without a plain format may set a variable", "printf '%s\\n' TEXT")
    text, at = rest[0].text, 0
    while (at := text.find("%", at)) >= 0:
        at += 1
        while text[at : at + 1] and text[at] in "-+ #0'123456789.*hlLjzt":
            if text[at] == "*":
                raise writes("printf with * takes its width from a number", "printf '%s\\n' TEXT")
            at += 1
        letter = text[at : at + 1]
        at += 1
        if letter in _NUMBER_FORMATS:
            if any(word.pattern or not _FIGURES.issuperset(word.text) for word in rest[1:]):
                raise writes(f"printf %{letter} takes plain numbers only", "printf '%s\\n' TEXT")
        elif letter not in ("s", "b", "c", "q", "%"):
            raise writes(f"printf %{letter} is not one that only prints", "printf '%s\\n' TEXT")


def _test(name: str, words: Sequence[Word], place: Place) -> None:
    """Parse a test: [!] operand, [!] -f file, [!] one = other, joined by -a and -o, or by && and ||."""
    for at, word in enumerate(words):
        if word.text in _OF_FILES:
            place.named(*words[at + 1 : at + 2])
        elif word.text in _OF_TWO_FILES:
            place.named(*words[max(0, at - 1) : at + 2 : 2])
    # To some shells a quoted word is never an operator, so it is none here.
    texts = [word.text if word.bare or word.text[:1] not in _OPERATING else "\0" for word in words]
    if any(word.pattern for word in words):
        raise writes(f"{name} with a wildcard is not understood", f"{name} -e FILE")
    if name != "test":
        if texts[-1:] != ["]" if name == "[" else "]]"] or not words[-1].bare:
            raise writes(f"{name} is not closed")
        texts = texts[:-1]
    if not texts:
        raise writes(f"{name} tests nothing", "[ -f FILE ]")
    while texts:
        if texts[0] == "!":
            texts = texts[1:]
        if len(texts) >= 3 and texts[1] in _TEXTUAL | _NUMERIC:
            if texts[1] in _NUMERIC and not all(_is_whole(text) for text in (texts[0], texts[2])):
                raise writes(f"{texts[1]} works out what is not a plain number")
            taken, texts = frozenset((texts[0], texts[2])), texts[3:]
        elif len(texts) >= 2 and texts[0] in _UNARY:
            taken, texts = frozenset((texts[1],)), texts[2:]
        elif len(texts) == 1 and not texts[0].startswith("-"):
            taken, texts = frozenset((texts[0],)), []
        else:
            taken = _MISREAD
        if not _MISREAD.isdisjoint(taken) or (texts and not _joins(name, texts)):
            raise writes(f"this form of {name} is not understood", "[ -f FILE ]")
        texts = texts[1:]


def _joins(name: str, texts: Sequence[str]) -> bool:
    """Return whether another test follows; a shell without [[ would run the words after &&."""
    if name != "[[":
        return texts[0] in ("-a", "-o") and len(texts) > 1
    behind = [text for text in texts[1:3] if text != "!"]
    return texts[0] in ("&&", "||") and behind[:1] != [] and behind[0] in _UNARY


def _is_whole(text: str) -> bool:
    figures = text.removeprefix("-")
    return bool(figures) and _DIGITS.issuperset(figures)


def _wrapped(name: str, rest: list[Word], place: Place) -> None:
    if name == "timeout":
        _timed(rest)
    elif name == "nice" and rest[:1] and rest[0].text == "-n" and len(rest) > 1 and _is_whole(rest[1].text):
        del rest[:2]
    elif name == "time" and rest[:1] and rest[0].text == "-p":
        del rest[0]
    inner = rest[0] if rest else None
    judge_inner = find(inner.text) if inner is not None and inner.bare and not inner.pattern else None
    if inner is None or judge_inner is None or inner.text in _NEVER_INNER:
        raise writes(
            f"{name} starts {inner.text if inner else 'nothing'}, which is not on the list of what only reads"
        )
    judge_inner(inner.text, rest[1:], place)


def _timed(rest: list[Word]) -> None:
    while rest and rest[0].text in ("--foreground", "--preserve-status", "-v", "--verbose"):
        del rest[0]
    if rest and rest[0].text in ("-k", "-s") and len(rest) > 1 and rest[1].bare:
        del rest[:2]
    time = rest.pop(0).text if rest else ""
    if not _is_whole(time.rstrip("smhd").replace(".", "0")):
        raise writes("timeout needs its time first", "timeout 10 grep -rn PATTERN src")
