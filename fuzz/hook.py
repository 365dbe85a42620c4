"""Fuzz the hook's answer to a call while planning is held: no bytes make it let through what it must not.

A crash is an exception, a hold that is gone, or an answer that is neither a deny nor allowed by the policy.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["asbuilt.hook", "asbuilt.policy", "asbuilt.session"]):
    from asbuilt.hook.pre_tool_use import answer

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.attack.gate.hooked import Talk, input_of, is_closed  # noqa: E402
from tests.attack.gate.stage import build  # noqa: E402 - the tests' folder is on the path only now


def main() -> None:
    """Run libFuzzer with the arguments it was given."""
    with tempfile.TemporaryDirectory() as room:
        talk = Talk(build(Path(room).resolve() / "stage"))
        talk.hold()
        corpus = Path(room) / "corpus"
        corpus.mkdir()
        for number in range(400):
            (corpus / str(number)).write_bytes(input_of(talk, number))

        def examine(data: bytes) -> None:
            said = answer(talk.environ, data)
            if not is_closed(talk, data, 0, said) or not talk.is_held():
                raise AssertionError(f"{json.dumps(said)} opens the gate")

        again = any(Path(argument).is_file() for argument in sys.argv[1:])
        atheris.Setup(sys.argv if again else [*sys.argv, str(corpus)], examine)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
