"""Programs that search files. Recursive searches stay out of folders that hold secrets.

Rule: options that start another program (a preprocessor, a pager, an unpacker) are left out.
"""

from __future__ import annotations

from asbuilt.policy.shell.lexer import Word
from asbuilt.policy.shell.place import writes
from asbuilt.policy.shell.programs.spec import Program, read_all
from asbuilt.policy.shell.programs.spec import look as look_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.policy.shell.place import Place
    from asbuilt.policy.shell.programs.spec import Given


def _grep(given: Given, place: Place) -> None:
    files = _files(given, "-e", "--regexp", "-f", "--file")
    read_all(files, place)
    for pattern in given.values("--exclude"):
        place.left_out(pattern)
    if given.has("-r", "-R", "--recursive", "--dereference-recursive") or "recurse" in given.values(
        "-d", "--directories"
    ):
        _through(files, place)
    if given.has("-R", "--dereference-recursive"):
        _follow(files, place, "the same with -r instead of -R")


def _rg(given: Given, place: Place) -> None:
    lists = given.has("--files", "--type-list")
    for kind in given.values("--type-add"):
        place.filtered(kind.partition(":")[2])
    files = given.operands if lists else _files(given, "-e", "--regexp", "-f", "--file")
    if given.has("-L", "--follow"):
        _follow(files, place, f"the same without {'-L' if given.has('-L') else '--follow'}")
    if given.has("--files"):
        for word in files:
            place.listing(word)
        return
    read_all(files, place)
    _through(files, place)
    for unpacked in given.values("--engine"):
        if unpacked not in ("default", "pcre2", "auto"):
            raise writes("rg --engine is default, pcre2 or auto")


def _ag(given: Given, place: Place) -> None:
    files = _files(given)
    read_all(files, place)
    _through(files, place)


def _files(given: Given, *patterns: str) -> Sequence[Word]:
    """Return the operands that are files: all but the first, unless an option holds the pattern.

    A first operand with a wildcard counts too, because the shell may replace it with file names.
    """
    if given.has(*patterns):
        return given.operands
    if not given.operands:
        raise writes(f"{given.name} lacks what it is to look for", f"{given.name} 'PATTERN' FILE")
    first = [word for word in given.operands[:1] if word.pattern]
    return [*first, *given.operands[1:]]


def _through(files: Sequence[Word], place: Place) -> None:
    for word in files or [Word(".")]:
        if word.text != "-":
            place.tree(word)


def _follow(files: Sequence[Word], place: Place, allowed: str) -> None:
    for word in files or [Word(".")]:
        place.followed(word, allowed)


_PROGRAMS = {
    "grep": Program(
        "-E -F -G -P -e=T -f=F -i -y -v -w -x -c -L -l -m=N -o -q -s -b -H -h -n -T -Z -A=N -B=N -C=N -# -a"
        " -I -r -R -z -U -u -d=T -D=T --directories=T --devices=T --extended-regexp"
        " --fixed-strings --basic-regexp --perl-regexp --regexp=T"
        " --file=F --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count"
        " --color[=T] --colour[=T] --files-without-match --files-with-matches --max-count=N --only-matching"
        " --quiet --silent --no-messages --byte-offset --with-filename --no-filename --label=T"
        " --line-number --initial-tab --null --after-context=N --before-context=N --context=N"
        " --group-separator=T --no-group-separator --text --binary-files=T --exclude=T --exclude-from=F"
        " --exclude-dir=T --include=G --recursive --dereference-recursive --line-buffered --null-data"
        " --binary -V --version --help",
        "texts",
        globs="any",
        judge=_grep,
    ),
    "zgrep": Program(
        "-E -F -G -P -i -v -w -x -c -l -n -o -q -s -h -H -A=N -B=N -C=N -m=N", "pattern", least=2
    ),
    "rg": Program(
        "-e=T -f=F -A=N -B=N -C=N -b -c -i -s -S -F -g=G -. -h -H -I -j=N -l -L -m=N -M=N -n -N -o -p -P -q"
        " -r=T -t=T -T=T -u -U -v -w -x -0 -a -E=T -d=N -V --after-context=N --auto-hybrid-regex"
        " --before-context=N --binary --no-binary --block-buffered --byte-offset --case-sensitive --color=T"
        " --colors=T --column --no-column --context=N --context-separator=T --no-context-separator --count"
        " --count-matches --crlf --dfa-size-limit=T --encoding=T --no-encoding --engine=T"
        " --field-context-separator=T --field-match-separator=T --file=F --files --files-with-matches"
        " --files-without-match --fixed-strings --no-fixed-strings --follow --no-follow --glob=G"
        " --glob-case-insensitive --heading --no-heading --help --hidden --no-hidden --iglob=G"
        " --ignore-case --ignore-file=F --ignore-file-case-insensitive --include-zero --invert-match"
        " --no-invert-match --json --no-json --line-buffered --line-number --no-line-number --line-regexp"
        " --max-columns=N --max-columns-preview --max-count=N --max-depth=N --maxdepth=N --max-filesize=T"
        " --mmap --no-mmap --multiline --no-multiline --multiline-dotall --no-config --no-ignore --ignore"
        " --no-ignore-dot --no-ignore-exclude --no-ignore-files --no-ignore-global --no-ignore-messages"
        " --no-ignore-parent --no-ignore-vcs --no-messages --no-unicode --null --null-data"
        " --one-file-system --only-matching --passthru --path-separator=T --pcre2 --no-pcre2 --pretty"
        " --quiet --regex-size-limit=T --regexp=T --replace=T --smart-case --sort=T --sortr=T --sort-files"
        " --stats --stop-on-nonmatch --text --no-text --threads=N --trim --no-trim --type=T --type-not=T"
        " --type-add=T --type-clear=T --type-list --unrestricted --version --pcre2-version --vimgrep"
        " --with-filename --no-filename --word-regexp --no-require-git --no-stats --no-pre --no-search-zip",
        "texts",
        judge=_rg,
    ),
    "ag": Program(
        "-A=N -B=N -C=N -c -F -i -l -L -m=N -n -Q -s -S -U -v -w --ackmate --after=N --before=N"
        " --color --nocolor --column --count --depth=N --filename --nofilename --files-with-matches"
        " --files-without-matches --fixed-strings --group --nogroup --heading --noheading --hidden"
        " --ignore=T --ignore-case --literal --max-count=N --numbers --nonumbers --only-matching"
        " --smart-case --vimgrep --word-regexp --python --js --go --rust --java --ruby --nopager",
        "texts",
        least=1,
        judge=_ag,
    ),
}


def look(name: str, words: Sequence[Word], place: Place) -> None:
    """Judge one of these programs; raises Refused."""
    if len(words) == 1 and words[0].text in ("--version", "-V", "--help"):
        return
    look_at(name, _PROGRAMS["grep" if name in ("egrep", "fgrep") else name], words, place)
