"""Classify failures: transient errors are retried, all others need user action. Pure."""

from __future__ import annotations

import errno
from typing import Final, NamedTuple

from asbuilt.errors import AsbuiltError, ForgeBusy, GitFailed, HostFailed, RepositoryBusy, StoreFailed
from asbuilt.git.command import ENDED
from asbuilt.journal.events import shortened
from asbuilt.lifecycle.run.retry_times import again_at, seconds_after

_PART: Final = 400
"""Most bytes of `what` and of `why`: names in them can be long, and the next step must not be cut off."""
_LONGEST_S: Final = 3 * 3600
"""Longest wait for a forge. Rate limits reset within the hour; a header that asks for more is not obeyed."""
_PASSING: Final = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EAGAIN}
)
_PASSING_WORDS: Final = (
    "No space left on device",
    "Out of diskspace",
    "Disk quota exceeded",
    "Cannot allocate memory",
    ENDED,
    "died of signal",
)
"""Messages of git that are not the repository's fault; the last is about a git that git itself started."""
_CAUSELESS: Final = ("couldn't write", "could not write", "unable to write")
"""Messages of git on a full disk that give no cause; for a file without write permission git names it."""
_FORBIDDEN: Final = ("Permission denied", "Read-only file system", "Operation not permitted")


class ErrorText(NamedTuple):
    """A failure as text: what happened and why, and what the user can do."""

    reason: str
    next_step: str = ""


def transient_error(error: AsbuiltError | OSError) -> ErrorText | None:
    """Describe a transient error of store, forge, disk or machine; None if a retry cannot help."""
    match error:
        case StoreFailed() | HostFailed() | RepositoryBusy() | ForgeBusy():
            return words_of(error)
        case GitFailed() if may_pass(error.why):
            return words_of(error)
        case OSError() if error.errno in _PASSING:
            return ErrorText(f"{error.strerror}: {error.filename or 'no file is named'}")
        case _:
            return None


def retry_at(error: AsbuiltError | OSError, errors: int, now: str) -> str:
    """Return when to retry; not before the time that the forge gave, if it gave one (at most 3 hours)."""
    again = again_at(errors, now)
    if isinstance(error, ForgeBusy) and error.again_s is not None:
        return max(again, seconds_after(now, min(error.again_s, _LONGEST_S)))
    return again


def may_pass(message: str) -> bool:
    """Return whether git's message is about the disk or the machine, not the repository."""
    is_causeless = any(words in message for words in _CAUSELESS) and not any(w in message for w in _FORBIDDEN)
    return is_causeless or any(words in message for words in _PASSING_WORDS)


def words_of(error: AsbuiltError) -> ErrorText:
    """Return an error as one line, and its next step."""
    what, why = (_closed(shortened(part, _PART)) for part in (error.what, error.why))
    return ErrorText(f"{what} Why: {why}", error.next_step)


def _closed(sentence: str) -> str:
    return sentence if sentence.endswith((".", "?", ":", "…")) else f"{sentence}."
