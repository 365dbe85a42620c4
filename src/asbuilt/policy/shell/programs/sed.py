"""Parse sed scripts: addresses, printing, deleting, replacing. What names a file or runs is refused.

Rule: a script is read to its last character, and a form that two seds may read differently is refused.
"""

from __future__ import annotations

from asbuilt.policy.shell.programs.spec import Program, read_all, unquoted
from asbuilt.policy.shell.programs.spec import judge as judge_options
from asbuilt.policy.shell.working_folder import writes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.policy.shell.lexer import Word
    from asbuilt.policy.shell.programs.spec import Given
    from asbuilt.policy.shell.working_folder import Place

_DIGITS = "0123456789"
_PLAIN = "pPdDgGhHxnNFz=lqQ"
_NUMBERED = "lqQ"
_FLAGS = "gpiImM0123456789"
_ENDS = ";\n}"


def judge(name: str, words: Sequence[Word], place: Place) -> None:
    """Judge sed; raises Refused."""
    if len(words) == 1 and words[0].text in ("--version", "--help"):
        return
    edited = next((word.text for word in words if word.text.startswith(("-i", "--in-place", "-I"))), "")
    if edited:
        file = words[-1].text if len(words) > 1 else "its file"
        raise writes(f"{name} {edited} rewrites {file}", f"sed -n '1,80p' {file}")
    judge_options(name, _SED, words, place)


def _judged(given: Given, place: Place) -> None:
    scripts = given.values("-e", "--expression")
    files = given.operands
    if not scripts:
        if not files:
            raise writes("sed lacks its script", "sed -n '1,80p' FILE")
        if files[0].pattern:
            raise unquoted(files[0], "sed ")
        scripts, files = [files[0].text], files[1:]
    for script in scripts:
        if not _Script(script).is_harmless():
            raise writes(
                f"the sed script {script!r} is not one that only prints",
                "sed -n '1,80p' FILE, sed 's/a/b/' FILE",
            )
    read_all(files, place)


_SED = Program(
    "texts: -n -e=T -E -r -s -u -z -l=N --quiet --silent --expression=T --regexp-extended --separate"
    " --unbuffered --null-data --posix --sandbox --line-length=N --debug",
    _judged,
)


class _Script:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def is_harmless(self) -> bool:
        depth = 0
        while True:
            self._skip(" \t;\n")
            if not self._peek():
                return depth == 0 and bool(self._text.strip())
            if self._takes("}"):
                depth -= 1
                if depth < 0 or not self._ends():
                    return False
            elif not self._addresses():
                return False
            elif self._takes("{"):
                depth += 1
            elif not self._command():
                return False

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _takes(self, characters: str) -> bool:
        """Consume one of these characters, if it is next."""
        found = bool(self._peek()) and self._peek() in characters
        self._at += found
        return found

    def _skip(self, characters: str) -> bool:
        """Consume all of these characters that are next; return whether there was one."""
        start = self._at
        while self._takes(characters):
            pass
        return self._at > start

    def _ends(self) -> bool:
        """Return whether a command ends here, after blanks."""
        self._skip(" \t")
        return not self._peek() or self._peek() in _ENDS

    def _addresses(self) -> bool:
        """Consume none, one or two addresses and a negation."""
        if self._address():
            self._skip(" \t")
            if self._takes(","):
                self._skip(" \t")
                if not (self._skip(_DIGITS) if self._takes("+~") else self._address()):
                    return False
            self._skip(" \t")
        if self._takes("!"):
            self._skip(" \t")
        return True

    def _address(self) -> bool:
        if self._skip(_DIGITS):
            return not self._takes("~") or self._skip(_DIGITS)
        if self._takes("/"):
            found = self._until("/")
            if found:
                self._skip("IM")
            return found
        return self._takes("$")

    def _until(self, end: str, *, regex: bool = True) -> bool:
        """Read up to a delimiter that is not escaped; one in brackets is refused, because seds differ."""
        inside = False
        while (character := self._peek()) and character != "\n":
            self._at += 1
            if character == "\\":
                if not self._peek() or self._takes("\n"):
                    return False
                self._at += 1
            elif character == end:
                return not inside
            elif regex and character == "[" and not inside:
                inside = True
                self._takes("^")
                self._takes("]")
            elif inside and character == "[" and self._peek() and self._peek() in ":.=":
                closing = self._text.find(f"{self._peek()}]", self._at + 1)
                if closing < 0:
                    return False
                self._at = closing + 2
            elif inside and character == "]":
                inside = False
        return False

    def _command(self) -> bool:
        letter = self._peek()
        self._at += 1
        if letter in ("s", "y"):
            # A delimiter that every sed reads alike.
            end = self._peek()
            if not self._takes("/|#,:@!%_+~=") or not self._until(end, regex=letter == "s"):
                return False
            if not self._until(end, regex=False):
                return False
            if letter == "s":
                self._skip(_FLAGS)
            return self._ends()
        if letter in ("a", "i", "c"):
            return self._text_follows()
        if not letter or letter not in _PLAIN:
            return False
        if letter in _NUMBERED:
            self._skip(" ")
            self._skip(_DIGITS)
        return self._ends()

    def _text_follows(self) -> bool:
        """Consume the rest of the line as a text to print; seds differ about a backslash in it."""
        end = self._text.find("\n", self._at)
        text = self._text[self._at : end if end >= 0 else len(self._text)]
        self._at += len(text)
        return bool(text.strip()) and "\\" not in text
