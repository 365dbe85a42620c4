"""Move a branch of a remote. Rule: push with a lease, and read the remote before and after.

The remote is named by its URL, so that neither a remote-tracking branch nor FETCH_HEAD of the user changes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, Self
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from asbuilt.errors import ForgeBusy, ForgeFailed, GitFailed
from asbuilt.git.command import Git, check_branch, check_oid, check_ref_name
from asbuilt.git.forge.gh import FORGE_VARIABLES, LATER
from asbuilt.git.locks import set_ref
from asbuilt.git.repository import Repository, tip
from asbuilt.git.trees import is_here
from asbuilt.lifecycle.pull_request.forge import BranchMoved, Pushed

_FETCHED: Final = "refs/asbuilt/remote/"
_PASSING: Final = re.compile(
    r"(?i)Could not resolve host|Failed to connect|Connection (refused|reset|timed out)|Operation timed out|"
    r"returned error: (429|5\d\d)|early EOF|hung up|RPC failed|Empty reply|timed out"
)


class Remote(Struct, frozen=True, kw_only=True):
    """A remote repository, as git reaches it."""

    repository: Repository
    url: str
    environment: Mapping[str, str]
    """Variables of the user's environment that git gets, to sign in there."""

    @classmethod
    def at(cls, repository: Repository, url: str, environ: Mapping[str, str]) -> Self:
        """Return the remote at a URL; git gets the variables of an environment with which it signs in."""
        given = {name: environ[name] for name in FORGE_VARIABLES if name in environ}
        return cls(repository=repository, url=url, environment=given)

    def tip(self, branch: str) -> str | None:
        """Return the remote tip of a branch, or None if it does not exist."""
        ref = check_branch(branch)
        output = self._run("read", "ls-remote", "--quiet", "--", self.url, ref)
        for line in output.splitlines():
            commit, _, name = line.partition("\t")
            if name == ref:
                return check_oid(commit)
        return None

    def fetch(self, branch: str) -> str | None:
        """Fetch a branch to a ref below `refs/asbuilt/remote/`; return its tip, None if it does not exist."""
        ref = check_branch(branch)
        kept = check_ref_name(_FETCHED + ref.removeprefix("refs/heads/"))
        commit = self.tip(branch)
        if commit is None:
            return None
        self._run(
            "read", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
            "--recurse-submodules=no", "--", self.url, ref,
        )  # fmt: skip
        if not is_here(self.repository, commit):
            raise ForgeBusy(
                f"{branch} moved while it was fetched", why="Its last tip is not here.", next_step=LATER
            )
        if (before := tip(self.repository, kept)) != commit:
            set_ref(self.repository, kept, new=commit, old=before)
        return commit

    def listed(self, *patterns: str) -> dict[str, str]:
        """Return the remote refs that match patterns: name to object."""
        output = self._run("read", "ls-remote", "--quiet", "--refs", "--", self.url, *patterns)
        return {ref: at for at, _, ref in (line.partition("\t") for line in output.splitlines())}

    def fetch_refs(self, refs: Mapping[str, str]) -> None:
        """Fetch remote refs, each to a ref here, which it replaces."""
        if refs:
            self._run(
                "read", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
                "--recurse-submodules=no", "--", self.url, *(f"+{ref}:{here}" for ref, here in refs.items()),
            )  # fmt: skip

    def push_refs(self, refs: Mapping[str, str], *, gone: Sequence[str], known: Mapping[str, str]) -> None:
        """Set remote refs to objects and delete others, all or none, if they are as `known`."""
        every = {**refs, **dict.fromkeys(gone, "")}
        leases = [f"--force-with-lease={ref}:{known.get(ref, '')}" for ref in every]
        self._run(
            "change", "push", "--quiet", "--atomic", "--no-verify", "--no-follow-tags", "--no-signed",
            "--recurse-submodules=no", *leases, "--", self.url, *(f"{at}:{ref}" for ref, at in every.items()),
        )  # fmt: skip

    def push(self, branch: str, commit: str, *, expected: str | None) -> Pushed | BranchMoved:
        """Set the branch to a commit if it is there already or at `expected` (None: it must not exist)."""
        return self._move(branch, check_oid(commit), expected)

    def drop(self, branch: str, *, expected: str) -> Pushed | BranchMoved:
        """Delete the branch if it is at `expected`."""
        return self._move(branch, None, check_oid(expected))

    def _move(self, branch: str, commit: str | None, expected: str | None) -> Pushed | BranchMoved:
        ref = check_branch(branch)
        found = self.tip(branch)
        done = Pushed(branch=branch, commit=commit or expected or "")
        if found == commit:
            return replace(done, already=True)
        if found != expected:
            return BranchMoved(branch=branch, found=found)
        try:
            self._run(
                "change", "push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-signed",
                "--recurse-submodules=no", f"--force-with-lease={ref}:{expected or ''}", "--",
                self.url, f"{commit or ''}:{ref}",
            )  # fmt: skip
        except ForgeFailed:
            # The push may have succeeded although its answer was lost, or the branch has moved: the remote
            # decides.
            found = self.tip(branch)
            if found == commit:
                return done
            if found != expected:
                return BranchMoved(branch=branch, found=found)
            raise
        return done

    def _run(self, doing: str, *argv: str) -> str:
        try:
            return self._git().run(*argv).line
        except GitFailed as error:
            if _PASSING.search(error.why):
                raise ForgeBusy(
                    f"{self._named} cannot be reached by git", why=error.why, next_step=LATER
                ) from error
            raise ForgeFailed(
                f"git may not {doing} {self._named}",
                why=error.why,
                next_step="`gh auth setup-git &&` `asbuilt run`",
            ) from error

    def _git(self) -> Git:
        parts = urlsplit(self.url)
        user = replace(self.repository.git, as_user=True, timeout_s=600.0)
        # The user's own command, or the repository's once the user has agreed to it.
        own = self.repository.programs
        ssh = dict(own.named if own.is_agreed else ()).get("core.sshcommand", "") or (
            user.run("config", "--global", "--get", "core.sshCommand", allowed=(0, 1)).line
        )
        given = {"GIT_SSH_COMMAND": ssh or "ssh -oBatchMode=yes", **self.environment}
        # Unencrypted HTTP only to this machine.
        clear = ":http" if (parts.hostname or "").endswith(".localhost") else ""
        given |= {"GIT_ALLOW_PROTOCOL": f"https:ssh{clear}"}
        given |= {"GIT_HTTP_LOW_SPEED_LIMIT": "1", "GIT_HTTP_LOW_SPEED_TIME": "60"}
        # After the user's own credential helpers, so that a login in gh is enough for git.
        helper = f"credential.https://{parts.netloc.rpartition('@')[2]}.helper", "!gh auth git-credential"
        more = (helper,) if parts.scheme == "https" else ()
        return replace(user, environment=given, settings=(*user.settings, *more))

    @property
    def _named(self) -> str:
        """The URL's host and path, without credentials before the @."""
        parts = urlsplit(self.url)
        return f"{parts.hostname}{parts.path}" if parts.hostname else self.url
