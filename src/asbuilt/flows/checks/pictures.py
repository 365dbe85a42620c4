"""Sign-off of visible changes before they land, with pictures of a command or of a tester's tries.

Rules: a phase that changes the UI lands only after a user's yes, whatever comes of the pictures. A try counts
only as asbuilt repeated it; what happened in the tester's own sandbox is a claim.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from asbuilt.errors import NotFound, StoreFailed
from asbuilt.events.phases import PicturesTaken, SignOffWanted
from asbuilt.events.questions import SignOffKey
from asbuilt.flows.checks.outcomes import outcome_of
from asbuilt.flows.checks.prove import tree_of
from asbuilt.flows.run.briefs import drive_command
from asbuilt.git.repository import Repository
from asbuilt.lifecycle.run.moves import Verify
from asbuilt.proof.evidence import Evidence
from asbuilt.proof.judgement import judge_check
from asbuilt.proof.pictures import Picture, media_of, sorted_out

if TYPE_CHECKING:
    from asbuilt.flows.context import Context
    from asbuilt.flows.environments.check_environment import CheckEnvironments
    from asbuilt.flows.run.record import Record
    from asbuilt.journal.blobs import Blobs
    from asbuilt.lifecycle.delivery.facts import DeliveryFacts, Work
    from asbuilt.lifecycle.plan_run.facts import PlanFacts

_LEFT: Final = 5
TESTER: Final = "tester"
"""Command of the pictures that come from tries."""
Tries = tuple[tuple[str, ...], ...]
"""The arguments of each `drive.py` that a tester ran."""


def seen_by_people(
    record: Record, repository: Repository, works: Iterable[Work], intents: Mapping[Work, str]
) -> list[SignOffWanted]:
    """List the phases that change the UI: each needs a yes to exactly its own tree."""
    slug, seen = record.run.options.slug, []
    pictures = f"; asbuilt report {slug} --open has pictures" if record.run.options.pictures else ""
    for work in works:
        phase, _ = record.frozen(work.phase, run=work.run)
        if phase.touches_ui:
            key = SignOffKey(intent=intents[work], change=f"ui-{tree_of(repository, work.commit)}")
            question = f"look at phase {work.phase}, {phase.title}: it changes what people see{pictures}"
            seen.append(SignOffWanted(item=key.item, phase=work.phase, question=question))
    return seen


def take_pictures(
    record: Record, repository: Repository, environments: CheckEnvironments, facts: DeliveryFacts
) -> None:
    """Take pictures of the run's current tree, once per tree; record success and failure alike."""
    command, tree = record.run.options.pictures, tree_of(repository, facts.base_now)
    if not command or record.has(f"pictures/{tree}"):
        return
    frozen = (record.frozen(work.phase, run=work.run)[0] for work in facts.pending)
    if not any(phase.touches_ui for phase in frozen):
        return
    with environments.take(record.setup()) as environment:
        environment.set_up(tree_of(repository, facts.base or ""))
        ran, files = environment.look(tree, command)
    found = sorted_out(files)
    judged = judge_check(ran.ended.exit_code)
    left = ", ".join(found.left_out[:_LEFT])
    kept = [(picture.name, record.blobs.put(picture.content)) for picture in found.pictures]
    why = [
        judged.why if judged.outcome != "PASS" else "",
        "" if found.pictures else "it wrote no picture",
        f"not shown: {left}" if left else "",
    ]
    record.append(
        PicturesTaken(
            command=command,
            outcome=judged.outcome if found.pictures else "FAIL",
            why="; ".join(filter(None, why)),
            tree=tree,
            pictures=record.blobs.put_json(kept),
            output=record.blobs.put(ran.ended.output),
        ),
        f"pictures/{tree}",
    )


def pictures_in(blobs: Blobs, taken: PicturesTaken) -> tuple[Picture, ...]:
    """Return the pictures of an event; empty if a blob was deleted."""
    try:
        named = blobs.get_json(taken.pictures)
        kept = [(name, blobs.get(digest)) for name, digest in named]
    except (NotFound, StoreFailed):
        return ()
    return tuple(Picture(name, media, data) for name, data in kept if (media := media_of(data)))


def repeat_tries(context: Context, facts: PlanFacts, move: Verify, tree: str, tries: Tries) -> list[Evidence]:
    """Run every try on a clean checkout of the tree; the n-th is the check `try n`."""
    record, proving = context.record, context.proving(facts)
    shown, pictures = [], []
    with context.environments(facts).take(record.setup()) as environment:
        environment.set_up(tree_of(context.repository, facts.base or ""))
        for number, arguments in enumerate(tries, 1):
            ran, files = environment.look(tree, f"{drive_command()} {shlex.join(arguments)}")
            shown.append(
                proving.evidence(f"try {number}", ran, judge_check(ran.ended.exit_code, ran.cut_off))
            )
            taken = sorted_out(files).pictures
            pictures += [
                (f"try-{number}-{picture.name}", record.blobs.put(picture.content)) for picture in taken
            ]
    taken_by = PicturesTaken(
        command=TESTER,
        outcome=outcome_of(shown),
        why=f"{len(shown)} tries of the tester",
        tree=tree,
        pictures=record.blobs.put_json(pictures),
    )
    record.append(taken_by, f"{move.phase}/{move.number}/pictures")
    return shown
