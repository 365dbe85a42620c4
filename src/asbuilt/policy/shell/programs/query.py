"""jq and yq: a program that could show the environment or load another file is refused.

Rule: jq's `env` is refused wherever it could be the function; yq accepts plain paths only.
"""

from __future__ import annotations

from asbuilt.policy.shell.place import Refused, writes
from asbuilt.policy.shell.programs.spec import Program, read_all
from asbuilt.policy.shell.programs.spec import look as look_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.policy.shell.lexer import Word
    from asbuilt.policy.shell.place import Place
    from asbuilt.policy.shell.programs.spec import Given

_NAMED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_PATH = _NAMED | frozenset(".[]|- ")
_LOADS = frozenset(("import", "include", "modulemeta", "get_search_list"))
_YQ_WORDS = frozenset(("keys", "length", "type", "tag", "sort", "unique", "first", "last", "to_entries"))


def _judged(given: Given, place: Place) -> None:
    if not given.operands:
        raise writes(f"{given.name} lacks its filter", f"{given.name} '.' FILE")
    program = given.operands[0]
    if program.pattern:
        raise writes(
            f"the shell may replace {program.text} by file names", f"{given.name} '{program.text}' FILE"
        )
    (_jq if given.name == "jq" else _yq)(program.text)
    read_all(given.operands[1:], place)


def _jq(text: str) -> None:
    at = 0
    while at < len(text):
        if text[at] not in _NAMED:
            at += 1
            continue
        start = at
        while at < len(text) and text[at] in _NAMED:
            at += 1
        name, before = text[start:at], text[max(0, start - 2) : start]
        is_field = before[-1:] == "." and before != ".."
        is_quoted = before[-1:] == '"' and text[at : at + 1] == '"' and before != ')"'
        if is_field or is_quoted:
            continue
        if name in ("env", "ENV"):
            raise Refused(
                f"{name} in jq shows the environment, which holds secrets.", "jq '.env' FILE for a field"
            )
        if name in _LOADS:
            raise writes(f"{name} in jq takes in another file")


def _yq(text: str) -> None:
    words = "".join(one if one in _NAMED or one == "." else " " for one in text).split()
    plain = all(word.startswith(".") or word.isdigit() or word in _YQ_WORDS for word in words)
    if not _PATH.issuperset(text) or not plain:
        raise writes(f"the yq expression {text!r} is not a plain path", "yq '.a.b[0]' FILE")


_JQ = Program(
    "-r -c -s -n -S -e -M -C -a -j -R -h --raw-output --raw-output0 --compact-output --slurp --null-input"
    " --sort-keys --exit-status --monochrome-output --color-output --ascii-output --join-output --raw-input"
    " --tab --indent=N --unbuffered --stream --stream-errors --seq --arg=W --argjson=W --rawfile=V"
    " --slurpfile=V -V --version --help",
    "texts",
    judge=_judged,
)
_YQ = Program(
    "-r -P -C -M -N -e --raw-output --prettyPrint --colors --no-colors --no-doc --exit-status",
    "texts",
    judge=_judged,
)


def look(name: str, words: Sequence[Word], place: Place) -> None:
    """Judge one of these programs; raises Refused."""
    if len(words) == 1 and words[0].text in ("--version", "-V", "--help"):
        return
    if name == "yq" and words and words[0].text in ("e", "eval"):
        words = words[1:]
    look_at(name, _JQ if name == "jq" else _YQ, words, place)
