"""Find words for work that is skipped, put off or unfinished: they take a PASS back. Pure."""

from __future__ import annotations

import re
from typing import Final

PHRASES: Final = ("noted as gap", "deferred", "skipped", "future work")


def gaps_in(text: str) -> tuple[str, ...]:
    """Return the phrases that a text contains, in the order of `PHRASES`; they are warnings."""
    words = " ".join(text.casefold().split())
    return tuple(phrase for phrase in PHRASES if phrase in words)


_BE: Final = r"(?:is|are|was|were|be|been|being|stays?|remains?|left)"
_UNFINISHED: Final = r"(?:implemented|done|finished|completed?|tested|verified|checked|built|written)"
_EXCUSES: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:noted|known|documented|recorded|listed|left)(?: as)?(?: an?)?(?: known)? gaps?\b",
        r"\bgaps? (?:noted|remains?|left)\b",
        r"\bnot (?:really |strictly )?an? (?:real )?blocker\b|^\W*not blocking\b",
        r"\bnon-?blocking (?:issue|gap|item|finding|problem)s?\b",
        rf"\b{_BE} (?!not\b)(?:\w+ )?(?:deferred|postponed)\b",
        r"\b(?:deferred|postponed) (?:to|until|till|for|as)\b|\bdefer(?:s|ring)? (?:this|it|the rest|to)\b",
        r"^\W*(?:deferred|postponed|skipped|stub(?:bed)?|partial(?:ly)?|placeholder)\W*$",
        r"\b(?:future|follow-?up) (?:work|phases?|tasks?|change|pr)\b|\blater phases?\b|\bout of scope\b",
        r"\bfor (?:now|the moment|the time being)\b",
        rf"\b(?:{_BE}|as|only|just|still) (?:an? |the )?(?:\w+ )?(?:stubs?|stubbed|placeholders?)\b",
        r"^\W*an? (?:stub|placeholder)\b|\b(?:stub|placeholder) (?:that|which|for|stands)\b",
        rf"\bnot (?:yet )?(?:fully |entirely |completely |actually )?{_UNFINISHED}\b",
        r"\b(?:unimplemented|incomplete|unfinished|untested|unverified)\b",
        r"\bpartial(?:ly)? (?:implemented|done|complete|finished|met|implementation|pass)\b",
        r"\bstill (?:missing|open|pending|failing|fails|to do|to be|needs)\b|\bremains? to be\b",
        r"\b(?:will|shall|to) be (?:done|added|implemented|finished|completed|verified|fixed)\b",
        r"\b(?:could|did) ?n[o']t (?:be )?(?:run|verif\w+|test|tested|check|checked|confirm|confirmed)\b",
        r"\b(?:cannot|can't|unable to) (?:be )?(?:verif\w+|confirm|confirmed)\b",
        r"\b(?:item|criterion|verification|part|rest)(?: \w+)? (?:is|was|were|are) skipped\b",
        r"\bassum(?:e|ed|ing) (?:it|this|that|they|to)\b|\bshould (?:work|pass|be fine)\b",
    )
)
"""Phrases for unfinished work, which take a PASS back; never a bare technical word."""
_MARKERS: Final = re.compile(r"\b(?:TODO|FIXME|XXX)\b")
_CLAUSES: Final = re.compile(
    r"(?i)[.;:!?](?=\s|$)|[,()\n]|\s[-–—]+\s|\b(?:but|although|though|however|because|while|so)\b"
)
_NEGATION: Final = re.compile(
    r"(?i)\b(?:no|not|none|nothing|never|neither|nor|without|zero|isn't|aren't|wasn't|weren't|free of)"
    r"(?:\W+[\w'-]+){0,4}\W*$"
)
_UNDONE: Final = re.compile(
    r"(?i)\b(?:removed|removes|replaced|replaces|instead of|rather than|no longer|resolved|used to|"
    r"before this|previously|when|if|where|unless|until|whether|cases?)\b"
)
_RESOLVED: Final = re.compile(
    r"(?i)\b(?:removed|replaced|gone|resolved|rejected|refused|raises?|no longer)\b"
)


def excuse_in(why: str, *, about: str = "") -> str | None:
    """Return the phrase that takes a PASS back; a phrase of the item itself (`about`) does not.

    Each clause is read separately. A negated phrase ("nothing was deferred"), a condition ("when a field is
    missing") or past state ("replaces the stub") is no excuse.
    """
    subject = about.casefold()
    for clause in _CLAUSES.split(why):
        for pattern in (_MARKERS, *_EXCUSES):
            found = pattern.search(clause)
            if found is None or found[0].strip().casefold() in subject:
                continue
            before, after = clause[: found.start()], clause[found.end() :]
            if _NEGATION.search(before) or _UNDONE.search(before) or _RESOLVED.search(after):
                continue
            return found[0].strip()
    return None
