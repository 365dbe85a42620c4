"""A verdict on every item of a phase: a verifier's opinion, with every citation verified.

Rule: an opinion alone can fail an item; only evidence that exists can pass one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, assert_never

from asbuilt.events.event import Failure, Outcome
from asbuilt.proof.evidence import TESTS
from asbuilt.proof.excuses import excuse_in
from asbuilt.proof.opinion import Citation, Entry, Line, Opinion, PassedTest, RanCheck, Removal, words_of

_KEPT: Final = 280
_COPIED: Final = 16
"""Shorter messages are too common to be a copy."""
_NAMED: Final = 3


class Promise(NamedTuple):
    """One work item or criterion of the frozen phase."""

    text: str
    is_criterion: bool = False


class Waiver(NamedTuple):
    """The user's decision that an item of an intent need not be met, with the reason."""

    reason: str
    by: str
    on: str


class Waived(NamedTuple):
    """One item that was accepted unmet: by whom, on which day, and why."""

    item: int
    text: str
    reason: str
    by: str
    on: str


class Held(NamedTuple):
    """What asbuilt knows of a tree and its proof; every citation is verified against it."""

    intent: str
    changed: frozenset[str] = frozenset()
    """Files that the phase has added or changed."""
    removed: frozenset[str] = frozenset()
    """Files that the phase has removed."""
    lines: Mapping[str, int] = {}
    """Number of lines of each cited file; a file that is not listed is not in the tree."""
    checks: Mapping[str, Outcome] = {}
    """Outcome of each check that asbuilt ran on this tree, by its text."""
    suites: frozenset[str] = frozenset({TESTS})
    """Those of them that are whole suites."""
    passed: frozenset[str] = frozenset()
    """The tests that ran and passed, normalized by `one_spelling`."""
    idle: frozenset[str] = frozenset()
    """Those of them that pass without this phase's work too."""
    idle_checks: frozenset[str] = frozenset()
    """The phase's own checks that pass without its work too."""
    says: str = ""
    against: Mapping[int, str] = {}
    """Items that a measurement contradicts, with the reason, whatever is cited."""
    written: tuple[str, ...] = ()
    """Files that the verifier changed although it should only read them."""


class ItemVerdict(NamedTuple):
    """The verdict on one work item or criterion."""

    item: int
    text: str
    outcome: Outcome
    why: str
    evidence: tuple[str, ...] = ()
    """Citations of the verifier, in words."""
    waived: str = ""
    """Why the user accepts it as it is."""
    is_rejected: bool = False
    """asbuilt did not accept the verifier's word on it."""


def item_from(plain: Sequence[Any]) -> ItemVerdict:
    """Build an item's verdict from JSON, which has no tuples; old journals have no citations."""
    found: ItemVerdict = ItemVerdict(*plain)
    return found._replace(evidence=tuple(found.evidence))


class Verdict(NamedTuple):
    """The verdict on a phase."""

    outcome: Outcome
    items: tuple[ItemVerdict, ...]
    faults: tuple[str, ...] = ()
    """What is wrong with the opinion as a whole; no waiver covers that."""

    @property
    def failures(self) -> tuple[Failure, ...]:
        """What is not proven: faults of the opinion first, then the items."""
        unproven = (item for item in self.items if item.outcome != "PASS" and not item.waived)
        return (
            *(Failure(fault, is_fault=True) for fault in self.faults),
            *(
                Failure(f"{item.text}: {item.outcome}, {item.why}", item.item, is_rejected=item.is_rejected)
                for item in unproven
            ),
        )

    @property
    def unproven(self) -> tuple[int, ...]:
        """The items that the user could accept as they are; empty if the opinion itself is void."""
        return () if self.faults else tuple(item.item for item in self.items if item.outcome != "PASS")


def judge(
    promises: Sequence[Promise],
    opinion: Opinion | None,
    held: Held,
    *,
    waivers: Mapping[int, Waiver] | None = None,
) -> Verdict:
    """Judge every item by the opinion and by the evidence. Pure; the same facts give the same verdict."""
    faults = tuple(_faults(len(promises), opinion, held))
    entries: dict[int, list[Entry]] = {}
    for entry in opinion.entries if opinion else ():
        entries.setdefault(entry.item, []).append(entry)
    items = tuple(
        _waived(_judge(number, promise, entries.get(number, []), held), (waivers or {}).get(number))
        for number, promise in enumerate(promises, 1)
    )
    passed = bool(items) and all(item.outcome == "PASS" or item.waived for item in items)
    return Verdict("PASS" if passed and not faults else "FAIL", items, faults)


def faults_in(failures: Iterable[Failure]) -> tuple[str, ...]:
    """Return the faults of an opinion as a whole, from the failures of its verdict."""
    return tuple(failure.text for failure in failures if failure.is_fault)


def one_spelling(name: str) -> str:
    """Normalize a test's name: `tests/test_a.py::T::b` and `tests.test_a.T::b` are the same."""
    head, *rest = name.strip().split("::")
    return ".".join((head.removesuffix(".py").replace("/", "."), *rest))


