from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.faults.processes import peak_mb
from tests.journeys.shop import LONG

if TYPE_CHECKING:
    from tests.faults.plant import Plant

pytestmark = pytest.mark.crash
FLOOD = 1_000_000_000 if LONG else 100_000_000
NOISE = f"head -c {FLOOD // 4} /dev/urandom"
UNRULY = {
    "floods in lines": [f"{{ flood = {FLOOD}, lines = true }}"],
    "floods in one line": [f"{{ flood = {FLOOD} }}", '{ say = "a line of its own" }'],
    "floods with noise": [f"{{ run = ['sh', '-c', '{NOISE} >&2; {NOISE}'] }}"],
    "leaves a child of another session": ["{ spawn = ['setsid', 'sleep', '600'] }"],
    "leaves a deaf child": ["{ spawn = ['setsid', 'sh', '-c', 'trap \"\" TERM HUP; sleep 600 & wait'] }"],
    "is deaf itself": ["{ ignore_term = true }", "{ spawn = ['setsid', 'sleep', '600'] }"],
}
WORK = ('{ write = "greet.py", text = "print(\'hello\')\\n" }', '{ say = "done" }')
AT_MOST_MB = 200


@pytest.mark.parametrize("how", UNRULY if LONG else ["floods in lines", "leaves a deaf child"])
def test_an_unruly_agent_costs_little_leaves_nothing_and_its_run_lands(plant: Plant, how: str) -> None:
    plant.turn('phase = "1"\nrole = "implement"', *UNRULY[how], *WORK[:1], "{ sleep = 2 }", *WORK[1:])
    plant.lands("greet.py", "plan.md")
    run = plant.request(mode="phase")
    plant.start()
    folder = plant.attempt(run, "1.1")
    plant.until((folder / "host.json").exists)
    assert plant.worker is not None
    pids = int(json.loads((folder / "host.json").read_bytes())["pid"]), plant.worker.pid
    peaks: set[float] = set()

    def is_over() -> bool:
        peaks.update(map(peak_mb, pids))
        return plant.run(run).is_over

    plant.until(is_over)
    assert 0 < max(peaks) < AT_MOST_MB
    plant.landed(run)
    assert sum(file.stat().st_size for file in folder.glob("*") if file.is_file()) < 20_000_000
