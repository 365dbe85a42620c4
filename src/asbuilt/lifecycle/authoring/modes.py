"""Modes of authoring, and which mode a request gets: short for small ones, as long ones take hours. Pure."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from asbuilt.events.options import Authoring, AuthoringWay
from asbuilt.lifecycle.authoring.session_state import Session, state_of
from asbuilt.lifecycle.authoring.stages import Stage
from asbuilt.plan.names import new_slug

_FILE: Final = re.compile(r"(?<![\w/.-])(?:[\w.-]+/)*[\w-]+\.[A-Za-z][A-Za-z0-9]{0,4}\b")
_ITEM: Final = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+\S", re.MULTILINE)


class Mode(NamedTuple):
    """A mode of authoring."""

    name: AuthoringWay
    stages: tuple[Stage, ...] | None
    """None: the sequence that the user chose."""
    batches: int = 0
    """How many times an agent may ask the user."""
    most: int = 0
    gist: str = ""


MODES: Final[dict[str, Mode]] = {
    "light": Mode("light", (Stage.DRAFT,), 1, 2, "one pass, at most two questions"),
    "standard": Mode("standard", (Stage.EXPLORE, Stage.DRAFT), 1, 3, "read the code, then write the plan"),
    "staged": Mode("staged", None, gist="every stage judged, with a critic who is not the author"),
    "interview": Mode("interview", (Stage.DRAFT,), 4, 3, "questions first, at most three at a time"),
}


_EMPTY: Final = frozenset((
    "a", "add", "allow", "an", "and", "as", "at", "be", "by", "can", "do", "for", "from", "have", "i",
    "if", "implement", "in", "into", "is", "it", "its", "let", "make", "new", "of", "on", "or", "our",
    "please", "should", "so", "support", "that", "the", "their", "them", "then", "there", "this", "to",
    "up", "use", "want", "we", "when", "with",
))  # fmt: skip
"""Words of a request that do not distinguish it from another."""
_IN_A_NAME: Final = 4


def name_for(prompt: str) -> str:
    """Build a plan's name from the first four distinguishing words of a request."""
    telling = [word for word in prompt.split() if word.strip(".,:;!?\"'`()").casefold() not in _EMPTY]
    return new_slug(" ".join(telling[:_IN_A_NAME])) or new_slug(prompt) or "plan"


class Size(NamedTuple):
    """Size of a request, estimated from its text."""

    words: int
    parts: int
    """Number of files that it names, or of list items, whichever is larger."""


_SMALL: Final = {"expedient": Size(80, 2), "protective": Size(25, 1)}
"""Maximum size for the light mode, by profile."""


def authoring_of(mode: Mode, session: Session, **chosen: Any) -> Authoring:  # noqa: ANN401 - as Authoring has them
    """Return an authoring as run options store it; without `principles` critics use the shipped ones."""
    return Authoring(mode=mode.name, prompt=session.prompt, session=state_of(session), **chosen)


def size_of(prompt: str) -> Size:
    """Measure a request."""
    return Size(len(prompt.split()), max(len(set(_FILE.findall(prompt))), len(_ITEM.findall(prompt))))


_TRIVIAL: Final = {"expedient": 20, "protective": 10}
"""Most words of a request for one file that needs no plan, by profile."""
_SIMPLE: Final = re.compile(r"\b(?:typo|spelling|wording|comment|rename|bump|whitespace)", re.IGNORECASE)
"""The protective profile plans everything that does not say that it is one of these."""


def trivial_file(prompt: str, profile: str) -> str | None:
    """Return the only file that a request names and changes, if it needs no plan; else None."""
    asked, files = size_of(prompt), _FILE.findall(prompt)
    is_simple = profile == "expedient" or _SIMPLE.search(prompt)
    is_small = asked.words <= _TRIVIAL[profile] and asked.parts == 1 and len(files) == 1
    return files[0] if is_small and is_simple else None


def mode_for(prompt: str, profile: str) -> Mode:
    """Choose the mode of a request for which the user named none."""
    asked, small = size_of(prompt), _SMALL[profile]
    is_small = asked.words <= small.words and asked.parts <= small.parts
    return MODES["light" if is_small else "standard"]
