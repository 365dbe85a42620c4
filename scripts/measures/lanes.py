"""Measure phases side by side: how long a plan of 4 waves of 3 phases takes with 1, 2 and 3 lanes.

Run it alone: `python scripts/measures/lanes.py`. The critical path is the sum over the waves of the longest
phase of the run with one lane; the best schedule of two lanes needs two rounds for each wave. A makespan is
from the start of the first phase to the proof of the last; work on all phases together is printed beside it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.journeys.shop import Shop  # noqa: E402 - the tests' folder is on the path only now

from asbuilt.events.phases import PhaseBegun, PhaseJoined, PhaseProven  # noqa: E402
from asbuilt.events.runs import RunEnded, RunStarted  # noqa: E402
from asbuilt.journal.events import history  # noqa: E402

if TYPE_CHECKING:
    from asbuilt.events.event import Entry

WAVES: Final = 4
BESIDE: Final = 3
AGENT_S: Final = 4


def main() -> None:
    """Print the makespan and the worker's processor time of each run."""
    alone = _run(1)
    spans = _spans(alone[0])
    path_s = sum(max(spans[f"{wave}{phase}"] for phase in "abc") for wave in range(1, WAVES + 1))
    for lanes, (entries, cpu_s) in ((1, alone), (2, _run(2)), (3, _run(3))):
        proven = [_moment(one) for one in entries if isinstance(one.event, PhaseProven)]
        took_s = max(proven) - _at(entries, RunStarted) - _first_s(entries)
        after_s = _at(entries, RunEnded) - max(proven)
        best_s = path_s * {1: BESIDE, 2: 2, 3: 1}[lanes]
        phases = WAVES * BESIDE
        sys.stdout.write(
            f"{lanes} lanes: {took_s:.1f} s, {took_s / best_s:.2f}x of the best schedule ({best_s:.1f} s);"
            f" processor {cpu_s / phases:.2f} s a phase; before the first phase {_first_s(entries):.1f} s,"
            f" after the last {after_s:.1f} s; merges after the last lane {_merging_s(entries):.1f} s\n"
        )


def _run(lanes: int) -> tuple[list[Entry], float]:
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(Path(folder), f"{folder}/journal.db")
        shop.commit("plan.md", _plan(), "waves")
        turns = [
            f'[[turn]]\nphase = "{name}"\nrole = "implement"\nacts = [{{ sleep = {AGENT_S} }},'
            f' {{ write = "f{name}.py", text = "{name}\\n" }}, {{ say = "done" }}]\n'
            for name in _names()
        ]
        verify = '[[turn]]\nrole = "verify"\nacts = [{ verdict = "pass" }]\n'
        shop.script.write_text("".join(turns) + verify, encoding="utf-8")
        run = shop.request(mode="finish", hold=False, lanes=lanes)
        shop.start(ASBUILT_TEST_SLOTS=str(lanes + 1))
        shop.until(lambda: shop.run(run).is_over, within_s=600)
        if shop.worker is None or shop.run(run).state != "landed":
            raise AssertionError(shop.reason())
        # Of the worker alone: git and the agents are processes of their own.
        fields = Path(f"/proc/{shop.worker.pid}/stat").read_text(encoding="ascii").rsplit(") ", 1)[1].split()
        cpu_s = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        with shop.store.read() as session:
            entries = history(session, shop.address)
        shop.close()
    return entries, cpu_s


def _names() -> list[str]:
    return [f"{wave}{phase}" for wave in range(1, WAVES + 1) for phase in "abc"]


def _plan() -> str:
    parts = ["# Waves\n"]
    for name in _names():
        before = int(name[0]) - 1
        needs = ", ".join(f"Phase {before}{phase}" for phase in "abc") if before else "None"
        parts.append(
            f"## Phase {name} — Part {name}\n### Dependencies\n{needs}.\n### Work Items\n"
            f"- [ ] `f{name}.py` is there\n### Verification\n- `grep -q {name} f{name}.py`\n"
        )
    return "\n".join(parts)


def _at(entries: list[Entry], kind: type) -> float:
    return next(_moment(one) for one in entries if isinstance(one.event, kind))


def _moment(entry: Entry) -> float:
    return datetime.fromisoformat(entry.at).timestamp()


def _merging_s(entries: list[Entry]) -> float:
    """Sum over the waves how long merges took after the last lane of a wave was closed."""
    waves: dict[str, list[float]] = {}
    for one in entries:
        if isinstance(one.event, PhaseJoined | PhaseProven):
            wave = waves.setdefault(one.event.phase[0], [0.0, 0.0])
            wave[isinstance(one.event, PhaseProven)] = _moment(one)
    return sum(proven - joined for joined, proven in waves.values() if joined)


def _first_s(entries: list[Entry]) -> float:
    return _at(entries, PhaseBegun) - _at(entries, RunStarted)


def _spans(entries: list[Entry]) -> dict[str, float]:
    begun = {one.event.phase: one.at for one in entries if isinstance(one.event, PhaseBegun)}
    proven = {one.event.phase: one.at for one in entries if isinstance(one.event, PhaseProven)}
    return {
        name: (datetime.fromisoformat(proven[name]) - datetime.fromisoformat(begun[name])).total_seconds()
        for name in begun
    }


if __name__ == "__main__":
    main()
