"""Submission of an agent for a task: the artifact and a result record. Parsed strictly.

Rule: a record alone is a claim; work is done only if the submission contains the artifact that it names.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec import UNSET

from asbuilt.lifecycle.tasks.model import Artifact, Changes, Task
from asbuilt.lifecycle.tasks.statuses import PLAN, RESEARCH, SETTLED, UNDER_WAY
from asbuilt.plan.markdown.source import encode
from asbuilt.plan.reader import read

if TYPE_CHECKING:
    from asbuilt.events.options import TaskOrder
    from asbuilt.lifecycle.run.facts import AttemptFacts

STATUSES: Final = ("in_progress", "researched", "planned", "implemented", "partial", "failed", "blocked")
DONE: Final = {PLAN: "planned", RESEARCH: "researched"}
"""Status in the record of a finished operation."""
EXAMPLE: Final = """\
<artifact>
the whole document
</artifact>
<result>
{"status": "STATUS", "artifacts": [{"type": "TYPE", "path": "PATH", "summary": "one sentence"}],
 "metadata": {}, "next_steps": "", "errors": [], "partial_progress": null}
</result>"""
_RESULT: Final = re.compile(r"^<result>[ \t]*$\n(.*?)^</result>[ \t]*$", re.MULTILINE | re.DOTALL)
_ARTIFACT: Final = re.compile(r"^<artifact>[ \t]*$\n(.*)^</artifact>[ \t]*$", re.MULTILINE | re.DOTALL)
_HOURS: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(?:h\b|hours?\b)", re.IGNORECASE)
_LEAST: Final = 200
"""Minimum number of characters of a report."""
_TEXT_CHARS: Final = 300


class Finished(NamedTuple):
    """The submission contains the artifact, and the record names it."""

    text: str
    artifact: Artifact
    phases: tuple[str, ...]
    hours: float | None
    warnings: tuple[str, ...]


class Unfinished(NamedTuple):
    """The submission has no usable artifact; the task stays unchanged."""

    status: str
    """partial, failed, or blocked."""
    why: str
    cause: str
    """In one word, for searches."""


def read_result(output: str, *, operation: str, path: str) -> Finished | Unfinished:
    """Judge a submission for an operation whose artifact belongs at `path`."""
    output = output.encode("utf-8", "replace").decode()
    found, text = _RESULT.findall(output), _artifact(output)
    if not found:
        what = "nothing was handed in" if not output.strip() else "it handed in no record of its result"
        return Unfinished("failed", what, "result_missing")
    record = _record(found[-1])
    if isinstance(record, str):
        return Unfinished("failed", f"the record of its result is not valid: {record}", "result_invalid")
    if record["status"] != DONE[operation]:
        return _short(record, text)
    named = next(
        (file for file in record["artifacts"] if (file["type"], file["path"]) == (operation, path)), None
    )
    if named is None:
        return Unfinished("failed", f"it says {record['status']} and names no {path}", "artifact_missing")
    lacking = _lacking(text, operation)
    if lacking:
        return Unfinished("failed", f"it says {record['status']}, but {lacking}", "artifact_missing")
    summary = " ".join(str(named["summary"]).split())[:_TEXT_CHARS]
    return _finished(text, Artifact(operation, path, summary))


def read_written(text: str, *, operation: str, path: str) -> Finished | Unfinished:
    """Judge an artifact that came without an agent; its title is its summary."""
    lacking = _lacking(text, operation)
    if lacking:
        return Unfinished("failed", f"the given text cannot be used: {lacking}", "artifact_missing")
    return _finished(
        text, Artifact(operation, path, " ".join(read(encode(text)).title.split())[:_TEXT_CHARS])
    )


def cut_short(attempt: AttemptFacts, output: str, order: TaskOrder) -> Unfinished:
    """Judge an agent that ended without a result: its work is partial if its time ran out, else failed."""
    far = _progress_in(_handed_in(output)) if order.operation == PLAN else ""
    if attempt.ending == "timed_out":
        return Unfinished("partial", f"its agent ran out of {order.timeout_s} seconds{far}", "timeout")
    return Unfinished("failed", f"its agent {attempt.ending}: {attempt.reason}{far}", "agent_lost")


def settled(task: Task, order: TaskOrder, artifact: Artifact) -> Changes:
    """Return the changes when the work is done: a plan replaces plans, and a status of a user stays."""
    others = [known_artifact for known_artifact in task.artifacts if known_artifact.path != artifact.path]
    if order.operation == PLAN:
        others = [other for other in others if other.type != PLAN]
    number = task.next_artifact
    if order.operation == RESEARCH:
        number = max(number or 1, order.artifact_number + 1)
    is_ours = task.status is UNDER_WAY[order.operation]
    return Changes(
        artifacts=(*others, artifact),
        next_artifact=number,
        pending=None,
        status=SETTLED[order.operation] if is_ours else UNSET,
    )


def _record(body: str) -> dict[str, Any] | str:
    """Parse a record, or return what is wrong with it."""
    try:
        record = json.loads(body)
    except ValueError as error:
        return f"no JSON, {error}"
    if not isinstance(record, dict):
        return "no object"
    if record.get("status") not in STATUSES:
        return f"its status is {record.get('status')!r}; one of {', '.join(STATUSES)} is needed"
    whole = {"artifacts": [], "errors": [], "metadata": {}, "next_steps": "", **record}
    for name, kind in (("artifacts", list), ("errors", list), ("metadata", dict)):
        if not isinstance(whole[name], kind):
            return f"{name} is no {'list' if kind is list else 'object'}"
    for artifact in whole["artifacts"]:
        if not isinstance(artifact, dict) or not all(
            isinstance(artifact.get(name), str) for name in ("type", "path", "summary")
        ):
            return "an artifact has no type, path and summary"
    return whole


def _short(record: dict[str, Any], text: str) -> Unfinished:
    """Return how far the agent came, and why it did not finish."""
    status = record["status"] if record["status"] in ("partial", "blocked") else "failed"
    errors = (error.get("message") if isinstance(error, dict) else error for error in record["errors"])
    reason = "; ".join(" ".join(str(error).split()) for error in errors) or f"it says {record['status']}"
    return Unfinished(status, reason[:_TEXT_CHARS] + _progress_in(text, record), f"agent_{status}")


def _progress_in(text: str, record: dict[str, Any] | None = None) -> str:
    """Return how many phases of how many are defined; empty if none is."""
    defined = len(read(encode(text)).phases) if text.strip() else 0
    progress = (record or {}).get("partial_progress")
    planned = progress.get("phases_total") if isinstance(progress, dict) else None
    if not defined:
        return ""
    return f"; {defined} of {planned if isinstance(planned, int) else 'unknown'} phases defined"


def _handed_in(output: str) -> str:
    """Return the artifact in an agent's message, even if it is incomplete."""
    return _artifact(output) or output.partition("<artifact>\n")[2]


def _artifact(output: str) -> str:
    found = _ARTIFACT.search(_RESULT.sub("", output))
    return found[1] if found else ""


def _lacking(text: str, operation: str) -> str:
    if not text.strip():
        return "there is no artifact in what it handed in"
    if operation == PLAN and not read(encode(text)).phases:
        return "what it calls a plan has no phase"
    if operation == RESEARCH and len(text.strip()) < _LEAST:
        return f"its report has {len(text.strip())} characters"
    return ""


def _finished(text: str, artifact: Artifact) -> Finished:
    plan = read(encode(text))
    hours = [float(figure) for figure in _HOURS.findall(text)]
    warnings = (
        [f"line {problem.line}: {problem.message}" for problem in plan.problems]
        if artifact.type == PLAN
        else []
    )
    phases = tuple(phase.title for phase in plan.phases) if artifact.type == PLAN else ()
    return Finished(text, artifact, phases, max(hours, default=None), tuple(warnings))
