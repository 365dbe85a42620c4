"""Read and write `specs/state.json`. Rule: an unchanged file keeps its bytes, and foreign keys stay."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from asbuilt.errors import PlanInvalid
from asbuilt.lifecycle.tasks.model import GENERAL, Artifact, Task, slug_for
from asbuilt.lifecycle.tasks.statuses import Status

STATE: Final = "specs/state.json"
_TASKS: Final = "active_projects"
_NEXT: Final = "next_project_number"
_SEQ: Final = "asbuilt_seq"
_INDENT: Final = re.compile(rb"^\s*[\[{]\s*?\n([ \t]+)")
_OWN: Final = {
    "project_number": "number", "project_name": "slug", "task_type": "kind", "status": "status",
    "description": "description", "artifacts": "artifacts", "next_artifact_number": "next_artifact",
    "session_id": "session", "created": "created", "last_updated": "updated",
}  # fmt: skip
"""The field of a task for each key of a record."""


class State(NamedTuple):
    """Contents of a `state.json`."""

    tasks: dict[int, Task]
    next_number: int
    seq: int | None
    """Position in the ledger that it shows; None: not written by asbuilt."""


def read_state(data: bytes | None) -> State:
    """Parse a `state.json`; None: the file does not exist."""
    whole = _whole(data)
    tasks = {}
    for record in _records(whole):
        task = _task(record)
        if task.number in tasks:
            raise _invalid(f"task {task.number} occurs twice", "Remove one of the two.")
        tasks[task.number] = task
    following = whole.get(_NEXT)
    last = max(tasks, default=0) + 1
    seq = whole.get(_SEQ)
    return State(
        dict(sorted(tasks.items())),
        max(last, following) if isinstance(following, int) else last,
        seq if isinstance(seq, int) else None,
    )


def put_state(data: bytes | None, tasks: Mapping[int, Task], *, next_number: int, seq: int) -> bytes:
    """Write tasks into a `state.json`; without a difference, return the same bytes."""
    whole, before = _whole(data), read_state(data)
    known = {number: before.tasks.get(number) for number in tasks}
    same = all(_shown(task) == ((old := known[number]) and _shown(old)) for number, task in tasks.items())
    if data is not None and same and before.next_number == next_number:
        return data
    records = {int(record["project_number"]): record for record in _records(whole)}
    for number, task in tasks.items():
        records[number] = _record(records.get(number), known[number], task)
    after = {**whole, _NEXT: next_number, _TASKS: list(records.values()), _SEQ: seq}
    found = _INDENT.match(data) if data else None
    is_ascii = data is not None and data.isascii() and b"\\u" in data
    text = json.dumps(after, indent=found[1].decode() if found else 2, ensure_ascii=is_ascii)
    return text.encode("utf-8", "surrogatepass") + b"\n"


def _whole(data: bytes | None) -> dict[str, Any]:
    if data is None:
        return {}
    try:
        whole = json.loads(data)
    except (UnicodeDecodeError, ValueError) as error:
        raise _invalid(f"it is no JSON: {error}", "Correct it, or restore an earlier version.") from error
    if not isinstance(whole, dict):
        raise _invalid("it is no object of JSON", "Correct it, or restore an earlier version.")
    return whole


def _records(whole: Mapping[str, Any]) -> list[dict[str, Any]]:
    records = whole.get(_TASKS, [])
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise _invalid(f"{_TASKS} is no list of objects", "Correct it, or restore an earlier version.")
    return records


def _task(record: Mapping[str, Any]) -> Task:
    number = record.get("project_number")
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise _invalid(f"{number!r} is no number of a task", "Give every record a project_number from 1 on.")
    stated = str(record.get("status", Status.NOT_STARTED))
    status = Status.named(stated)
    if status is None:
        known = ", ".join(Status)
        raise _invalid(f"task {number} has the status {stated!r}", f"Use one of: {known}.")
    description, counter = str(record.get("description") or ""), record.get("next_artifact_number")
    return Task(
        number=number,
        slug=str(record.get("project_name") or slug_for(description)),
        kind=str(record.get("task_type") or GENERAL),
        status=status,
        description=description,
        artifacts=tuple(_artifact(number, row) for row in record.get("artifacts") or ()),
        next_artifact=counter if isinstance(counter, int) else None,
        session=str(record.get("session_id") or ""),
        created=str(record.get("created") or ""),
        updated=str(record.get("last_updated") or ""),
        more={name: value for name, value in record.items() if name not in _OWN},
    )


def _artifact(number: int, row: object) -> Artifact:
    if not isinstance(row, dict) or not isinstance(row.get("path"), str):
        raise _invalid(f"an artifact of task {number} has no path", "Give it one, or remove it.")
    more = {name: value for name, value in row.items() if name not in ("type", "path", "summary")}
    return Artifact(str(row.get("type") or ""), row["path"], str(row.get("summary") or ""), more)


def _shown(task: Task) -> dict[str, Any]:
    """Return a task as a record, without its pending work, which is internal."""
    artifacts = [
        {"type": artifact.type, "path": artifact.path, "summary": artifact.summary, **artifact.more}
        for artifact in task.artifacts
    ]
    own = {name: getattr(task, field) for name, field in _OWN.items()}
    return {**own, "status": task.status.value, "artifacts": artifacts, **task.more}


def _record(record: Mapping[str, Any] | None, known: Task | None, task: Task) -> dict[str, Any]:
    """Update the fields of a record that differ; omitted keys stay omitted unless their value changes."""
    after = _shown(task)
    if record is None or known is None:
        return {name: value for name, value in after.items() if value not in (None, "")}
    before = _shown(known)
    return {**record, **{name: value for name, value in after.items() if before.get(name) != value}}


def _invalid(what: str, next_step: str) -> PlanInvalid:
    return PlanInvalid(
        f"{STATE} cannot be read as tasks: {what}",
        why="asbuilt neither reads nor writes a file that it cannot parse completely.",
        next_step=next_step,
    )
