"""Make commands nobody wrote: rows changed a little, and words put together by a small grammar.

The one rule: all chance comes from `draw`, so one seed, or one input of a fuzzer, makes one command.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Draw = Callable[[int], int]
    """Gives a number from 0 up to, and without, the one it is given."""

# fmt: off
_SIGNS = (
    " ", " ", "\t", "\n", "|", "||", "&&", ";", "&", "|&", "<", ">", ">>", "2>", "&>", "2>&1",
    ">/dev/null", "#", "!", "'", '"', "\\", "\\\n", "$", "`", "(", ")", "{", "}", "[", "]", "*", "?", "~",
    "=", "-", "--", "@{", "^", "%", ":", "\r", "\u00a0", "\u200b", "é", "$(", "${", "<(", "<<", "<<<",
    "[[ ", " ]]", "[ ", " ]", "~/", "/", "..", ",", "+", ".",
)
# fmt: on
_WORDS = (
    *r"""
    -o -i -e -f -n -r -w -x -p -c -C -O -X -P -u -z -0 -1 -E -I -t -s -S -L -T -d -D -a -b -g -l -m -q -v -F
    -R -H -A -B -- --output=out.txt --output -oout.txt -delete -exec -ok -fprint -print -prune -printf
    --pre=./evil.sh --exec --ext-diff --textconv --open-files-in-pager --no-index --stdin --batch --all
    --stat --format=%h --oneline --follow --patch --in-place --file=evil.sed --edit --delete --force --set
    --files0-from=data.csv --compress-program=./evil.sh --to-command=./evil.sh
    --checkpoint-action=exec=./evil.sh --rsh-command=./evil.sh --index-file=out.txt --help --version out.txt
    README.md src src/app.py data.csv . .. /dev/null .env ./evil.sh HEAD HEAD~1 main v1.0 new '*.py' touch
    rm tee sh git log diff branch tag config stash remote show status worktree +5 5 0 1,5p '%p' '$ENV' env
    {} \; \( \) -type f -name x k=v
    """.split(),
    "'w out.txt'",
    "'1e touch pwned'",
    "'s/a/b/w out.txt'",
    "'{print > \"x\"}'",
)
_PROGRAMS = tuple(
    """
    ls cat head tail wc sort uniq cut tr sed grep find git diff jq rg fd tree du stat file awk echo printf
    test xxd od tar unzip zcat date ps column paste comm join nl fold seq timeout cd command hostname id bat
    less
    """.split()
)
_VERBS = tuple(
    """
    status log show diff blame branch tag remote stash reflog ls-files ls-tree cat-file rev-parse rev-list
    merge-base describe shortlog for-each-ref grep config worktree submodule symbolic-ref notes apply
    archive bisect fsck hash-object check-ignore var
    """.split()
)
_JOINTS = (" | ", " && ", "; ", "\n", " || ", " ", "|", "&&", ";")


def seeded(seed: int) -> Draw:
    """Draw by a seed."""
    chance = random.Random(seed)  # noqa: S311  a test's chance
    return chance.randrange


def made(draw: Draw, commands: Sequence[str]) -> str:
    """Make one command: mostly a mutant, else one by the grammar."""
    text = _by_grammar(draw) if draw(4) == 0 else commands[draw(len(commands))]
    for _ in range(draw(4)):
        text = _changed(draw, text, commands)
    return text


def _by_grammar(draw: Draw) -> str:
    text = _simple(draw)
    for _ in range(draw(3)):
        text += _JOINTS[draw(len(_JOINTS))] + _simple(draw)
    return text


def _simple(draw: Draw) -> str:
    program = _PROGRAMS[draw(len(_PROGRAMS))]
    words = [program] if program != "git" else [program, _VERBS[draw(len(_VERBS))]]
    return " ".join([*words, *(_WORDS[draw(len(_WORDS))] for _ in range(draw(4)))])


def _changed(draw: Draw, text: str, commands: Sequence[str]) -> str:
    at = draw(len(text) + 1)
    words = text.split(" ")
    place = draw(len(words))
    kind = draw(9)
    if kind == 0:
        return text[:at] + _SIGNS[draw(len(_SIGNS))] + text[at:]
    if kind == 1:
        return text[:at] + text[at + 1 + draw(3) :]
    if kind == 2:
        return " ".join([*words[: place + 1], _WORDS[draw(len(_WORDS))], *words[place + 1 :]])
    if kind == 3:
        return " ".join([*words[:place], *words[place + 1 :]])
    if kind == 4:
        return text + _JOINTS[draw(len(_JOINTS))] + commands[draw(len(commands))]
    if kind == 5:
        others = commands[draw(len(commands))].split(" ")
        return " ".join([*words[:place], others[draw(len(others))], *words[place + 1 :]])
    if kind == 6:
        return " ".join([*words[:place], _quoted(draw, words[place]), *words[place + 1 :]])
    if kind == 7 and text:
        other = chr(33 + draw(94))
        return text[:at] + other + text[at + 1 :]
    return " ".join([*words[:place], words[place][: draw(len(words[place]) + 1)], *words[place + 1 :]])


def _quoted(draw: Draw, word: str) -> str:
    at = draw(len(word) + 1)
    ways = (
        f"'{word}'",
        f'"{word}"',
        f"{word[:at]}'{word[at:]}'",
        f'{word[:at]}""{word[at:]}',
        f"{word[:at]}\\{word[at:]}",
        f"$'{word}'",
    )
    return ways[draw(len(ways))]
