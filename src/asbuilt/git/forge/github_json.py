"""Parse GitHub's JSON. Pure and strict: a missing field or one of the wrong type raises `ForgeFailed`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from asbuilt.errors import ForgeFailed
from asbuilt.lifecycle.pull_request.forge import (
    Checks,
    CheckState,
    Comment,
    Issue,
    Mergeable,
    Pull,
    PullState,
    Review,
    ReviewState,
)

_GREEN: Final = frozenset({"success", "neutral", "skipped"})
_REVIEWS: Final = {
    "APPROVED": "approved",
    "CHANGES_REQUESTED": "changes_requested",
    "COMMENTED": "commented",
    "DISMISSED": "dismissed",
}


def member(data: Any, name: str, kind: type | tuple[type, ...]) -> Any:  # noqa: ANN401 - JSON
    """Return a required field; raise `ForgeFailed` if it is missing or of the wrong type."""
    value = data.get(name) if isinstance(data, dict) else None
    if isinstance(data, dict) and name in data and isinstance(value, kind):
        return value
    raise ForgeFailed(
        f"GitHub's answer has no {name} that can be read",
        why=f"It holds {value!r:.80}; asbuilt does not guess missing parts of an answer.",
        next_step="`asbuilt doctor bug-report` packs what a report needs; or try a newer asbuilt.",
    )


def read_pull(data: Any) -> Pull:  # noqa: ANN401 - JSON
    """Read one pull request; lists leave out `mergeable`, which then is unknown."""
    merged = member(data, "merged_at", (str, type(None))) is not None
    state: PullState = "merged" if merged else "open" if member(data, "state", str) == "open" else "closed"
    can = {True: "yes", False: "no"}.get(data.get("mergeable"), "unknown")
    head = member(data, "head", dict)
    return Pull(
        number=member(data, "number", int),
        url=member(data, "html_url", str),
        branch=member(head, "ref", str),
        head=member(head, "sha", str),
        base=member(member(data, "base", dict), "ref", str),
        title=member(data, "title", str),
        body=member(data, "body", (str, type(None))) or "",
        state=state,
        mergeable=cast("Mergeable", can) if state == "open" else "unknown",
        merged_as=member(data, "merge_commit_sha", (str, type(None))) if merged else None,
    )


def read_review(data: Any) -> Review | None:  # noqa: ANN401 - JSON
    """Read one review; None if its author has not submitted it yet."""
    state = _REVIEWS.get(member(data, "state", str))
    if state is None:
        return None
    return Review(
        id=member(data, "id", int),
        by=login(data),
        state=cast("ReviewState", state),
        body=member(data, "body", (str, type(None))) or "",
        commit=member(data, "commit_id", (str, type(None))) or "",
        at=member(data, "submitted_at", str),
    )


def read_comment(data: Any) -> Comment:  # noqa: ANN401 - JSON
    """Read one line comment."""
    return Comment(
        id=member(data, "id", int),
        by=login(data),
        path=member(data, "path", str),
        line=data.get("line") if isinstance(data.get("line"), int) else None,
        body=member(data, "body", str),
        at=member(data, "created_at", str),
        review=member(data, "pull_request_review_id", (int, type(None))),
    )


def read_issue(data: Any) -> Issue | None:  # noqa: ANN401 - JSON
    """Read one issue; None for a pull request, which GitHub also numbers as an issue."""
    if "pull_request" in data:
        return None
    return Issue(
        number=member(data, "number", int),
        title=member(data, "title", str),
        is_open=member(data, "state", str) == "open",
        url=member(data, "html_url", str),
    )


def read_checks(runs: Iterable[Any], statuses: Iterable[Any], logs: Mapping[int, str]) -> Checks:
    """Combine check runs and commit statuses; `logs` has the logs of check runs, by id."""
    failing: list[str] = []
    pending: list[str] = []
    words: list[str] = []
    seen = 0
    for run in runs:
        seen += 1
        name = member(run, "name", str)
        if is_red(run):
            failing.append(name)
            words.append(f"{name}: {logs.get(member(run, 'id', int)) or _output(run)}".rstrip(": \n"))
        elif member(run, "status", str) != "completed":
            pending.append(name)
    for status in statuses:
        seen += 1
        name, outcome = member(status, "context", str), member(status, "state", str)
        if outcome in ("failure", "error"):
            failing.append(name)
            words.append(f"{name}: {status.get('description') or outcome}")
        elif outcome != "success":
            pending.append(name)
    state: CheckState = "red" if failing else "pending" if pending else "green" if seen else "none"
    return Checks(state=state, failing=tuple(failing), pending=tuple(pending), excerpt="\n\n".join(words))


def is_red(run: Any) -> bool:  # noqa: ANN401 - JSON
    """Return whether a check run has ended and did not pass; an unknown conclusion did not pass."""
    return member(run, "status", str) == "completed" and run.get("conclusion") not in _GREEN


def _output(run: Any) -> str:  # noqa: ANN401 - JSON
    output = run.get("output") if isinstance(run.get("output"), dict) else {}
    parts = [output.get(name) for name in ("title", "summary", "text")]
    return "\n".join(part for part in parts if isinstance(part, str) and part)


def login(data: Any) -> str:  # noqa: ANN401 - JSON
    """Return the author's login; `ghost` for a deleted account, as on GitHub."""
    user = member(data, "user", (dict, type(None)))
    return "ghost" if user is None else str(member(user, "login", str))
