"""Plans made by chance, with things that are wrong with them, and authors who revise them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tests.lifecycle.critique.wording import KINDS, LACKS

if TYPE_CHECKING:
    import random

_FIRST: Final = (
    "retry", "token", "session", "billing", "cache", "upload", "search", "audit", "locale", "webhook",
    "backup", "tenant", "router", "cursor", "digest", "invoice", "avatar", "quota", "replica", "schema",
)  # fmt: skip
_SECOND: Final = (
    "queue", "store", "table", "worker", "header", "index", "bucket", "panel", "parser", "exporter",
    "limit", "policy", "journal", "adapter", "endpoint", "button", "timer", "migration", "filter", "lock",
)  # fmt: skip
_VERBS: Final = ("Add", "Move", "Extract", "Wire", "Store", "Read", "Cover", "Drop", "Rename", "Guard")
_ENDINGS: Final = (
    "behind one function", "in one transaction", "without a new dependency", "for every request",
    "as a pure function", "with an injected clock", "before anything is written", "in the background",
)  # fmt: skip
_MENDED: Final = (
    "; when it fails the caller gets a named error", "; at most 3 attempts, then the old value stays",
    "; empty, huge and repeated inputs are refused with 400", "; callers are listed in the design notes",
)  # fmt: skip
_TITLES: Final = ("Ground", "Core", "Edges", "Wiring", "Panel", "Limits", "Rollout", "Clean start")
AUTHORS: Final = ("diligent", "sloppy", "reorganising", "seeding", "stubborn")


@dataclass
class Item:
    """One line of a plan that a finding can be about."""

    subject: str
    text: str
    is_criterion: bool


@dataclass
class Phase:
    """A phase of a made plan; its number is its place."""

    title: str
    items: list[Item]


@dataclass
class Defect:
    """Something that is wrong with an item, whether anybody says so or not."""

    name: str
    principle: str
    kind: str
    level: str
    item: Item
    is_mended: bool = False


@dataclass
class Draft:
    """A plan that changes from revision to revision."""

    chance: random.Random
    phases: list[Phase]
    defects: list[Defect] = field(default_factory=list)
    preface: int = 0

    def text(self) -> str:
        """Write it down."""
        rows = ["# Plan: made by chance", "", "## Goal", "", "What was asked for works.", ""]
        rows += [f"Line {number} of the reasons." for number in range(self.preface)]
        rows += ["", "## Progress Tracker", "", "| Phase | Status | Commit | Notes |", "|---|---|---|---|"]
        rows += [f"| {number} — {one.title} | ⬚ | | |" for number, one in enumerate(self.phases, 1)]
        for number, phase in enumerate(self.phases, 1):
            rows += ["", f"## Phase {number} — {phase.title}", "", "### Work Items", ""]
            rows += [f"- [ ] {item.text}" for item in phase.items if not item.is_criterion]
            rows += ["", "### Acceptance Criteria", ""]
            rows += [f"- [ ] {item.text}" for item in phase.items if item.is_criterion]
            rows += [
                "",
                "### Verification",
                "",
                f"- `python -m pytest tests/test_{phase.title.lower()[:5]}.py`",
            ]
            rows += ["", "### Dependencies", "", f"Phase {number - 1}." if number > 1 else "None."]
        return "\n".join([*rows, "", "## Risks", "", "None known.", "", "## Open Questions", "", "None.", ""])

    def place(self, item: Item) -> tuple[int, str]:
        """Tell an item's 1-based line and its phase."""
        phase = next(number for number, one in enumerate(self.phases, 1) if item in one.items)
        return self.text().split("\n").index(f"- [ ] {item.text}") + 1, str(phase)

    def spoil(self, item: Item, name: str, level: str) -> Defect:
        """Make something of an item wrong that is not wrong with it yet."""
        taken = {one.principle for one in self.defects if one.item is item}
        principle = self.chance.choice([one for one in LACKS if one not in taken])
        defect = Defect(name, principle, self.chance.choice(KINDS), level, item)
        self.defects.append(defect)
        return defect

    def items(self) -> list[Item]:
        """List all items."""
        return [item for phase in self.phases for item in phase.items]


def made(chance: random.Random) -> Draft:
    """Make a plan with some phases, some of whose items have something wrong."""
    subjects = [f"{first} {second}" for first in _FIRST for second in _SECOND]
    chance.shuffle(subjects)
    titles = chance.sample(_TITLES, chance.randint(2, 5))
    phases = [
        Phase(
            title, [_item(chance, subjects.pop(), is_criterion=at > 2) for at in range(chance.randint(4, 6))]
        )
        for title in titles
    ]
    draft = Draft(chance, phases)
    for number, item in enumerate(
        chance.sample(draft.items(), min(len(draft.items()), chance.randint(3, 9)))
    ):
        level = chance.choice(("minor", "material", "material", "blocking"))
        draft.spoil(item, f"d{number}", level)
        if chance.random() < 0.2:
            draft.spoil(item, f"d{number}b", level)
    return draft


def _item(chance: random.Random, subject: str, *, is_criterion: bool) -> Item:
    if is_criterion:
        return Item(subject, f"the {subject} holds {chance.randint(2, 900)} entries", is_criterion=True)
    return Item(
        subject, f"{chance.choice(_VERBS)} the {subject} {chance.choice(_ENDINGS)}", is_criterion=False
    )


def revise(draft: Draft, style: str, open_: list[Defect]) -> None:
    """Answer what is open in the manner of an author."""
    chance = draft.chance
    if style == "stubborn":
        return
    if style == "reorganising":
        _reorganise(draft)
    if chance.random() < 0.4:
        draft.preface += chance.randint(1, 4)
    for defect in open_:
        tries = {"diligent": 0.95, "sloppy": 0.35}.get(style, 0.7)
        if chance.random() < tries:
            defect.item.text += chance.choice(_MENDED)
            defect.is_mended = True
            if style == "seeding" and chance.random() < 0.4:
                draft.spoil(defect.item, f"s{len(draft.defects)}", chance.choice(("minor", "material")))
        elif chance.random() < 0.6:
            _, *rest = defect.item.text.split()
            defect.item.text = " ".join([chance.choice(_VERBS), *rest, "as before"])


def _reorganise(draft: Draft) -> None:
    chance = draft.chance
    for phase in draft.phases:
        chance.shuffle(phase.items)
    if chance.random() < 0.5:
        draft.phases.insert(0, Phase("Preparation", [Item("ground rule", "Agree on the ground rule", False)]))
    elif chance.random() < 0.5:
        draft.phases.append(draft.phases.pop(0))
