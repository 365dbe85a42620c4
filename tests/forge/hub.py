"""What the stub of GitHub knows: repositories, pull requests, checks, reviews, issues, and faults to come.

The one rule: branches and commits are the bare repository's, read when asked; nothing of them is kept twice.
"""

from __future__ import annotations

import os
import re
import subprocess
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TOKEN = "dummy-token-of-the-tests"  # noqa: S105 - opens nothing
ME = "ada"


@dataclass(slots=True, kw_only=True)
class CheckRun:
    """What a CI says of a commit."""

    name: str
    conclusion: str | None
    """None: it is still at work."""
    log: str = ""
    id: int = 0


@dataclass(slots=True, kw_only=True)
class Pull:
    number: int
    branch: str
    base: str
    title: str
    body: str
    draft: bool
    head: str
    """Where its branch was when it was last looked at."""
    state: Literal["open", "closed"] = "open"
    merged_as: str | None = None
    is_known_mergeable: bool = False
    """GitHub works it out after somebody has asked."""
    reviews: list[dict[str, object]] = field(default_factory=list)
    remarks: list[dict[str, object]] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Issue:
    number: int
    title: str
    state: Literal["open", "closed"] = "open"


@dataclass(slots=True, kw_only=True)
class Fault:
    """What goes wrong with the next requests that fit: an answer instead, or the right one, done and lost."""

    method: str
    path: str
    """A pattern that is searched for in the path."""
    status: int | None = None
    """None: it is done, and the connection is cut before the answer."""
    headers: dict[str, str] = field(default_factory=dict)
    message: str = "planted"
    times: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    method: str
    path: str
    status: int
    """0: done, and the answer was lost."""


