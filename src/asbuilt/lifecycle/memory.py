"""What is worth knowing the next time: lessons drawn from what failed, and which of them are recalled. Pure.

The one rule: a lesson says what was found and where, in one bounded line; nothing is made up from it.
"""

from __future__ import annotations

import re
from collections import Counter
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.events.attempts import ChecksDone, DriftFound, TogetherDone, TogetherJudged, VerdictGiven
from asbuilt.events.event import Entry, Event, phase_of
from asbuilt.events.phases import PhaseProven
from asbuilt.lifecycle.words import words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from asbuilt.lifecycle.critique.standing import Standing

LONGEST: Final = 500
"""Characters of a memory."""
OF_ONE: Final = 10
"""Lessons that one session or run leaves at most."""
BUDGET: Final = 4_000
"""Characters that are recalled at most, unless somebody says otherwise."""
_FILES: Final = 8
_ON_THE_FILE: Final = 4
_IN_THE_FOLDER: Final = 1
_PATH: Final = re.compile(
    r"(?<![\w/.-])(?=[\w./-]*[^\W\d_])(?:(?:\.?[\w-]+/)+[\w-]+(?:\.[\w-]+)*|[\w-]+\.(?:c|cfg|cpp|css|go|h|html|ini|java|js|json|jsx"
    r"|kt|md|php|py|rb|rs|sh|sql|swift|toml|ts|tsx|txt|ya?ml)\b)"
)
"""A path with a folder in it, or a name that ends as files of source do."""
_JUDGED: Final = (ChecksDone, VerdictGiven, TogetherDone, TogetherJudged)


class Kind(StrEnum):
    """What sort of thing is remembered."""

    LESSON = "lesson"
    """Drawn from what failed."""
    FACT = "fact"
    """Said by a person, true until it is taken away."""
    NOTE = "session-note"
    """Left by a session for the next one."""


class Lesson(NamedTuple):
    """Something to be remembered."""

    kind: Kind
    text: str
    files: tuple[str, ...] = ()
    plan: str = ""

    @property
    def key(self) -> str:
        """Name what it says: said again, it is the same."""
        whole = f"{self.kind}\n{self.plan}\n{self.text}"
        return sha256(whole.encode("utf-8", "replace")).hexdigest()[:24]


class Memory(NamedTuple):
    """Something that is remembered of a repository."""

    number: int
    kind: str
    """A `Kind`, or one that a later version has left."""
    text: str
    files: tuple[str, ...]
    plan: str
    at: str
    by: str

    @property
    def name(self) -> str:
        """Return what people type: m7."""
        return f"m{self.number}"


def lesson(kind: Kind, text: str, *, files: Iterable[str] = (), plan: str = "") -> Lesson:
    """Make something of a text that can be remembered: one line, bounded, with the files that it names."""
    line = "".join(char if char.isprintable() else "?" for char in " ".join(text.split()))
    cut = line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
    return Lesson(kind, cut, tuple(dict.fromkeys((*files, *_PATH.findall(cut))))[:_FILES], plan)


def lessons_of_run(run: str, *, slug: str, plan: str, entries: Iterable[Entry]) -> tuple[Lesson, ...]:
    """Draw from a run why what it did was not proven, and which numbers of the plan were off."""
    found: dict[tuple[str, str], None] = {}
    proven: set[str] = set()
    for event in (entry.event for entry in entries if entry.run == run):
        phase = phase_of(event) or ""
        if isinstance(event, PhaseProven):
            proven.add(phase)
        found |= dict.fromkeys((phase, said) for said in _told(event) if said)
    drawn = (
        lesson(
            Kind.LESSON,
            f"{slug}{f', phase {phase}' if phase else ''}: {said}{_end(phase, proven)}",
            plan=plan,
        )
        for phase, said in found
    )
    return tuple(dict.fromkeys(drawn))[:OF_ONE]


def lessons_of_critique(standings: Iterable[Standing], *, task: str) -> tuple[Lesson, ...]:
    """Draw from a critique what was materially wrong with a plan, whatever became of it; the worst first."""
    worst = sorted((one for one in standings if one.finding.is_material), key=lambda one: -one.finding.level)
    return tuple(_of_finding(one, task) for one in worst[:OF_ONE])


def recall(
    known: Sequence[Memory], *, about: str = "", files: Collection[str] = (), budget: int = BUDGET
) -> tuple[Memory, ...]:
    """Choose what fits into so many characters: what is about these files and words, then the newest."""
    chosen: list[Memory] = []
    left = budget
    for _, memory in ranked(known, about=about, files=files):
        if len(memory.text) < left:
            chosen.append(memory)
            left -= len(memory.text) + 1
    return tuple(chosen)


def ranked(
    known: Sequence[Memory], *, about: str = "", files: Collection[str] = ()
) -> list[tuple[float, Memory]]:
    """Weigh what is remembered against words and files; the weightiest first, of equals the newest."""
    spoken = {memory.number: words(memory.text) for memory in known}
    often = Counter(word for said in spoken.values() for word in said)
    wanted = words(about)
    weighed = [
        (
            # In a fixed order: sums of fractions depend on it, and the order of a set on the process.
            sum(1 / often[word] for word in sorted(wanted & spoken[memory.number]))
            + sum(_nearness(path, files) for path in memory.files),
            memory,
        )
        for memory in known
    ]
    return sorted(weighed, key=lambda pair: (-pair[0], -pair[1].number))


def _told(event: Event) -> Iterator[str]:
    """Give what an event says against the work, in its words."""
    if isinstance(event, _JUDGED) and event.outcome != "PASS":
        yield from map(str, event.failures)
    elif isinstance(event, DriftFound):
        yield from (words.partition("\n")[0] for _, _, _, words in event.asks)
        yield from (*event.stops, *event.notes)


def _end(phase: str, proven: Collection[str]) -> str:
    return " (proven later)" if phase in proven else ""


def _of_finding(standing: Standing, task: str) -> Lesson:
    finding = standing.finding
    cited = [one[0] for one in finding.evidence if isinstance(one[0], str)]
    where = f" at “{finding.anchor.item}”" if finding.anchor.item else ""
    text = f"{finding.principle} {finding.kind}{where}: {finding.text} (plan for: {task})"
    return lesson(Kind.LESSON, text, files=[*filter(None, [finding.anchor.file]), *cited])


def _nearness(path: str, files: Collection[str]) -> int:
    if path in files:
        return _ON_THE_FILE
    folder = path.rpartition("/")[0]
    is_beside = folder and any(one.rpartition("/")[0] == folder for one in files)
    return _IN_THE_FOLDER if is_beside else 0
