"""Parse a command line as bash, dash and zsh all do, or raise why it cannot be parsed. Pure.

Rule: a text that is not understood to the last character is refused; nothing is skipped or guessed.
"""

from __future__ import annotations

LONGEST = 4_000
MOST_COMMANDS = 40

# fmt: off
_BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=+@%^!]")
_NAMED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")
_WILD = frozenset("*?[")
_QUOTES = frozenset("'\"")
_ENDS = frozenset(" \t\n;|&<>")
# A dollar sign before one of these is literal in every shell.
_AFTER_INERT_DOLLAR = frozenset('"|)/.,;&]')
_OF_TESTS = frozenset(("[", "[[", "=="))
_ESCAPED = frozenset("()!;*?[]{}$\"'\\&|<>#~`")
_ESCAPED_IN_QUOTES = frozenset('$`"\\')
_INVISIBLE = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    "\ufe00\ufe01\ufe02\ufe03\ufe04\ufe05\ufe06\ufe07\ufe08\ufe09\ufe0a\ufe0b\ufe0c\ufe0d\ufe0e\ufe0f"
)
_LIVE = {
    "$": "$ stands for something that only the shell knows; write the value out, or quote it with '…'",
    "`": "a backtick runs another command; write its result out, or quote it with '…'",
    "(": "( starts a subshell; write the commands one after another, or quote it with '…' or \\(",
    ")": "a ) stands alone; quote it with '…' or \\)",
    "{": "{ expands to other words; write them out, or quote it with '…'",
    "}": "a } stands alone; quote it with '…'",
    "~": "~ is understood only as ~/PATH; write the path out",
    "\r": "a carriage return stands in it; take it out",
}
# fmt: on


class Unreadable(Exception):
    """A command line that the lexer does not understand to the last character, and why."""


class Word:
    """One word as the program gets it, and the part that the shell may still replace with file names."""

    __slots__ = ("bare", "leads", "pattern", "text")

    def __init__(self, text: str, *, bare: bool = True, pattern: str = "", leads: bool = False) -> None:
        self.text = text
        self.bare = bare
        """No part of it was quoted, escaped or expanded."""
        self.pattern = pattern
        """The word as a file name pattern; empty: the shell replaces nothing in it."""
        self.leads = leads
        """It starts with a wildcard, so it may become a word that looks like an option."""


class Command:
    """One simple command: its words, its input files, and the operator before it."""

    __slots__ = ("inputs", "joined", "negated", "words")

    def __init__(self, joined: str) -> None:
        self.joined = joined
        """Empty for the first, else `&&`, `||`, `;` or `|`."""
        self.words: list[Word] = []
        self.inputs: list[Word] = []
        self.negated = False


def commands(text: str, *, home: str) -> list[Command]:
    """Parse the whole text; raises Unreadable."""
    if len(text) > LONGEST:
        raise Unreadable(f"it has more than {LONGEST} characters; split it")
    for character in text:
        if (not character.isprintable() and character not in "\n\t") or character in _INVISIBLE:
            raise Unreadable(f"U+{ord(character):04X} is in it, which is invisible; remove it")
    return _Reader(text, home).all()


def _is_open(words: list[Word]) -> bool:
    return bool(words) and words[0].text in ("[", "[[") and words[-1].text not in ("]", "]]")


def _is_out_of_place(sign: str, before: list[Word]) -> bool:
    """Return whether an operator of tests is used elsewhere, where shells differ."""
    in_test = bool(before) and before[0].text in ("[", "[[", "test")
    return not in_test if sign == "==" else bool(before)


