"""A repository on GitHub, through the user's gh. Rule: read before writing, so that a repeat is a no-op.

Transient errors (no network, a rate limit, a 5xx) raise `ForgeBusy`: retry later. Errors that need user
action (no program, not signed in, not allowed) raise `ForgeFailed`. A call that raised may still have taken
effect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from asbuilt.errors import ForgeFailed
from asbuilt.git.command import check_branch, check_oid
from asbuilt.git.forge import github_json
from asbuilt.git.forge.branches import Remote
from asbuilt.git.forge.gh import FORGE_VARIABLES, Answer, Gh, refused
from asbuilt.git.repository import Repository
from asbuilt.lifecycle.pull_request.forge import Checks, Comment, Issue, NotMerged, Pull, Review, Touched

_PAGE: Final = 100
_PAGES: Final = 100
_LOGS: Final = 3
"""Number of failing jobs whose log is read; the first ones name the cause."""
_EXCERPT: Final = 6_000
_ACTIONS: Final = "github-actions"
_GONE: Final = (404, 410)
_WRITERS: Final = ("admin", "write")
_EXISTS: Final = 422
_NOT_NOW: Final = 405
_HEAD_MOVED: Final = 409


class GitHub(Remote, Struct, frozen=True, kw_only=True):
    """One repository on GitHub."""

    gh: Gh
    owner: str
    name: str

    @property
    def address(self) -> str:
        """Host, owner and name of the repository."""
        return f"{self.gh.host}/{self.owner}/{self.name}"

    def find(self, branch: str) -> Pull | None:
        """Find the pull request of a branch: the open one, else the newest."""
        short = check_branch(branch).removeprefix("refs/heads/")
        head = quote(f"{self.owner}:{short}", safe="")
        listed = self._all(f"pulls?head={head}&state=all&sort=created&direction=desc")
        mine = [pull for pull in map(github_json.read_pull, listed) if pull.branch == short]
        first = sorted(mine, key=lambda pull: pull.state != "open")[:1]
        return self.pull(first[0].number) if first else None

    def pull(self, number: int) -> Pull:
        """Read one pull request."""
        return github_json.read_pull(self._got(f"pulls/{number}", "show the pull request").json())

    def open(self, *, branch: str, base: str, title: str, body: str, draft: bool = False) -> Pull:
        """Open a pull request, or return the one that the branch has open."""
        found = self.find(branch)
        if found is not None and found.state == "open":
            return found
        wanted = {"title": title, "head": branch, "base": base, "body": body, "draft": draft}
        answer = self.gh.ask("POST", self._path("pulls"), wanted)
        if answer.status == _EXISTS and (found := self.find(branch)) is not None and found.state == "open":
            return found
        return github_json.read_pull(_good(answer, "open the pull request").json())

    def update(self, number: int, *, title: str | None = None, body: str | None = None) -> Pull:
        """Set title or body where they differ."""
        found = self.pull(number)
        wanted = {"title": title, "body": body}
        now = {"title": found.title, "body": found.body}
        change = {name: text for name, text in wanted.items() if text is not None and text != now[name]}
        return self._patched(number, change) if change else found

    def checks(self, commit: str) -> Checks:
        """Read check runs and commit statuses of a commit, and the logs of what failed."""
        at = f"commits/{check_oid(commit)}"
        runs = list(self._all(f"{at}/check-runs?filter=latest", within="check_runs"))
        statuses = list(self._all(f"{at}/status", within="statuses"))
        failed = [run for run in runs if github_json.is_red(run)][:_LOGS]
        return github_json.read_checks(
            runs, statuses, {github_json.member(run, "id", int): self._log(run) for run in failed}
        )

    def merge(self, number: int, *, head: str) -> Pull | NotMerged:
        """Merge if its head is still `head`; returns a pull request that is already merged."""
        found = self.pull(number)
        if found.state == "merged":
            return found
        if found.state == "closed":
            return NotMerged(why="It was closed without being merged.")
        if found.head != check_oid(head):
            return NotMerged(why=f"Its head is {found.head[:12]}, not {head[:12]}.")
        answer = self.gh.ask(
            "PUT", self._path(f"pulls/{number}/merge"), {"sha": head, "merge_method": "merge"}
        )
        if answer.status in (_NOT_NOW, _HEAD_MOVED, _EXISTS):
            return NotMerged(why=answer.message)
        _good(answer, "merge the pull request")
        return self.pull(number)

    def close(self, number: int) -> Pull:
        """Close a pull request without merging; returns one that is not open as it is."""
        found = self.pull(number)
        return self._patched(number, {"state": "closed"}) if found.state == "open" else found

    def reviews(self, number: int) -> tuple[Review, ...]:
        """Read a pull request's reviews, oldest first."""
        found = (github_json.read_review(review) for review in self._all(f"pulls/{number}/reviews"))
        return tuple(review for review in found if review is not None)

    def comments(self, number: int) -> tuple[Comment, ...]:
        """Read a pull request's line comments, oldest first."""
        return tuple(github_json.read_comment(comment) for comment in self._all(f"pulls/{number}/comments"))

    def touched(self, *, base: str | None = None) -> tuple[Touched, ...]:
        """List the open pull requests with the files that each changes, including old names."""
        query = "pulls?state=open" + (f"&base={quote(base, safe='')}" if base else "")
        numbers = [github_json.member(pull, "number", int) for pull in self._all(query)]
        return tuple(Touched(number=number, paths=tuple(self._files(number))) for number in sorted(numbers))

    def issue(self, number: int) -> Issue | None:
        """Read an issue, or None when there is none of that number."""
        answer = self.gh.ask("GET", self._path(f"issues/{number}"))
        if answer.status in _GONE:
            return None
        return github_json.read_issue(_good(answer, "show the issue").json())

    def may_write(self, person: str) -> bool:
        """Return whether an account can write; GitHub reports maintainers as `write` here too."""
        answer = self.gh.ask("GET", self._path(f"collaborators/{quote(person, safe='')}/permission"))
        if answer.status in _GONE:
            return False
        held = github_json.member(_good(answer, "show who may write").json(), "permission", str)
        return held in _WRITERS

    def comment(self, number: int, text: str, *, mark: str) -> bool:
        """Comment once; False when a comment of ours, not of another account, already has `mark`."""
        place = f"issues/{number}/comments"
        found = [comment for comment in self._all(place) if mark in github_json.member(comment, "body", str)]
        if found and self._account() in {github_json.login(comment) for comment in found}:
            return False
        body = text if mark in text else f"{text}\n\n{mark}"
        _good(self.gh.ask("POST", self._path(place), {"body": body}), "take the comment")
        return True

    def close_issue(self, number: int) -> bool:
        """Close an issue; False when it is not open."""
        found = self.issue(number)
        if found is None or not found.is_open:
            return False
        wanted = {"state": "closed", "state_reason": "completed"}
        _good(self.gh.ask("PATCH", self._path(f"issues/{number}"), wanted), "close the issue")
        return True

    def _account(self) -> str:
        """Return our login. Through GraphQL, because REST does not answer this to an app's token."""
        asked = self.gh.ask("POST", "graphql", {"query": "{viewer{login}}"})
        data = github_json.member(_good(asked, "name your account").json(), "data", dict)
        return str(github_json.member(github_json.member(data, "viewer", dict), "login", str))

    def _patched(self, number: int, change: dict[str, str]) -> Pull:
        answer = self.gh.ask("PATCH", self._path(f"pulls/{number}"), change)
        return github_json.read_pull(_good(answer, "change the pull request").json())

    def _files(self, number: int) -> Iterator[str]:
        for file in self._all(f"pulls/{number}/files"):
            yield github_json.member(file, "filename", str)
            if "previous_filename" in file:
                yield github_json.member(file, "previous_filename", str)

    def _log(self, run: Any) -> str:  # noqa: ANN401 - JSON
        """Read the end of a GitHub Actions job's log; "" for other apps, which store theirs elsewhere."""
        app = run.get("app")
        if not isinstance(app, dict) or app.get("slug") != _ACTIONS:
            return ""
        answer = self.gh.ask("GET", self._path(f"actions/jobs/{github_json.member(run, 'id', int)}/logs"))
        return answer.text[-_EXCERPT:] if answer.is_good else ""

    def _path(self, rest: str) -> str:
        return f"repos/{quote(self.owner, safe='')}/{quote(self.name, safe='')}/{rest}"

    def _got(self, rest: str, doing: str) -> Answer:
        return _good(self.gh.ask("GET", self._path(rest)), doing)

    def _all(self, rest: str, *, within: str | None = None) -> Iterator[Any]:
        """Read every page of a list; a page that is not full is the last."""
        join = "&" if "?" in rest else "?"
        for page in range(1, _PAGES + 1):
            data = self._got(f"{rest}{join}per_page={_PAGE}&page={page}", "show a list").json()
            rows = github_json.member(data, within, list) if within else data
            if not isinstance(rows, list):
                break
            yield from rows
            if len(rows) < _PAGE:
                return
        raise ForgeFailed(
            f"GitHub's list {rest.partition('?')[0]} cannot be read to its end",
            why=f"It has more than {_PAGE * _PAGES} rows, or is none.",
            next_step="Check it in the browser; asbuilt decides nothing from an incomplete list.",
        )


