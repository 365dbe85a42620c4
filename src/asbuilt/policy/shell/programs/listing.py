"""Programs that find files and show their names, kinds and sizes, not their contents.

Rule: a find expression is read word by word, and a word that is not on the list is refused.
"""

from __future__ import annotations

from asbuilt.policy.shell.lexer import Word
from asbuilt.policy.shell.place import writes
from asbuilt.policy.shell.programs.each import look_at_each
from asbuilt.policy.shell.programs.spec import Program
from asbuilt.policy.shell.programs.spec import look as look_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.policy.shell.place import Place
    from asbuilt.policy.shell.programs.spec import Given


def _fd(given: Given, place: Place) -> None:
    for word in given.operands[1:]:
        place.listing(word)
    if given.has("-L", "--follow"):
        named = [*given.operands[1:], *map(Word, given.values("--search-path", "--base-directory"))]
        _follow(named, place, "the same without -L")


def _ls(given: Given, place: Place) -> None:
    if given.has("-L", "--dereference"):
        _follow(given.operands, place, "the same without -L")
    if given.has("-d", "--directory"):
        # It shows the names that the shell has inserted, and nothing that is in them.
        given.operands = [word for word in given.operands if not word.pattern]


def _tree(given: Given, place: Place) -> None:
    if given.has("-l"):
        _follow(given.operands, place, "the same without -l")


def _du(given: Given, place: Place) -> None:
    if given.has("-L", "--dereference"):
        _follow(given.operands, place, "the same without -L")
    elif not given.has("-D", "-H", "--dereference-args"):
        # A link that is named without a slash is counted as a link.
        given.operands = [word for word in given.operands if not word.pattern or word.text.endswith("/")]


def _follow(words: Sequence[Word], place: Place, allowed: str) -> None:
    for word in words or [Word(".")]:
        place.followed(word, allowed)


_LS_OPTIONS = (
    "-a -A -b -B -c -C -d -D -f -F -g -G -h -H -i -I=T -k -l -L -m -n -N -o -p -q -Q -r -R -s -S -t -T -u"
    " -U -v -w=N -x -X -Z -1 -@ -e -O -P --all --almost-all --author --escape --block-size=T"
    " --ignore-backups --color[=T] --directory --dired --classify[=T] --file-type --format=T --full-time"
    " --group-directories-first --no-group --human-readable --si --dereference-command-line"
    " --dereference-command-line-symlink-to-dir --hide=T --hyperlink[=T] --indicator-style=T --inode"
    " --ignore=T --kibibytes --dereference --numeric-uid-gid --literal --hide-control-chars"
    " --show-control-chars --quote-name --quoting-style=T --reverse --recursive --size --sort=T --time=T"
    " --time-style=T --tabsize=N --width=N --context --zero --help --version"
)
_PROGRAMS = {
    "ls": Program(_LS_OPTIONS, "names", globs="any", judge=_ls),
    "tree": Program(
        "-a -d -f -i -l -x -L=N -P=T -I=T -p -s -h -u -g -D -F -q -N -Q -r -t -c -U -v -n -C -A -S -J -X"
        " --gitignore --noreport --dirsfirst --filesfirst --filelimit=N --prune --du --si --sort=T"
        " --timefmt=T --matchdirs --ignore-case --inodes --device --charset=T --metafirst --nolinks"
        " --version --help",
        "names",
        attached=False,
        judge=_tree,
    ),
    "du": Program(
        "-0 -a -b -c -d=N -D -h -H -k -L -l -m -P -S -s -t=T -x --null --all --apparent-size --block-size=T"
        " -B=T --bytes --total --dereference-args --max-depth=N --human-readable --inodes --dereference"
        " --count-links --no-dereference --separate-dirs --si --summarize --threshold=T --time[=T]"
        " --time-style=T --exclude=T -I=T --one-file-system --help --version",
        "names",
        globs="any",
        judge=_du,
    ),
    "df": Program(
        "-a -B=T -h -H -i -k -l -m -P -t=T -T -x=T -v -g --all --block-size=T --human-readable --si"
        " --inodes --local --no-sync --output[=T] --portability --total --type=T --print-type"
        " --exclude-type=T --help --version",
        "names",
    ),
    "stat": Program(
        "-L -f -c=T -t -x -s -n -r --dereference --file-system --cached=T --format=T --printf=T --terse"
        " --help --version",
        "names",
        globs="any",
    ),
    "file": Program(
        "-b -i -I -k -L -h -N -n -r -0 -e=T -F=T -P=T -v -E --brief --mime --mime-type --mime-encoding"
        " --extension --keep-going --dereference --no-dereference --no-pad --raw --print0 --exclude=T"
        " --separator=T --apple --version --help",
        "names",
    ),
    "readlink": Program(
        "-f -e -m -n -q -s -v -z --canonicalize --canonicalize-existing"
        " --canonicalize-missing --no-newline --quiet --silent --verbose --zero",
        "names",
        globs="any",
    ),
    "realpath": Program(
        "-e -m -L -P -q -s -z --canonicalize-existing --canonicalize-missing --logical"
        " --physical --quiet --relative-to=D --relative-base=D --strip --no-symlinks --zero",
        "names",
        globs="any",
    ),
    "basename": Program("-a -s=T -z --multiple --suffix=T --zero", "texts", globs="any"),
    "dirname": Program("-z --zero", "texts", globs="any"),
    "namei": Program("-x -m -o -l -n -v", "names"),
    "pathchk": Program("-p -P --portability", "names"),
    "lsblk": Program("-a -f -l -p -m -n -b -d -J -o=T", "none"),
    "fd": Program(
        "-H -I -u -s -i -g -F -a -L -p -d=N -E=T -t=T -e=T -S=T -c=T -j=N -0 -1 -q -o=T -h -V --hidden"
        " --no-hidden --no-ignore --ignore --no-ignore-vcs --no-ignore-parent --no-global-ignore-file"
        " --unrestricted --case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path"
        " --relative-path --follow --no-follow --full-path --max-depth=N --min-depth=N --exact-depth=N"
        " --exclude=T --type=T --extension=T --size=T --changed-within=T --changed-before=T --newer=T"
        " --older=T --change-newer-than=T --change-older-than=T --owner=T --color=T --threads=N"
        " --max-results=N --quiet --show-errors --one-file-system --print0 --prune --and=T --format=T"
        " --path-separator=T --strip-cwd-prefix[=T] --search-path=D --base-directory=D --require-git"
        " --no-require-git --hyperlink[=T] --help --version",
        "texts",
        judge=_fd,
    ),
}
_SAME = {"dir": "ls", "vdir": "ls", "fdfind": "fd"}

