"""Programs of which only a few exact forms may run.

Compilers, interpreters and package managers print their version. Archives are listed or printed. ps shows no
environment. asbuilt's own commands that change a plan, a run, a mode or a setting are for users to type.
"""

from __future__ import annotations

from asbuilt.policy.shell.lexer import Word
from asbuilt.policy.shell.programs.spec import Program, read_all
from asbuilt.policy.shell.programs.spec import judge as judge_options
from asbuilt.policy.shell.working_folder import Refused, writes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.policy.shell.programs.spec import Given
    from asbuilt.policy.shell.working_folder import Place

_VERSION = {
    "go": ("version",),
    "lua": ("-v",),
    "zig": ("version",),
    **dict.fromkeys(("node", "npm", "perl", "php", "ruby"), ("--version", "-v")),
    **dict.fromkeys(("python", "python3", "cargo", "rustc"), ("--version", "-V")),
}
# fmt: off
# ps reads `-auxe` in the old BSD way and shows environments, so only whole words are accepted.
_PS_WORDS = frozenset((
    "-e", "-A", "-a", "-f", "-F", "-l", "-ef", "-eF", "-ely", "-elf", "-eLf", "-ejH", "-aux", "-ax", "-ww",
    "-w", "-x", "-T", "-H", "-L", "-efww", "-N", "aux", "auxw", "auxww", "auxf", "ax", "axu", "axf", "axjf",
    "axl", "u", "ux", "x", "a", "f", "l", "--forest", "--no-headers", "--headers", "--deselect",
))
_PS_VALUED = frozenset((
    "-o", "-eo", "-Ao", "-axo", "-p", "-C", "-u", "-U", "-g", "-G", "-t", "--pid", "--ppid",
    "--format", "-q", "o", "axo", "p",
))
# If ps does not find such a user or terminal, it reads all words again, and these as single letters.
_PS_TRIED = frozenset(("-C", "-u", "-U", "-g", "-G", "-t"))
_UNZIP = frozenset((
    "-l", "-v", "-t", "-p", "-c", "-lv", "-vl", "-lq", "-ql", "-qt", "-tq", "-Z", "-Z1", "-pq",
))
_ZIPINFO = frozenset(("-1", "-2", "-s", "-m", "-l", "-v", "-h", "-t", "-z"))
# fmt: on
_TAR_LETTERS = frozenset("tvzjJa")
_GUNZIP = ({"-c"}, {"--stdout"})
_GZIP = ({"-l"}, {"-lv"}, {"--list"}, {"-dc"}, {"-cd"}, {"-d", "-c"}, {"-t"}, {"-tv"})
_HEXADECIMAL = frozenset("0123456789abcdefxABCDEF")
_OWN = Program("texts plain: --json --plain --no-color -q -v --no-input --all --attempts --patch -h --help")
_OWN_ALONE = ("status", "why", "log", "report", "next")
_OWN_GROUPS = {
    "plan": ("show", "list", "check"),
    "mode": ("show",),
    "session": ("status", "list"),
    "gate": ("check",),
    "author": ("next", "status"),
}


def judge(name: str, words: Sequence[Word], place: Place) -> None:
    """Judge one of these programs; raises Refused."""
    if name in _ALWAYS:
        _ALWAYS[name](name, words, place)
    elif name in _FORMS:
        if len(words) != 1 or words[0].text not in ("--version", "--help"):
            _FORMS[name](name, words, place)
    else:
        known = _VERSION.get(name, ("--version",))
        if len(words) != 1 or words[0].text not in known:
            raise writes(f"{name} runs or fetches code, which may change anything", f"{name} {known[0]}")


def _own(name: str, words: Sequence[Word], place: Place) -> None:
    texts = [word.text for word in words]
    if texts in (["--version"], ["--help"], ["-h"]):
        return
    if texts[:1] and texts[0] in _OWN_ALONE:
        rest = words[1:]
    elif len(texts) > 1 and texts[1] in _OWN_GROUPS.get(texts[0], ()):
        rest = words[2:]
    else:
        raise Refused(
            "Only users run " + " ".join(("asbuilt", *texts[:2])) + " while plan mode is on.",
            "asbuilt status, asbuilt log SLUG, asbuilt plan show SLUG",
        )
    judge_options(name, _OWN, rest, place)


def _printed(name: str, words: Sequence[Word], _: Place) -> None:
    """Accept a limit or a mount that is only printed; with more words it is set."""
    if [word.text for word in words] not in ([], ["-a"], ["-n"], ["-S"]) or (name == "mount" and words):
        raise writes(f"{name} with {words[0].text} sets something", name)


