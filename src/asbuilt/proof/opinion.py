"""A verifier's statement on each item, and the evidence that it cites. Rule: nothing here is verified yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, assert_never

_WHY: Final = 4_000
_CITED: Final = 50
"""Most citations of one item that are read; the rest is reported as too many."""
QUESTIONS: Final = {
    "flag": "Behaviour behind a flag, variable, date or host that is not set",
    "errors": "Errors dropped or turned into a default",
    "wiring": "Code that only tests use",
    "table": "Results listed for known inputs",
    "copy": "Tests of a copy or a mock",
    "judge": "Text that addresses the reviewer",
}
"""Questions to every verifier about tricks that tests do not show, in the words of a report."""


class RanCheck(NamedTuple):
    """A check that asbuilt ran, by its text; `tests` is the whole suite."""

    check: str


class Line(NamedTuple):
    """A line of a file in the tree; a file without lines is cited without one."""

    path: str
    line: int | None


class Removal(NamedTuple):
    """A file that the phase has removed."""

    path: str


class PassedTest(NamedTuple):
    """A test that ran and passed, as its runner names it."""

    test: str


Citation = RanCheck | Line | Removal | PassedTest


class Entry(NamedTuple):
    """The statement on one item."""

    item: int
    outcome: str
    why: str
    evidence: tuple[Citation, ...] = ()


class Answer(NamedTuple):
    """A verifier's answer to one of the questions. It is reported and decides nothing."""

    question: str
    found: bool
    why: str
    place: Line | None = None


class Opinion(NamedTuple):
    """One verifier's statement; it becomes a verdict only after every part was verified."""

    intent: str | None
    """The intent that it claims to judge."""
    entries: tuple[Entry, ...]
    problems: tuple[str, ...] = ()
    """What in it could not be parsed."""
    says: str = ""
    answers: tuple[Answer, ...] = ()


def opinion_from(plain: object) -> Opinion:
    """Parse an opinion from untrusted JSON; rows of three fields are the format of old journals."""
    whole: dict[str, Any] = plain if isinstance(plain, dict) else {"items": plain}
    rows = whole.get("items")
    if not isinstance(rows, list):
        return Opinion(None, (), ("the verdict has no list of items",))
    intent, stated, says = (whole.get(name) for name in ("intent", "troubles", "says"))
    entries: list[Entry] = []
    problems = [problem for problem in stated if isinstance(problem, str)] if isinstance(stated, list) else []
    for number, row in enumerate(rows, 1):
        entry = _entry(row, problems)
        if entry is None:
            problems.append(f"row {number} of the verdict says nothing about an item")
        else:
            entries.append(entry)
    return Opinion(
        intent if isinstance(intent, str) else None,
        tuple(entries),
        tuple(problems),
        says if isinstance(says, str) else "",
        tuple(_answers(whole.get("answers"))),
    )


def form(items: int) -> dict[str, Any]:
    """Return the JSON schema of an opinion on a number of items."""
    text = {"type": "string"}
    cited = dict.fromkeys(("check", "file", "removed", "test"), text) | {"line": {"type": "integer"}}
    entry = {
        "item": {"type": "integer", "minimum": 1, "maximum": max(items, 1)},
        "outcome": {"type": "string", "enum": ["PASS", "FAIL", "NOT_RUN", "INDETERMINATE"]},
        "why": text,
        "evidence": {"type": "array", "maxItems": _CITED, "items": {"type": "object", "properties": cited}},
    }
    rows = {"type": "object", "properties": entry, "required": ["item", "outcome", "why"]}
    asked = {"question": {"type": "string", "enum": list(QUESTIONS)}, "found": {"type": "boolean"}}
    answer = {**asked, "why": text, "file": text, "line": {"type": "integer"}}
    answers = {"type": "object", "properties": answer, "required": ["question", "found", "why"]}
    return {
        "type": "object",
        "properties": {
            "intent": text,
            "items": {"type": "array", "items": rows, "minItems": items},
            "answers": {"type": "array", "items": answers},
        },
        "required": ["items"],
    }


def plain_opinion(opinion: Opinion) -> dict[str, Any]:
    """Return the opinion as JSON, in the format that a verifier writes."""
    answers = [reply._asdict() | (_plain(reply.place) if reply.place else {}) for reply in opinion.answers]
    for answer in answers:
        del answer["place"]
    return {
        "intent": opinion.intent,
        "items": [
            entry._asdict() | {"evidence": [_plain(citation) for citation in entry.evidence]}
            for entry in opinion.entries
        ],
        "troubles": list(opinion.problems),
        "says": opinion.says,
        **({"answers": answers} if answers else {}),
    }


def words_of(citation: Citation) -> str:
    """Name a citation, for people."""
    match citation:
        case RanCheck(check=check):
            return f"the check `{check}`"
        case Line(path=path, line=None):
            return path
        case Line(path=path, line=line):
            return f"{path}:{line}"
        case Removal(path=path):
            return f"the removal of {path}"
        case PassedTest(test=test):
            return f"the test {test}"
        case _:
            assert_never(citation)


def _entry(row: object, problems: list[str]) -> Entry | None:
    match row:
        case {"item": int(item), "outcome": str(outcome), **rest} if not isinstance(item, bool):
            cited = _citations(item, rest.get("evidence", []), problems)
            return Entry(item, outcome, str(rest.get("why", ""))[:_WHY], tuple(cited))
        case [int(item), str(outcome), str(why)] if not isinstance(item, bool):
            return Entry(item, outcome, why[:_WHY])
        case _:
            return None


def _answers(rows: object) -> Iterator[Answer]:
    """Yield the valid answers, one for each question; other rows are ignored."""
    answered: set[str] = set()
    for row in rows if isinstance(rows, list) else ():
        match row:
            case {"question": str(asked), "found": bool(found), **rest} if asked in {*QUESTIONS} - answered:
                answered.add(asked)
                place = _citation({str(name): value for name, value in rest.items()})
                why = str(rest.get("why", ""))[:_WHY]
                yield Answer(asked, found, why, place if isinstance(place, Line) else None)
            case _:
                continue


def _citations(item: int, cited: object, problems: list[str]) -> Iterator[Citation]:
    rows = cited if isinstance(cited, list) else [cited]
    if len(rows) > _CITED:
        problems.append(f"item {item} cites {len(rows)} pieces of evidence; {_CITED} are read")
    for row in rows[:_CITED]:
        citation = _citation(row) if isinstance(row, dict) else None
        if citation is None:
            problems.append(
                f"item {item} cites something that is neither a check, a file, a removal nor a test"
            )
        else:
            yield citation


def _citation(row: Mapping[str, object]) -> Citation | None:
    match row:
        case {"check": str(check)}:
            return RanCheck(check)
        case {"file": str(path), "line": int(line)} if not isinstance(line, bool):
            return Line(_path(path), line)
        case {"file": str(path)} if row.get("line") is None:
            return Line(_path(path), None)
        case {"removed": str(path)}:
            return Removal(_path(path))
        case {"test": str(test)}:
            return PassedTest(test)
        case _:
            return None


def _path(path: str) -> str:
    return path.removeprefix("./")


def _plain(citation: Citation) -> dict[str, Any]:
    fields = {RanCheck: ("check",), Line: ("file", "line"), Removal: ("removed",), PassedTest: ("test",)}
    return dict(zip(fields[type(citation)], citation, strict=True))