class _Reader:
    def __init__(self, text: str, home: str) -> None:
        self._text = text
        self._home = home
        self._at = 0

    def all(self) -> list[Command]:
        found: list[Command] = []
        joined = ""
        while True:
            self._blanks(lines=joined != ";" or not found)
            command = self._command(joined)
            empty = not (command.words or command.inputs or command.negated)
            sign = self._sign()
            if empty:
                if joined not in ("", ";") or sign not in ("", "\n") or (sign and not found):
                    raise Unreadable("a command is missing before or behind a sign")
            else:
                found.append(command)
                if len(found) > MOST_COMMANDS:
                    raise Unreadable(f"it has more than {MOST_COMMANDS} commands; split it")
            if not sign:
                break
            joined = ";" if sign == "\n" else sign
        if not found:
            raise Unreadable("it holds no command")
        return found

    def _peek(self, length: int = 1) -> str:
        return self._text[self._at : self._at + length]

    def _blanks(self, *, lines: bool = False) -> None:
        while True:
            if (character := self._peek()) and character in (" \t\n" if lines else " \t"):
                self._at += 1
            elif self._peek(2) == "\\\n" and self._text[self._at + 2 :].strip():
                self._at += 2
            elif character == "#":
                end = self._text.find("\n", self._at)
                self._at = len(self._text) if end < 0 else end
            else:
                return

    def _sign(self) -> str:
        """Consume the operator that ends a command; empty at the end of the text."""
        for sign in ("&&", "||", "|&", ";;", ";", "|", "\n", "&"):
            if self._peek(len(sign)) == sign:
                if sign in ("&", ";;"):
                    raise Unreadable(
                        "a single & leaves something running; join commands with &&" if sign == "&" else ";;"
                    )
                self._at += len(sign)
                return "|" if sign == "|&" else sign
        return ""

    def _command(self, joined: str) -> Command:
        command = Command(joined)
        while True:
            self._blanks()
            if self._compares(command):
                continue
            character = self._peek()
            if self._redirected(command):
                if _is_open(command.words):
                    raise Unreadable("readers differ about a redirection within [ ]; put it behind the ]")
                continue
            if not character or character in ";|&\n":
                break
            word = self._word()
            if word.text == "!" and word.bare and not (command.words or command.negated):
                if joined == "|":
                    raise Unreadable("readers differ about a ! behind |; put it before the first command")
                command.negated = True
            elif word.bare and word.text in _OF_TESTS and _is_out_of_place(word.text, command.words):
                raise Unreadable(f"a {word.text} stands alone; quote it with '…'")
            else:
                command.words.append(word)
        if not command.words and (command.inputs or command.negated):
            raise Unreadable("a command is missing")
        return command

    def _compares(self, command: Command) -> bool:
        """Consume an operator that joins two tests within [[ ]]."""
        words = command.words
        sign = self._peek(2)
        if sign not in ("&&", "||") or not _is_open(words) or words[0].text != "[[":
            return False
        self._at += 2
        words.append(Word(sign))
        return True

    def _redirected(self, command: Command) -> bool:
        """Consume a redirection that writes nothing; any other raises Unreadable."""
        for sign in ("2>&1", "1>&2", ">&2", ">&1"):
            if self._peek(len(sign)) == sign:
                self._at += len(sign)
                if self._peek() and self._peek() not in _ENDS:
                    raise Unreadable(f"{sign} is followed by something else")
                return True
        for sign in ("&>>", "&>", "1>>", "2>>", "1>", "2>", ">>", ">"):
            if self._peek(len(sign)) == sign:
                self._at += len(sign)
                if self._peek() and self._peek() in "|&(>":
                    raise Unreadable(f"{sign}{self._peek()} redirects in a way that is not understood")
                self._blanks()
                target = self._word()
                if target.text != "/dev/null" or target.pattern:
                    raise Unreadable(
                        f"{sign} writes {target.text}. Allowed: {sign}/dev/null, or no redirection"
                    )
                return True
        if self._peek() == "<":
            self._at += 1
            if self._peek() and self._peek() in "<>&(":
                raise Unreadable(f"<{self._peek()} feeds a command in a way that is not understood")
            self._blanks()
            source = self._word()
            if source.pattern or not source.text:
                raise Unreadable("< needs the plain name of one file")
            command.inputs.append(source)
            return True
        return False

    def _word(self) -> Word:
        made, pattern = "", ""
        bare, wild, empty, stray = True, False, False, False
        start = self._at
        while (character := self._peek()) and character not in _ENDS:
            self._at += 1
            live = False
            if character in _BARE:
                piece = character
                stray = stray or (character == "]" and "[" not in made)
            elif character in _WILD:
                piece, live = character, True
            elif character == "#" and made and self._peek() in _BARE:
                piece = character
            else:
                piece = self._special(character, made, start)
                bare = False
                empty = empty or not piece
            wild = wild or live
            made += piece
            # A quoted wildcard becomes one that matches any character: the compared set may only grow.
            pattern += piece if live else "".join("?" if char in _WILD else char for char in piece)
        if self._at == start:
            raise Unreadable("a word is missing")
        if made[-1:].isdigit() and self._peek() and self._peek() in "<>":
            raise Unreadable(f"{made}{self._peek()} may redirect; put a blank between them")
        if self._text[start] == "=" and self._text[start : self._at] not in ("=", "=="):
            raise Unreadable(f"{made} begins with =, which some shells replace; quote it with '…'")
        if empty and self._at > start + len("''"):
            raise Unreadable("an empty quote stands within a word; take it out")
        if stray and self._text[start : self._at] not in ("]", "]]"):
            raise Unreadable("a ] stands in a word without its [; quote it with '…'")
        if bare and made in ("[", "[["):
            wild = False
        return Word(made, bare=bare, pattern=pattern if wild else "", leads=wild and pattern[0] in _WILD)

    def _special(self, character: str, made: str, start: int) -> str:
        """Consume a quoted part, an escaped character, a tilde, or braces that git reads."""
        first = self._at - 1 == start
        quoted = not _QUOTES.isdisjoint(self._text[start : self._at])
        if character == "'":
            return self._single()
        if character == '"':
            return self._double()
        if character == "\\":
            escaped = self._peek()
            middle = self._text[self._at - 2 : self._at - 1].isalnum() and made.isascii() and not quoted
            after_quote = self._text[self._at - 2] in _QUOTES and not first and escaped != "'"
            if after_quote or (escaped not in _ESCAPED and not (middle and escaped in (" ", "."))):
                raise Unreadable(f"readers differ about \\{escaped or ' at the end'}; quote it with '…'")
            self._at += 1
            return escaped
        if character == "~":
            if first and self._home and (not self._peek() or self._peek() in "/ \t\n;|&<>"):
                return self._home
            if not first and made[-1:] not in ("=", ":", ""):
                return "~"
        if character == "{" and made[-1:] in ("@", "^") and self._text[self._at - 2] in "@^":
            end = self._at
            while self._text[end : end + 1] in _NAMED:
                end += 1
            if self._text[end : end + 1] == "}":
                inner = self._text[self._at - 1 : end + 1]
                self._at = end + 1
                return inner
        if character == "{" and self._peek() == "}" and first:
            self._at += 1
            if self._peek() and self._peek() not in _ENDS:
                raise Unreadable(_LIVE["{"])
            return "{}"
        if character in _LIVE:
            raise Unreadable(_LIVE[character])
        raise Unreadable(f"{character} is not understood outside quotes; quote it with '…'")

    def _single(self) -> str:
        end = self._text.find("'", self._at)
        if end < 0:
            raise Unreadable("a ' is not closed")
        inner = self._text[self._at : end]
        self._at = end + 1
        return inner

    def _double(self) -> str:
        made = ""
        while character := self._peek():
            self._at += 1
            if character == '"':
                return made
            if character == "`":
                raise Unreadable(_LIVE["`"])
            if character == "$" and self._peek() not in _AFTER_INERT_DOLLAR:
                raise Unreadable(_LIVE["$"])
            if character == "\\":
                following = self._peek()
                if following == "\n":
                    self._at += 1
                    continue
                if following in _ESCAPED_IN_QUOTES:
                    self._at += 1
                    character = following
            made += character
        raise Unreadable('a " is not closed')
