"""Tell what passes by itself from what a person has to mend. Pure: a disk that is full is no end of a run."""

from __future__ import annotations

import errno
from typing import Final

from asbuilt.errors import AsbuiltError, GitFailed, HostFailed, RepositoryBusy, StoreFailed
from asbuilt.git.command import ENDED
from asbuilt.journal.events import shortened

_PART: Final = 400
"""Bytes of what and of why: names in them can be long, and what to do next must not be cut off."""
_PASSING: Final = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EAGAIN}
)
_PASSING_WORDS: Final = (
    "No space left on device",
    "Disk quota exceeded",
    "Cannot allocate memory",
    ENDED,
    "died of signal",
)
"""What git says when it is no fault of the repository's; the last is said of a git that it started."""


def trouble_in(error: AsbuiltError | OSError) -> str | None:
    """Word a failure that may pass: of the store, the disk or the machine. None when waiting is no help."""
    match error:
        case StoreFailed() | HostFailed() | RepositoryBusy():
            return words_of(error)
        case GitFailed() if any(words in error.why for words in _PASSING_WORDS):
            return words_of(error)
        case OSError() if error.errno in _PASSING:
            return f"{error.strerror}: {error.filename or 'no file is named'}"
        case _:
            return None


def words_of(error: AsbuiltError) -> str:
    """Say an error in one line."""
    what, why = shortened(error.what, _PART), shortened(error.why, _PART)
    return f"{what} Why: {why} Next: {error.next_step}"
