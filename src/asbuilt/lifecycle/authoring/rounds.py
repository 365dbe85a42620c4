"""Rounds of critique in a session's records, and their summary for the next critic. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import structs

from asbuilt.lifecycle.authoring.session import PLANS, Session
from asbuilt.lifecycle.authoring.stages import Stage
from asbuilt.lifecycle.critique.convergence import Over, Round, Shown, Who, decide, show
from asbuilt.lifecycle.critique.findings import Critique, read_critique

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from asbuilt.lifecycle.critique.principles import Principle

_NOBODY = Who("", "")


def rounds_in(
    session: Session,
    who: Mapping[str, Who],
    *,
    files: Collection[str],
    principles: Sequence[Principle],
    agents: frozenset[str] = frozenset(),
) -> tuple[Round, ...]:
    """Rebuild the rounds from the accepted records; `who` maps a record's name to its author."""
    rounds: list[Round] = []
    plan, author = "", _NOBODY
    for record in session.records:
        if record.stage in PLANS:
            plan, author = record.text, who.get(record.name, _NOBODY)
        if record.stage is not Stage.CRITIQUE or session.options.critique_mode == "open":
            continue
        read = read_critique(
            record.text,
            plan=plan,
            files=files,
            principles=[one.id for one in principles],
            earlier=earlier_in(rounds, plan),
        )
        if isinstance(read, Critique):
            rounds.append(Round(plan, author, who.get(record.name, _NOBODY), read, agents))
    return tuple(rounds)


def without_needless(session: Session, rounds: Sequence[Round], principles: Sequence[Principle]) -> Session:
    """Drop the rounds after the critique that settled the plan; one revision answers it and ends the session.

    If no revision follows that critique, the stages stay as they were chosen.
    """
    stages = session.options.stages
    critiques = [at for at, stage in enumerate(stages) if stage is Stage.CRITIQUE]
    ids = [one.id for one in principles]
    for number, at in enumerate(critiques[: len(rounds)], 1):
        is_over = isinstance(decide(rounds[:number], limit=len(critiques), principles=ids), Over)
        if is_over and Stage.REVISE in stages[at:]:
            kept = stages[: stages.index(Stage.REVISE, at) + 1]
            return replace(session, options=structs.replace(session.options, stages=kept))
    return session


def earlier_in(rounds: Sequence[Round], plan: str) -> list[str]:
    """Return the ids of the findings that the next critic of a plan sees."""
    return [one.id for one in show(rounds, plan).open]


def told_of(shown: Shown) -> list[tuple[str, str]]:
    """Return what a critic sees from round 2 on: changed parts with line numbers, and open findings."""
    parts = [
        (
            "plan",
            "\n".join(f"{number} {line}" for number, line in enumerate(part.text.split("\n"), part.line)),
        )
        for part in shown.parts
    ]
    open_ = [
        f"{one.id} ({one.finding.principle}, {one.finding.kind}, {one.finding.level.name.casefold()}): "
        f"{one.finding.text}"
        for one in shown.open
    ]
    return [*parts, *([("open", "\n".join(open_))] if open_ else [])]