def _ps(_: str, words: Sequence[Word], _place: Place) -> None:
    """Judge ps, which reads all its words again if two of them do not go together."""
    first = words[0].text if words else "-f"
    option, equals, value = first.partition("=")
    if len(words) == 2 and not equals:
        value = words[1].text
    if first in _PS_WORDS and len(words) <= 1:
        return
    is_whole = len(words) == (1 if equals else 2) and option.startswith("--") >= bool(equals)
    if option not in _PS_VALUED or not value or not is_whole:
        raise Refused(
            f"ps {' '.join(word.text for word in words)} is not a form that is known to show no environment,"
            " and that holds secrets.",
            "ps -ef, ps aux, ps -eo pid,args",
        )
    if (option in _PS_TRIED and "e" in value) or "env" in value.lower() or value.startswith("-"):
        raise Refused(f"{value} of ps may show an environment, and that holds secrets.", "ps -eo pid,args")


def _tar(_: str, words: Sequence[Word], place: Place) -> None:
    """Accept letters without a dash as tar does: t to list, f last, then the archive."""
    letters = words[0].text if words else ""
    if not letters.startswith("-"):
        if "t" not in letters or not letters.endswith("f") or not _TAR_LETTERS.issuperset(letters[:-1]):
            raise writes("tar is understood only where it lists an archive", "tar -tf ARCHIVE")
        words = [Word("-tf"), *words[1:]]
    judge_options("tar", _TAR, words, place)


def _lists(given: Given, _: Place) -> None:
    # A colon would make it the name of another machine.
    if not given.has("-t", "--list") or any(":" in value for value in given.values("-f", "--file")):
        raise writes("tar is understood only where it lists an archive", "tar -tf ARCHIVE")


_TAR = Program(
    "texts: -t -v -z -j -J -a -f=F --list --file=F --verbose --gzip --bzip2 --xz --zstd --wildcards"
    " --full-time",
    _lists,
)


def _unzip(name: str, words: Sequence[Word], place: Place) -> None:
    known = _UNZIP if name == "unzip" else _ZIPINFO
    options = [word for word in words if word.text.startswith("-")]
    operands = words[len(options) :]
    if [*words[: len(options)]] != options or not {word.text for word in options} <= known:
        raise writes(f"{name} is understood only where it lists or prints", "unzip -l ARCHIVE")
    if (name == "unzip" and not options) or not operands or any(word.leads for word in operands):
        raise writes(f"{name} would unpack, or is not understood", "unzip -l ARCHIVE")
    for word in operands:
        place.content(word)


def _gzip(name: str, words: Sequence[Word], place: Place) -> None:
    """Accept the options in a few whole forms, each of which leaves the file as it is."""
    options = {word.text for word in words if word.text.startswith("-") and word.text != "-"}
    if options not in (_GUNZIP if name == "gunzip" else _GZIP):
        raise writes(f"{name} replaces the file", "zcat FILE")
    for word in words:
        if word.leads:
            raise writes(f"{word.text} may stand for a file whose name is an option of {name}", "zcat FILE")
        if not word.text.startswith("-"):
            place.content(word)


def _xxd(_: str, words: Sequence[Word], place: Place) -> None:
    """Parse xxd's options as it does: one letter per word, a number after some, and never a second file."""
    rest = [*words]
    while rest and rest[0].text[:1] == "-" and rest[0].text != "-":
        text = rest.pop(0).text
        option, number = text[:2], text[2:]
        if text in ("-a", "-b", "-d", "-e", "-E", "-i", "-p", "-ps", "-u", "-C", "-v"):
            continue
        if option not in ("-c", "-g", "-l", "-o", "-s"):
            raise writes(f"xxd {text} is not on the list of options that only read", "xxd FILE")
        number = (number or (rest.pop(0).text if rest else "")).strip("+-")
        if not number or not _HEXADECIMAL.issuperset(number):
            raise writes(f"{option} of xxd takes a number")
    if len(rest) > 1:
        raise writes(f"xxd writes its second file, {rest[1].text}", f"xxd {rest[0].text}")
    if rest and rest[0].pattern:
        raise writes(f"{rest[0].text} may stand for two files, of which xxd writes the second")
    read_all(rest, place)


_ALWAYS = {"asbuilt": _own, "mount": _printed, "ulimit": _printed, "umask": _printed, "xxd": _xxd}
_FORMS = {
    **dict.fromkeys(("bzip2", "gunzip", "gzip", "xz", "zstd"), _gzip),
    **dict.fromkeys(("unzip", "zipinfo"), _unzip),
    "ps": _ps,
    "tar": _tar,
}
