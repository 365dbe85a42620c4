"""The table of real projects as typed values, and the plans and scripts that follow from it."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any, Final, get_args

from tests.real.sources import Registry, Source

HERE: Final = Path(__file__).parent
# The agent runs the suite; its last lines are for people, the lines after the mark are counted.
_SUITE: Final = """\
{ $suite
} > "$$TMPDIR/suite" 2>&1; code=$$?; tail -n 20 "$$TMPDIR/suite"; echo "== counts";
echo "go: $$(grep -cE '^ *--- (PASS|FAIL|SKIP)' "$$TMPDIR/suite")";
grep -E '^test result|tests? |pass|fail|Ok:|Skipped:|TOTAL' "$$TMPDIR/suite" | tail -n 40; exit $$code
"""
HONEST: Final = "ordinals"
BROKEN: Final = "one-place"


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A change that breaks the product, which the project's own tests notice."""

    file: str
    old: str
    new: str
    name: str
    """A word that only the changed file has: the plan's check is that it is there, which proves nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """One real project: where it comes from, the honest work on it and the broken change."""

    name: str
    kind: str
    source: Source
    work: str
    """The name of a file of `work/`: the honest plan and script in the project's language."""
    fields: dict[str, str]
    broken: Broken
    slice: bool
    fresh: bool
    """Written without having read how asbuilt finds and proves."""
    expect: str
    """`landed`, or words of the stop that is right where a registry cannot supply what the build needs."""
    files: dict[str, str]
    """Files beside the project's own: the local registry of a machine without the language's own."""
    limit_s: int

    def honest_plan(self) -> str:
        """Return the text of the plan that is worked honestly."""
        return Template(self._work()["plan"]).substitute(self.fields)

    def honest_script(self, suite: str) -> str:
        """Return the script of honest work; the agent runs the suite before it changes anything."""
        turns = [
            {
                "phase": "1",
                "role": "implement",
                "acts": [{"run": Template(_SUITE).substitute(suite=suite)}, *self._acts("first")],
            },
            {"phase": "2", "role": "implement", "acts": self._acts("second")},
            {"role": "verify", "acts": [{"verdict": "pass"}]},
        ]
        return _toml(turns)

    def broken_plan(self) -> str:
        """Return a plan of one phase whose own check passes on broken work."""
        return (
            f"# One place for it\n\n## Phase 1 — {self.broken.name}\n\n### Work Items\n\n"
            f"- [ ] `{self.broken.file}` does it in one place, `{self.broken.name}`\n\n"
            f"### Verification\n\n- `grep -q {self.broken.name} {self.broken.file}`\n"
        )

    def broken_script(self, suite: str) -> str:
        """Return the script of the broken change; the agent runs the suite after it, which must fail."""
        change = {"replace": self.broken.file, "old": self.broken.old, "new": self.broken.new}
        run = {"run": Template(_SUITE).substitute(suite=suite)}
        acts = [change, run, {"say": f"{self.broken.name}: done."}]
        return _toml(
            [
                {"phase": "1", "role": "implement", "acts": acts},
                {"phase": "1", "role": "fix", "acts": [{"say": "It is as the plan wants it."}]},
                {"role": "verify", "acts": [{"verdict": "pass"}]},
            ]
        )

    def _work(self) -> dict[str, Any]:
        return tomllib.loads((HERE / "work" / f"{self.work}.toml").read_text(encoding="utf-8"))

    def _acts(self, phase: str) -> list[dict[str, str]]:
        return [
            {key: Template(value).substitute(self.fields) for key, value in act.items()}
            for act in self._work()[phase]
        ]


def projects() -> list[Project]:
    """Read the table."""
    rows = tomllib.loads((HERE / "projects.toml").read_text(encoding="utf-8"))["project"]
    return [_project(row) for row in rows]


def _project(row: dict[str, Any]) -> Project:
    [registry] = (key for key in get_args(Registry) if key in row)
    return Project(
        name=row["name"],
        kind=row["kind"],
        source=Source(registry, row[registry]),
        work=row["work"],
        fields=row["fields"],
        broken=Broken(**row["broken"]),
        slice=row.get("slice", False),
        fresh=row.get("fresh", False),
        expect=row.get("expect", "landed"),
        files=row.get("files", {}),
        limit_s=row.get("limit_s", 900),
    )


def _toml(turns: list[dict[str, Any]]) -> str:
    """Write turns of a script; a JSON string is a TOML string."""
    lines = []
    for turn in turns:
        lines.append("[[turn]]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in turn.items() if key != "acts"]
        lines.append("acts = [")
        for act in turn["acts"]:
            lines.append(
                "  { " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in act.items()) + " },"
            )
        lines.append("]\n")
    return "\n".join(lines)
