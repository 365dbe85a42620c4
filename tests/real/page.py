"""docs/reference/real-projects.md: the latest trial of each real project, made from results.json."""

from __future__ import annotations

import json
from typing import Any, Final

from tests.real.desk import ROOT
from tests.real.result import Result
from tests.real.table import HERE, projects

PAGE: Final = ROOT / "docs/reference/real-projects.md"
RESULTS: Final = HERE / "results.json"
LARGE: Final = HERE / "large.json"

_COLUMNS: Final = (
    "project", "kind", "suites found", "setup", "baseline", "agent", "honest", "broken", "questions",
    "bare s", "proof", "runs", "disk MB",
)  # fmt: skip
_HEAD: Final = """\
# Real projects

<!-- Written by `just real --write`; edit tests/real instead. -->

asbuilt tried on real projects, from a built wheel in an empty home, without settings written by hand. Each
project gets honest work in two phases, and a broken change whose plan's own check is green: only the tests of
the project notice it. An archive becomes a repository of one commit, with a `.gitignore` where it has none.
`just real NAME` repeats a row of `tests/real/projects.toml`; CI repeats those of its slice.
"""
_LEGEND: Final = """\
*Questions*: how often the user has to answer before an unattended run starts. *Agent*: what the same command
gave in the agent's own workspace. *Proof*: the time of all checks of each phase against the bare suite.
*Runs*: sandboxed commands in each phase that lasted at least half as long as the bare suite. *Disk*: the
folder of asbuilt after both plans. Rows are the latest trial of each project, so not all are of one version;
times are of a machine with two busy cores. *Not judged*: the run stopped before any check. *Breaks nothing*:
the project's own suite passes on the change, so that trial shows nothing about broken work.
"""


def merge(result: Result) -> None:
    """Put one project's result in place of its old one."""
    held: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    held[result.name] = result.as_json()
    RESULTS.write_text(json.dumps(held, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def write() -> None:
    """Write the page from the results."""
    PAGE.write_text(render(), encoding="utf-8")


def render() -> str:
    """Return the page."""
    held: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    rows = [Result(**held[project.name]) for project in projects() if project.name in held]
    untried = [project.name for project in projects() if project.name not in held]
    fresh = [row for row in rows if row.fresh]
    parts = [_HEAD, _summary(rows, "projects")]
    if fresh:
        parts.append(_summary(fresh, "of them written without having read how asbuilt finds and proves"))
    parts += ["\n", *_table(rows), "\n", _LEGEND, "\n## What did not land, and why\n\n", *_reasons(rows)]
    if untried:
        parts.append(f"\nWithout a result of what the table has now: {', '.join(untried)}.\n")
    return "".join([*parts, *_large()])


def _large() -> list[str]:
    if not LARGE.exists():
        return []
    lines = [
        "\n## Large repositories\n\n",
        "Seconds of one phase, and of bare git for the same in one run (a work tree, `add` and `commit`,\n",
        "a merge, the work tree removed): `python -m tests.real.large files` or `bytes`.\n\n",
        "| repository | step | asbuilt | git |\n|---|---|---|---|\n",
    ]
    names = {"files": "50,000 small files", "bytes": "500 MB in 500 files"}
    for kind, steps in json.loads(LARGE.read_text(encoding="utf-8")).items():
        lines += [f"| {names[kind]} | {step} | {ours} | {git} |\n" for step, (ours, git) in steps.items()]
    return lines


def _summary(rows: list[Result], what: str) -> str:
    landed = sum(row.honest == "landed" for row in rows)
    stopped = sum(row.honest == "stopped, rightly" for row in rows)
    broken = sum(row.broken == "LANDED" for row in rows)
    judged = sum(row.broken in {"LANDED", "refused"} for row in rows)
    asked = max((row.questions for row in rows), default=0)
    return (
        f"\n{len(rows)} {what}: honest work landed in {landed}, stopped rightly in {stopped}."
        f" The checks judged broken work in {judged} and let it land in {broken}."
        f" At most {asked} question each.\n"
    )


def _table(rows: list[Result]) -> list[str]:
    lines = [f"| {' | '.join(_COLUMNS)} |\n", f"|{'---|' * len(_COLUMNS)}\n"]
    for row in rows:
        cells = [
            row.name, row.kind, "<br>".join(f"`{_cell(suite)}`" for suite in row.suites) or "none",
            f"`{_cell(row.setup)}`" if row.setup else "", row.baseline, _agent(row), row.honest, row.broken,
            str(row.questions), "" if row.bare_s is None else f"{row.bare_s:.1f}", _ratios(row),
            ", ".join(str(number) for number in row.executions), f"{row.disk_mb:.0f}",
        ]  # fmt: skip
        lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |\n")
    return lines


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _agent(row: Result) -> str:
    if row.agent_exit is None:
        return "not run"
    if row.agent_ran is None:
        return f"exit {row.agent_exit}"
    return f"{row.agent_ran} tests, exit {row.agent_exit}"


def _ratios(row: Result) -> str:
    if not row.bare_s:
        return ", ".join(f"{seconds:.1f} s" for seconds in row.proof_s)
    return ", ".join(f"{seconds / row.bare_s:.1f}×" for seconds in row.proof_s)


def _reasons(rows: list[Result]) -> list[str]:
    lines = []
    for row in rows:
        for label, state, why in (("honest", row.honest, row.why), ("broken", row.broken, row.broken_why)):
            expected = state in {"landed", "refused"}
            if not expected:
                quoted = "\n".join(f"  > {line}" for line in why.splitlines())
                lines.append(f"- **{row.name}**, {label} work {state}:\n\n{quoted}\n\n")
    return lines or ["All of it landed.\n"]