_SCP: Final = re.compile(r"(?:[^@/:]+@)?(?P<host>[^@/:]+):(?P<path>[^:].*)")
_GITHUB: Final = ("github.com", "ssh.github.com", "github.localhost")
_OTHERS: Final = {"gitlab": "GitLab", "codeberg": "Forgejo", "forgejo": "Forgejo", "gitea": "Gitea"}


class Place(Struct, frozen=True, kw_only=True):
    """Host, owner and name in a remote's URL."""

    host: str
    owner: str
    name: str


def _good(answer: Answer, doing: str) -> Answer:
    if not answer.is_good:
        raise refused(answer, doing)
    return answer


def place_of(url: str) -> Place | None:
    """Parse a remote's URL in any form that git accepts; None if it lacks a host, an owner or a name."""
    parts = urlsplit(url)
    if parts.scheme in ("http", "https", "ssh", "git"):
        host, path = (parts.hostname or ""), parts.path
    elif "://" not in url and (found := _SCP.fullmatch(url)) is not None:
        host, path = found["host"], found["path"]
    else:
        return None
    steps = [step for step in path.removesuffix("/").removesuffix(".git").split("/") if step]
    if not host or len(steps) < 2:
        return None
    host = "github.com" if host.lower() == "ssh.github.com" else host.lower()
    return Place(host=host, owner="/".join(steps[:-1]), name=steps[-1])


