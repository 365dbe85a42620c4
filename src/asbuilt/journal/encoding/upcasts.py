"""Convert the data of events that older versions of asbuilt wrote to the newest version of their kind.

Older versions put meaning into sentences. Only this module parses those sentences; the wording in it is
fixed, because existing journals contain it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from asbuilt.events.attempts import TogetherJudged, VerdictGiven
from asbuilt.events.phases import BaselineDone
from asbuilt.events.runs import PauseAsked, RunEnded, RunParked, StopAsked, TroubleMet, WaitReason

Data = dict[str, Any]
_ITEM: Final = re.compile(r"item ([0-9]+), (.*)", re.DOTALL)
_FAULT: Final = "the verdict: "
_UNEXPLAINED: Final = "asked for"
"""Stands in older events for a reason that the user did not give."""
_WORDS_OF_WAITS: Final = (
    ("approval ", WaitReason.ANSWER),
    ("paused", WaitReason.PAUSE),
    ("the conversation that authors it", WaitReason.CONVERSATION),
    ("usage limit", WaitReason.LIMIT),
    ("overload", WaitReason.OVERLOAD),
    ("it begins phases only", WaitReason.WINDOW),
    ("the checks of pull request", WaitReason.CHECKS),
)
"""Version 1 has no reason; it is derived from the beginning of the sentence."""


def _failing_baseline(data: Data) -> Data:
    """Version 1 recorded a suite with known failures as passed."""
    has_failures = data.get("outcome") == "PASS" and data.get("ran") and data.get("failed")
    return data | {"outcome": "FAIL"} if has_failures else data


def _reason_of_wait(data: Data) -> Data:
    found = (reason for words, reason in _WORDS_OF_WAITS if str(data.get("why")).startswith(words))
    return data | {"reason": next(found, WaitReason.TRANSIENT_ERROR).value}


def _typed_failures(data: Data) -> Data:
    """Version 1 stores each failure as one text that begins with its subject."""
    return data | {"failures": [_failure(str(text)) for text in data.get("failures") or ()]}


def _failure(text: str) -> Data:
    if text.startswith(_FAULT):
        return {"text": text.removeprefix(_FAULT), "is_fault": True}
    found = _ITEM.fullmatch(text)
    return {"text": text} if found is None else {"text": found[2], "item": int(found[1])}


def _advice(name: str) -> Callable[[Data], Data]:
    """Version 1 stores the next step after the reason, in one text."""

    def upcast(data: Data) -> Data:
        reason, _, following = str(data.get(name) or "").partition(" Next: ")
        return data | {name: reason, "next": following}

    return upcast


def _reason_given(data: Data) -> Data:
    return data | {"reason": ""} if data.get("reason") == _UNEXPLAINED else data


def look_in_words(text: str) -> tuple[str, str, str]:
    """Split the text in which older versions stored a failed poll of a review: what, why, next step."""
    what, _, rest = text.partition(" Why: ")
    why, _, following = rest.partition(" Next: ")
    return what, why, following


UPCASTS: Final[Mapping[tuple[str, int], Callable[[Data], Data]]] = {
    (BaselineDone.kind, 1): _failing_baseline,
    (RunParked.kind, 1): _reason_of_wait,
    (RunEnded.kind, 1): _advice("reason"),
    (RunEnded.kind, 2): _reason_given,
    (StopAsked.kind, 1): _reason_given,
    (PauseAsked.kind, 1): _reason_given,
    (TroubleMet.kind, 1): _advice("what"),
    (VerdictGiven.kind, 1): _typed_failures,
    (TogetherJudged.kind, 1): _typed_failures,
}
"""By kind and version: convert data of that version to the next one."""
