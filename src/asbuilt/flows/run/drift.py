"""The numbers of a phase: measured, asked about, written at landing. Rule: kept, so a replay finds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.events.attempts import DriftFound
from asbuilt.events.phases import PhaseProven
from asbuilt.events.questions import DriftKey
from asbuilt.journal.events import shortened
from asbuilt.plan.editing.edit import the_phase
from asbuilt.plan.model import Phase
from asbuilt.proof.drift.measured_numbers import (
    Number,
    Shown,
    Weighed,
    corrections,
    far_off,
    notes_of,
    numbers_in,
)
from asbuilt.proof.drift.reported_numbers import tokens_in
from asbuilt.proof.evidence import Evidence
from asbuilt.proof.verdict import Waiver

if TYPE_CHECKING:
    from asbuilt.flows.run.record import Record
    from asbuilt.lifecycle.delivery.facts import Landed, Work
    from asbuilt.lifecycle.run.facts import AttemptFacts

_ASKED: Final = 3
"""Most numbers that a user is asked about; a phase with more wrong numbers needs another plan."""
_WORDS: Final = 450
"""Most bytes about one number in an event."""
_NOTES: Final = 3


class Correction(NamedTuple):
    """A number to correct at landing: its bullet, and its value."""

    bullet: int
    actual: int
    text: str
    """The bullet as measured; a bullet that a user has changed since is left alone."""
    on: str
    """Day of the measurement, UTC."""


class Measured(NamedTuple):
    """The numbers of an attempt, and notes on them for the user."""

    numbers: tuple[Number, ...]
    notes: tuple[str, ...] = ()


def measure(
    record: Record,
    phase_id: str,
    attempt: AttemptFacts,
    shown: Sequence[Evidence],
    verifier_lines: Sequence[str],
) -> Measured:
    """Measure the numbers that the phase states, and note the agents' and the verifier's claims."""
    plan = record.frozen_plan(phase_id)
    phase = the_phase(plan, phase_id)
    theirs: list[str] = record.blobs.get_json(attempt.drift) if attempt.drift else []
    blamed, _ = tokens_in(verifier_lines)
    tokens, malformed = tokens_in([*theirs, *verifier_lines])
    numbers = numbers_in(plan, phase, _shown(record, phase, shown), tokens, blamed)
    return Measured(numbers, tuple(islice(notes_of(numbers, tokens, malformed, phase_id), _NOTES)))


def _shown(record: Record, phase: Phase, shown: Iterable[Evidence]) -> Shown:
    if not any(criterion.claim for criterion in phase.criteria):
        return Shown()
    passed = [check for check in shown if check.outcome == "PASS"]
    outputs = {
        check.name: record.blobs.get(check.output).decode("utf-8", "replace")
        for check in passed
        if not check.is_suite
    }
    suites = [check.ran - (check.failed or 0) for check in passed if check.is_suite and check.ran is not None]
    return Shown(outputs, sum(suites) if suites else None)


def record_drift(record: Record, phase: str, number: int, weighed: Weighed, measured: Measured) -> None:
    """Record what was found about the numbers of an attempt, if anything."""
    if not any(claim.off_pct for claim in measured.numbers) and not measured.notes:
        return
    asks = weighed.asks if len(weighed.asks) <= _ASKED else ()
    record.append(
        DriftFound(
            phase=phase,
            number=number,
            numbers=record.blobs.put_json(measured.numbers),
            asks=tuple(
                (ask.item, ask.actual, ask.is_flagged, shortened(f"{ask.words}\n{ask.diff}", _WORDS))
                for ask in asks
            ),
            stops=tuple(shortened(claim.words, _WORDS) for claim in weighed.stops[:1]),
            notes=tuple(shortened(note, _WORDS // _NOTES) for note in measured.notes),
            far=far_off(measured.numbers),
        ),
        f"{phase}/{number}/drift",
    )


def kept_numbers(record: Record, digest: str | None) -> tuple[Number, ...]:
    """Read back the measured numbers of an attempt."""
    return () if digest is None else tuple(Number(*row) for row in record.blobs.get_json(digest))


def agreed_to(record: Record, intent: str, numbers: Iterable[Number]) -> dict[int, Waiver]:
    """Return the items whose exact number has a yes, in any run."""
    answers = record.answered(
        {
            number.item: DriftKey(intent=intent, item=number.item, actual=number.actual).under
            for number in numbers
            if number.off_pct
        }
    )
    return {
        item: Waiver("the number is corrected", approval.answered_by or "", (approval.answered_at or "")[:10])
        for item, approval in answers.items()
        if approval.answer == "yes"
    }


def keep_corrections(record: Record, phase: Phase, attempt: AttemptFacts) -> str | None:
    """Keep the corrections for the landing of a phase; None if there are none."""
    numbers = kept_numbers(record, attempt.numbers)
    wanted = [*corrections(numbers, agreed_to(record, phase.intent, numbers))]
    if not wanted:
        return None
    on = record.at(f"{phase.id}/{attempt.number}/drift")[:10]
    found = [Correction(number.bullet, number.actual, number.text, on) for number in wanted]
    return record.blobs.put_json(found)


def corrected_in(record: Record, works: Sequence[Work | Landed]) -> Mapping[str, tuple[Correction, ...]]:
    """Return the corrections of some proven phases, by phase."""
    digests = {
        work.phase: record.event(PhaseProven, f"{work.phase}/proven", run=work.run).corrected
        for work in works
    }
    return {
        phase: tuple(Correction(*row) for row in record.blobs.get_json(digest))
        for phase, digest in digests.items()
        if digest
    }