# fmt: off
_FIND_ALONE = frozenset((
    "-empty", "-executable", "-readable", "-writable", "-nouser", "-nogroup", "-true", "-false", "-print",
    "-print0", "-prune", "-quit", "-ls", "-depth", "-d", "-daystart", "-mount", "-xdev", "-x", "-noleaf",
    "-ignore_readdir_race", "-noignore_readdir_race", "-not", "-o", "-or", "-a", "-and", "-follow", "-warn",
    "-nowarn", "-E", "(", ")", "!", ",",
))
_FIND_VALUED = frozenset((
    "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-lname",
    "-ilname",
    "-type", "-xtype", "-size", "-mtime", "-atime", "-ctime", "-mmin", "-amin", "-cmin", "-newer", "-anewer",
    "-cnewer", "-samefile", "-inum", "-links", "-uid", "-gid", "-user", "-group", "-perm", "-maxdepth",
    "-mindepth", "-regextype", "-used", "-fstype", "-printf", "-context",
))
# fmt: on
_NEWER = frozenset("aBcm")


def look(name: str, words: Sequence[Word], place: Place) -> None:
    """Judge one of these programs; raises Refused."""
    if name == "find":
        _find(words, place)
    else:
        look_at(name, _PROGRAMS[_SAME.get(name, name)], words, place)


def _each(words: Sequence[Word], rest: list[Word], place: Place) -> list[Word]:
    """Judge the command of -exec, and return the words after it."""
    end = next((at for at, word in enumerate(rest) if word.text in (";", "+")), 0)
    if rest[end - 1 : end] == [] or rest[end - 1].text != "{}":
        raise writes("find -exec is understood only with {} last", "find . -name '*.py' -exec wc -l {} +")
    look_at_each(rest[: end - 1], words, place)
    return rest[end + 1 :]


def _find(words: Sequence[Word], place: Place) -> None:
    rest = [*words]
    starts = []
    while rest and rest[0].text in ("-H", "-L", "-P", "-E", "-x", "-s"):
        del rest[0]
    if rest and rest[0].text in ("--help", "--version", "-version", "-help"):
        return
    while rest and rest[0].text[:1] not in ("-", "(", "!", ","):
        word = rest.pop(0)
        if word.leads:
            raise writes(
                f"{word.text} may stand for a file whose name is an action of find", f"find ./{word.text}"
            )
        place.listing(word)
        starts.append(word)
    for word in words:
        if word.text in ("-L", "-follow"):
            _follow(starts, place, f"the same without {word.text}")
    while rest:
        word = rest.pop(0)
        if word.pattern:
            raise writes(f"the shell may replace {word.text} by file names", f"find … '{word.text}'")
        if word.text in _FIND_ALONE:
            continue
        if word.text == "-exec":
            rest = _each(words, rest, place)
            continue
        valued = word.text in _FIND_VALUED or (
            len(word.text) == 8
            and word.text.startswith("-newer")
            and word.text[6] in _NEWER
            and word.text[7] in (*_NEWER, "t")
        )
        if not valued:
            raise writes(
                f"find {word.text} is not on the list of what only finds", "find . -name '*.py' -print"
            )
        if not rest:
            raise writes(f"{word.text} of find lacks its value")
        value = rest.pop(0)
        if value.pattern:
            raise writes(
                f"the shell may replace {value.text} by file names", f"find … {word.text} '{value.text}'"
            )
