"""Critique in rounds that come to an end. Pure: everything is folded from the rounds as they were handed in.

The one rule: a material finding ends resolved by text that changed, carried into the plan, or waived by a
person. Round 1 sets the bar. What a later round finds anew in text that has not changed keeps nobody from
going on unless it is blocking: it is carried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.lifecycle.critique.additions import additions
from asbuilt.lifecycle.critique.anchors import changed, changed_phases, follow, outline_of
from asbuilt.lifecycle.critique.findings import Kind, Level, PlanLine
from asbuilt.lifecycle.critique.principles import perspective
from asbuilt.lifecycle.critique.standing import Standing, State
from asbuilt.lifecycle.flaws import Flaw
from asbuilt.lifecycle.words import alike, words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from asbuilt.lifecycle.critique.additions import Additions
    from asbuilt.lifecycle.critique.anchors import Outline
    from asbuilt.lifecycle.critique.findings import Critique, Finding

FLOOR: Final = 6
"""So many principles have to be judged before a plan counts as judged."""
_ALIKE: Final = 0.5
_FAMILY: Final = {
    Kind.MISSING: "gap",
    Kind.VAGUE: "gap",
    Kind.UNVERIFIABLE: "gap",
    Kind.WRONG: "error",
    Kind.CONTRADICTION: "error",
    Kind.EXCESS: "excess",
}
"""Kinds that one critic takes for the other from round to round."""


class Who(NamedTuple):
    """Who wrote or judged something."""

    agent: str
    process: str


class Round(NamedTuple):
    """One critique of one revision."""

    plan: str
    author: Who
    critic: Who
    critique: Critique
    agents: frozenset[str] = frozenset()
    """Every agent that could have judged it."""


class Waiver(NamedTuple):
    """A person's word that a finding is accepted as it is, up to the level that it had."""

    finding: str
    by: str
    reason: str
    level: Level


class GoOn(NamedTuple):
    """Another round is due, on a revision that answers what is open."""

    open: tuple[Standing, ...]
    unjudged: tuple[str, ...]
    """Principles that nobody has judged, while too few are."""


class Over(NamedTuple):
    """There are no more rounds."""

    is_agreed: bool
    """Enough was judged, by somebody else than the author, and nothing material is open."""
    additions: Additions


class Part(NamedTuple):
    """A stretch of a plan that a critic is shown, with the line it begins at."""

    phase: str
    line: int
    text: str


class Shown(NamedTuple):
    """What the next round is shown, and nothing else."""

    number: int
    perspective: str
    parts: tuple[Part, ...]
    open: tuple[Standing, ...]


def may_judge(critic: Who, authors: Collection[Who], agents: Collection[str] = ()) -> Flaw | None:
    """Say why somebody cannot judge a plan; None when it can. Nobody passes what it has written a part of."""
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


def fold(rounds: Sequence[Round], waivers: Iterable[Waiver] = ()) -> tuple[Standing, ...]:
    """Tell what has become of every finding. An author may find fault with its plan, and resolve nothing."""
    known: list[Standing] = []
    for number, one in enumerate(rounds, 1):
        new = outline_of(one.plan)
        fresh = None
        if number > 1:
            old = outline_of(rounds[number - 2].plan)
            known, fresh = [_moved(standing, old, new) for standing in known], changed(old, new)
        for finding in one.critique.findings:
            is_bar = fresh is None or finding.level is Level.BLOCKING or _is_touched(finding, new, fresh)
            at = _find(known, finding, number)
            if at is None:
                state = State.OPEN if is_bar else State.LATE
                name = f"F{len(known) + 1}"
                known.append(Standing(name, finding, (finding.text,), (number,), state))
            else:
                known[at] = _merged(known[at], finding, number, is_bar=is_bar)
        _hear_answers(known, rounds[:number])
    agents = {name for one in rounds for who in (one.author, one.critic) for name in who}
    given = {waiver.finding: waiver for waiver in waivers if waiver.by not in agents}
    return tuple(_waived(standing, given.get(standing.id)) for standing in known)


def decide(
    rounds: Sequence[Round],
    *,
    limit: int,
    principles: Sequence[str],
    floor: int = FLOOR,
    waivers: Iterable[Waiver] = (),
) -> GoOn | Over:
    """Tell whether another round is due. Nobody has to find anything; somebody else has to have looked."""
    standings = fold(rounds, waivers)
    unjudged = _unjudged(rounds, principles, floor)
    open_ = tuple(one for one in standings if one.state is State.OPEN and one.finding.is_material)
    if (open_ or unjudged) and len(rounds) < limit:
        return GoOn(open_, unjudged)
    return Over(not open_ and not unjudged, additions(standings, rounds[-1].plan if rounds else "", unjudged))


def carried(
    rounds: Sequence[Round],
    plan: str,
    *,
    principles: Sequence[str],
    floor: int = FLOOR,
    waivers: Iterable[Waiver] = (),
) -> Additions:
    """Tell what a revision that nobody has judged any more has to carry: what was open stays open."""
    return additions(_standings_in(rounds, plan, waivers), plan, _unjudged(rounds, principles, floor))


