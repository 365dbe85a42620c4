"""Little languages inside commands: programs of sed, awk and jq, and tests, made of tokens by chance.

The one rule: what the gate allows is run by the real program, in a container, and must leave no mark.
"""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from asbuilt.policy.shell.judge import verdict
from tests.attack.gate.mutants import seeded
from tests.attack.gate.traced import container

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.attack.gate.stage import Stage

SECRET = "the secret itself"  # noqa: S105  it is none
MARK = "pwned"
# fmt: off
_SED = (
    "s", "/", "|", "#", ",", "a", "b", "w", "x", "e", "p", "d", "{", "}", ";", "\n", "1", "$", "!", "[",
    "]", "\\", "/x/", "\\/", "[^/]", "[]", "[[:alpha:]]", "g", "I", "M", "2", "y", "q", "n", "N", "=",
    "l", " ", "\t", "i", "c", "a text", "r", "R", "W", "T", "t", ":", "~", "+", "0", "\\n", "&",
    "s/a/b/", "s/.*/touch pwned/", "y/ab/cd/", "F", "z", "w pwned", "e touch pwned", " ", " ", "s/a/b/",
    "s/a/b/", "s/a/b/", "s/a/b/", "s/.*/touch pwned/", "s/.*/touch pwned/", "iw", "ie", "w", "e",
)
_AWK = (
    "{", "}", "(", ")", "print", "printf", '"pwned"', '"a"', ";", ">", ">>", "$1", "NR", "a", "1",
    "/x/", '/"/', "/", "+", "-", ",", "=", "==", "if", "for", "while", "?", ":", "!", "~", "[", "]",
    "length", "in", "BEGIN", "END", "|", "&&", "||", '"', '\\"', "#", "\n", "++", "--", "length(", "%",
    "^", "next", "exit", "do", "else", ".5", '"touch pwned"', "getline", "system(", "ENVIRON", " ", " ",
    " ", " ",
)
_JQ = (
    ".", "..", "env", "$ENV", "|", ",", "(", ")", "[", "]", "{", "}", '"', '"a"', '"\\(', ":", "1",
    "1.", "as", "$x", "?", "//", "if", "then", "else", "end", "not", "+", "-", "input", "inputs", "@sh",
    "@base64", "def", "f", ";", "reduce", "try", "catch", "error", "#", "\n", ".env", '."env"',
    '["env"]', "tostring", " ", " ", "env.",
)
_TEST = (
    "-f", "-d", "-n", "-z", "-e", "-v", "-o", "-a", "!", "=", "==", "!=", "-eq", "-lt", "-nt", "&&",
    "||", "<", ">", "'a[$(touch pwned)]'", "a", "1", "0", "'1'", "''", "(", ")", "\\(", "=~", "-t",
    "-R", "x", "'x[`touch pwned`]'",
)
# fmt: on
_AROUND = {"sed": ("sed {} f", _SED), "awk": ("awk {} f", _AWK), "jq": ("jq {} f.json", _JQ)}
KINDS = (*_AROUND, "test")
_BATCH = 100


class Marked(NamedTuple):
    """A command that the gate allows and that left a mark, or told the secret."""

    number: int
    command: str


def marked(stage: Stage, kind: str, size: int, first: int) -> tuple[int, list[Marked]]:
    """Run the allowed commands among so many, counted from a number on: how many, and which left a mark."""
    allowed = [
        Marked(number, command)
        for number, command in _made(kind, size, first)
        if verdict(command, cwd="/w", home="/h", root="/w") is None
    ]
    suspects = [allowed[at : at + _BATCH] for at in range(0, len(allowed), _BATCH)]
    found: list[Marked] = []
    while suspects:
        batch = suspects.pop()
        if not _leaves_a_mark(stage, [one.command for one in batch]):
            continue
        half = len(batch) // 2
        if half:
            suspects += [batch[:half], batch[half:]]
        else:
            found += batch
    return len(allowed), sorted(found)


def _made(kind: str, size: int, first: int) -> Iterator[tuple[int, str]]:
    for number in range(first, first + size):
        draw = seeded(number)
        if kind == "test":
            words = " ".join(_TEST[draw(len(_TEST))] for _ in range(1 + draw(6)))
            start, end = (("[ ", " ]"), ("[[ ", " ]]"), ("test ", ""))[draw(3)]
            yield number, f"{start}{words}{end}"
        else:
            around, tokens = _AROUND[kind]
            text = "".join(tokens[draw(len(tokens))] for _ in range(2 + draw(9)))
            yield number, around.format(shlex.quote(text))


def _leaves_a_mark(stage: Stage, commands: list[str]) -> bool:
    """Run commands one after another in a folder of their own, and look at it and at what they said."""
    with tempfile.TemporaryDirectory(prefix="languages-") as room:
        folder = Path(room)
        (folder / "f").write_text("a x b\ntouch pwned\n")
        (folder / "f.json").write_text('{"a": 1, "env": {"x": 2}}\n')
        lines = (f"timeout 2 bash -c {shlex.quote(one)} 2>&1 | head -c 4000" for one in commands)
        script = f"cd {shlex.quote(room)}\n" + "\n".join(lines)
        done = subprocess.run(
            container(stage, ["bash", "-c", script], traces=folder),
            env={**stage.environment, "SECRET_TOKEN": SECRET},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        left = {path.name for path in folder.iterdir()} - {"f", "f.json"}
        return bool(left) or SECRET.encode() in done.stdout