def _faults(items: int, opinion: Opinion | None, held: Held) -> Iterator[str]:
    if held.written:
        yield f"the verifier wrote files that it was given to read: {', '.join(held.written[:_NAMED])}"
    if opinion is None:
        yield "there is none, only words: every item needs an entry with an outcome and evidence"
        return
    if opinion.intent != held.intent:
        subject = f"for another intent, {opinion.intent}" if opinion.intent else "for no intent"
        yield f"it is {subject}; this phase's is {held.intent}"
    yield from opinion.problems[:_NAMED]
    extra = sorted({entry.item for entry in opinion.entries if not 1 <= entry.item <= items})
    if extra:
        yield f"it judges item {', '.join(map(str, extra[:_NAMED]))}, and the phase has {items}"
    if _is_copied(opinion, held.says):
        yield "it is a copy of the implementer's message, not a judgement"


def _is_copied(opinion: Opinion, message: str) -> bool:
    line = _one_line(message)
    if len(line) < _COPIED:
        return False
    words = (opinion.says, *(entry.why for entry in opinion.entries if entry.outcome.upper() == "PASS"))
    # Only the start of a long message is stored.
    return any(_one_line(word)[: max(len(line), _KEPT)] == line for word in words)


def _one_line(text: str) -> str:
    return " ".join(text.casefold().split())


def _judge(number: int, promise: Promise, entries: Sequence[Entry], held: Held) -> ItemVerdict:
    if not entries:
        return ItemVerdict(
            number, promise.text, "NOT_RUN", "the verifier said nothing of it", is_rejected=True
        )
    entry, evidence = entries[0], tuple(dict.fromkeys(words_of(citation) for citation in entries[0].evidence))
    why = _against(promise, entries, held) or held.against.get(number)
    if why is None:
        return ItemVerdict(number, promise.text, "PASS", entry.why, evidence)
    is_its_own = [entry.outcome.upper() for entry in entries] == ["FAIL"]
    return ItemVerdict(number, promise.text, "FAIL", why, evidence, is_rejected=not is_its_own)


def _against(promise: Promise, entries: Sequence[Entry], held: Held) -> str | None:
    """Return what keeps an item from being proven; None if nothing does."""
    if len(entries) > 1:
        return f"it was judged {len(entries)} times: {', '.join(entry.outcome for entry in entries[:_NAMED])}"
    (entry,) = entries
    word = entry.outcome.upper()
    if word == "FAIL":
        return entry.why or "the verifier gave no reason"
    if word != "PASS":
        return f"the verifier calls it “{entry.outcome}”, which is neither PASS nor FAIL"
    excuse = excuse_in(entry.why, about=promise.text)
    if excuse is not None:
        return f"it is called PASS, but its reason says “{excuse}”: {entry.why}"
    if not entry.evidence:
        return "it is called PASS without evidence: cite a check, a line of the diff, or a test"
    wrong = [why for citation in entry.evidence if (why := _missing(citation, held)) is not None]
    return wrong[0] if wrong else _beside_the_point(promise, entry.evidence, held)


def _missing(citation: Citation, held: Held) -> str | None:
    """Return why a citation cannot be verified; None if it can."""
    named = words_of(citation)
    match citation:
        case RanCheck(check=check):
            outcome = held.checks.get(check)
            if outcome is None:
                return f"it cites {named}, which asbuilt did not run"
            return None if outcome == "PASS" else f"it cites {named}, which is {outcome}"
        case Line(path=path, line=line):
            if path not in held.lines:
                return f"it cites {named}, and the tree has no such file"
            has = held.lines[path]
            if line is None:
                return None if has == 0 else f"it cites {named} without a line"
            return None if 1 <= line <= has else f"it cites {named}, and the file has {has} lines"
        case Removal(path=path):
            return None if path in held.removed else f"it cites {named}, which this phase did not remove"
        case PassedTest(test=test):
            found = _tests_of(test, held.passed)
            return None if found else f"it cites {named}, which did not run and pass"
        case _:
            assert_never(citation)


def _beside_the_point(promise: Promise, evidence: Iterable[Citation], held: Held) -> str | None:
    """Return why existing evidence shows nothing about this phase; None if some of it does."""
    kinds: Counter[str] = Counter()
    for citation in evidence:
        match citation:
            case RanCheck(check=check):
                if promise.is_criterion or check not in held.suites | held.idle_checks:
                    return None
                is_idle = check in held.idle_checks
                suite = "the whole test suite, which shows no single item"
                kinds["checks that pass without this phase's work too" if is_idle else suite] += 1
            case Line(path=path):
                if path in held.changed:
                    return None
                kinds["files that this phase did not change"] += 1
            case Removal():
                return None
            case PassedTest(test=test):
                if not _tests_of(test, held.passed) <= held.idle:
                    return None
                kinds["tests that pass without this phase's work too"] += 1
            case _:
                assert_never(citation)
    return f"it cites only {', and '.join(kinds)}"


def _tests_of(cited: str, known: frozenset[str]) -> frozenset[str]:
    """Return the tests that a name means: one test, or all cases of one with parameters."""
    wanted = one_spelling(cited)
    if wanted in known:
        return frozenset({wanted})
    return frozenset(name for name in known if name.startswith(f"{wanted}["))


def _waived(item: ItemVerdict, waiver: Waiver | None) -> ItemVerdict:
    if waiver is None or item.outcome == "PASS":
        return item
    return item._replace(waived=f"{waiver.reason} ({waiver.by})")
