"""What a program may be given, and the parser of its words. Pure.

Rule: options are an allow-list, spelled in full; any other option is refused.
"""

from __future__ import annotations

from asbuilt.policy.shell.lexer import Word
from asbuilt.policy.shell.working_folder import Refused, writes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from asbuilt.policy.shell.working_folder import Place

    Check = Callable[["Given", Place], None]

_NUMBER = frozenset("0123456789.,+-kKmMgGtTbBsx%")
_WILD = frozenset("*?[")
_OPERANDS = frozenset(("files", "names", "texts", "none", "pattern"))


class Program:
    """One program, or one verb of a program, from its row: what it takes, a colon, its options.

    Operands are `files` that are read, `names` of files, `texts`, `none`, or a `pattern` and then files; at
    least `least=N` and at most `most=N`. Wildcards may be anywhere but at the start of a word: with `any`
    also there, because no option does harm; with `plain` nowhere. With `ordered`, options end at the first
    operand; with `late`, words after it that look like options belong to another program. `-n5` is `-n 5`,
    except with `apart`: the program reads the rest as more options. With `-V`, that option alone prints the
    version.

    Options are listed as in a manual page: `-n` has no value, `-n=N` takes a value, `--color[=T]` takes one
    only after `=`, `-#` is a number as an option. Kinds of values: N number, T text, F file that is read, D
    file of which only the name matters, G pattern of file names, W two words of text, V a word of text and a
    file that is read.
    """

    __slots__ = ("check", "least", "most", "operands", "options", "takes")

    def __init__(self, row: str, check: Check | None = None) -> None:
        takes, _, self.options = row.partition(":")
        self.takes = frozenset(takes.split())
        numbers = dict(word.split("=") for word in self.takes if "=" in word)
        self.least, self.most = int(numbers.get("least", 0)), int(numbers.get("most", 1_000))
        self.operands = next(iter(self.takes & _OPERANDS))
        module, _, function = next((word for word in self.takes if "." in word), "").partition(".")
        if module:
            check = getattr(__import__(f"{__package__}.{module}", fromlist=[function]), function)
        self.check = check


class Given:
    """The options and operands that a program was given."""

    __slots__ = ("name", "operands", "options", "parted")

    def __init__(self, name: str) -> None:
        self.name = name
        self.options: list[tuple[str, str]] = []
        self.operands: list[Word] = []
        self.parted: int | None = None
        """Number of operands before `--`."""

    def has(self, *names: str) -> bool:
        """Return whether one of these options was given."""
        return any(option in names for option, _ in self.options)

    def values(self, *names: str) -> list[str]:
        """Return the values of these options."""
        return [value for option, value in self.options if option in names]


def judge_row(name: str, row: str, words: Sequence[Word], place: Place) -> None:
    """Judge a program by its row in the table; raises Refused."""
    program = Program(row)
    if len(words) == 1 and words[0].text in {"--help", "--version", *({"-V"} & program.takes)}:
        return
    judge(name, program, words, place)


def judge(name: str, program: Program, words: Sequence[Word], place: Place) -> Given:
    """Parse the words of a program against its allow-list; raises Refused."""
    given = _read(name, program, words, place)
    count = len(given.operands)
    if program.operands == "none" and count:
        raise writes(f"{name} with {given.operands[0].text} is not known to only read", name)
    if not program.least <= count <= program.most:
        raise writes(f"{name} with {count} operands is not known to only read")
    for at, word in enumerate(given.operands):
        _wildcards(name, program, word, parted=given.parted is not None and at >= given.parted)
    if program.check is not None:
        program.check(given, place)
    if program.operands == "files":
        read_all(given.operands, place)
    elif program.operands == "pattern":
        first = given.operands[:1]
        read_all([*(word for word in first if word.pattern), *given.operands[1:]], place)
    elif program.operands == "names":
        for word in given.operands:
            place.listing(word)
    return given


def read_all(words: Sequence[Word], place: Place) -> None:
    """Check the files that a program reads; a single dash is its standard input."""
    for word in words:
        if word.text != "-":
            place.content(word)


def follow_all(words: Sequence[Word], place: Place, allowed: str) -> None:
    """Check the folders in which a program follows links."""
    for word in words or [Word(".")]:
        place.followed(word, allowed)


