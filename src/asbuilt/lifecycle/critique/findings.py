"""Parse a submitted critique strictly: one verdict per principle, and evidence that exists.

Rule: nothing is guessed. Input that cannot be parsed is refused with found, needed and an example.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from enum import IntEnum, StrEnum
from typing import Any, Final, NamedTuple

from asbuilt.lifecycle.critique.anchors import Anchor, Outline, outline_of
from asbuilt.lifecycle.flaws import Flaw

PRINCIPLES: Final = tuple(f"P{number}" for number in range(1, 13))
EXAMPLE: Final = (
    '{"verdicts": ['
    '{"principle": "P6", "verdict": "PASS", "evidence": [{"line": 31}]}, '
    '{"principle": "P4", "verdict": "FAIL", "findings": [{"kind": "missing", "level": "material", '
    '"at": {"phase": "2", "quote": "Client uses RetryPolicy"}, '
    '"text": "Nothing says what the client does when the last attempt fails.", '
    '"evidence": [{"line": 24}, {"file": "sync/client.py"}]}]}]}'
)
_MOST: Final = 60
_WORDS: Final = 3
_LONG: Final = 2_000
_SHOWN: Final = 80
_BORNE: Final = 2
"""Number of PASS verdicts that may cite the same place."""
_FENCED: Final = re.compile(r"^```(?:json)?[ \t]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


class Level(IntEnum):
    """Severity of a finding. From MATERIAL on, only a user may drop it."""

    NOTE = 1
    MINOR = 2
    """The plan works, but could be better."""
    MATERIAL = 3
    """The plan as written would build something wrong or unproven."""
    BLOCKING = 4
    """The plan cannot be carried out as written."""


class Kind(StrEnum):
    """Kind of a finding."""

    MISSING = "missing"
    WRONG = "wrong"
    VAGUE = "vague"
    CONTRADICTION = "contradiction"
    UNVERIFIABLE = "unverifiable"
    EXCESS = "excess"


class Outcome(StrEnum):
    """Verdict on a principle."""

    PASS = "PASS"  # noqa: S105 - a verdict
    FAIL = "FAIL"
    NOT_JUDGED = "NOT_JUDGED"
    """PASS without valid evidence."""


class PlanLine(NamedTuple):
    """A line of the plan with its text, so that it stays readable after the plan changes."""

    line: int
    text: str


class FileLine(NamedTuple):
    """A file of the repository, at a line or as a whole."""

    path: str
    line: int | None = None


Citation = PlanLine | FileLine


class Finding(NamedTuple):
    """One flaw of a plan. Principle, anchor and kind are its identity; its wording is not."""

    principle: str
    anchor: Anchor
    kind: Kind
    level: Level
    text: str
    evidence: tuple[Citation, ...]
    check: str = ""
    """A command that fails while the finding holds; empty if the critic knows none."""

    @property
    def is_material(self) -> bool:
        """Return whether only a user may drop it."""
        return self.level >= Level.MATERIAL


class Judgement(NamedTuple):
    """Verdict on one principle, with evidence."""

    principle: str
    outcome: Outcome
    evidence: tuple[Citation, ...] = ()


class Answer(NamedTuple):
    """A later round's answer on an open finding."""

    finding: str
    is_resolved: bool
    evidence: tuple[Citation, ...]


class Critique(NamedTuple):
    """A critic's submission."""

    verdicts: tuple[Judgement, ...]
    """At most one per principle."""
    findings: tuple[Finding, ...] = ()
    answers: tuple[Answer, ...] = ()

    @property
    def judged(self) -> frozenset[str]:
        """Return the principles that were judged with valid evidence."""
        return frozenset(
            judgement.principle for judgement in self.verdicts if judgement.outcome is not Outcome.NOT_JUDGED
        )


def read_critique(
    text: str,
    *,
    plan: str,
    files: Collection[str],
    principles: Collection[str] = PRINCIPLES,
    earlier: Collection[str] = (),
) -> Critique | tuple[Flaw, ...]:
    """Parse a critique of a plan: JSON, alone or in one fence. All flaws are returned at once.

    `files` are the paths of the repository, `earlier` the ids of the findings that the critic was shown.
    """
    reading = _Reading(outline_of(plan), files, principles, earlier)
    critique = reading.critique(text)
    return critique if critique is not None and not reading.flaws else tuple(reading.flaws)


