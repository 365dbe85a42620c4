"""Read what a user typed in answer to a question. Pure.

Rule: words that start with a refusal are never read as a yes, and a yes with a condition is not a yes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Doubt = Literal["empty", "condition", "refusal", "question", "letter", "other"]
"""Why words are no answer: they are a yes with a condition, or start with a refusal and say more than no;
they ask something back; their letter names no option; or they are neither a yes nor a no."""


@dataclass(frozen=True, slots=True)
class Yes:
    """A yes, and a remark."""

    note: str = ""


@dataclass(frozen=True, slots=True)
class No:
    """A no, and a remark."""

    note: str = ""


@dataclass(frozen=True, slots=True)
class Later:
    """The question stays open."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """An option by its letter, and a remark."""

    option: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class InOwnWords:
    """An answer that is none of the options."""

    text: str


@dataclass(frozen=True, slots=True)
class Unclear:
    """Words that answer nothing."""

    reason: Doubt


Answered = Yes | No | Chosen | InOwnWords
Reply = Answered | Later | Unclear

_YES: Final = frozenset("y yes yep yeah yup ok okay approve approved accept accepted".split())
_NO: Final = frozenset("n no nope nah".split())
_DECLINES: Final = frozenset("reject rejected decline declined deny denied refuse refused".split())
_STOPS: Final = frozenset("stop cancel abort never don't dont".split())
_REFUSALS: Final = _NO | _DECLINES | _STOPS | frozenset("not wait hold later cannot can't cant won't".split())
_NO_ALONE: Final = frozenset(
    ("no thanks", "no thank you", "no way", "not at all", "do not", "absolutely not")
)
_LATER: Final = frozenset(("l", "later", "wait", "not yet", "not now", "hold on", "hold", "maybe later"))
_CONDITIONS: Final = frozenset(
    "but except unless however although though if provided providing until till instead don't dont".split()
)
_FIRST: Final = frozenset("after before once when only first as maybe".split())
"""Words that state a condition where a remark begins with them."""
_QUOTES: Final = str.maketrans("\u2018\u2019\u02bc\u201c\u201d\u00ab\u00bb", '\'\'\'""""')
_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]")
_QUOTED: Final = re.compile("([\"'\u2018\u201c\u00ab])([^\"'\u2018\u201c\u00ab]*)[\"'\u2019\u201d\u00bb]")
_OPENS: Final = "[\\s\"'\u2018\u201c\u00ab(\\[]*"
_CLOSES: Final = "[\"'\u2019\u201d\u00bb)\\]]*"
_IN_WORD: Final = '[^\\s,.:;!?\u2026\u2013\u2014"\u201c\u201d\u00ab\u00bb()\\[\\]-]+'
_HEAD: Final = re.compile(
    f"{_OPENS}(?P<word>{_IN_WORD}(?:-{_IN_WORD})*){_CLOSES}"
    "(?P<sign>\\s*[,.:;!?\u2026\u2013\u2014)\\]]+|\\s*-+(?=\\s|$))?\\s*(?P<rest>.*)",
    re.DOTALL,
)
_LETTER: Final = re.compile(
    f"{_OPENS}(?:option\\s+)?(?P<letter>[a-z])(?=[^a-z]|$){_CLOSES}"
    "(?P<sign>\\s*[).:,;\\]]+|\\s+[-\u2013\u2014]+(?=\\s)|$)\\s*(?P<rest>.*)",
    re.DOTALL | re.IGNORECASE,
)
_NAME: Final = re.compile(r"[;:,(.\u2013\u2014]")
_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_EDGES: Final = " \t\r\n\"'\u2018\u2019\u201c\u201d\u00ab\u00bb.,;:!()[]\u2026"


def reply_in(typed: str, options: Mapping[str, str] | None = None) -> Reply:
    """Read words in answer to a question with options, by letter, or to one of yes or no."""
    words = _INVISIBLE.sub("", typed).strip()
    quoted = _QUOTED.fullmatch(words)
    words = quoted[2].strip() if quoted else words
    if not words.strip(_EDGES):
        return Unclear("empty")
    return _to_yes_or_no(words) if options is None else _to_options(words, options)


def _to_yes_or_no(words: str) -> Reply:
    word, sign, rest = _headed(words)
    whole = _folded(words)
    if whole in _LATER:
        return Later()
    if "?" in sign:
        return Unclear("question")
    if whole in _NO_ALONE:
        return No()
    if word in _DECLINES:
        return No(rest)
    if word in _NO | _STOPS and (sign or not rest) and _headed(rest)[0] not in _YES:
        return No(rest)
    if _is_refusal(words):
        return Unclear("refusal")
    if words.rstrip(_EDGES).endswith("?"):
        return Unclear("question")
    if word not in _YES:
        return Unclear("other")
    return Unclear("condition") if _has_condition(rest) else Yes(rest)


def _to_options(words: str, options: Mapping[str, str]) -> Reply:
    lettered = _LETTER.fullmatch(words)
    if lettered is not None and (letter := lettered["letter"].casefold()) in options:
        rest = lettered["rest"].strip()
        # "a, b" and "b, no" are no choice of one option.
        another = _LETTER.match(rest)
        is_one = not _is_refusal(rest) and (another is None or another["letter"].casefold() not in options)
        return Chosen(letter, rest) if is_one else InOwnWords(words)
    if (named := _named(words, options)) is not None:
        return Chosen(named)
    word, sign, rest = _headed(words)
    if not rest and "?" in sign:
        return Unclear("question")
    if not rest and word in _YES | _NO:
        return Yes() if word in _YES else No()
    if lettered is not None and (not rest or ")" in lettered["sign"]):
        return Unclear("letter")
    if _folded(words) in _LATER:
        return Later()
    if _is_refusal(words):
        return No(rest if sign and word in _NO else words)
    return InOwnWords(words)


def _named(words: str, options: Mapping[str, str]) -> str | None:
    """Return the letter of the only option that has this text, or this name before its first punctuation."""
    wanted = _folded(words)
    whole = [letter for letter, text in options.items() if _folded(text) == wanted]
    found = whole or [letter for letter, text in options.items() if _folded(_NAME.split(text)[0]) == wanted]
    return found[0] if len(found) == 1 else None


def _headed(words: str) -> tuple[str, str, str]:
    """Split words into the first one in lower case, the punctuation behind it, and the rest."""
    found = _HEAD.fullmatch(words)
    if found is None:
        return "", "", words
    rest = found["rest"].strip()
    word = found["word"].translate(_QUOTES).casefold().strip("'")
    return word, (found["sign"] or "").strip(), rest if rest.strip(_EDGES) else ""


def _folded(words: str) -> str:
    return " ".join(words.translate(_QUOTES).casefold().split()).strip(_EDGES)


def _is_refusal(words: str) -> bool:
    word, _, rest = _headed(words)
    return word in _REFUSALS or (word in ("do", "absolutely") and _headed(rest)[0] == "not")


def _has_condition(remark: str) -> bool:
    """Return whether a remark to a yes takes the yes back, or makes it depend on something."""
    found = [word.casefold() for word in _WORD.findall(remark.translate(_QUOTES))]
    begins = " ".join(found[1:] if found[:1] in (["and"], ["or"]) else found)
    return (
        "?" in remark
        or _is_refusal(begins)
        or not _FIRST.isdisjoint(found[:1])
        or not _CONDITIONS.isdisjoint(found)
    )
