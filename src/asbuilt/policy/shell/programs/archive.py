"""Archives and object files: their contents are listed or printed, and nothing is unpacked.

Rule: options of tar and unzip are accepted only in forms that every version reads alike.
"""

from __future__ import annotations

from asbuilt.policy.shell.lexer import Word
from asbuilt.policy.shell.place import writes
from asbuilt.policy.shell.programs.spec import Program, no_lists
from asbuilt.policy.shell.programs.spec import look as look_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.policy.shell.place import Place
    from asbuilt.policy.shell.programs.spec import Given

_UNZIP = frozenset(
    ("-l", "-v", "-t", "-p", "-c", "-lv", "-vl", "-lq", "-ql", "-qt", "-tq", "-Z", "-Z1", "-pq")
)
_ZIPINFO = frozenset(("-1", "-2", "-s", "-m", "-l", "-v", "-h", "-t", "-z"))
_LIST = frozenset("tvzjJa")
_GUNZIP = ({"-c"}, {"--stdout"})
_GZIP = ({"-l"}, {"-lv"}, {"--list"}, {"-dc"}, {"-cd"}, {"-d", "-c"}, {"-t"}, {"-tv"})


_PROGRAMS = {
    "nm": Program(
        "-a -A -C -D -f=T -g -n -p -P -r -S -u -U --demangle --dynamic --extern-only"
        " --numeric-sort --print-size --size-sort --undefined-only --defined-only",
        judge=no_lists,
    ),
    "objdump": Program(
        "-a -C -d -D -f -h -p -r -R -s -t -T -x -w -j=T -M=T --disassemble[=T] --demangle"
        " --all-headers --syms --dynamic-syms --section-headers --section=T",
        judge=no_lists,
    ),
    "readelf": Program(
        "-a -h -l -S -g -t -e -s -n -r -u -d -V -A -D -I -W -x=T -p=T --all --file-header"
        " --program-headers --segments --section-headers --sections --headers --syms"
        " --symbols --dyn-syms --notes --relocs --dynamic --wide",
        judge=no_lists,
    ),
    "size": Program("-A -B -d -o -x -t --format=T --totals", judge=no_lists),
}


def look(name: str, words: Sequence[Word], place: Place) -> None:
    """Judge one of these programs; raises Refused."""
    if len(words) == 1 and words[0].text in ("--version", "--help"):
        return
    if name == "tar":
        _tar(words, place)
    elif name in ("unzip", "zipinfo"):
        _unzip(name, words, place)
    elif name in ("bzip2", "gunzip", "gzip", "xz", "zstd"):
        _gzip(name, words, place)
    else:
        look_at(name, _PROGRAMS[name], words, place)


def _tar(words: Sequence[Word], place: Place) -> None:
    """Accept letters without a dash as tar does: t to list, f last, then the archive."""
    letters = words[0].text if words else ""
    if not letters.startswith("-"):
        if "t" not in letters or not letters.endswith("f") or not _LIST.issuperset(letters[:-1]):
            raise writes("tar is understood only where it lists an archive", "tar -tf ARCHIVE")
        words = [Word("-tf"), *words[1:]]
    look_at("tar", _TAR, words, place)


def _lists(given: Given, place: Place) -> None:
    del place
    archives = given.values("-f", "--file")
    # A colon would make it the name of another machine.
    if not given.has("-t", "--list") or any(":" in one for one in archives):
        raise writes("tar is understood only where it lists an archive", "tar -tf ARCHIVE")


_TAR = Program(
    "-t -v -z -j -J -a -f=F --list --file=F --verbose --gzip --bzip2 --xz --zstd --wildcards --full-time",
    "texts",
    judge=_lists,
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
