"""Work items of a phase, and what each asks for: behaviour, another form, tests, documents, a refusal. Pure.

Rules: each word that decides is in one row of one table. A name or path in backticks decides nothing:
`` `remove_item` raises KeyError `` removes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Flag, auto
from functools import cached_property, reduce
from operator import or_
from typing import Final

from asbuilt.proof.suites.path_roles import is_test

_ITEM: Final = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[.\]\s+)?(.*)$")
_CHECKS: Final = re.compile(r"(?im)^\W*(verification|validation|checks?|test commands?)\b")
_CRITERIA: Final = re.compile(
    r"(?im)^(?:#+\s*(?:acceptance|criteria|success|definition of done|done when)|\W*acceptance criteria\b)"
)
_NAME: Final = re.compile(r"`[^`\s]+`|`[\w.]+\([^`]*`")
"""A name, path or call in backticks; a command is none."""


class Asks(Flag):
    """What an item or a phase asks for. An item with none of these flags wants new behaviour."""

    ABSENCE = auto()
    """Something is removed, or gets another name or place."""
    AS_IT_WAS = auto()
    """Something stays: a file that did not change may meet it."""
    CHOICE = auto()
    """It may be met otherwise."""
    LOOK = auto()
    """A subject is tested, checked, described or an example."""
    FORM = auto()
    """Another form or speed of code, which does the same before and after."""
    WORDS = auto()
    """Comments, formatting or names, which run nothing."""
    TESTS = auto()
    """Tests alone."""
    REPORT = auto()
    """Words about something, which a document may have."""
    DOCUMENTS = auto()
    """Documentation, without the name of its file."""
    REFUSAL = auto()
    """An error."""
    TOLERANCE = auto()
    """What happens to an error: it may be dropped."""
    SWITCH = auto()
    """A switch, option or setting."""
    STUB = auto()
    """A function that does nothing."""
    CALL = auto()
    """Existing code calls the new one."""
    OTHER_THAN_WORK = ABSENCE | AS_IT_WAS | CHOICE | LOOK
    """Its subject does not have to do anything new."""


_TELLS: Final = r"(?:document|describe|explain|mention|update|extend|list|note)\w*\b"
_DOCUMENT: Final = r"(?:readme|change ?log|docs?|documentation|manual|user guide)\b"
_ROWS: Final = (
    (Asks.ABSENCE | Asks.FORM, r"\b(?:remov|delet|drop|no longer|split|mov(?:e[sd]?|ing)\b)"),
    (Asks.ABSENCE | Asks.FORM | Asks.WORDS, r"\brenam"),
    (Asks.ABSENCE, r"\b(?:replac|merg|instead of|goes|gone|fold|becomes|(?:is|are) called)"),
    (Asks.AS_IT_WAS | Asks.FORM, r"\b(?:stays?|keeps?|still|unchanged|without)\b"),
    (Asks.AS_IT_WAS, r"\b(?:kept|remains?|already|untouched|unaffected|not|no|never|nothing)\b"),
    (Asks.CHOICE, r"\b(?:or|e\.g\.|such as|optional(?:ly)?|if (?:needed|necessary)|maybe|may)\b"),
    (Asks.LOOK | Asks.FORM | Asks.WORDS, r"\b(?:comment|format|lint)"),
    (Asks.LOOK | Asks.WORDS, r"\bdocument"),
    (Asks.LOOK, r"\b(?:tests?|tested|cover|check|verif|describe|mention|like|as in|see|from)"),
    (Asks.FORM | Asks.WORDS, r"\b(?:docstring|annotat|type hints?)"),
    (Asks.FORM, r"\b(?:refactor|extract|simplif|clean|tid[iy]|inline|typ(?:e|ed|es|ing)\b|reorder|rewrit)"),
    (Asks.FORM, r"\b(?:moderni|deprecat|readab|same|as before|reus|duplicat|log)"),
    (Asks.FORM, r"\b(?:speed|fast|quick|slow|perform|optimi|cach|memo)"),
    (Asks.WORDS, r"\b(?:docs\b|reformat|style|whitespace|indent|typo|reword|wording|line endings?)"),
    (Asks.WORDS, r"\b(?:licen[cs]e|copyright|header|encoding)"),
    (Asks.TESTS, r"^\W*(?:add|write)?\W*(?:\S+\s+)?tests?\b|\b(?:is|are) (?:both )?tested\b"),
    (Asks.TESTS, r"\btests? (?:it|both|them)\b"),
    (Asks.REPORT, rf"^\W*{_TELLS}"),
    (Asks.DOCUMENTS, rf"^\W*(?:{_TELLS}.*\b{_DOCUMENT}|(?:(?:the|a)\s+)?{_DOCUMENT}\s+[a-z]+s?\b)"),
    (Asks.REFUSAL, r"\b(?:refus|reject|rais|throw|den(?:y|ied)|invalid|fail)"),
    (Asks.REFUSAL | Asks.TOLERANCE, r"\berror(?:s|ed|ing)?\b"),
    (Asks.TOLERANCE, r"\b(?:ignor|swallow|tolera|silent|suppress|best[ -]effort|fall(?:s|ing)? ?back)"),
    (Asks.TOLERANCE, r"\b(?:never (?:fail|raise|throw)s?|without failing|even if)\b"),
    (Asks.TOLERANCE, r"\b(?:skips?|skipped|survives?|exceptions?)\b"),
    (Asks.SWITCH, r"\b(?:flags?|switch(?:es|ed)?|toggles?|environment|variables?|options?|settings?)\b"),
    (
        Asks.SWITCH,
        r"\b(?:off by default|disabled|enabled?|turned o(?:n|ff)|opt(?:s|ed)?[ -]?in\b|configur\w)",
    ),
    (
        Asks.STUB,
        r"\b(?:stub|placeholders?\b|skeletons?\b|abstract\b|interface\b|no-?op\b|do(?:es)? nothing\b)",
    ),
    (Asks.CALL, r"\b(?:when(?:ever)?|before|after|while|every|each|uses?|using|calls?|called|through|via)\b"),
)
"""Words, and what an item with one of them asks for."""
_PATTERNS: Final = tuple((asks, re.compile(f"(?i){words}")) for asks, words in _ROWS)
_FIRST: Final = re.compile(r"^[^`]*`([^`]+)`")


@dataclass(frozen=True)
class Item:
    """A work item or criterion, without its box."""

    text: str

    @cached_property
    def plain(self) -> str:
        """Its words, without names in backticks."""
        return without_names(self.text)

    @cached_property
    def asks(self) -> Asks:
        """What it asks for; an item whose first name is one of a test asks for tests."""
        first = _FIRST.match(self.text)
        is_of_tests = first is not None and (first[1].startswith("test") or is_test(first[1]))
        return asks_of(self.text) | (Asks.TESTS if is_of_tests else Asks(0))

    def names(self, name: str) -> bool:
        """Return whether it has a name as a word of its own."""
        return re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", self.text) is not None


def asks_of(text: str) -> Asks:
    """Return all that an item, or the text of a phase, asks for."""
    plain = without_names(text)
    return reduce(or_, (asks for asks, words in _PATTERNS if words.search(plain)), Asks(0))


def without_names(text: str) -> str:
    """Return a text without its names in backticks."""
    return _NAME.sub("", text)


def items_of(text: str) -> Iterator[Item]:
    """Yield the work items and criteria of a phase."""
    lines = map(_ITEM.match, wanted_and_checked(text)[0].splitlines())
    return (Item(item[1]) for item in lines if item is not None)


def wanted_and_checked(text: str) -> tuple[str, str]:
    """Split a phase into what it wants and how that is checked."""
    cut = _CHECKS.search(text)
    return (text[: cut.start()], text[cut.start() :]) if cut else (text, "")


def without_criteria(text: str) -> str:
    """Return a phase up to its criteria, which hold for any work."""
    cut = _CRITERIA.search(text)
    return text[: cut.start()] if cut else text
