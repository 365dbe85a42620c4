"""Fuzz the plan reader and every edit of what it reads.

A crash is anything but a typed error, an inverse that does not restore the file, or a mark that changes
what is wanted.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["asbuilt.plan", "markdown_it", "yaml"]):
    from asbuilt.errors import AsbuiltError
    from asbuilt.plan.reader import read

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.plan.cases import load_all  # noqa: E402
from tests.plan.requests import Complete, Correct, FillIn, MarkItem, MarkPhase, Request, perform  # noqa: E402

from asbuilt.plan.markdown.statuses import WRITABLE  # noqa: E402 - the tests' folder is on the path only now

STATUSES = sorted(WRITABLE)
KINDS = 6


def asked_for(choice: int) -> Request:
    """Turn one number into an edit."""
    kind, choice = choice % KINDS, choice // KINDS
    place, choice = choice % 4, choice // 4
    commit = "a1b2c3d" if choice % 2 else None
    if kind == 0:
        return Complete()
    if kind == 1:
        return FillIn()
    if kind == 2:
        return MarkItem(place, choice // 2 % 4, True, commit)
    if kind == 3:
        return Correct(place, choice % 4, choice)
    note = "a | note" if choice % 3 else None
    return MarkPhase(place, STATUSES[choice // 2 % len(STATUSES)], commit, note, choice % 5 == 0)


def examine(data: bytes) -> None:
    """Read a plan, edit it once, and take the edit back. The last byte chooses the edit."""
    data, choice = data[:-1], data[-1] if data else 0
    request = asked_for(choice)
    try:
        plan = read(data)
        edit = perform(plan, request)
    except AsbuiltError:
        return
    after, inverse = edit.apply(data)
    if inverse.apply(after)[0] != data:
        raise AssertionError(f"{request} is not taken back by its inverse")
    if not isinstance(request, Correct) and read(after).intent != plan.intent:
        raise AssertionError(f"{request} changes what the plan wants")


def seed(folder: Path) -> None:
    """Write the case files' plans, each with several edits, as the corpus to start from."""
    for number, case in enumerate(load_all()):
        for choice in range(0, 256, 37):
            (folder / f"{number}-{choice}").write_bytes(case.data + bytes([choice]))


def main() -> None:
    """Run libFuzzer with the arguments it was given."""
    with tempfile.TemporaryDirectory() as folder:
        seed(Path(folder))
        atheris.Setup([*sys.argv, folder], examine)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
