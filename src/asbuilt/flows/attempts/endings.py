"""Build the events that record how an agent or a verifier ended."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from asbuilt.events import attempts
from asbuilt.events.event import Failure
from asbuilt.proof.opinion import Opinion, plain_opinion

if TYPE_CHECKING:
    from asbuilt.flows.run.record import Record
    from asbuilt.lifecycle.run.facts import AttemptFacts
    from asbuilt.lifecycle.run.moves import Attempt
    from asbuilt.ports import Brief, Result
    from asbuilt.proof.verdict import Verdict

_COMMAND: Final = 300
"""Most characters of an agent's command in its event."""
_NAMED: Final = 5
"""Most files written by a verifier that its event names."""
_WAIVABLE: Final = 10
"""Most unmet items that a user is asked about; a phase that lacks more is not nearly done."""
_FAILURES: Final = 4
_WORDS: Final = 300
"""Most characters of a failure in its event."""


def attempt_ended(
    record: Record, move: Attempt, known: AttemptFacts | None, brief: Brief, every: Sequence[Result]
) -> attempts.AttemptEnded:
    """Record how an attempt ended; of several agents, the first that did not finish decides."""
    whole = next((result for result in every if result.ending != "done"), every[0])
    usd, tokens = [result.cost_usd for result in every], [result.tokens for result in every]
    fields = _how(record, brief, whole, known.overloads if known else 0) | {
        # One agent without a figure makes the sum unknown.
        "cost_usd": None if None in usd else sum(filter(None, usd)),
        "tokens": None if None in tokens else sum(filter(None, tokens)),
    }
    return attempts.AttemptEnded(
        **fields,
        phase=move.phase,
        number=move.number,
        attempt=f"{move.phase}.{move.number}",
        says=whole.says[:300],
        ring=whole.ring,
        refused=tuple(whole.refused),
    )


def verifier_ended(
    record: Record, phase: str, number: int, judged: AttemptFacts, brief: Brief, ended: Result
) -> attempts.VerifierEnded:
    """Record a verifier that ended without a verdict."""
    data = _how(record, brief, ended, judged.verifier_overloads)
    return attempts.VerifierEnded(**data, phase=phase, number=number, attempt=brief.attempt.partition(".")[2])


def unjudged(record: Record, judged: AttemptFacts, brief: Brief, ended: Result) -> attempts.TogetherUnjudged:
    """Record a verifier of all phases that ended without a verdict."""
    fields = _how(record, brief, ended, judged.verifier_overloads)
    return attempts.TogetherUnjudged(**fields, attempt=brief.attempt.partition(".")[2])


def verdict_given(phase: str, number: int, judged: attempts.TogetherJudged) -> attempts.VerdictGiven:
    """Record the verdict on one phase."""
    fields = {name: getattr(judged, name) for name in judged.__struct_fields__}
    return attempts.VerdictGiven(**fields, phase=phase, number=number)


def judged_of(
    record: Record,
    name: str,
    ended: Result,
    opinion: Opinion | None,
    verdict: Verdict,
    written: tuple[str, ...],
) -> attempts.TogetherJudged:
    """Record the verdict, with the verifier's opinion as a blob."""
    kept = None if opinion is None else record.blobs.put_json(plain_opinion(opinion))
    return attempts.TogetherJudged(
        outcome=verdict.outcome,
        failures=tuple(_kept(failure) for failure in verdict.failures[:_FAILURES]),
        says=ended.says[:200],
        attempt=name,
        cost_usd=ended.cost_usd,
        tokens=ended.tokens,
        unproven=tuple(verdict.unproven) if len(verdict.unproven) <= _WAIVABLE else (),
        opinion=kept,
        items=record.blobs.put_json(verdict.items),
        written=written[:_NAMED],
    )


def _kept(failure: Failure) -> Failure:
    """Cut a failure so that its words fit."""
    over = max(len(str(failure)) - _WORDS, 0)
    return replace(failure, text=failure.text[: len(failure.text) - over])


def _how(record: Record, brief: Brief, ended: Result, overloads: int) -> dict[str, Any]:
    """Return the fields of `Ended`; `overloads` counts the overload errors in a row before this one."""
    fields: dict[str, Any] = {
        "ending": ended.ending,
        "reason": ended.reason[:500],
        "cause": ended.cause,
        "resets_at": record.reopens_at(ended, overloads),
        "starts": ended.starts,
        "cost_usd": ended.cost_usd,
        "tokens": ended.tokens,
    }
    if ended.ending == "done":
        return fields
    return fields | {
        "agent": brief.agent,
        "command": shlex.join(brief.program.command)[:_COMMAND],
        "folder": str(brief.workspace),
        "exit_code": ended.exit_code,
        "duration_s": ended.duration_s,
        "stderr": record.blobs.put(ended.stderr.encode("utf-8", "replace")) if ended.stderr else None,
    }
