"""Play whole sessions of critique by seed, and hold each to its laws. What breaks is told with its seed."""

from __future__ import annotations

import random
import sys
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from asbuilt.lifecycle.critique.additions import State, with_additions
from asbuilt.lifecycle.critique.anchors import outline_of
from asbuilt.lifecycle.critique.convergence import (
    GoOn,
    Over,
    Round,
    Who,
    decide,
    fold,
    may_judge,
    show,
)
from asbuilt.lifecycle.critique.findings import PRINCIPLES, Critique, Level, PlanLine, read_critique
from tests.lifecycle.critique.critics import CRITICS, Critic, HandedIn, Known, Said
from tests.lifecycle.critique.drafts import AUTHORS, made, revise

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from asbuilt.lifecycle.critique.additions import Standing
    from asbuilt.lifecycle.critique.convergence import Shown
    from tests.lifecycle.critique.drafts import Defect, Draft

RECOGNISED, MINGLED = 0.95, 0.01
"""What share of what recurs is to be recognised, and in what share of standings two things may meet."""
_BOTH = frozenset({"claude", "codex"})
_AUTHOR = Who("claude", "p1")


class Tally(NamedTuple):
    """What one session has shown."""

    seed: int
    critic: str
    author: str
    rounds: int
    is_agreed: bool
    recurred: int
    """How often a critic said again what it had said in an earlier round."""
    recognised: int
    standings: int
    mingled: int
    """Standings in which two different things met."""
    carried: int
    broken: tuple[str, ...]


class Session:
    """One plan, one author, one critic, until it is over."""

    def __init__(self, seed: int) -> None:
        chance = self.chance = random.Random(seed)
        self.seed = seed
        self.character, self.style = CRITICS[seed % len(CRITICS)], chance.choice(AUTHORS)
        self.limit = chance.randint(1, 4)
        self.draft: Draft = made(chance)
        self.critic = Critic(chance, self.character)
        self.who, self.agents = self._who()
        self.rounds: list[Round] = []
        self.wordings: list[list[Said]] = []
        self.shown: list[Shown] = []
        self.broken: list[str] = []

    def _who(self) -> tuple[Who, frozenset[str]]:
        """Mostly somebody else; else the author's process under any name, or its agent, alone or not."""
        other = (Who("codex", "p2"), _BOTH)
        alone = (Who("claude", "p3"), frozenset({"claude"}))
        himself = [(_AUTHOR, _BOTH), (Who("codex", "p1"), _BOTH), (Who("claude", "p3"), _BOTH)]
        return self.chance.choices([other, alone, *himself], [6, 3, 1, 1, 1])[0]

    def play(self) -> Tally:
        """Play it to its end and judge it."""
        end: GoOn | Over = GoOn((), ())
        while isinstance(end, GoOn) and len(self.rounds) <= self.limit:
            self._round()
            end = decide(self.rounds, limit=self.limit, principles=PRINCIPLES)
            if isinstance(end, GoOn):
                revise(self.draft, self.style, self._meant(end.open))
        standings = fold(self.rounds)
        self.broken += laws(self, end, standings)
        homes = {text: standing for standing in standings for text in standing.wordings}
        recurred, recognised = _recognised(self.wordings, homes)
        meant = {one.text: one.name for said in self.wordings for one in said}
        mingled = sum(len({meant[text] for text in standing.wordings}) > 1 for standing in standings)
        carried = sum(standing.is_carried for standing in standings)
        agreed = isinstance(end, Over) and end.is_agreed
        return Tally(
            self.seed, self.character, self.style, len(self.rounds), agreed,
            recurred, recognised, len(standings), mingled, carried, tuple(self.broken),
        )  # fmt: skip

    def _round(self) -> None:
        text = self.draft.text()
        shown = show(self.rounds, text)
        open_ = {one.id: self._meant([one]) for one in shown.open}
        known = Known(self.draft, len(self.rounds) + 1, open_, frozenset(part.phase for part in shown.parts))
        handed: HandedIn = self.critic.judge(known)
        critique = read_critique(handed.text, plan=text, files=(), earlier=[one.id for one in shown.open])
        if not isinstance(critique, Critique):
            if self.character != "lazy":
                self.broken.append(f"refused: {critique[0]}")
            critique, handed = Critique(()), HandedIn("", [])
        self.shown.append(shown)
        self.wordings.append(handed.said)
        self.rounds.append(Round(text, _AUTHOR, self.who, critique, self.agents))

    def _meant(self, standings: Iterable[Standing]) -> list[Defect]:
        names = {one.text: one.name for said in self.wordings for one in said}
        defects = {one.name: one for one in self.draft.defects}
        found = dict.fromkeys(names[text] for standing in standings for text in standing.wordings)
        return [defects[name] for name in found]


def laws(session: Session, end: GoOn | Over, standings: tuple[Standing, ...]) -> Iterator[str]:
    """Tell what of a session breaks a law."""
    if not isinstance(end, Over) or len(session.rounds) > session.limit:
        yield f"{len(session.rounds)} rounds of {session.limit} and no end"
        return
    yield from _nothing_is_lost(session, end, standings)
    yield from _what_is_carried_is_written(session, end)
    yield from _nobody_approves_itself(session, end, standings)
    yield from _later_rounds_see_less(session)
    before = fold(session.rounds[:-1])
    if [one.id for one in before] != [one.id for one in standings[: len(before)]]:
        yield "a finding has another id than a round before"


