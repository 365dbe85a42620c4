"""Run git. Rule: git gets only the folders, settings and variables given here; it discovers nothing."""

from __future__ import annotations

import os
import re
import select
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from asbuilt.errors import GitFailed, NotFound, UsageWrong
from asbuilt.policy.sandbox.look_script import settings_environment

MEGABYTE: Final = 1_000_000
ENDED: Final = "git was ended by signal"
"""Message for a git that a signal ended; a retry may succeed."""
_ERROR_CHARS: Final = 2_000
_LOCKED: Final = re.compile(r"Unable to create '.*\.lock': File exists|could not lock config file")
_USERS_OWN: Final = ("HOME", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK", "GNUPGHOME", "GPG_TTY", "USER", "LOGNAME")

# These override the repository's settings, so that git starts no program of the repository's choosing.
_SETTINGS: Final = (
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.quotePath=false",
    "core.sshCommand=false",
    "core.alternateRefsCommand=true",
    "core.fsync=committed,reference",
    "core.filesRefLockTimeout=5000",
    "core.packedRefsTimeout=10000",
    "diff.autoRefreshIndex=false",
    "diff.external=",
    "gc.auto=0",
    "i18n.commitEncoding=UTF-8",
    "log.showSignature=false",
    "maintenance.auto=false",
    "protocol.ext.allow=never",
    "push.pushOption=",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
)


class CommandResult(Struct, frozen=True, kw_only=True):
    """Exit code and output of one git command."""

    code: int
    out: bytes
    err: str

    @property
    def line(self) -> str:
        """Standard output as text without trailing newlines; bytes that are not UTF-8 are kept."""
        return os.fsdecode(self.out).rstrip("\n")

    @property
    def fields(self) -> list[bytes]:
        """Fields of a `-z` output."""
        return self.out.split(b"\0")[:-1] if self.out else []


class Git(Struct, frozen=True, kw_only=True):
    """Where and how git runs: its folders, environment, settings and limits."""

    git_dir: Path
    work_tree: Path | None = None
    index: Path | None = None
    objects: Path | None = None
    """Object folder, if it is not below `git_dir`."""
    as_user: bool = False
    """True: use the user's settings and keys, as for an author, a signature, or the user's own checkout."""
    timeout_s: float = 300.0
    patience_s: float = 10.0
    """How long to wait for another process's lock; it is never removed."""
    output_cap: int = 256 * MEGABYTE
    environment: Mapping[str, str] = field(default_factory=dict)
    settings: tuple[tuple[str, str], ...] = ()
    """Settings, in order, that override those of every file."""
    descriptors: tuple[int, ...] = ()
    """File descriptors that git and its child processes inherit."""
    shielded: bool = False
    """True: git runs in its own session, so Ctrl-C does not interrupt it."""

    def run(self, *argv: str | bytes, stdin: bytes = b"", allowed: tuple[int, ...] = (0,)) -> CommandResult:
        """Run one git command to its end; raise `GitFailed` for an exit code that is not in `allowed`.

        While another git holds a lock, retries for `patience_s`, with pauses of 0.02 s that double up to 0.5
        s.
        """
        until = time.monotonic() + self.patience_s
        pause = 0.02
        while True:
            result = self._once(argv, stdin)
            if result.code in allowed:
                return result
            if not _LOCKED.search(result.err) or time.monotonic() + pause > until:
                raise _failed(argv, result)
            time.sleep(pause)
            pause = min(pause * 2, 0.5)

    def line(self, *argv: str | bytes, stdin: bytes = b"") -> str:
        """Run a command and return its output as `CommandResult.line`."""
        return self.run(*argv, stdin=stdin).line

    def start(self, *argv: str, errors: IO[bytes]) -> subprocess.Popen[bytes]:
        """Start a git that stays, with pipes for its input and output; the caller ends it."""
        return _started(
            self._argv(argv),
            cwd=self.git_dir,
            env=self._environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            bufsize=0,
        )

    def with_environment(self, **more: str) -> Git:
        """Return a copy with additional environment variables."""
        return replace(self, environment={**self.environment, **more})

    def _once(self, argv: tuple[str | bytes, ...], stdin: bytes) -> CommandResult:
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as errors:
            given.write(stdin)
            given.seek(0)
            with _started(
                self._argv(argv),
                cwd=self.work_tree or self.git_dir,
                env=self._environment(),
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=errors,
                pass_fds=self.descriptors,
                start_new_session=self.shielded,
            ) as process:
                try:
                    out = self._read(process, argv)
                except BaseException:  # ended, and raised again
                    process.kill()
                    raise
            errors.seek(0)
            err = errors.read(_ERROR_CHARS).decode("utf-8", "replace")
        return CommandResult(code=process.returncode, out=out, err=err.strip())

    @staticmethod
    def _argv(argv: tuple[str | bytes, ...]) -> list[str | bytes]:
        return ["git", *(part for setting in _SETTINGS for part in ("-c", setting)), *argv]

    def _read(self, process: subprocess.Popen[bytes], argv: tuple[str | bytes, ...]) -> bytes:
        until = time.monotonic() + self.timeout_s
        stream: IO[bytes] | None = process.stdout
        out = bytearray()
        while stream is not None:
            left = until - time.monotonic()
            if left <= 0 or not select.select([stream], [], [], left)[0]:
                raise _cut_short(argv, f"It did not end within {self.timeout_s:g} seconds.")
            chunk = os.read(stream.fileno(), 1 << 20)
            if not chunk:
                break
            out += chunk
            if len(out) > self.output_cap:
                raise _cut_short(argv, f"It said more than {self.output_cap // MEGABYTE} MB.")
        try:
            process.wait(max(until - time.monotonic(), 1.0))
        except subprocess.TimeoutExpired as error:
            raise _cut_short(argv, f"It did not end within {self.timeout_s:g} seconds.") from error
        return bytes(out)

    def _environment(self) -> dict[str, str]:
        clean = {
            "PATH": os.environ.get("PATH", os.defpath),
            "LC_ALL": "C",
            "GIT_DIR": str(self.git_dir),
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "file",
            "GIT_EDITOR": "false",
            "GIT_ASKPASS": "false",
        }
        if self.as_user:
            clean |= {name: os.environ[name] for name in _USERS_OWN if name in os.environ}
        else:
            clean |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ATTR_NOSYSTEM": "1"}
        if self.work_tree is not None:
            clean["GIT_WORK_TREE"] = str(self.work_tree)
            clean["GIT_INDEX_FILE"] = str(self.index if self.index is not None else self.git_dir / "index")
        elif self.index is not None:
            clean["GIT_INDEX_FILE"] = str(self.index)
        if self.objects is not None:
            clean["GIT_OBJECT_DIRECTORY"] = str(self.objects)
        return clean | dict(self.environment) | settings_environment(self.settings)


def git_missing() -> NotFound:
    """Return the error for a machine without git, which every command that needs git shows."""
    return NotFound(
        "there is no git on PATH",
        why="asbuilt makes workspaces with git, and lands work as commits.",
        next_step="Install git 2.38 or newer, then: `asbuilt doctor`",
    )


def check_ref_name(name: str) -> str:
    """Return a full ref name; refuse one that git rejects or that a command could take for an option."""
    parts = name.split("/")
    wrong = (
        len(parts) < 2
        or parts[0] != "refs"
        or any(not part or part.startswith(".") or part.endswith(".lock") for part in parts)
        or name.endswith(".")
        or ".." in name
        or "@{" in name
        or any(char in " ~^:?*[\\\x7f" or char < " " for char in name)
        or len(os.fsencode(name)) > 1_000
    )
    if wrong:
        raise UsageWrong(
            f"{name!r} is not a name that git takes for a ref",
            why="asbuilt checks each name first, so that git takes none as an option or as another ref.",
            next_step="`git check-ref-format --branch NAME` checks another name.",
        )
    return name


def check_branch(name: str) -> str:
    """Return the full ref name of a branch; like git, refuse `HEAD` and names that begin with a dash."""
    if name.startswith("-") or name == "HEAD":
        return check_ref_name(f"refs/heads/{name}\x00")
    return check_ref_name(name if name.startswith("refs/heads/") else f"refs/heads/{name}")


def check_oid(text: str) -> str:
    """Return a full object name; raise `UsageWrong` for anything else."""
    if not re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", text):
        raise UsageWrong(
            f"{text!r} is not a commit's full name",
            why="Short or symbolic names can mean another commit by the time they are used.",
            next_step="`git log --format=%H` lists full hashes.",
        )
    return text


def _started(argv: list[str | bytes], **options: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401
    try:
        # Arguments are a list, and names in them are validated; no shell is involved.
        return subprocess.Popen(argv, **options)  # noqa: S603
    except FileNotFoundError as error:
        if error.filename != argv[0]:  # the folder to start it in
            raise
        raise git_missing() from error


def _verb(argv: tuple[str | bytes, ...]) -> str:
    return next((os.fsdecode(part) for part in argv if not os.fsdecode(part).startswith("-")), "git")


def _failed(argv: tuple[str | bytes, ...], result: CommandResult) -> GitFailed:
    message = f"git said: {result.err or result.line[:_ERROR_CHARS] or 'nothing'}"
    return GitFailed(
        f"git {_verb(argv)} failed (exit {result.code})",
        why=f"{ENDED} {-result.code}" if result.code < 0 else message,
        next_step="`pgrep -l git` shows whether a git runs. If none does, remove the lock."
        if _LOCKED.search(result.err)
        else "`git status` shows whether git works there; nothing was lost.",
    )


def _cut_short(argv: tuple[str | bytes, ...], why: str) -> GitFailed:
    return GitFailed(
        f"git {_verb(argv)} was ended by us",
        why=why,
        next_step="`df -h .` shows the disk; a program that git starts may hang, too.",
    )
