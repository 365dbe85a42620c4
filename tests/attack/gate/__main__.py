"""The long forms: `python -m tests.attack.gate sample 2000 0`. Ends with what was run and what was found."""

from __future__ import annotations

import sys

from tests.attack.gate import sample


def main(words: list[str]) -> int:
    """Do what the first word says."""
    size, first = int(words[1]), int(words[2])
    found = sample.effects(size, first)
    for effect in found:
        print(f"{effect.command!r}: {effect.seen}\n  again: just gate-sample 1 {effect.number}")  # noqa: T201
    print(f"{size} allowed mutants from {first} on were run, {len(found)} had an effect")  # noqa: T201
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
