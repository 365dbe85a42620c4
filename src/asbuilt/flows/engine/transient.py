"""Tell what passes by itself from what a person has to mend. Pure: a disk that is full is no end of a run."""

from __future__ import annotations

import errno
from typing import Final, NamedTuple

from asbuilt.errors import AsbuiltError, ForgeBusy, GitFailed, HostFailed, RepositoryBusy, StoreFailed
from asbuilt.git.command import ENDED
from asbuilt.journal.events import shortened
from asbuilt.lifecycle.run.timers import again_at, seconds_after

_PART: Final = 400
"""Bytes of what and of why: names in them can be long, and what to do next must not be cut off."""
_LONGEST_S: Final = 3 * 3600
"""A forge's limits open again within the hour; a header that says otherwise is not waited out."""
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
"""What git says when it is no fault of the repository's; the last is said of a git that it started."""
_CAUSELESS: Final = ("couldn't write", "could not write", "unable to write")
"""What git says of a full disk where it does not say why; of a file that it may not write it says so."""
_FORBIDDEN: Final = ("Permission denied", "Read-only file system", "Operation not permitted")


class Said(NamedTuple):
    """A failure in words: what happened and why, and what the user can do about it."""

    reason: str
    next_step: str = ""


def trouble_in(error: AsbuiltError | OSError) -> Said | None:
    """Word a failure that may pass: of store, forge, disk or machine. None when waiting is no help."""
    match error:
        case StoreFailed() | HostFailed() | RepositoryBusy() | ForgeBusy():
            return words_of(error)
        case GitFailed() if may_pass(error.why):
            return words_of(error)
        case OSError() if error.errno in _PASSING:
            return Said(f"{error.strerror}: {error.filename or 'no file is named'}")
        case _:
            return None


def retry_at(error: AsbuiltError | OSError, troubles: int, now: str) -> str:
    """Say when what met trouble is tried again; not before a forge wants to be asked, where it said when."""
    again = again_at(troubles, now)
    if isinstance(error, ForgeBusy) and error.again_s is not None:
        return max(again, seconds_after(now, min(error.again_s, _LONGEST_S)))
    return again


def may_pass(said: str) -> bool:
    """Tell whether git's words are of the disk or the machine, not of the repository."""
    is_causeless = any(words in said for words in _CAUSELESS) and not any(w in said for w in _FORBIDDEN)
    return is_causeless or any(words in said for words in _PASSING_WORDS)


def words_of(error: AsbuiltError) -> Said:
    """Word an error in one line, and what to do next apart from it."""
    what, why = (_closed(shortened(part, _PART)) for part in (error.what, error.why))
    return Said(f"{what} Why: {why}", error.next_step)


def _closed(sentence: str) -> str:
    return sentence if sentence.endswith((".", "?", ":", "…")) else f"{sentence}."