class _Reading:
    """One pass over a submission; collects its flaws in `flaws`."""

    def __init__(
        self, outline: Outline, files: Collection[str], principles: Collection[str], earlier: Collection[str]
    ) -> None:
        self.outline, self.files, self.principles, self.earlier = outline, files, principles, earlier
        self.flaws: list[Flaw] = []

    def refuse(self, what: str, found: object, needed: str, example: str) -> None:
        shown = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
        shown = " ".join(shown.split()) or "nothing"
        self.flaws.append(
            Flaw(what, shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…", needed, example)
        )

    def critique(self, text: str) -> Critique | None:
        whole = self._whole(text)
        if whole is None:
            return None
        self._only(whole, "the critique", ("verdicts", "earlier"))
        rows = self._rows(whole.get("verdicts"), "verdicts")
        verdicts: dict[str, Judgement] = {}
        findings: list[Finding] = []
        for row in rows:
            principle = row.get("principle")
            if not isinstance(principle, str) or principle not in self.principles:
                self.refuse(
                    "a principle", principle, f"one of {', '.join(self.principles)}", '"principle": "P4"'
                )
            elif principle in verdicts:
                self.refuse(f"the verdict on {principle}", "two of them", "one for each principle", EXAMPLE)
            else:
                verdicts[principle], found = self._verdict(principle, row)
                findings += found
        if len(findings) > _MOST:
            self.refuse(
                "the findings", f"{len(findings)}", f"at most {_MOST}: say the same thing once", EXAMPLE
            )
        answers = tuple(self._answers(self._rows(whole.get("earlier", []), "earlier")))
        return Critique(tuple(_borne(verdicts)), tuple(findings), answers)

    def _whole(self, text: str) -> dict[str, Any] | None:
        fenced = _FENCED.findall(text)
        if len(fenced) > 1:
            self.refuse("the critique", f"{len(fenced)} blocks of code", "one object of JSON", EXAMPLE)
            return None
        try:
            plain = json.loads(fenced[0] if fenced else text)
        except (ValueError, RecursionError):
            self.refuse("the critique", text, "one object of JSON", EXAMPLE)
            return None
        if isinstance(plain, dict):
            return plain
        self.refuse("the critique", plain, "one object of JSON", EXAMPLE)
        return None

    def _rows(self, plain: object, name: str) -> list[dict[str, Any]]:
        rows = plain if isinstance(plain, list) else None
        if rows is None or not all(isinstance(row, dict) for row in rows):
            self.refuse(f'"{name}"', plain, "a list of objects", EXAMPLE)
            return []
        return rows

    def _only(self, row: Mapping[str, Any], what: str, known: tuple[str, ...]) -> None:
        for name in row:
            if name not in known:
                self.refuse(f'"{name}" in {what}', row[name], f"only {', '.join(known)}", EXAMPLE)

    def _verdict(self, principle: str, row: Mapping[str, Any]) -> tuple[Judgement, list[Finding]]:
        what = f"the verdict on {principle}"
        self._only(row, what, ("principle", "verdict", "why", "evidence", "findings"))
        rows = self._rows(row.get("findings", []), "findings")
        found = [finding for plain in rows if (finding := self._finding(principle, plain)) is not None]
        match row.get("verdict"):
            case "FAIL":
                if not rows:
                    self.refuse(what, "FAIL and no finding", "at least one finding for a FAIL", EXAMPLE)
                return Judgement(principle, Outcome.FAIL), found
            case "PASS":
                if any(finding.is_material for finding in found):
                    needed = "FAIL for a principle with a material finding"
                    self.refuse(what, "PASS and a material finding", needed, EXAMPLE)
                cited = self._cited(row.get("evidence", []), what)
                evidence = tuple(citation for citation in cited if self._is_evidence(citation))
                return Judgement(principle, Outcome.PASS if evidence else Outcome.NOT_JUDGED, evidence), found
            case other:
                self.refuse(what, other, "PASS or FAIL", '"verdict": "FAIL"')
                return Judgement(principle, Outcome.NOT_JUDGED), found

    def _finding(self, principle: str, row: Mapping[str, Any]) -> Finding | None:
        what = f"a finding of {principle}"
        self._only(row, what, ("kind", "level", "at", "text", "evidence", "check"))
        before = len(self.flaws)
        kind, level, text, check = (row.get(name, "") for name in ("kind", "level", "text", "check"))
        if kind not in tuple(Kind):
            self.refuse(f"the kind of {what}", kind, f"one of {', '.join(Kind)}", '"kind": "missing"')
        if not isinstance(level, str) or level.upper() not in Level.__members__:
            names = ", ".join(known_level.name.casefold() for known_level in Level)
            self.refuse(f"the level of {what}", level, f"one of {names}", '"level": "material"')
        if not isinstance(text, str) or len(text.split()) < _WORDS or len(text) > _LONG:
            needed = f"a sentence of at most {_LONG} characters"
            self.refuse(f"the text of {what}", text, needed, '"text": "Nothing says how it fails."')
        if check != "" and not _is_command(check):
            self.refuse(
                f"the check of {what}", check, "one line without backticks", '"check": "pytest -q tests/a.py"'
            )
        cited = self._cited(row.get("evidence", []), what)
        if not cited and len(self.flaws) == before:
            self.refuse(what, "no evidence", "a line of the plan or a file", '"evidence": [{"line": 24}]')
        anchor = self._anchor(row.get("at"), str(text), what)
        if anchor is None or len(self.flaws) > before:
            return None
        return Finding(principle, anchor, Kind(kind), Level[level.upper()], text, cited, check)

    def _anchor(self, at: object, text: str, what: str) -> Anchor | None:
        match at:
            case {"line": int(line), **rest} if not rest and not isinstance(line, bool):
                piece = self.outline.at(line) if 1 <= line <= len(self.outline.lines) else None
                if piece is None:
                    self.refuse(
                        f"the place of {what}",
                        at,
                        f"a line from 1 to {len(self.outline.lines)}",
                        '{"line": 24}',
                    )
                    return None
                return self.outline.settled(piece, text).anchor
            case {"phase": str(phase), **rest} if set(rest) <= {"quote"}:
                return self._quoted(phase, rest.get("quote"), text, what)
            case {"file": str(path), **rest} if (
                set(rest) <= {"line"} and path.removeprefix("./") in self.files
            ):
                return Anchor(file=path.removeprefix("./"))
            case _:
                needed = "a line or a phase of the plan, or a file that exists"
                self.refuse(
                    f"the place of {what}", at, needed, '"at": {"phase": "2", "quote": "Client uses"}'
                )
                return None

    def _quoted(self, phase: str, quote: object, text: str, what: str) -> Anchor | None:
        inside = self.outline.of(phase)
        if not inside:
            known = ", ".join(dict.fromkeys(piece.phase for piece in self.outline.pieces if piece.phase))
            self.refuse(f"the phase of {what}", phase, f"one of {known}", '"at": {"phase": "2"}')
            return None
        if quote is None:
            return self.outline.settled(inside[0], text).anchor
        found = self.outline.quoted(phase, str(quote))
        if found is None:
            self.refuse(
                f"the quote of {what}", quote, f"words that stand in {phase}", '"quote": "Client uses"'
            )
            return None
        return found.anchor

    def _cited(self, plain: object, what: str) -> tuple[Citation, ...]:
        found: list[Citation] = []
        for row in plain if isinstance(plain, list) else [plain]:
            match row:
                case {"line": int(line), **rest} if not rest and self._exists(line):
                    found.append(PlanLine(line, self.outline.lines[line - 1].strip()))
                case {"file": str(path), **rest} if not rest and self._is_file(path):
                    found.append(FileLine(path.removeprefix("./")))
                case {"file": str(path), "line": int(line)} if self._is_file(path) and line >= 1:
                    found.append(FileLine(path.removeprefix("./"), line))
                case _:
                    needed = "a line of the plan that is not blank, or a file that exists"
                    self.refuse(
                        f"the evidence of {what}", row, needed, '[{"line": 24}, {"file": "src/a.py"}]'
                    )
        return tuple(dict.fromkeys(found))

    def _exists(self, line: int) -> bool:
        lines = self.outline.lines
        return not isinstance(line, bool) and 1 <= line <= len(lines) and bool(lines[line - 1].strip())

    def _is_file(self, path: str) -> bool:
        return path.removeprefix("./") in self.files

    def _is_evidence(self, citation: Citation) -> bool:
        """Return whether a citation can be evidence; a heading cannot."""
        if isinstance(citation, FileLine):
            return True
        piece = self.outline.at(citation.line)
        return piece is not None and not piece.is_heading

    def _answers(self, rows: list[dict[str, Any]]) -> Iterator[Answer]:
        example = '"earlier": [{"finding": "F1", "now": "resolved", "evidence": [{"line": 24}]}]'
        for row in rows:
            self._only(row, "an answer", ("finding", "now", "why", "evidence"))
            match row:
                case {"finding": str(name), "now": "resolved" | "open" as now} if name in self.earlier:
                    cited = self._cited(row.get("evidence", []), f"the answer on {name}")
                    yield Answer(name, now == "resolved", cited)
                case _:
                    needed = f"one of {', '.join(self.earlier) or 'none'}, now resolved or open"
                    self.refuse("an answer on an earlier finding", row, needed, example)


def _borne(verdicts: Mapping[str, Judgement]) -> Iterator[Judgement]:
    """Limit each citation to 2 PASS verdicts; a PASS with no citation left is NOT_JUDGED."""
    borne: dict[Citation, int] = {}
    for judgement in verdicts.values():
        left = tuple(cited for cited in judgement.evidence if borne.get(cited, 0) < _BORNE)
        for cited in left:
            borne[cited] = borne.get(cited, 0) + 1
        empty = judgement.outcome is Outcome.PASS and not left
        yield judgement._replace(outcome=Outcome.NOT_JUDGED, evidence=()) if empty else judgement


def _is_command(check: object) -> bool:
    return isinstance(check, str) and bool(check.strip()) and check.isprintable() and "`" not in check
