"""Fuzz the shell gate: whatever it allows, tree-sitter-bash and shfmt must read in the same words.

A crash is an exception, a disagreement about words, or a part of the grammar that the gate must not know.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["asbuilt.policy"]):
    from asbuilt.policy.shell import programs
    from asbuilt.policy.shell.judge import verdict
    from asbuilt.policy.shell.lexer import commands

    for module in pkgutil.iter_modules(programs.__path__, f"{programs.__name__}."):
        importlib.import_module(module.name)

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from oracles import Disagreement, by_shfmt, by_tree_sitter, unquoted  # noqa: E402
from tests.attack.gate.mutants import made  # noqa: E402
from tests.attack.gate.rows import read_rows  # noqa: E402 - the tests' folder is on the path only now

HOME = "/home/ada"
CWD = f"{HOME}/project"
SAFE = [row.cmd for row in read_rows() if row.safe]
TESTS = ("[", "[[")


def examine(data: bytes) -> None:
    """Make a command of some bytes, and compare three readings of it when the gate allows it."""
    text = command_of(data)
    if verdict(text, cwd=CWD, home=HOME, root=CWD) is not None:
        return
    compare(text)


def command_of(data: bytes) -> str:
    """Take the bytes as a text, or as the chance by which a safe row is changed."""
    if data[:1] < b"\x40":
        return data[1:].decode("utf-8", "replace")
    source = atheris.FuzzedDataProvider(data[1:])
    return made(lambda below: source.ConsumeIntInRange(0, below - 1), SAFE)


def compare(text: str) -> None:
    """Raise where one of three readers finds other words."""
    line = commands(text, home=HOME)
    own = [[word.text for word in command.words] for command in line]
    calls, inputs = by_shfmt(text, home=HOME)
    plain = [["[["] if words[0] == "[[" else words for words in own]
    if calls != plain:
        raise Disagreement(f"{text!r}: shfmt reads {calls}, the gate {plain}")
    if inputs != [word.text for command in line for word in command.inputs]:
        raise Disagreement(f"{text!r}: shfmt finds {inputs} as inputs")
    read = [[unquoted(source, home=HOME) for source in words] for words in by_tree_sitter(text)]
    plain = [words[:1] if words[0] in TESTS else words for words in own]
    if read != plain:
        raise Disagreement(f"{text!r}: tree-sitter reads {read}, the gate {plain}")


def seed(folder: Path) -> None:
    """Write the safe rows, each as a text of its own, as the corpus to start from."""
    for number, command in enumerate(SAFE):
        (folder / str(number)).write_bytes(b"\0" + command.encode())
        (folder / f"{number}-mutant").write_bytes(b"\xff" + command.encode()[::-1])


def main() -> None:
    """Run libFuzzer with the arguments it was given."""
    with tempfile.TemporaryDirectory() as folder:
        seed(Path(folder))
        again = any(Path(argument).is_file() for argument in sys.argv[1:])
        atheris.Setup(sys.argv if again else [*sys.argv, folder], examine)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
