"""Compare what the plan's file wants now with what was frozen and proven. A mark is no difference."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from asbuilt.errors import NotFound, PlanUnreadable
from asbuilt.flows.record import say
from asbuilt.library.reading import read_bytes
from asbuilt.plan.reader import read

if TYPE_CHECKING:
    from asbuilt.flows.record import Record
    from asbuilt.journal.runs import Run
    from asbuilt.lifecycle.facts import RunFacts


def plan_of(run: Run) -> bytes:
    """Return the plan as it lies in the checkout that the run was started from, with every edit in it."""
    return read_bytes(Path(run.options["checkout"]) / run.plan, name=run.plan)


def compare(record: Record, facts: RunFacts, point: str) -> None:
    """Write down which proven phases the plan has changed meanwhile, and that it was looked at."""
    wanted = _intents(record.run)
    with record.store.write() as session:
        for phase in facts.phases.values():
            if phase.proven is not None and (intent := wanted.get(phase.id)) != phase.intent:
                key = f"{phase.id}/differs/{point}"
                say(session, record.run, "plan.differs", key, phase=phase.id, point=point, intent=intent)
        say(session, record.run, "plan.compared", f"compared/{point}", point=point)


def _intents(run: Run) -> dict[str, str]:
    try:
        plan = read(plan_of(run))
    except (NotFound, PlanUnreadable):
        # Whoever takes the plan away takes back what it promised; that is a difference in every phase.
        return {}
    return {phase.id: phase.intent for phase in plan.phases}