def _wildcards(name: str, program: Program, word: Word, *, parted: bool) -> None:
    if not word.pattern or "any" in program.takes:
        return
    if "plain" in program.takes:
        raise writes(f"{word.text} may stand for more than one file, of which {name} would write one")
    if word.leads and not parted:
        raise writes(
            f"{word.text} may stand for a file whose name is an option of {name}", f"{name} … ./{word.text}"
        )


def _read(name: str, program: Program, words: Sequence[Word], place: Place) -> Given:
    known = dict(_option(option) for option in program.options.split())
    given = Given(name)
    rest = list(words)
    while rest:
        word = rest.pop(0)
        text = word.text
        if given.parted is not None or text == "-" or text[:1] != "-":
            given.operands.append(word)
            if "ordered" in program.takes and given.parted is None:
                given.operands += rest
                rest = []
                if "late" not in program.takes:
                    _no_late_options(name, given.operands)
        elif text == "--":
            given.parted = len(given.operands)
        elif text.startswith("--"):
            _long(given, known, word, rest, place)
        elif text[1:].isdigit() and "-#" in known:
            given.options.append(("-#", text[1:]))
        else:
            _short(given, known, word, rest, place, attached="apart" not in program.takes)
    return given


def _no_late_options(name: str, operands: Sequence[Word]) -> None:
    for word in operands:
        if word.text.startswith("-") and word.text != "-":
            raise writes(
                f"{name} would take {word.text}, behind an operand, for a file", f"{name} {word.text} …"
            )


def _option(written: str) -> tuple[str, str]:
    """Split `--color[=T]` into its name and `?T`, `-n=N` into `-n` and `N`, `-v` into `-v` and nothing."""
    if written.endswith("]"):
        option, _, kind = written[:-1].partition("[=")
        return option, f"?{kind}"
    option, _, kind = written.partition("=")
    return option, kind


def _long(given: Given, known: dict[str, str], word: Word, rest: list[Word], place: Place) -> None:
    option, equals, value = word.text.partition("=")
    kind = known.get(option)
    if kind is None or (equals and not kind):
        raise _unknown(given.name, option)
    if word.pattern and not (equals and kind[-1:] in ("G", "T") and _WILD.isdisjoint(option)):
        raise unquoted(word)
    if equals:
        _value(given, option, kind.lstrip("?"), value, place)
    else:
        _following(given, option, kind, rest, place)


def _short(
    given: Given, known: dict[str, str], word: Word, rest: list[Word], place: Place, *, attached: bool
) -> None:
    if word.pattern:
        raise unquoted(word)
    letters = word.text[1:]
    for at, letter in enumerate(letters):
        option = f"-{letter}"
        kind = known.get(option)
        if kind is None:
            raise _unknown(given.name, option)
        behind = letters[at + 1 :]
        if kind and behind:
            if not attached:
                raise writes(f"{option} of {given.name} needs its value as a word of its own")
            _value(given, option, kind.lstrip("?"), behind, place)
            return
        if kind:
            _following(given, option, kind, rest, place)
            return
        given.options.append((option, ""))


def _following(given: Given, option: str, kind: str, rest: list[Word], place: Place) -> None:
    """Consume the value of an option from the words after it, if it takes one there."""
    if not kind or kind[0] == "?":
        given.options.append((option, ""))
        return
    wanted = 2 if kind in ("W", "V") else 1
    if len(rest) < wanted:
        raise writes(f"{option} of {given.name} lacks its value")
    for part in range(wanted):
        word = rest.pop(0)
        if word.pattern:
            raise unquoted(word)
        letter = {"W": "T", "V": "F" if part else "T"}.get(kind, kind)
        _value(given, option, letter, word.text, place)


def _value(given: Given, option: str, kind: str, value: str, place: Place) -> None:
    if kind in ("W", "V"):
        raise _unknown(given.name, f"{option}=")
    if kind == "N" and not (value and _NUMBER.issuperset(value)):
        raise writes(f"{option} of {given.name} takes a number, and {value!r} is none")
    if kind in ("F", "D") and value != "-":
        (place.content if kind == "F" else place.listing)(Word(value))
    if kind == "G":
        place.filtered(value)
    given.options.append((option, value))


def _unknown(name: str, option: str) -> Refused:
    return writes(f"{name} {option} is not on the list of options that only read")


def unquoted(word: Word, before: str = "", after: str = "") -> Refused:
    """Return the refusal of a pattern without quotes; the example has it in quotes, between other words."""
    return writes(f"the shell may replace {word.text} by file names", f"{before}'{word.text}'{after}")
