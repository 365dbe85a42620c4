"""Call GitHub through the user's own `gh`. Rule: one request per call, and asbuilt keeps no token.

Errors are of two kinds: `ForgeBusy` is transient and retried later, `ForgeFailed` needs user action.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Final, Literal

from msgspec import Struct, field

from asbuilt.errors import ForgeBusy, ForgeFailed

Method = Literal["GET", "POST", "PATCH", "PUT", "DELETE"]
_TIMEOUT_S: Final = 120.0
_ERROR_CHARS: Final = 600
_STATUS: Final = re.compile(r"\AHTTP/[\d.]+ (\d{3})")
_NOT_SIGNED_IN: Final = re.compile(r"(?i)gh auth login|GH_TOKEN environment variable|authentication required")
_NOT_SIGNED_IN_CODE: Final = 4
_LIMITED: Final = re.compile(r"(?i)rate limit|abuse detection")
_SERVER: Final = 500
FORGE_VARIABLES: Final = (
    "PATH", "HOME", "USER", "LOGNAME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS", "GH_CONFIG_DIR", "GH_HOST", "GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN",
    "GITHUB_ENTERPRISE_TOKEN", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy",
    "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSH_AUTH_SOCK", "GIT_SSH_COMMAND",
)  # fmt: skip
"""Variables of the user's environment for gh and a pushing git: logins, proxies and certificates."""
LATER: Final = "No action needed: asbuilt retries later."


class Answer(Struct, frozen=True, kw_only=True):
    """A response of GitHub with a status below 500 that is not a rate limit."""

    status: int
    headers: Mapping[str, str]
    """Names are in lower case."""
    text: str

    @property
    def is_good(self) -> bool:
        """Whether the request succeeded."""
        return 200 <= self.status < 300

    def json(self) -> Any:  # noqa: ANN401 - read by `git.github`, field by field
        """Read the body as JSON."""
        try:
            return json.loads(self.text)
        except ValueError as error:
            raise ForgeBusy(
                "GitHub's answer is no JSON",
                why=f"It begins with {self.text[:80]!r}, as where a proxy answers in its place.",
                next_step=LATER,
            ) from error

    @property
    def message(self) -> str:
        """GitHub's own error message."""
        try:
            body = json.loads(self.text)
        except ValueError:
            return self.text.strip()[:_ERROR_CHARS] or f"HTTP {self.status}"
        if not isinstance(body, dict):
            return f"HTTP {self.status}"
        errors = [error for error in body.get("errors") or [] if isinstance(error, dict)]
        more = [str(error.get("message") or f"{error.get('field')}: {error.get('code')}") for error in errors]
        return "; ".join([str(body.get("message") or f"HTTP {self.status}"), *more])[:_ERROR_CHARS]


