"""Programs that show the machine, its processes and its clock.

Rule: none shows an environment, reaches another machine, or sets anything.
"""

from __future__ import annotations

from asbuilt.policy.shell.place import Refused, writes
from asbuilt.policy.shell.programs.spec import Program
from asbuilt.policy.shell.programs.spec import look as look_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.policy.shell.lexer import Word
    from asbuilt.policy.shell.place import Place
    from asbuilt.policy.shell.programs.spec import Given


def _date(given: Given, place: Place) -> None:
    del place
    if any(not word.text.startswith("+") for word in given.operands):
        raise writes("date with a number sets the clock", "date -u +%F")


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
# fmt: on
_PROGRAMS = {
    "date": Program(
        "-u -R -I[=T] -d=T -r=D --utc --universal --date=T --rfc-email --rfc-3339=T --iso-8601[=T]"
        " --reference=D --resolution --debug",
        "texts",
        globs="none",
        judge=_date,
    ),
    "uname": Program(
        "-a -s -n -r -v -m -p -i -o --all --kernel-name --nodename --kernel-release"
        " --kernel-version --machine --processor --hardware-platform --operating-system",
        "none",
    ),
    "arch": Program("", "none"),
    "nproc": Program("--all --ignore=N", "none"),
    "free": Program(
        "-b -k -m -g -h -l -t -w --bytes --kibi --mebi --gibi --human --lohi --total --wide --si", "none"
    ),
    "uptime": Program("-p -s --pretty --since", "none"),
    "hostname": Program("-s --short", "none"),
    "id": Program(
        "-a -g -G -n -r -u -z -Z --group --groups --name --real --user --zero", "texts", globs="none"
    ),
    "groups": Program("", "texts", globs="none"),
    "whoami": Program("", "none"),
    "logname": Program("", "none"),
    "users": Program("", "none"),
    "who": Program("-a -b -d -H -l -m -q -r -s -t -T -u -w --all --boot --count --heading --short", "none"),
    "w": Program("-h -u -s -f -o -i", "none"),
    "tty": Program("-s --silent --quiet", "none"),
    "locale": Program("-a -m -k -c --all-locales --charmaps", "texts", globs="none"),
    "lscpu": Program("-a -b -c -e[=T] -J -p[=T] -x -y --all --json --extended[=T] --parse[=T]", "none"),
    "getconf": Program("-a", "texts", globs="none"),
    "pgrep": Program(
        "-a -c -d=T -f -i -l -n -o -P=T -u=T -U=T -x -v --list-name --list-full --full --exact"
        " --newest --oldest --count",
        "texts",
        globs="none",
    ),
    "cal": Program("-1 -3 -j -m -s -w -y -n=N", "texts", globs="none"),
    "dpkg": Program("-l -L -s -S --list --listfiles --status --search", "texts", globs="none"),
    "vmstat": Program("-a -s -d -w -m", "texts", globs="none", most=2),
    "lsmod": Program("", "none"),
    "bc": Program("-l -q -s -w --mathlib --quiet --standard --warn", "none"),
    "lsb_release": Program("-a -i -d -r -c -s --all --short", "none"),
    "sw_vers": Program("-productName -productVersion -buildVersion", "none"),
}


def look(name: str, words: Sequence[Word], place: Place) -> None:
    """Judge one of these programs; raises Refused."""
    if len(words) == 1 and words[0].text in ("--help", "--version"):
        return
    if name == "ps":
        _ps([*words])
    else:
        look_at(name, _PROGRAMS[name], words, place)


def _ps(words: list[Word]) -> None:
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
