"""The long forms: `python -m tests.attack.gate sample 2000 0`. Each ends with what was run and found."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.attack.gate import hooked, languages, ringed, sample, spawned
from tests.attack.gate.stage import build


def main(words: list[str]) -> int:
    """Do what the first word says."""
    kind, size, first = words[0], int(words[1]), int(words[2])
    return {"sample": _sample, "ring": _ring, "hook": _hook, "languages": _languages}[kind](size, first)


def _sample(size: int, first: int) -> int:
    found = sample.effects(size, first)
    for effect in found:
        print(f"{effect.command!r}: {effect.seen}\n  again: just gate-sample 1 {effect.number}")  # noqa: T201
    print(f"{size} allowed mutants from {first} on were run, {len(found)} had an effect")  # noqa: T201
    return bool(found)


def _ring(size: int, first: int) -> int:
    rows = ringed.unsafe_rows()[first:][: size or None]
    found = ringed.broken(rows)
    for one in found:
        print(f"{one.command!r}: {one.changed}")  # noqa: T201
    print(f"{len(rows)} unsafe rows from {first} on were run in the ring, {len(found)} broke out")  # noqa: T201
    return bool(found)


def _hook(size: int, first: int) -> int:
    started = size // 100
    with tempfile.TemporaryDirectory(prefix="hook-") as folder:
        talk = hooked.Talk(build(Path(folder).resolve() / "stage"))
        talk.hold()
        found = hooked.opened(talk, size - started, first)
        found += spawned.opened(talk, started, first + size - started)
    for one in found:
        print(f"{one.data!r}: {one.said!r}\n  again: just gate-hook 1 {one.number}")  # noqa: T201
    counted = f"{size - started} inputs in process and {started} to a process of their own"
    print(f"{counted}, from {first} on: {len(found)} opened the gate")  # noqa: T201
    return bool(found)


def _languages(size: int, first: int) -> int:
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="languages-") as folder:
        stage = build(Path(folder).resolve() / "stage")
        for kind in languages.KINDS:
            allowed, found = languages.marked(stage, kind, size, first)
            wrong += len(found)
            for one in found:
                print(f"{one.command!r}\n  again: just gate-languages 1 {one.number}")  # noqa: T201
            print(f"{kind}: {allowed} allowed of {size} from {first} on were run, {len(found)} left a mark")  # noqa: T201
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
