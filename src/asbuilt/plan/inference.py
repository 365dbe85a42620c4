"""Infer from evidence whether a phase that is written in prose is done, with the reasons.

Rule: an inference is only reported. It never becomes a mark or a status.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, assert_never

Outcome = Literal["done", "open", "unknown"]
Confidence = Literal["low", "medium", "high"]

_PATH: Final = re.compile(r"`((?:[\w.@-]+/)*[\w@-][\w.@-]*\.[A-Za-z]\w{0,7})`")
_TAKES_AWAY: Final = re.compile(r"(?i)\b(?:delet|remov|drop(?:s|ped)?\b|retir|goes away)")


class FileSeen(NamedTuple):
    """Whether a file that the phase names exists."""

    path: str
    exists: bool


class TestsRun(NamedTuple):
    """Result of the tests in a file that the phase names."""

    path: str
    passed: bool


class LogMention(NamedTuple):
    """A commit whose message mentions the phase."""

    commit: str
    subject: str


Evidence = FileSeen | TestsRun | LogMention


class Inference(NamedTuple):
    """The likely outcome, its confidence and the reasons."""

    outcome: Outcome
    confidence: Confidence
    because: tuple[str, ...]


def paths_in(text: str) -> tuple[str, ...]:
    """Return the files that a phase names, for the caller to check."""
    return tuple(dict.fromkeys(_PATH.findall(text)))


def infer(text: str, evidence: Sequence[Evidence]) -> Inference:
    """Weigh the evidence for one phase. Any evidence against it outweighs all evidence for it."""
    against: list[str] = []
    speaks: list[str] = []
    strong = False
    gone = _TAKES_AWAY.search(text) is not None
    for piece in evidence:
        match piece:
            case FileSeen(path=path, exists=exists):
                words = f"{path} {'exists' if exists else 'does not exist'}"
                # A phase that deletes something may name files that stay; an existing file proves nothing.
                if gone and exists:
                    continue
                (speaks if exists or gone else against).append(words)
            case TestsRun(path=path, passed=passed):
                (speaks if passed else against).append(f"the tests in {path} {'pass' if passed else 'fail'}")
                strong |= passed
            case LogMention(commit=commit, subject=subject):
                speaks.append(f'{commit[:7]} says "{subject}"')
            case _:
                assert_never(piece)
    if against:
        return Inference("open", "high" if len(against) > 1 else "medium", tuple(against))
    if not speaks:
        return Inference("unknown", "low", ("nothing that it names could be checked",))
    return Inference("done", "medium" if strong or len(speaks) > 1 else "low", tuple(speaks))