class Hub:
    """A forge of one repository."""

    def __init__(self, folder: Path, address: str = "ada/shop") -> None:
        self.folder = folder
        self.address = address
        self.git_dir = folder / f"{address}.git"
        self.lock = threading.RLock()
        self.pulls: dict[int, Pull] = {}
        self.issues: dict[int, Issue] = {}
        self.said: dict[int, list[str]] = {}
        """Our own comments by the number of their issue or pull request."""
        self.strangers: dict[int, list[str]] = {}
        """Comments of another account, likewise."""
        self.permissions = {ME: "admin", "lead": "write"}
        """What accounts may do; everybody else may read."""
        self.runs: dict[str, list[CheckRun]] = {}
        self.statuses: dict[str, list[dict[str, str]]] = {}
        self.ci: Callable[[str], list[CheckRun]] | None = None
        """Judges a commit when its checks are first read."""
        self.thinks_first = False
        """Whether a pull request's first reading does not tell yet if it can be merged."""
        self.protected = ""
        """Why the base takes no merge; empty: it does."""
        self.faults: list[Fault] = []
        self.requests: list[Request] = []
        self.begun = 0
        """Requests that have arrived; whoever has the lock keeps them from being answered."""
        self._last = 0
        self.git("init", "-q", "--bare", "-b", "main", str(self.git_dir), at=folder)
        self.git("config", "http.receivepack", "true")
        self.git("config", "uploadpack.allowFilter", "true")

    def number(self) -> int:
        with self.lock:
            self._last += 1
            return self._last

    # --- what a test plans and looks at -----------------------------------------------------------------

    def fail(self, method: str, path: str, **more: object) -> None:
        """Let something go wrong with the next requests that fit."""
        with self.lock:
            self.faults.append(Fault(method=method, path=path, **more))  # type: ignore[arg-type]  # each is its field's

    def issue(self, title: str) -> int:
        found = Issue(number=self.number(), title=title)
        self.issues[found.number] = found
        return found.number

    def check(self, commit: str, *runs: CheckRun) -> None:
        """Report checks of a commit, in place of those there were."""
        with self.lock:
            self.runs[commit] = [self._numbered(run) for run in runs]

    def review(
        self,
        number: int,
        state: str,
        *,
        by: str = "eve",
        body: str = "",
        at_lines: dict[int, str] | None = None,
    ) -> int:
        """Send a review, with its remarks at lines of the plan; returns its id."""
        with self.lock:
            self.look()
            pull = self.pulls[number]
            at = f"2026-01-02T03:04:{len(pull.reviews):02}Z"
            sent = self.number()
            pull.reviews.append(
                {"id": sent, "user": {"login": by}, "state": state, "body": body}
                | {"commit_id": pull.head, "submitted_at": at}
            )
            for line, text in (at_lines or {}).items():
                self.remark(number, "plans/hey.md", line, text, by=by, review=sent)
            return sent

    def remark(
        self, number: int, path: str, line: int, body: str, *, by: str = "eve", review: int | None = None
    ) -> None:
        with self.lock:
            at = "2026-01-02T03:04:05Z"
            self.pulls[number].remarks.append(
                {"id": self.number(), "user": {"login": by}, "path": path, "line": line, "body": body}
                | {"created_at": at, "pull_request_review_id": review}
            )

    def changes(self) -> list[tuple[str, str]]:
        """What was asked for that changes something, and done: method and path."""
        return [
            (one.method, one.path)
            for one in self.requests
            if one.method != "GET" and one.status in (0, 200, 201)
        ]

    # --- branches and merging -------------------------------------------------------------------------

    def git(self, *argv: str, at: Path | None = None, allowed: tuple[int, ...] = (0,)) -> str:
        done = subprocess.run(
            ["git", *argv],  # noqa: S607
            cwd=at or self.git_dir,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.folder),
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_AUTHOR_NAME": "hub",
                "GIT_AUTHOR_EMAIL": "hub@example.com",
                "GIT_COMMITTER_NAME": "hub",
                "GIT_COMMITTER_EMAIL": "hub@example.com",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in allowed, f"git {argv}: {done.stderr}"
        return done.stdout.strip() if done.returncode == 0 else ""

    def tip(self, branch: str) -> str | None:
        return self.git("rev-parse", "-q", "--verify", f"refs/heads/{branch}", allowed=(0, 1, 128)) or None

    def contains(self, branch: str, commit: str) -> bool:
        return bool(self.git("branch", "--list", branch, "--contains", commit, allowed=(0, 129)))

    def look(self) -> None:
        """Follow the branches, as GitHub does after a push; one that is gone closes its pull request."""
        for pull in self.pulls.values():
            if pull.state != "open":
                continue
            head = self.tip(pull.branch)
            if head is None:
                pull.state = "closed"
            elif head != pull.head:
                pull.head, pull.is_known_mergeable = head, False
            if head is not None and self.contains(pull.base, head):
                pull.state, pull.merged_as = "closed", head

    def merged_tree(self, pull: Pull) -> str | None:
        """The tree of a merge, or None where the two sides conflict."""
        said = self.git("merge-tree", "--write-tree", f"refs/heads/{pull.base}", pull.head, allowed=(0, 1))
        return said.splitlines()[0] if said else None

    def merge(self, pull: Pull, way: str) -> str:
        """Merge by a commit of two parents, of one (squash), or by its own; returns the base's new tip."""
        base = self.tip(pull.base)
        tree = self.merged_tree(pull)
        assert base is not None
        assert tree is not None
        if way == "rebase" and self.git("merge-base", base, pull.head) == base:
            made = pull.head
        else:
            parents = ["-p", base, *(["-p", pull.head] if way == "merge" else [])]
            made = self.git("commit-tree", tree, *parents, "-m", f"{pull.title} (#{pull.number})")
        self.git("update-ref", f"refs/heads/{pull.base}", made, base)
        pull.state, pull.merged_as = "closed", made
        return made

    def files(self, pull: Pull) -> list[dict[str, str]]:
        base = self.git("merge-base", f"refs/heads/{pull.base}", pull.head, allowed=(0, 1)) or pull.base
        said = self.git("diff", "--name-status", "-M", base, pull.head)
        rows = [line.split("\t") for line in said.splitlines()]
        return [
            {"filename": row[-1]} | ({"previous_filename": row[1]} if row[0].startswith("R") else {})
            for row in rows
        ]

    def checks_of(self, commit: str) -> list[CheckRun]:
        with self.lock:
            if commit not in self.runs and self.ci is not None:
                self.runs[commit] = [self._numbered(run) for run in self.ci(commit)]
            return self.runs.get(commit, [])

    def show(self, commit: str, path: str) -> str:
        """A file as it is in a commit; empty where it is not there. For a CI that judges."""
        return self.git("show", f"{commit}:{path}", allowed=(0, 128))

    def fault_for(self, method: str, path: str) -> Fault | None:
        with self.lock:
            for fault in self.faults:
                if fault.method == method and re.search(fault.path, path) and fault.times > 0:
                    fault.times -= 1
                    return fault
        return None

    def _numbered(self, run: CheckRun) -> CheckRun:
        run.id = run.id or self.number() + 1_000
        return run
