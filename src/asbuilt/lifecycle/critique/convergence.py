"""Critique in rounds that converge. Pure: the state is folded from the submitted rounds.

Rule: a material finding ends resolved by changed text, or carried into the plan. Round 1 sets the bar. A
finding that a later round first raises in unchanged text is carried; it requires no further round unless it
is blocking.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from asbuilt.lifecycle.critique.additions import Additions, Standing, State, additions
from asbuilt.lifecycle.critique.anchors import Outline, changed, changed_phases, follow, outline_of
from asbuilt.lifecycle.critique.findings import Critique, Finding, Kind, Level, PlanLine
from asbuilt.lifecycle.flaws import Flaw
from asbuilt.lifecycle.similarity import alike, words

FLOOR: Final = 6
"""Number of principles that one round must judge before a plan counts as judged."""
_ALIKE: Final = 0.5
_FAMILY: Final = {
    Kind.MISSING: "gap",
    Kind.VAGUE: "gap",
    Kind.UNVERIFIABLE: "gap",
    Kind.WRONG: "error",
    Kind.CONTRADICTION: "error",
    Kind.EXCESS: "excess",
}
"""Families of kinds that critics confuse from round to round."""


class Who(NamedTuple):
    """Agent and process of an author or critic."""

    agent: str
    process: str


class Round(NamedTuple):
    """One critique of one revision."""

    plan: str
    author: Who
    critic: Who
    critique: Critique
    agents: frozenset[str] = frozenset()
    """Agents that were available to judge it."""


class GoOn(NamedTuple):
    """Another round is due, on a revision that answers the open findings."""

    open: tuple[Standing, ...]
    unjudged: tuple[str, ...]
    """Principles that no valid critic judged; empty once enough are judged."""


class Over(NamedTuple):
    """No further round is due."""

    is_agreed: bool
    """Valid critics judged enough principles, and no material finding is open."""
    additions: Additions


class Part(NamedTuple):
    """A part of a plan for the critic, with its first line."""

    phase: str
    line: int
    text: str


class Shown(NamedTuple):
    """Input of the next round; the critic sees nothing else."""

    parts: tuple[Part, ...]
    open: tuple[Standing, ...]


def may_judge(critic: Who, authors: Collection[Who], agents: Collection[str] = ()) -> Flaw | None:
    """Return why a critic may not judge a plan; None if it may.

    It may not run in an author's process. An agent that wrote a part may judge only if no other is available.
    """
    example = "claude in a process of its own judges what codex wrote"
    if critic.process in {author.process for author in authors}:
        needed = "another process than the author's"
        return Flaw("the critic", f"{critic.agent} in the process that wrote the plan", needed, example)
    wrote = {author.agent for author in authors}
    others = sorted(set(agents) - wrote)
    if critic.agent in wrote and others:
        return Flaw(
            "the critic", f"{critic.agent}, which wrote the plan", f"one of {', '.join(others)}", example
        )
    return None


def fold(rounds: Sequence[Round]) -> tuple[Standing, ...]:
    """Return the state of every finding; a critic that may not judge raises findings, but resolves none."""
    known: list[Standing] = []
    for number, past_round in enumerate(rounds, 1):
        new = outline_of(past_round.plan)
        fresh = None
        if number > 1:
            old = outline_of(rounds[number - 2].plan)
            known, fresh = [_moved(standing, old, new) for standing in known], changed(old, new)
        for finding in past_round.critique.findings:
            is_bar = fresh is None or finding.level is Level.BLOCKING or _is_touched(finding, new, fresh)
            at = _find(known, finding, number)
            if at is None:
                state = State.OPEN if is_bar else State.LATE
                name = f"F{len(known) + 1}"
                known.append(Standing(name, finding, (finding.text,), (number,), state))
            else:
                known[at] = _merged(known[at], finding, number, is_bar=is_bar)
        _record_answers(known, rounds[:number])
    return tuple(known)


def decide(rounds: Sequence[Round], *, limit: int, principles: Sequence[str]) -> GoOn | Over:
    """Decide whether another round is due. A critique without findings is enough if its critic may judge."""
    standings = fold(rounds)
    unjudged = _unjudged(rounds, principles)
    open_ = tuple(
        standing for standing in standings if standing.state is State.OPEN and standing.finding.is_material
    )
    if (open_ or unjudged) and len(rounds) < limit:
        return GoOn(open_, unjudged)
    return Over(not open_ and not unjudged, additions(standings, rounds[-1].plan if rounds else "", unjudged))


def carried(rounds: Sequence[Round], plan: str, *, principles: Sequence[str]) -> Additions:
    """Return what a revision after the last round has to carry: open findings stay open."""
    return additions(_standings_in(rounds, plan), plan, _unjudged(rounds, principles))


def show(rounds: Sequence[Round], plan: str) -> Shown:
    """Select the input of the next round: first the whole plan, later the changes and the open findings."""
    if not rounds:
        return Shown((Part("", 1, plan),), ())
    old, new = outline_of(rounds[-1].plan), outline_of(plan)
    open_ = tuple(standing for standing in _standings_in(rounds, plan) if standing.state is State.OPEN)
    return Shown(tuple(_part(new, phase) for phase in changed_phases(old, new)), open_)


def _standings_in(rounds: Sequence[Round], plan: str) -> list[Standing]:
    """Return every finding with its position in a revision after all rounds."""
    old = outline_of(rounds[-1].plan if rounds else plan)
    return [_moved(standing, old, outline_of(plan)) for standing in fold(rounds)]


def _unjudged(rounds: Sequence[Round], principles: Sequence[str]) -> tuple[str, ...]:
    """List the principles that no valid critic judged; empty once one round judged enough.

    Only the round with the most judgements counts: two principles per round never add up to a review.
    """
    looked = (past_round.critique.judged for at, past_round in enumerate(rounds, 1) if _counts(rounds[:at]))
    judged = max(looked, key=len, default=frozenset())
    left = tuple(name for name in principles if name not in judged)
    return left if len(principles) - len(left) < min(FLOOR, len(principles)) else ()


def _counts(rounds: Sequence[Round]) -> bool:
    newest = rounds[-1]
    return may_judge(newest.critic, [past_round.author for past_round in rounds], newest.agents) is None


def _moved(standing: Standing, old: Outline, new: Outline) -> Standing:
    finding = standing.finding
    return standing._replace(finding=finding._replace(anchor=follow(finding.anchor, old, new)))


def _record_answers(known: list[Standing], rounds: Sequence[Round]) -> None:
    """Resolve findings answered with text that changed since; findings of this round stay open."""
    newest = rounds[-1]
    if not _counts(rounds):
        return
    resolved = {answer.finding: answer for answer in newest.critique.answers if answer.is_resolved}
    new = outline_of(newest.plan)
    for at, standing in enumerate(known):
        answer = resolved.get(standing.id)
        if answer is None or standing.state is not State.OPEN or len(rounds) in standing.raised:
            continue
        since = changed(outline_of(rounds[standing.raised[-1] - 1].plan), new)
        pieces = (new.at(cited.line) for cited in answer.evidence if isinstance(cited, PlanLine))
        if any(piece is not None and piece.line in since for piece in pieces):
            known[at] = standing._replace(state=State.RESOLVED, by=answer.evidence)


def _is_touched(finding: Finding, new: Outline, fresh: Collection[int]) -> bool:
    """Return whether a finding is about text that the newest revision changed."""
    anchor = finding.anchor
    if anchor.file:
        return any(anchor.file in piece.text for piece in new.pieces if piece.line in fresh)
    inside = new.of(anchor.phase)
    return any(piece.line in fresh for piece in inside if anchor.item in ("", piece.text))


def _find(known: Sequence[Standing], finding: Finding, number: int) -> int | None:
    """Find the known finding that matches best, whatever its wording."""
    ranked = [
        (_likeness(standing, finding, is_new=number not in standing.raised), -at)
        for at, standing in enumerate(known)
    ]
    rank, at = max(ranked, default=(0, 0))
    return -at if rank else None


def _likeness(standing: Standing, finding: Finding, *, is_new: bool) -> int:
    """Rank how surely a finding is a known one; 0 if it is another.

    Identity is principle, position and kind. Between rounds a critic may use a related kind or cite a
    neighbouring line; within one critique only the exact identity matches.
    """
    before, here = standing.finding.anchor, finding.anchor
    if standing.finding.principle != finding.principle or before.file != here.file:
        return 0
    is_kind = standing.finding.kind is finding.kind
    is_kin = is_kind or (is_new and _FAMILY[standing.finding.kind] == _FAMILY[finding.kind])
    if (before.phase, before.item) == (here.phase, here.item):
        is_alike = is_new and any(alike(wording, finding.text) >= _ALIKE for wording in standing.wordings)
        return 4 if is_kind else 3 if is_kin or is_alike else 0
    if not is_new or not is_kin or before.phase != here.phase:
        return 0
    wording = " ".join(standing.wordings)
    is_meant = _shared(finding.text, before.item) > _shared(finding.text, here.item)
    was_meant = _shared(wording, here.item) > _shared(wording, before.item)
    return 2 if is_meant or was_meant else 0


def _shared(text: str, item: str) -> int:
    return len(words(text) & words(item))


def _merged(standing: Standing, finding: Finding, number: int, *, is_bar: bool) -> Standing:
    """Merge a repeated finding: the higher level wins, and all wordings and evidence are kept."""
    known = standing.finding
    stricter = finding if finding.level > known.level else known
    return standing._replace(
        finding=stricter._replace(
            # The position of an item is more precise than that of a phase.
            anchor=finding.anchor if finding.anchor.item or not known.anchor.item else known.anchor,
            kind=known.kind,
            evidence=tuple(dict.fromkeys((*known.evidence, *finding.evidence))),
            check=finding.check or known.check,
        ),
        wordings=tuple(dict.fromkeys((*standing.wordings, finding.text))),
        raised=tuple(dict.fromkeys((*standing.raised, number))),
        state=State.OPEN if is_bar or standing.state is State.OPEN else State.LATE,
        by=(),
    )


def _part(outline: Outline, phase: str) -> Part:
    inside = outline.of(phase)
    first = inside[0].line
    after = next(
        (piece.line for piece in outline.pieces if piece.line > inside[-1].line), len(outline.lines) + 1
    )
    return Part(phase, first, "\n".join(outline.lines[first - 1 : after - 1]))
