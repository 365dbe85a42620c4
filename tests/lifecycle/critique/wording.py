"""The same finding in other words, pointed at in other ways, by chance. It knows of no matcher."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

KINDS: Final = ("missing", "wrong", "vague", "contradiction", "unverifiable", "excess")
CONFUSED: Final = {
    "missing": "vague",
    "vague": "unverifiable",
    "unverifiable": "vague",
    "wrong": "contradiction",
    "contradiction": "wrong",
    "excess": "wrong",
}
"""What a critic may call it the next time."""
LACKS: Final = {
    "P1": ("the order", "what comes first", "its place among the steps", "which step it waits for"),
    "P2": ("the file", "where it lives", "the path", "a source file that exists"),
    "P3": ("the callers", "the contract of its interface", "who calls it", "the signature"),
    "P4": ("the error path", "what happens on failure", "how it fails", "behaviour when it breaks"),
    "P5": ("edge cases", "empty and huge inputs", "the corner cases", "what is at the limits"),
    "P6": ("a command to verify it", "how to check it", "a runnable test", "its verification"),
    "P7": ("the migration", "what breaks for users", "the way from old data", "compatibility"),
    "P8": ("why it is out of scope", "the reason to leave it out", "the border of the scope"),
    "P9": ("a concrete verb", "what exactly is done", "a precise statement", "the actual change"),
    "P10": ("what a newcomer needs", "the context for a new developer", "where to begin"),
    "P11": ("the size", "the effort", "S, M or L", "how much work it is"),
    "P12": ("the assumption behind it", "what is taken for granted", "the premise"),
}
_SAID: Final = {
    "missing": (
        "{lack} of {subject} is never said",
        "nothing tells {lack} for {subject}",
        "a reader does not learn {lack} where {subject} comes in",
        "{subject}: {lack} is absent and would have to be guessed by whoever builds it",
        "left out: {lack}, and {subject} depends on that",
    ),
    "wrong": (
        "{lack} of {subject} does not hold in this repository",
        "what is claimed about {subject} is not so: look at {lack}",
        "{subject} cannot work like that, because {lack} is another",
        "mistaken about {lack} as far as {subject} goes",
    ),
    "vague": (
        "{lack} of {subject} can be read in two ways",
        "{subject} is worded loosely; {lack} stays open",
        "too general: two people would build {subject} differently, for want of {lack}",
        "it is not clear from this text {lack}, speaking of {subject}",
    ),
    "contradiction": (
        "{lack} of {subject} disagrees with another line of the plan",
        "two statements about {subject} exclude each other: {lack}",
        "here {subject} says one thing about {lack}, elsewhere another",
    ),
    "unverifiable": (
        "nobody could tell whether {subject} is done: {lack}",
        "{subject} has no observable outcome, {lack} included",
        "there is no way to prove {subject}, since {lack} cannot be measured",
    ),
    "excess": (
        "{subject} is more than the goal asks for, see {lack}",
        "drop {subject}: {lack} serves nobody here",
        "unneeded work around {subject}; {lack} was not wanted",
    ),
}
_OPENINGS: Final = ("", "", "", "As written, ", "I think that ", "Still: ", "In this phase, ", "Note that ")
_CLOSINGS: Final = ("", "", "", " This will hurt later", " Say it", " Fix before anybody starts", " (again)")


class Pointing(NamedTuple):
    """Where a critic says it is, and whether its words have to name the thing for anybody to know it."""

    at: dict[str, object]
    names_it: bool


def worded(chance: random.Random, principle: str, kind: str, subject: str) -> str:
    """Say a finding in some words; the subject is named by most of its words, in some order."""
    lack = chance.choice(LACKS[principle])
    said = chance.choice(_SAID[kind]).format(lack=lack, subject=_named(chance, subject))
    said = chance.choice(_OPENINGS) + said
    return f"{said[0].upper()}{said[1:]}.{chance.choice(_CLOSINGS)}".removesuffix(".") + "."


def _named(chance: random.Random, subject: str) -> str:
    words = subject.split()
    if len(words) > 1 and chance.random() < 0.3:
        head, *rest = words
        return f"the {' '.join(rest)} of the {head}"
    if chance.random() < 0.2:
        return f"the {words[-1]}s"
    return f"the {subject}"


def pointed(chance: random.Random, lines: Sequence[str], line: int, phase: str) -> Pointing:
    """Point at a 1-based line as critics do: mostly right, some beside it, by quote or by phase alone."""
    manner = chance.random()
    if manner < 0.55:
        return Pointing({"line": line}, names_it=False)
    if manner < 0.75:
        return Pointing({"phase": phase, "quote": _quoted(chance, lines[line - 1])}, names_it=False)
    if manner < 0.83:
        return Pointing({"line": _beside(chance, lines, line)}, names_it=True)
    if manner < 0.93:
        return Pointing({"line": _heading(lines, line)}, names_it=True)
    return Pointing({"phase": phase}, names_it=True)


def _quoted(chance: random.Random, text: str) -> str:
    """Quote most of a line: its marks gone, words lost at the ends, another case."""
    words = re.sub(r"^[-*\s]*(?:\[.\])?\s*", "", text).replace("`", "").split()
    lost = chance.randrange(0, max(1, len(words) // 3))
    kept = words[lost:] if chance.random() < 0.5 else words[: len(words) - lost]
    quoted = " ".join(kept)
    return quoted.lower() if chance.random() < 0.3 else quoted


def _beside(chance: random.Random, lines: Sequence[str], line: int) -> int:
    return min(len(lines), max(1, line + chance.choice((-1, 1))))


def _heading(lines: Sequence[str], line: int) -> int:
    return next((at for at in range(line, 0, -1) if lines[at - 1].startswith("## ")), line)


def misnamed(chance: random.Random, kind: str) -> str:
    """Give the kind that a critic calls it this time: nearly always the same."""
    return CONFUSED[kind] if chance.random() < 0.08 else kind