def open_forge(repository: Repository, environ: Mapping[str, str], *, remote: str = "origin") -> GitHub:
    """Open the forge of a remote; sends no request yet."""
    git = replace(repository.git, as_user=True)
    result = git.run("remote", "get-url", "--push", "--", remote, allowed=(0, 2, 128))
    if result.code:
        raise ForgeFailed(
            f"this repository has no remote {remote}",
            why="A pull request is opened where the remote is.",
            next_step=f"`git remote add {remote} ADDRESS`, or land by cherry-pick.",
        )
    place = place_of(result.line)
    if place is None:
        raise ForgeFailed(
            f"remote {remote} leads to no forge",
            why="Its address names no host with an owner and a repository.",
            next_step=f"`git remote set-url {remote} git@github.com:OWNER/NAME.git`, or land by cherry-pick.",
        )
    enterprise = environ.get("GH_HOST", "").lower()
    if place.host not in (*_GITHUB, enterprise) and not place.host.endswith(".ghe.com"):
        raise _unknown(place)
    given = {name: environ[name] for name in FORGE_VARIABLES if name in environ}
    return GitHub(
        repository=repository,
        url=result.line,
        environment=given,
        gh=Gh(host=place.host, environment=given),
        owner=place.owner,
        name=place.name,
    )


def _unknown(place: Place) -> ForgeFailed:
    kind = next((name for word, name in _OTHERS.items() if word in place.host), None)
    is_other = f"It is a {kind}; asbuilt opens pull requests on GitHub so far." if kind else ""
    return ForgeFailed(
        f"{place.host} is not a forge that asbuilt can open pull requests on",
        why=is_other or "asbuilt opens pull requests on GitHub so far, and GH_HOST does not name this host.",
        next_step="Land by cherry-pick and push yourself."
        if kind
        else f"For GitHub Enterprise set GH_HOST={place.host}; else land by cherry-pick and push yourself.",
    )
