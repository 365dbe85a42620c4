"""Case files: changes of a suite, the phase they were made for, and what must be found."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

from asbuilt.proof.change.tampering import Change, Finding, Order

FOLDER: Final = Path(__file__).parent / "cases"
_CASE: Final = re.compile(r"^## (.+)$", re.MULTILINE)
_FENCE: Final = re.compile(
    r"^(`{3,})(before|after|both|unchanged|phase) ?(\S*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL
)
_FOUND: Final = re.compile(r"^- (fails|sign_off|note|allowed) ([a-z-]+)(?: (.+))?$", re.MULTILINE)
_COMMAND: Final = re.compile(r"^Command: (.+)$", re.MULTILINE)
_PHASE: Final = "### Phase 1: totals\n\n- [ ] Totals are right for every cart\n"


class Case(NamedTuple):
    """One change of a suite and what must be said of it: severity, kind and test."""

    name: str
    changes: tuple[Change, ...]
    order: Order
    expected: tuple[tuple[str, str, str], ...]

    @property
    def is_honest(self) -> bool:
        """Tell whether nothing in it is tampering, nor anything for a person to look at."""
        return all(severity in ("note", "allowed") for severity, _, _ in self.expected)


def load_all() -> list[Case]:
    """Read every case of every file."""
    return [case for file in sorted(FOLDER.glob("*.md")) for case in _load(file)]


def told(findings: tuple[Finding, ...]) -> tuple[tuple[str, str, str], ...]:
    """Give findings as a case file words them."""
    return tuple(sorted((str(one.severity), str(one.kind), one.test or one.path) for one in findings))


def _load(file: Path) -> list[Case]:
    pieces = _CASE.split(file.read_text(encoding="utf-8"))
    assert len(pieces) > 1, f"{file.name}: no case in it"
    return [
        _case(f"{file.stem}: {title}", body) for title, body in zip(pieces[1::2], pieces[2::2], strict=True)
    ]


def _case(name: str, body: str) -> Case:
    before: dict[str, bytes] = {}
    after: dict[str, bytes] = {}
    unchanged: dict[str, bytes] = {}
    phase = _PHASE
    for _, word, path, text in _FENCE.findall(body):
        if word in ("before", "both"):
            before[path] = text.encode()
        if word in ("after", "both"):
            after[path] = text.encode()
        if word == "unchanged":
            unchanged[path] = text.encode()
        if word == "phase":
            phase = text
    assert before or after, f"{name}: no change in it"
    said = _FENCE.sub("", body)
    expected = tuple(sorted((severity, kind, test) for severity, kind, test in _FOUND.findall(said)))
    assert expected or "Nothing is found." in said, f"{name}: nothing is expected, and it does not say so"
    command = _COMMAND.search(said)
    changes = tuple(Change(path, before.get(path), after.get(path)) for path in sorted({*before, *after}))
    order = Order(phase, command=command[1] if command else "pytest -q", unchanged=unchanged)
    return Case(name, changes, order, expected)
