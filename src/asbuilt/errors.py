"""Errors with a message for the user, and the exit codes.

Every expected failure is a class here: what is wrong, why that stops the command, and what to do next. Any
other exception is a bug: the CLI writes a crash log and exits with 70.

The docstrings of the subclasses are published in docs/reference/troubleshooting.md (`scripts/messages.py`).
"""

from __future__ import annotations

import errno
from shlex import quote
from typing import ClassVar, Final

DONE: Final = 0
FAILED: Final = 1
USAGE: Final = 2
NOT_FOUND: Final = 3
GATE_STOPPED: Final = 4
PARKED: Final = 5
OUR_BUG: Final = 70
INTERRUPTED: Final = 130
_DENIED: Final = (errno.EROFS, errno.EACCES, errno.EPERM)


class AsbuiltError(Exception):
    """A condition that stops a command, with a message for the user."""

    exit_code: ClassVar[int] = FAILED

    def __init__(self, what: str, *, why: str, next_step: str, typed: str = "", meant: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.next_step = next_step
        self.typed = typed
        """A misspelt word of the command."""
        self.meant = meant
        """The word for it: the next command is the typed one with this word."""


class UsageWrong(AsbuiltError):
    """The command got an argument or option that it does not accept."""

    exit_code = USAGE


class SettingInvalid(AsbuiltError):
    """A settings file, variable or flag has an invalid value."""

    exit_code = USAGE


class SettingsNotWritten(AsbuiltError):
    """A settings file could not be changed safely; it stays as it was."""


class NotFound(AsbuiltError):
    """A named plan, phase, file or program does not exist."""

    exit_code = NOT_FOUND


class NameMisspelt(NotFound):
    """No plan or attempt has the typed name, and one has a similar name."""


class PlanUnreadable(AsbuiltError):
    """The plan cannot be read at all: too large, not a file, or not allowed."""


class PlanInvalid(AsbuiltError):
    """The request contradicts the plan's contents."""


class EditRefused(AsbuiltError):
    """The place to edit is ambiguous, so nothing was changed."""


class PlanChanged(AsbuiltError):
    """The file changed since asbuilt read it; the new text stays."""

    exit_code = GATE_STOPPED


class PlanUnwritable(AsbuiltError):
    """The plan's folder is not writable; the file is unchanged."""


class NameTaken(AsbuiltError):
    """A file or branch of that name exists; asbuilt never overwrites one."""


class AnswerLost(AsbuiltError):
    """The command could not write its output."""


class StoreFailed(AsbuiltError):
    """The journal cannot be read or written; no run continues without it."""


class JournalNewer(StoreFailed):
    """A newer version of asbuilt has written the journal; this one neither reads nor writes it."""


class JournalDamaged(StoreFailed):
    """The journal is damaged. asbuilt writes nothing; restore it from a backup."""


class DiskFull(AsbuiltError):
    """The disk is full; existing files are unchanged."""


class FileDenied(AsbuiltError):
    """The system refused access to a file: a read-only file system, or missing permissions."""

    exit_code = GATE_STOPPED

    @classmethod
    def of(cls, error: OSError) -> FileDenied | None:
        """Convert a system error; None when it is about something else, or names no file."""
        if error.errno not in _DENIED or error.filename is None:
            return None
        return cls(
            f"{error.filename}: {error.strerror}",
            why="The current user lacks permission for this file, or its file system is read-only.",
            next_step=f"`ls -ld {quote(str(error.filename))}` shows who has access.",
        )


class WorkerFailed(AsbuiltError):
    """The worker did not start; the request is queued."""


class GitFailed(AsbuiltError):
    """A git command failed; the message includes git's output."""


class RepositoryBusy(GitFailed):
    """Another git or asbuilt process holds a lock that this one needs; asbuilt retries."""


class ForgeFailed(AsbuiltError):
    """The forge cannot be reached, or refused a request; this needs user action."""


class ForgeBusy(ForgeFailed):
    """The forge does not answer now; a later request may succeed."""

    def __init__(self, what: str, *, why: str, next_step: str, again_s: float | None = None) -> None:
        super().__init__(what, why=why, next_step=next_step)
        self.again_s = again_s
        """Seconds until the forge accepts requests again, if it said so."""


class PathsUnknown(AsbuiltError):
    """The forge could not be asked which paths open pull requests change, so no path is known to be free."""

    exit_code = USAGE


class TreeTooLarge(AsbuiltError):
    """An attempt's files are over the caps of a snapshot; its workspace stays as it is."""

    exit_code = GATE_STOPPED


class GateStopped(AsbuiltError):
    """A run may not start or continue before a user acts."""

    exit_code = GATE_STOPPED


class NotLanded(AsbuiltError):
    """Nothing moved: a landing would have lost something, or its target is not as it was."""

    exit_code = GATE_STOPPED


class SandboxUnavailable(AsbuiltError):
    """This machine cannot provide the sandbox that the settings require."""

    exit_code = GATE_STOPPED

    def __init__(
        self, what: str, *, why: str, next_step: str, argv: tuple[str, ...] = (), output: bytes = b""
    ) -> None:
        super().__init__(what, why=why, next_step=next_step)
        self.argv = argv
        """The command that was not run."""
        self.output = output
        """Output of the program that creates the sandbox."""


class CommandStopped(AsbuiltError):
    """A check or setup was ended early because its run is stopping."""


class HostFailed(AsbuiltError):
    """An attempt's host process did not start; no part of the attempt runs."""

    exit_code = GATE_STOPPED


class ScriptInvalid(AsbuiltError):
    """The scripted agent's script is invalid."""

    exit_code = USAGE
