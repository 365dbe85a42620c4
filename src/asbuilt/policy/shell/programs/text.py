"""Programs that read files and print them in some form; their options are from their manual pages.

Rule: options that name a file to write, a program to start or a list of further files are left out.
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

_SUM = "-b -t -z -c -w --binary --check --tag --text --zero --ignore-missing --quiet --status --strict --warn"


def _tail(given: Given, place: Place) -> None:
    del place
    if given.has("-f", "-F", "--follow", "--retry"):
        raise writes("tail -f never ends", "tail -n 50 FILE")
    # `+5` is a line number to tail, and no file.
    given.operands = [word for word in given.operands if not word.text.removeprefix("+").isdigit()]


def _diff(given: Given, place: Place) -> None:
    # Even without -r, diff compares the contents of two folders, and with -N those of one.
    for word in [*given.operands, *map(Word, given.values("--from-file", "--to-file"))]:
        place.tree(word)
        if not given.has("--no-dereference"):
            place.followed(word, "the same with --no-dereference")


def _iconv(given: Given, place: Place) -> None:
    del place
    if not given.has("-f", "-t", "-l", "--from-code", "--to-code", "--list"):
        raise writes("iconv needs -f or -t to be understood")


_PROGRAMS = {
    "cat": Program(
        "-A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank"
        " --show-tabs --show-nonprinting",
        globs="any",
    ),
    "bat": Program(
        "-n -p -A -r=T -l=T -H=T --plain --number --show-all --line-range=T --language=T --style=T"
        " --color=T --paging=T --theme=T --decorations=T --highlight-line=T --tabs=N --wrap=T"
        " --terminal-width=N",
        judge=lambda given, _: _never_pages(given),
    ),
    "tac": Program("-b -r -s=T --before --regex --separator=T", globs="any"),
    "rev": Program("-0 --zero", globs="any"),
    "nl": Program(
        "-b=T -d=T -f=T -h=T -i=N -l=N -n=T -p -s=T -v=N -w=N --body-numbering=T --section-delimiter=T"
        " --footer-numbering=T --header-numbering=T --line-increment=N --join-blank-lines=N"
        " --number-format=T --no-renumber --number-separator=T --starting-line-number=N --number-width=N",
        globs="any",
    ),
    "head": Program(
        "-c=N -n=N -q -v -z -# --bytes=N --lines=N --quiet --silent --verbose --zero-terminated", globs="any"
    ),
    "tail": Program(
        "-c=N -n=N -q -v -z -# -r -f -F --bytes=N --lines=N --quiet --silent --verbose --zero-terminated"
        " --follow[=T] --retry --pid=N --sleep-interval=N -s=N",
        globs="any",
        judge=_tail,
    ),
    "wc": Program("-c -m -l -L -w --bytes --chars --lines --max-line-length --words --total=T", globs="any"),
    "cut": Program(
        "-b=T -c=T -d=T -f=T -n -s -z --bytes=T --characters=T --delimiter=T --fields=T --complement"
        " --only-delimited --output-delimiter=T --zero-terminated",
        globs="any",
    ),
    "tr": Program("-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1", "texts", most=2),
    "fold": Program("-b -s -w=N -# --bytes --spaces --width=N", globs="any"),
    "fmt": Program(
        "-c -t -s -u -w=N -g=N -p=T -# --crown-margin --tagged-paragraph --split-only"
        " --uniform-spacing --width=N --goal=N --prefix=T",
        globs="any",
    ),
    "pr": Program("-# -a -c -d -F -f -h=T -J -l=N -m -n -o=N -r -t -T -v -w=N -W=N", globs="any"),
    "expand": Program("-i -t=T --initial --tabs=T", globs="any"),
    "unexpand": Program("-a -t=T --all --first-only --tabs=T", globs="any"),
    "column": Program(
        "-t -s=T -n -c=N -o=T -x -e -J -N=T -R=T -H=T -O=T -E=T -T=T -W=T -L -d -l=N -r=T -i=T -p=T --table"
        " --separator=T --output-separator=T --output-width=N --fillrows --keep-empty-lines --json"
        " --table-columns=T --table-right=T --table-hide=T --table-order=T --table-truncate=T"
        " --table-wrap=T --table-name=T --table-columns-limit=N --table-noheadings",
        globs="any",
    ),
    "comm": Program(
        "-1 -2 -3 -z --check-order --nocheck-order --output-delimiter=T --total --zero-terminated", most=2
    ),
    "join": Program(
        "-a=N -e=T -i -j=N -o=T -t=T -v=N -1=N -2=N -z --ignore-case --check-order --nocheck-order --header"
        " --zero-terminated",
        most=2,
    ),
    "paste": Program("-d=T -s -z --delimiters=T --serial --zero-terminated", globs="any"),
    "tsort": Program("", most=1),
    "sort": Program(
        "-b -d -f -g -h -i -M -n -R -r -V -k=T -s -u -z -t=T -c -C --check[=T] --parallel=N"
        " --debug --ignore-leading-blanks --dictionary-order --ignore-case"
        " --field-separator=T --general-numeric-sort --human-numeric-sort --ignore-nonprinting --month-sort"
        " --numeric-sort --random-sort --reverse --sort=T --version-sort --key=T --stable --unique"
        " --zero-terminated"
    ),
    "shuf": Program("-e -i=T -n=N -r -z --echo --input-range=T --head-count=N --repeat --zero-terminated"),
    "uniq": Program(
        "-c -d -D -i -u -z -f=N -s=N -w=N --count --repeated --all-repeated[=T] --group[=T] --ignore-case"
        " --skip-fields=N --skip-chars=N --check-chars=N --unique --zero-terminated",
        globs="none",
        most=1,
    ),
    "diff": Program(
        "-q -s -c -C=N -u -U=N -e -n -y -W=N -p -F=T -t -T -r -N -a -b -w -B -E -Z -i -I=T -d -x=T -X=F"
        " -D=T --brief --report-identical-files --context[=N] --unified[=N] --ed --rcs --side-by-side"
        " --width=N --left-column --suppress-common-lines --show-c-function --show-function-line=T"
        " --label=T --expand-tabs --initial-tab --tabsize=N --suppress-blank-empty --recursive"
        " --no-dereference --new-file --unidirectional-new-file --ignore-file-name-case"
        " --no-ignore-file-name-case --exclude=T --exclude-from=F --starting-file=T --from-file=F"
        " --to-file=F --ignore-case --ignore-tab-expansion --ignore-trailing-space --ignore-space-change"
        " --ignore-all-space --ignore-blank-lines --ignore-matching-lines=T --text --strip-trailing-cr"
        " --minimal --horizon-lines=N --speed-large-files --color[=T] --palette=T --normal",
        judge=_diff,
    ),
    "cmp": Program(
        "-b -i=T -l -n=N -s --print-bytes --ignore-initial=T --verbose --bytes=N --quiet --silent", most=4
    ),
    "od": Program(
        "-A=T -j=N -N=N -S=N -t=T -v -w=N -a -b -c -d -f -i -l -o -s -x --address-radix=T --skip-bytes=N"
        " --read-bytes=N --strings[=N] --format=T --output-duplicates --width[=N] --endian=T",
        globs="any",
    ),
    "hexdump": Program(
        "-b -c -C -d -o -x -X -v -e=T -n=N -s=N -L[=T] --one-byte-octal --one-byte-char"
        " --canonical --two-bytes-decimal --two-bytes-octal --two-bytes-hex --length=N"
        " --skip=N --no-squeezing --format=T",
        globs="any",
    ),
    "strings": Program(
        "-a -f -n=N -t=T -e=T -w -o -d -# --all --data --print-file-name --bytes=N --radix=T"
        " --encoding=T --include-all-whitespace",
        judge=no_lists,
    ),
    "base64": Program("-d -D -i -w=N --decode --ignore-garbage --wrap=N", most=1),
    "md5sum": Program(_SUM, globs="any"),
    "md5": Program("-q -r -s=T", globs="any"),
    "cksum": Program(_SUM + " -a=T -l=N --algorithm=T --length=N --untagged --raw --base64 --debug"),
    "b2sum": Program(_SUM + " -l=N --length=N", globs="any"),
    "sum": Program("-r -s --sysv", globs="any"),
    "shasum": Program("-a=N -b -c -t -U -0 -q -s -w --algorithm=N --check --quiet --status"),
    "zcat": Program("-f -q --force --quiet"),
    "seq": Program("-f=T -s=T -w --format=T --separator=T --equal-width", "texts", globs="none", most=3),
    "factor": Program("", "texts", globs="none"),
    "expr": Program("", "texts", globs="none"),
    "numfmt": Program(
        "-d=T -z --delimiter=T --field=T --format=T --from=T --from-unit=N --grouping"
        " --header[=N] --padding=N --round=T --suffix=T --to=T --to-unit=N --invalid=T",
        "texts",
        globs="none",
    ),
    "iconv": Program("-f=T -t=T -l -c -s --from-code=T --to-code=T --list --silent", judge=_iconv),
}
_SAME = {
    "batcat": "bat",
    "hd": "hexdump",
    "base32": "base64",
    "gzcat": "zcat",
    "bzcat": "zcat",
    "xzcat": "zcat",
    "zstdcat": "zcat",
    "sha1sum": "md5sum",
    "sha224sum": "md5sum",
    "sha256sum": "md5sum",
    "sha384sum": "md5sum",
    "sha512sum": "md5sum",
}


def look(name: str, words: Sequence[Word], place: Place) -> None:
    """Judge one of these programs; raises Refused."""
    if name == "xxd":
        _xxd(words, place)
        return
    program = _PROGRAMS[_SAME.get(name, name)]
    if len(words) == 1 and words[0].text in ("--help", "--version"):
        return
    look_at(name, program, words, place)


def _never_pages(given: Given) -> None:
    if any(value not in ("never", "auto") for value in given.values("--paging")):
        raise writes("bat would start a pager", "bat --paging=never FILE")


def _xxd(words: Sequence[Word], place: Place) -> None:
    """Parse xxd's options as it does: one letter per word, a number after some, and never a second file."""
    rest = [*words]
    while rest and rest[0].text[:1] == "-" and rest[0].text != "-":
        text = rest.pop(0).text
        option, number = text[:2], text[2:]
        if text in ("-a", "-b", "-d", "-e", "-E", "-i", "-p", "-ps", "-u", "-C", "-v"):
            continue
        if option not in ("-c", "-g", "-l", "-o", "-s"):
            raise writes(f"xxd {text} is not on the list of options that only read", "xxd FILE")
        number = number or (rest.pop(0).text if rest else "")
        if not number.strip("+-") or not frozenset("0123456789abcdefxABCDEF").issuperset(number.strip("+-")):
            raise writes(f"{option} of xxd takes a number")
    if len(rest) > 1:
        raise writes(f"xxd writes its second file, {rest[1].text}", f"xxd {rest[0].text}")
    for word in rest:
        if word.pattern:
            raise writes(f"{word.text} may stand for two files, of which xxd writes the second")
        if word.text != "-":
            place.content(word)