class Gh(Struct, frozen=True, kw_only=True):
    """The user's gh, for one host."""

    host: str
    environment: Mapping[str, str] = field(default_factory=dict)

    def ask(self, method: Method, path: str, body: Mapping[str, object] | None = None) -> Answer:
        """Send one request; raise `ForgeBusy` if transient, `ForgeFailed` if gh is missing or signed out."""
        argv = ["api", "--hostname", self.host, "--include", "--method", method, path]
        argv += ["--header", "Accept: application/vnd.github+json"]
        given = b"" if body is None else json.dumps(body).encode()
        if body is not None:
            argv += ["--input", "-"]
        code, out, err = self._run(*argv, stdin=given)
        answer = _read(out.decode("utf-8", "replace"))
        if answer is None:
            raise self._unanswered(code, err)
        if _is_limited(answer):
            raise ForgeBusy(
                f"{self.host} takes no more requests for now",
                why=f"A rate limit is reached: {answer.message}",
                next_step=LATER,
                again_s=_again_in(answer),
            )
        if answer.status >= _SERVER:
            raise ForgeBusy(
                f"{self.host} has a server error (HTTP {answer.status})",
                why=f"It said: {answer.message}",
                next_step=LATER,
                again_s=_again_in(answer),
            )
        if answer.status == 401:
            raise self._signed_out(f"GitHub said: {answer.message}")
        return answer

    def require_login(self) -> None:
        """Raise `ForgeFailed` if gh has no login for the host. Uses no network and reads no token."""
        code, _, err = self._run("auth", "token", "--hostname", self.host, stdout=subprocess.DEVNULL)
        if code:
            raise self._signed_out(f"gh said: {err[:_ERROR_CHARS] or 'nothing'}")

    def _run(self, *argv: str, stdin: bytes = b"", stdout: int = subprocess.PIPE) -> tuple[int, bytes, str]:
        program = shutil.which("gh", path=self.environment.get("PATH"))
        if program is None:
            raise ForgeFailed(
                "there is no program gh on PATH",
                why="Pull requests are made by GitHub's own gh, with the login that you have there.",
                next_step="Install gh, then: `gh auth login`; landing by cherry-pick needs neither.",
            )
        try:
            done = subprocess.run(  # noqa: S603 - the user's gh, by PATH, with a list of arguments
                [program, *argv],
                cwd="/",
                env=self._environment(),
                input=stdin,
                stdout=stdout,
                stderr=subprocess.PIPE,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise ForgeBusy(
                f"{self.host} did not answer",
                why=f"gh was ended after {_TIMEOUT_S:g} seconds.",
                next_step=LATER,
            ) from error
        return done.returncode, done.stdout or b"", done.stderr.decode("utf-8", "replace").strip()

    def _environment(self) -> dict[str, str]:
        return {name: self.environment[name] for name in FORGE_VARIABLES if name in self.environment} | {
            "GH_PROMPT_DISABLED": "1",
            "GH_NO_UPDATE_NOTIFIER": "1",
            "GH_SPINNER_DISABLED": "1",
            "NO_COLOR": "1",
            "LC_ALL": "C",
        }

    def _unanswered(self, code: int, err: str) -> ForgeFailed:
        if code == _NOT_SIGNED_IN_CODE or _NOT_SIGNED_IN.search(err):
            return self._signed_out(f"gh has no login for {self.host}.")
        return ForgeBusy(
            f"{self.host} cannot be reached",
            why=f"gh said: {err[:_ERROR_CHARS] or 'nothing'}",
            next_step=LATER,
        )

    def _signed_out(self, why: str) -> ForgeFailed:
        return ForgeFailed(
            f"gh is not signed in to {self.host}",
            why=f"{why.removesuffix('.')}. Pull requests are made with your own login.",
            next_step=f"`gh auth login --hostname {self.host}`",
        )


def refused(answer: Answer, doing: str) -> ForgeFailed:
    """Return the error for a request that GitHub refused, with GitHub's message; it needs user action."""
    hidden = " A repository that your login may not see answers so too." if answer.status == 404 else ""
    return ForgeFailed(
        f"GitHub did not {doing} (HTTP {answer.status})",
        why=f"It said: {answer.message}{hidden}",
        next_step="`gh auth status` shows your login; or ask an administrator of the repository.",
    )


def _read(text: str) -> Answer | None:
    found = _STATUS.match(text)
    if found is None:
        return None
    head, _, body = text.replace("\r\n", "\n").partition("\n\n")
    lines = (line.partition(":") for line in head.split("\n")[1:])
    headers = {name.strip().lower(): value.strip() for name, _, value in lines}
    return Answer(status=int(found[1]), headers=headers, text=body)


def _is_limited(answer: Answer) -> bool:
    if answer.status not in (403, 429):
        return False
    spent = answer.headers.get("x-ratelimit-remaining") == "0" or "retry-after" in answer.headers
    return answer.status == 429 or spent or _LIMITED.search(answer.message) is not None


def _again_in(answer: Answer) -> float | None:
    """Return the number of seconds after which GitHub accepts requests again, or None if it names none."""
    after = answer.headers.get("retry-after", "")
    if after.isdecimal():
        return float(after)
    reset = answer.headers.get("x-ratelimit-reset", "")
    if answer.headers.get("x-ratelimit-remaining") != "0" or not reset.isdecimal():
        return None
    # Both times are GitHub's, so the local clock does not matter.
    try:
        now = parsedate_to_datetime(answer.headers.get("date", "")).timestamp()
    except ValueError:
        now = time.time()
    return max(float(reset) - now, 1.0)
