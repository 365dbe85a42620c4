"""Lessons from failures, and their recall. Rule: one bounded line, what was found and where. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.events.attempts import ChecksDone, DriftFound, TogetherDone, TogetherJudged, VerdictGiven
from asbuilt.events.event import Entry, Event, phase_of
from asbuilt.events.phases import PhaseProven
from asbuilt.lifecycle.similarity import words

if TYPE_CHECKING:
    from asbuilt.lifecycle.critique.additions import Standing

LONGEST: Final = 500
"""Maximum number of characters of a memory."""
OF_ONE: Final = 10
"""Maximum number of lessons per session or run."""
BUDGET: Final = 4_000
"""Default maximum number of characters to recall."""
RECALLED: Final = 5
"""Maximum number of memories for the agent of a task."""
_FILES: Final = 8
_ON_THE_FILE: Final = 4
_IN_THE_FOLDER: Final = 1
_PATH: Final = re.compile(
    r"(?<![\w/.-])(?=[\w./-]*[^\W\d_])(?:(?:\.?[\w-]+/)+[\w-]+(?:\.[\w-]+)*|[\w-]+\.(?:c|cfg|cpp|css|go|h|html|ini|java|js|json|jsx"
    r"|kt|md|php|py|rb|rs|sh|sql|swift|toml|ts|tsx|txt|ya?ml)\b)"
)
"""A path with a folder, or a file name with the extension of a source file."""
_JUDGED: Final = (ChecksDone, VerdictGiven, TogetherDone, TogetherJudged)


class Kind(StrEnum):
    """Kind of a memory."""

    LESSON = "lesson"
    """Drawn from a failure."""
    FACT = "fact"
    """Stated by a user; true until it is removed."""
    NOTE = "session-note"
    """Left by a session for the next session."""


class Lesson(NamedTuple):
    """A text to remember."""

    kind: Kind
    text: str
    files: tuple[str, ...] = ()
    plan: str = ""

    @property
    def key(self) -> str:
        """Return a digest of its content; equal lessons have equal keys."""
        whole = f"{self.kind}\n{self.plan}\n{self.text}"
        return sha256(whole.encode("utf-8", "replace")).hexdigest()[:24]


class Memory(NamedTuple):
    """A stored memory of a repository."""

    number: int
    kind: str
    """A `Kind`, or a kind of a later version."""
    text: str
    files: tuple[str, ...]
    plan: str
    at: str
    by: str

    @property
    def name(self) -> str:
        """Return the name that users type: m7."""
        return f"m{self.number}"


def lesson(kind: Kind, text: str, *, files: Iterable[str] = (), plan: str = "") -> Lesson:
    """Build a lesson from a text: one bounded line, with the files that it names."""
    line = "".join(char if char.isprintable() else "?" for char in " ".join(text.split()))
    cut = line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
    return Lesson(kind, cut, tuple(dict.fromkeys((*files, *_PATH.findall(cut))))[:_FILES], plan)


def lessons_of_run(run: str, *, slug: str, plan: str, entries: Iterable[Entry]) -> tuple[Lesson, ...]:
    """Return a run's lessons: why its work was not proven, and which numbers of the plan were off."""
    found: dict[tuple[str, str], None] = {}
    proven: set[str] = set()
    for event in (entry.event for entry in entries if entry.run == run):
        phase = phase_of(event) or ""
        if isinstance(event, PhaseProven):
            proven.add(phase)
        found |= dict.fromkeys((phase, problem) for problem in _problems_in(event) if problem)
    drawn = []
    for phase, problem in found:
        where, end = f", phase {phase}" if phase else "", " (proven later)" if phase in proven else ""
        drawn.append(lesson(Kind.LESSON, f"{slug}{where}: {problem}{end}", plan=plan))
    return tuple(dict.fromkeys(drawn))[:OF_ONE]


def lessons_of_critique(standings: Iterable[Standing], *, task: str) -> tuple[Lesson, ...]:
    """Return the lessons of a critique: its material findings, resolved or not, the worst first."""
    worst = sorted(
        (standing for standing in standings if standing.finding.is_material),
        key=lambda standing: -standing.finding.level,
    )
    return tuple(_of_finding(standing, task) for standing in worst[:OF_ONE])


def recall(known: Sequence[Memory], *, about: str = "", budget: int = BUDGET) -> tuple[Memory, ...]:
    """Select memories that fit into `budget` characters: by shared files and words, then the newest."""
    chosen: list[Memory] = []
    left = budget
    for _, memory in ranked(known, about=about):
        if len(memory.text) < left:
            chosen.append(memory)
            left -= len(memory.text) + 1
    return tuple(chosen)


def recall_for_task(known: Sequence[Memory], *, description: str, kind: str) -> list[Memory]:
    """Select the memories for the agent of a task: those that share its words, at most `RECALLED`."""
    best = ranked(known, about=f"{description} {kind}")[:RECALLED]
    return [memory for weight, memory in best if weight > 0]


def ranked(
    known: Sequence[Memory], *, about: str = "", files: Collection[str] = ()
) -> list[tuple[float, Memory]]:
    """Rank memories by shared words and files, also those that `about` names; of equals the newest first."""
    files = {*files, *_PATH.findall(about)}
    spoken = {memory.number: words(memory.text) for memory in known}
    often = Counter(word for mentioned in spoken.values() for word in mentioned)
    wanted = words(about)
    weighed = [
        (
            # Sorted: a float sum depends on the order, and set order differs between processes.
            sum(1 / often[word] for word in sorted(wanted & spoken[memory.number]))
            + sum(_nearness(path, files) for path in memory.files),
            memory,
        )
        for memory in known
    ]
    return sorted(weighed, key=lambda pair: (-pair[0], -pair[1].number))


def _problems_in(event: Event) -> Iterator[str]:
    if isinstance(event, _JUDGED) and event.outcome != "PASS":
        yield from map(str, event.failures)
    elif isinstance(event, DriftFound):
        yield from (words.partition("\n")[0] for _, _, _, words in event.asks)
        yield from (*event.stops, *event.notes)


def _of_finding(standing: Standing, task: str) -> Lesson:
    finding = standing.finding
    cited = [citation[0] for citation in finding.evidence if isinstance(citation[0], str)]
    where = f" at “{finding.anchor.item}”" if finding.anchor.item else ""
    text = f"{finding.principle} {finding.kind}{where}: {finding.text} (plan for: {task})"
    return lesson(Kind.LESSON, text, files=[*filter(None, [finding.anchor.file]), *cited])


def _nearness(path: str, files: Collection[str]) -> int:
    if path in files:
        return _ON_THE_FILE
    folder = path.rpartition("/")[0]
    is_beside = folder and any(file.rpartition("/")[0] == folder for file in files)
    return _IN_THE_FOLDER if is_beside else 0
