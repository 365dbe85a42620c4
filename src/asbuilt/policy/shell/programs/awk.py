"""Parse awk programs: patterns, printing, counting. Code that runs, writes or reads elsewhere is refused.

Rule: every token is known, and a `>` is accepted only where it cannot redirect.
"""

from __future__ import annotations

from asbuilt.policy.shell.programs.spec import read_all
from asbuilt.policy.shell.working_folder import writes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asbuilt.policy.shell.programs.spec import Given
    from asbuilt.policy.shell.working_folder import Place

# fmt: off
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_NAMED = _LETTERS | frozenset("0123456789")
_FUNCTIONS = frozenset((
    "length", "substr", "index", "split", "sub", "gsub", "gensub", "match", "tolower", "toupper", "sprintf",
    "int", "sqrt", "exp", "log", "sin", "cos", "atan2", "rand", "srand", "strftime", "systime", "mktime",
    "asort", "asorti", "strtonum",
))
_WORDS = frozenset((
    "BEGIN", "END", "print", "printf", "if", "else", "for", "while", "do", "in", "next", "exit", "break",
    "continue", "delete",
))
_REFUSED = frozenset((
    "system", "getline", "close", "fflush", "function", "func", "return", "nextfile", "switch", "case",
    "default", "ENVIRON", "PROCINFO", "ARGV", "ARGC", "SYMTAB", "FUNCTAB", "BEGINFILE", "ENDFILE",
    "extension",
    "include", "load", "namespace", "eval",
))
_SIGNS = (
    "&&", "||", "==", "!=", "<=", ">=", "!~", "++", "--", "+=", "-=", "*=", "%=",
    "{", "}", "(", ")", "[", "]", ";", ",", "?", ":", "$", "!", "~", "=", "<", ">", "+", "-", "*", "%", "^",
)
# fmt: on


def program(given: Given, place: Place) -> None:
    """Check awk's program, variables and files."""
    if not given.operands:
        raise writes("awk lacks its program", "awk '{print $1}' FILE")
    for value in given.values("-v"):
        name, equals, _ = value.partition("=")
        if not equals or not _NAMED.issuperset(name) or name in _REFUSED:
            raise writes(f"-v {value} of awk is not a plain variable")
    first = given.operands[0]
    if first.pattern or not _Program(first.text).is_harmless():
        raise writes(
            f"the awk program {first.text!r} is not one that only prints",
            "awk '{print $1}' FILE, awk 'NR>=10 && NR<=20' FILE",
        )
    if any(word.text.startswith("/inet") for word in given.operands):
        raise writes("awk takes a file below /inet for a connection")
    read_all([word for word in given.operands[1:] if not _assigns(word.text)], place)


def _assigns(text: str) -> bool:
    name, equals, _ = text.partition("=")
    return bool(equals) and bool(name) and _NAMED.issuperset(name)


class _Program:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._before = ""
        """Kind of the last token: empty, `value`, `word`, `close`, or the operator itself."""
        self._round = 0
        self._curly = 0

    def is_harmless(self) -> bool:
        # Refused even in what looks like a string or a pattern: a mistake about these would cost too much.
        lower = self._text.lower()
        if not self._text.strip() or any(
            word in lower for word in ("system", "getline", "environ", "procinfo")
        ):
            return False
        while self._at < len(self._text):
            if not self._token():
                return False
        return self._round == 0 and self._curly == 0

    def _token(self) -> bool:
        character = self._text[self._at]
        if character in " \t":
            self._at += 1
            return True
        if character == "\n":
            self._at += 1
            self._before = ""
            return self._round == 0
        if character == "#":
            end = self._text.find("\n", self._at)
            self._at = len(self._text) if end < 0 else end
            return True
        if character == '"':
            return self._quoted('"')
        if character == "/":
            return self._slash()
        if character in _LETTERS:
            return self._name()
        if character.isascii() and (character.isdigit() or character == "."):
            return self._number()
        return self._sign()

    def _quoted(self, end: str) -> bool:
        at = self._at + 1
        while at < len(self._text) and self._text[at] != end:
            if self._text[at] == "\n" or (end == "/" and self._text[at] == "["):
                bracket = self._text.find("]", at + 2) if self._text[at] == "[" else -1
                # Awks differ about a slash in brackets.
                if bracket < 0 or not frozenset("/\\\n").isdisjoint(self._text[at:bracket]):
                    return False
                at = bracket
            at += 2 if self._text[at] == "\\" else 1
        self._at = at + 1
        self._before = "value"
        return at < len(self._text)

    def _slash(self) -> bool:
        """Parse a slash as a pattern or a division, by the token before it; refuse it where awks differ."""
        if self._before in ("value", "]"):
            self._at += 1
            if self._text[self._at : self._at + 1] == "=":
                return False
            self._before = "/"
            return True
        if self._before in ("close", "++", "--", "$"):
            return False
        return self._quoted("/")

    def _name(self) -> bool:
        start = self._at
        while self._at < len(self._text) and self._text[self._at] in _NAMED:
            self._at += 1
        name = self._text[start : self._at]
        follows = self._text[self._at : self._at + 1]
        # In parentheses a `>` compares, unless it follows a print: there it redirects.
        if name in _REFUSED or (name in ("print", "printf") and self._round):
            return False
        if name in _WORDS:
            self._before = "word"
            return True
        if follows == "(" and name not in _FUNCTIONS:
            return False
        # Awks differ about a slash after a function without parentheses.
        self._before = "close" if name in _FUNCTIONS else "value"
        return True

    def _number(self) -> bool:
        start = self._at
        while self._at < len(self._text) and self._text[self._at] in "0123456789.":
            self._at += 1
        self._before = "value"
        # Awks differ about 1e5 and 0x1f.
        return self._text[self._at : self._at + 1] not in _LETTERS and self._text[start : self._at] != "."

    def _sign(self) -> bool:
        for sign in _SIGNS:
            if not self._text.startswith(sign, self._at):
                continue
            self._at += len(sign)
            self._round += (sign == "(") - (sign == ")")
            self._curly += (sign == "{") - (sign == "}")
            if self._round < 0 or self._curly < 0 or (sign in ("{", "}", ";") and self._is_broken(sign)):
                return False
            if sign == ">" and (self._text.startswith(">", self._at) or not (self._round or not self._curly)):
                return False
            self._before = {")": "close", "}": "", "]": "]"}.get(sign, sign)
            return True
        return False

    def _is_broken(self, sign: str) -> bool:
        """Return whether a brace is in parentheses; a semicolon may be, in the head of a for."""
        return self._round > 0 and sign != ";"