def show(rounds: Sequence[Round], plan: str, waivers: Iterable[Waiver] = ()) -> Shown:
    """Choose what the next round sees: all of it once, then what has changed and what is open."""
    number = len(rounds) + 1
    if not rounds:
        return Shown(number, perspective(number), (Part("", 1, plan),), ())
    old, new = outline_of(rounds[-1].plan), outline_of(plan)
    open_ = tuple(one for one in _standings_in(rounds, plan, waivers) if one.state is State.OPEN)
    parts = tuple(_part(new, phase) for phase in changed_phases(old, new))
    return Shown(number, perspective(number), parts, open_)


def _standings_in(rounds: Sequence[Round], plan: str, waivers: Iterable[Waiver]) -> list[Standing]:
    """Give every standing with its place in a revision that came after all rounds."""
    old = outline_of(rounds[-1].plan if rounds else plan)
    return [_moved(standing, old, outline_of(plan)) for standing in fold(rounds, waivers)]


def _unjudged(rounds: Sequence[Round], principles: Sequence[str], floor: int) -> tuple[str, ...]:
    """List what nobody has judged who may, while too little is; nothing once enough was judged at a time.

    The fullest round counts, not all together: whoever judges two principles a round has never looked.
    """
    looked = (one.critique.judged for at, one in enumerate(rounds, 1) if _counts(rounds[:at]))
    judged = max(looked, key=len, default=frozenset())
    left = tuple(name for name in principles if name not in judged)
    return left if len(principles) - len(left) < min(floor, len(principles)) else ()


def _counts(rounds: Sequence[Round]) -> bool:
    """Tell whether the last of some rounds was judged by somebody who may."""
    newest = rounds[-1]
    return may_judge(newest.critic, [one.author for one in rounds], newest.agents) is None


def _moved(standing: Standing, old: Outline, new: Outline) -> Standing:
    finding = standing.finding
    return standing._replace(finding=finding._replace(anchor=follow(finding.anchor, old, new)))


def _hear_answers(known: list[Standing], rounds: Sequence[Round]) -> None:
    """Resolve what was answered with text that has changed since it was raised; what is raised now stays."""
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
    """Tell whether a finding is about text that the newest revision has changed."""
    anchor = finding.anchor
    if anchor.file:
        return any(anchor.file in piece.text for piece in new.pieces if piece.line in fresh)
    inside = new.of(anchor.phase)
    return any(piece.line in fresh for piece in inside if anchor.item in ("", piece.text))


def _find(known: Sequence[Standing], finding: Finding, number: int) -> int | None:
    """Find the standing that a finding is, however it is worded this time: the surest one."""
    ranked = [(_likeness(one, finding, is_new=number not in one.raised), -at) for at, one in enumerate(known)]
    rank, at = max(ranked, default=(0, 0))
    return -at if rank else None


def _likeness(standing: Standing, finding: Finding, *, is_new: bool) -> int:
    """Rank how surely a finding is one that is known; 0 when it is another.

    Its identity is principle, place and kind. From one round to the next a critic may take a kind for its
    kin, and point beside what it speaks of; whoever tells two things apart in one critique means two.
    """
    before, here = standing.finding.anchor, finding.anchor
    if standing.finding.principle != finding.principle or before.file != here.file:
        return 0
    is_kind = standing.finding.kind is finding.kind
    is_kin = is_kind or (is_new and _FAMILY[standing.finding.kind] == _FAMILY[finding.kind])
    if (before.phase, before.item) == (here.phase, here.item):
        is_alike = is_new and any(alike(said, finding.text) >= _ALIKE for said in standing.said)
        return 4 if is_kind else 3 if is_kin or is_alike else 0
    if not is_new or not is_kin or before.phase != here.phase:
        return 0
    said = " ".join(standing.said)
    is_meant = _shared(finding.text, before.item) > _shared(finding.text, here.item)
    was_meant = _shared(said, here.item) > _shared(said, before.item)
    return 2 if is_meant or was_meant else 0


def _shared(said: str, item: str) -> int:
    return len(words(said) & words(item))


def _merged(standing: Standing, finding: Finding, number: int, *, is_bar: bool) -> Standing:
    """Put what was said again to what is known: the higher level wins, and no word or evidence is lost."""
    known = standing.finding
    said = finding if finding.level > known.level else known
    return standing._replace(
        finding=said._replace(
            # The place of an item is worth more than that of a phase.
            anchor=finding.anchor if finding.anchor.item or not known.anchor.item else known.anchor,
            kind=known.kind,
            evidence=tuple(dict.fromkeys((*known.evidence, *finding.evidence))),
            check=finding.check or known.check,
        ),
        said=tuple(dict.fromkeys((*standing.said, finding.text))),
        raised=tuple(dict.fromkeys((*standing.raised, number))),
        state=State.OPEN if is_bar or standing.state is State.OPEN else State.LATE,
        by=(),
    )


def _waived(standing: Standing, waiver: Waiver | None) -> Standing:
    if waiver is None or standing.finding.level > waiver.level or standing.state is State.RESOLVED:
        return standing
    return standing._replace(state=State.WAIVED, why=f"{waiver.reason} ({waiver.by})")


def _part(outline: Outline, phase: str) -> Part:
    inside = outline.of(phase)
    first = inside[0].line
    after = next((one.line for one in outline.pieces if one.line > inside[-1].line), len(outline.lines) + 1)
    return Part(phase, first, "\n".join(outline.lines[first - 1 : after - 1]))
