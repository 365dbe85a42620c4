"""JSON form of a plan: `plan show --json`. Rule: keys may be added, never removed or renamed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asbuilt.plan.model import Claim, Criterion, Phase, Plan, WorkItem
    from asbuilt.plan.problems import Problem


def as_json(plan: Plan, *, path: str, slug: str) -> dict[str, Any]:
    """Return a plan as plain JSON values."""
    return {
        "schema": "asbuilt.plan/1",
        "path": path,
        "slug": slug,
        "title": plan.title,
        "format": plan.format.value,
        "status": plan.status,
        "issues": list(plan.issues),
        "digest": plan.digest,
        "intent": plan.intent,
        "phases": [phase_json(phase) for phase in plan.phases],
        "waves": [list(wave) for wave in plan.waves],
        "next": plan.next,
        "progress": plan.progress._asdict(),
        "items": plan.items._asdict(),
        "current": plan.current,
        "checks": [check.command for check in plan.checks],
        "companion": plan.progress_document,
        "sections": list(plan.sections),
        "size": {"lines": len(plan.source.lines), "chars": len(plan.source.text)},
        "problems": [problem_json(problem) for problem in plan.problems],
    }


def phase_json(phase: Phase) -> dict[str, Any]:
    """Return a phase as plain JSON values."""
    return {
        "id": phase.id,
        "title": phase.title,
        "status": phase.status.value,
        "commit": phase.commit,
        "depends_on": list(phase.depends_on.on),
        "depends_on_stated": phase.depends_on.stated,
        "touches_ui": phase.touches_ui,
        "execution": phase.execution,
        "delegate": phase.delegate,
        "work_items": [_without(item, "box") for item in phase.work_items],
        "criteria": [
            _without(rule, "box") | {"claim": rule.claim and _without(rule.claim, "rule", "stated")}
            for rule in phase.criteria
        ],
        "checks": [check.command for check in phase.checks],
        "lines": list(phase.lines),
        "intent": phase.intent,
    }


def problem_json(problem: Problem) -> dict[str, Any]:
    """Return a problem as plain JSON values."""
    return problem._asdict() | {"severity": problem.severity.value, "rule": problem.rule.value}


def _without(value: WorkItem | Criterion | Claim, *names: str) -> dict[str, Any]:
    return {name: held for name, held in value._asdict().items() if name not in names}