def _nothing_is_lost(session: Session, end: Over, standings: tuple[Standing, ...]) -> Iterator[str]:
    homes = {text: standing for standing in standings for text in standing.wordings}
    told = {name for check in end.additions.checks for name in check.findings}
    told |= {question.split(" ", 1)[0] for question in end.additions.questions}
    defects = {one.name: one for one in session.draft.defects}
    cited = {one.text: one.evidence for played in session.rounds for one in played.critique.findings}
    for one in (one for said in session.wordings for one in said):
        home = homes.get(one.text)
        if home is None:
            yield f"what was said is nowhere: {one}"
            continue
        level = Level[one.level.upper()]
        if home.finding.level < level:
            yield f"{one} became {home.finding.level.name}"
        if not set(cited[one.text]) <= set(home.finding.evidence):
            yield f"evidence of {one} is lost"
        if level < Level.MATERIAL:
            continue
        if home.state is State.RESOLVED:
            was = session.rounds[home.raised[-1] - 1].plan
            if not any(isinstance(one, PlanLine) and one.text not in was for one in home.by):
                yield f"{home.id} was resolved by {home.by}, which is not new"
            if session.character == "honest" and not defects[one.name].is_mended:
                yield f"{home.id} was resolved and {one} was not mended"
        elif home.id not in told:
            yield f"{home.id} is {home.state} and in no addition"


def _what_is_carried_is_written(session: Session, end: Over) -> Iterator[str]:
    text = with_additions(session.rounds[-1].plan, end.additions)
    plan = outline_of(text).plan
    commands = {phase.id: {one.command for one in phase.checks} for phase in plan.phases}
    for check in end.additions.checks:
        if check.command not in commands.get(check.phase, ()):
            yield f"{check} is not in the plan"
    for question in end.additions.questions:
        if f"- {question}" not in text.split("\n"):
            yield f"the plan does not ask: {question}"
    if len(plan.phases) != len(session.draft.phases):
        yield f"what is carried has made {len(plan.phases)} phases of {len(session.draft.phases)}"


def _nobody_approves_itself(session: Session, end: Over, standings: tuple[Standing, ...]) -> Iterator[str]:
    who = session.who
    is_author = who.process == _AUTHOR.process or (who.agent == _AUTHOR.agent and len(session.agents) > 1)
    if is_author != (may_judge(who, [_AUTHOR], session.agents) is not None):
        yield f"{session.who} was taken for somebody else"
    if is_author and (end.is_agreed or any(one.state is State.RESOLVED for one in standings)):
        yield "an author has approved its own plan"
    if end.is_agreed and any(one.state is State.OPEN and one.finding.is_material for one in standings):
        yield "agreed, and something material is open"


def _later_rounds_see_less(session: Session) -> Iterator[str]:
    for number, shown in enumerate(session.shown[1:], 1):
        before, now = (set(session.rounds[at].plan.split("\n")) for at in (number - 1, number))
        for part in shown.parts:
            lines = part.text.split("\n")
            whole = session.rounds[number].plan.split("\n")
            if whole[part.line - 1 : part.line - 1 + len(lines)] != lines:
                yield f"round {number + 1} is shown other text than stands at line {part.line}"
        if before == now and session.rounds[number - 1].plan == session.rounds[number].plan and shown.parts:
            yield f"round {number + 1} is shown parts of a plan that has not changed"
        if any(one.state is not State.OPEN for one in shown.open):
            yield f"round {number + 1} is shown a finding that is not open"


def _recognised(said: list[list[Said]], homes: dict[str, Standing]) -> tuple[int, int]:
    """Count what was said again, and what of that is where it was said first."""
    first: dict[str, str] = {}
    recurred = recognised = 0
    for one_round in said:
        known = dict(first)
        for one in one_round:
            first.setdefault(one.name, homes[one.text].id)
            if one.name in known:
                recurred += 1
                recognised += homes[one.text].id == known[one.name]
    return recurred, recognised


def told(tallies: list[Tally]) -> list[str]:
    """Say of sessions what is not as it has to be, with what replays it."""
    broken = [
        f"{one.critic}, {one.author}: {'; '.join(one.broken)}\n  replay: just critics 1 {one.seed}"
        for one in tallies
        if one.broken
    ]
    recurred, recognised = sum(one.recurred for one in tallies), sum(one.recognised for one in tallies)
    standings, mingled = sum(one.standings for one in tallies), sum(one.mingled for one in tallies)
    if recognised < RECOGNISED * recurred:
        broken.append(f"{recognised} of {recurred} that recurred were recognised")
    if mingled > MINGLED * standings:
        broken.append(f"in {mingled} of {standings} standings two things met")
    return broken


def main(arguments: list[str]) -> int:
    """Play SESSIONS sessions from FIRST on and say what they have shown."""
    count = int(arguments[0]) if arguments else 1_000
    first = int(arguments[1]) if len(arguments) > 1 else 0
    tallies = [Session(seed).play() for seed in range(first, first + count)]
    for character in (*CRITICS, ""):
        mine = [one for one in tallies if character in ("", one.critic)]
        rounds = dict(sorted(Counter(one.rounds for one in mine).items()))
        sys.stdout.write(
            f"{character or 'all':<14}{len(mine):>5} sessions, rounds {rounds},"
            f" agreed {sum(one.is_agreed for one in mine)}, carried {sum(one.carried for one in mine)},"
            f" recognised {sum(one.recognised for one in mine)}/{sum(one.recurred for one in mine)},"
            f" mingled {sum(one.mingled for one in mine)}/{sum(one.standings for one in mine)}\n"
        )
    broken = told(tallies)
    sys.stdout.write("".join(f"{one}\n" for one in broken[:10]) + f"{len(broken)} broken\n")
    return 1 if broken else 0
