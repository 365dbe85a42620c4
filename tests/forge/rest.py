"""What is asked here of GitHub's REST interface, over a `Hub`. Its one rule: what it does not know is 501."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.forge.hub import ME, CheckRun, Issue, Pull

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.forge.hub import Hub

URL = "http://github.localhost"


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def data(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()


def answer(hub: Hub, method: str, path: str, query: Mapping[str, str], body: dict[str, Any]) -> Reply:
    """Answer one request; the hub is held meanwhile."""
    if (method, path) == ("POST", "/graphql"):
        return _graphql(body)
    if (method, path) == ("GET", "/"):
        return Reply(200, {}, {"X-OAuth-Scopes": "repo, read:org"})
    prefix = f"/repos/{hub.address}/"
    if not path.startswith(prefix):
        return _missing()
    with hub.lock:
        hub.look()
        for wanted, pattern, route in ROUTES:
            found = re.fullmatch(pattern, path.removeprefix(prefix))
            if wanted == method and found is not None:
                return route(hub, found, query, body)
    return Reply(501, {"message": f"the stub knows no {method} {path}"})


def _graphql(body: dict[str, Any]) -> Reply:
    """Answer what `gh auth status` asks."""
    if "viewer" in str(body.get("query", "")):
        return Reply(200, {"data": {"viewer": {"login": ME}}})
    return Reply(501, {"message": f"the stub knows no query {body}"})


def _missing() -> Reply:
    return Reply(404, {"message": "Not Found"})


def _page(rows: list[Any], query: Mapping[str, str]) -> list[Any]:
    size, page = int(query.get("per_page", "30")), int(query.get("page", "1"))
    return rows[(page - 1) * size : page * size]


def _pull(hub: Hub, pull: Pull, *, whole: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "number": pull.number,
        "html_url": f"{URL}/{hub.address}/pull/{pull.number}",
        "state": pull.state,
        "title": pull.title,
        "body": pull.body or None,
        "draft": pull.draft,
        "head": {"ref": pull.branch, "sha": pull.head},
        "base": {"ref": pull.base},
        "merged_at": "2026-01-02T03:04:05Z" if pull.merged_as else None,
        "merge_commit_sha": pull.merged_as,
    }
    if whole and pull.state == "open":
        knows = pull.is_known_mergeable or not hub.thinks_first
        found["mergeable"] = (hub.merged_tree(pull) is not None) if knows else None
        pull.is_known_mergeable = True
    return found


def _pulls(hub: Hub, _: re.Match[str], query: Mapping[str, str], body: dict[str, Any]) -> Reply:
    del body
    head = query.get("head", "").partition(":")[2]
    found = [
        one
        for one in reversed(hub.pulls.values())
        if query.get("state", "open") in ("all", one.state)
        and (not head or one.branch == head)
        and query.get("base", one.base) == one.base
    ]
    return Reply(200, _page([_pull(hub, one, whole=False) for one in found], query))


def _open(hub: Hub, _: re.Match[str], query: Mapping[str, str], body: dict[str, Any]) -> Reply:
    del query
    head, base = hub.tip(body["head"]), hub.tip(body["base"])
    wrong = ""
    if any(one.branch == body["head"] and one.state == "open" for one in hub.pulls.values()):
        wrong = f"A pull request already exists for {hub.address.partition('/')[0]}:{body['head']}."
    elif head is None or base is None:
        return Reply(422, {"message": "Validation Failed", "errors": [{"field": "head", "code": "invalid"}]})
    elif hub.contains(body["base"], head):
        wrong = f"No commits between {body['base']} and {body['head']}"
    if wrong:
        return Reply(422, {"message": "Validation Failed", "errors": [{"message": wrong}]})
    pull = Pull(
        number=hub.number(),
        branch=body["head"],
        base=body["base"],
        title=body["title"],
        body=body.get("body") or "",
        draft=bool(body.get("draft")),
        head=str(head),
    )
    hub.pulls[pull.number] = pull
    return Reply(201, _pull(hub, pull, whole=True))


def _one(hub: Hub, found: re.Match[str], query: Mapping[str, str], body: dict[str, Any]) -> Reply:
    del query, body
    pull = hub.pulls.get(int(found[1]))
    return _missing() if pull is None else Reply(200, _pull(hub, pull, whole=True))


def _change(hub: Hub, found: re.Match[str], query: Mapping[str, str], body: dict[str, Any]) -> Reply:
    del query
    pull = hub.pulls.get(int(found[1]))
    if pull is None:
        return _missing()
    pull.title, pull.body = body.get("title", pull.title), body.get("body", pull.body)
    if pull.merged_as is None:
        pull.state = body.get("state", pull.state)
    return Reply(200, _pull(hub, pull, whole=True))


def _merge(hub: Hub, found: re.Match[str], query: Mapping[str, str], body: dict[str, Any]) -> Reply:
    del query
    pull = hub.pulls.get(int(found[1]))
    if pull is None:
        return _missing()
    if pull.state != "open" or hub.merged_tree(pull) is None:
        return Reply(405, {"message": "Pull Request is not mergeable"})
    if hub.protected:
        return Reply(405, {"message": hub.protected})
    if body.get("sha") != pull.head:
        return Reply(409, {"message": "Head branch was modified. Review and try the merge again."})
    made = hub.merge(pull, body.get("merge_method", "merge"))
    return Reply(200, {"sha": made, "merged": True, "message": "Pull Request successfully merged"})


def _files(hub: Hub, found: re.Match[str], query: Mapping[str, str], body: dict[str, Any]) -> Reply:
    del body
    pull = hub.pulls.get(int(found[1]))
    return _missing() if pull is None else Reply(200, _page(hub.files(pull), query))


def _reviews(hub: Hub, found: re.Match[str], query: Mapping[str, str], body: dict[str, Any]) -> Reply:
    del body
    pull = hub.pulls.get(int(found[1]))
    return _missing() if pull is None else Reply(200, _page(pull.reviews, query))


def _remarks(hub: Hub, found: re.Match[str], query: Mapping[str, str], body: dict[str, Any]) -> Reply:
    del body
    pull = hub.pulls.get(int(found[1]))
    return _missing() if pull is None else Reply(200, _page(pull.remarks, query))


def _run(run: CheckRun) -> dict[str, Any]:
    return {
        "id": run.id,
        "name": run.name,
        "status": "completed" if run.conclusion else "in_progress",
        "conclusion": run.conclusion,
        "output": {"title": None, "summary": None, "text": None},
        "app": {"slug": "github-actions" if run.log else "elsewhere"},
    }


def _check_runs(hub: Hub, found: re.Match[str], query: Mapping[str, str], body: dict[str, Any]) -> Reply:
    del body
    runs = hub.checks_of(found[1])
    return Reply(200, {"total_count": len(runs), "check_runs": _page([_run(one) for one in runs], query)})


def _status(hub: Hub, found: re.Match[str], query: Mapping[str, str], body: dict[str, Any]) -> Reply:
    del body
    return Reply(200, {"state": "pending", "statuses": _page(hub.statuses.get(found[1], []), query)})


def _log(hub: Hub, found: re.Match[str], query: Mapping[str, str], body: dict[str, Any]) -> Reply:
    del query, body
    for runs in hub.runs.values():
        for run in runs:
            if run.id == int(found[1]):
                return Reply(200, run.log, {"Content-Type": "text/plain"})
    return _missing()


def _issue(hub: Hub, found: re.Match[str], query: Mapping[str, str], body: dict[str, Any]) -> Reply:
    del query
    number = int(found[1])
    issue: Issue | Pull | None = hub.issues.get(number) or hub.pulls.get(number)
    if issue is None:
        return _missing()
    if "state" in body:
        issue.state = body["state"]
    is_pull = isinstance(issue, Pull)
    shown = {"number": number, "title": issue.title, "state": issue.state}
    where = f"{URL}/{hub.address}/{'pull' if is_pull else 'issues'}/{number}"
    return Reply(200, shown | {"html_url": where} | ({"pull_request": {}} if is_pull else {}))


def _said(hub: Hub, found: re.Match[str], query: Mapping[str, str], body: dict[str, Any]) -> Reply:
    del body
    number = int(found[1])
    rows = [
        {"body": text, "user": {"login": by}}
        for by, said in (("eve", hub.strangers), (ME, hub.said))
        for text in said.get(number, [])
    ]
    return Reply(200, _page(rows, query))


def _permission(hub: Hub, found: re.Match[str], query: Mapping[str, str], body: dict[str, Any]) -> Reply:
    del query, body
    return Reply(200, {"permission": hub.permissions.get(found[1], "read"), "user": {"login": found[1]}})


def _say(hub: Hub, found: re.Match[str], query: Mapping[str, str], body: dict[str, Any]) -> Reply:
    del query
    number = int(found[1])
    if number not in hub.issues and number not in hub.pulls:
        return _missing()
    hub.said.setdefault(number, []).append(body["body"])
    return Reply(201, {"body": body["body"]})


ROUTES: list[tuple[str, str, Callable[..., Reply]]] = [
    ("GET", r"pulls", _pulls),
    ("POST", r"pulls", _open),
    ("GET", r"pulls/(\d+)", _one),
    ("PATCH", r"pulls/(\d+)", _change),
    ("PUT", r"pulls/(\d+)/merge", _merge),
    ("GET", r"pulls/(\d+)/files", _files),
    ("GET", r"pulls/(\d+)/reviews", _reviews),
    ("GET", r"pulls/(\d+)/comments", _remarks),
    ("GET", r"commits/([0-9a-f]{40})/check-runs", _check_runs),
    ("GET", r"commits/([0-9a-f]{40})/status", _status),
    ("GET", r"actions/jobs/(\d+)/logs", _log),
    ("GET", r"collaborators/([^/]+)/permission", _permission),
    ("GET", r"issues/(\d+)", _issue),
    ("PATCH", r"issues/(\d+)", _issue),
    ("GET", r"issues/(\d+)/comments", _said),
    ("POST", r"issues/(\d+)/comments", _say),
]
