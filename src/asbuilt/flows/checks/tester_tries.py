"""Repeat a tester's tries in a check environment, with the services of checks, and keep their pictures.

Rule: a try counts only as asbuilt repeated it; what happened in the tester's own sandbox is a claim.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from asbuilt.events.phases import PicturesTaken
from asbuilt.flows.checks.prove import outcome_of, tree_of
from asbuilt.flows.run.briefs import drive_command
from asbuilt.proof.evidence import Evidence, judge_check
from asbuilt.proof.pictures import sorted_out

if TYPE_CHECKING:
    from asbuilt.flows.context import Context
    from asbuilt.lifecycle.plan_run.facts import PlanFacts
    from asbuilt.lifecycle.run.moves import Verify

TESTER: Final = "tester"
"""Command of the pictures that come from tries."""
Tries = tuple[tuple[str, ...], ...]
"""The arguments of each `drive.py` that a tester ran."""


def repeat_tries(context: Context, facts: PlanFacts, move: Verify, tree: str, tries: Tries) -> list[Evidence]:
    """Run every try on a clean checkout of the tree; the n-th is the check `try n`."""
    record, proving = context.record, context.proving(facts)
    shown, pictures = [], []
    with context.rigs(facts).take(record.setup()) as rig:
        rig.set_up(tree_of(context.repository, facts.base or ""))
        for number, arguments in enumerate(tries, 1):
            ran, files = rig.look(tree, f"{drive_command()} {shlex.join(arguments)}")
            shown.append(
                proving.evidence(f"try {number}", ran, judge_check(ran.ended.exit_code, ran.cut_off))
            )
            taken = sorted_out(files).pictures
            pictures += [(f"try-{number}-{one.name}", record.blobs.put(one.content)) for one in taken]
    taken_by = PicturesTaken(
        command=TESTER,
        outcome=outcome_of(shown),
        why=f"{len(shown)} tries of the tester",
        tree=tree,
        pictures=record.blobs.put_json(pictures),
    )
    record.say(taken_by, f"{move.phase}/{move.number}/pictures")
    return shown
