"""Compare texts by the set of their meaningful stems, in any order."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+(?:['’._/][^\W_]+)*")
_NUMBER: Final = re.compile(r"^\W*(?:\d{1,3}[.):]\s+)?(?:\[.\]\s+)?")
_CONTINUOUS: Final = re.compile(r"[぀-ヿ㐀-鿿豈-﫿]+")
"""Scripts without spaces between words; each pair of their characters counts as a word."""
_SUFFIX: Final = re.compile(r"(?<=\w{4})(?:ations?|nesses|ness|ingly|ings?|edly|ed|ly|es|s|e)$|(?<=\w{3})s$")
_SMALL: Final = """
a an the and or but if of in on at by to for from with without as is are was were be been being it its
this that these those there here we i you they them their our your he she his her which who what when
where how than then so such not no nor do does did done has have had will would can could should may
might must also only just very more most all any each every per one both either other into onto over
under between up out about because since while through via
der die das den dem des ein eine einen einem einer und oder ist sind war nicht kein keine mit ohne für
von vom zu zum zur im am auf aus bei nach dass es sie er wir ihr le la les un une des du de et ou est
sont ne pas que qui dans sur pour par avec sans el los las y o es son con sin para por en del al
"""
_STOP: Final = frozenset(_SMALL.split())
_SAME: Final = {
    **dict.fromkeys(("utilis", "utiliz", "employ", "leverag", "us", "using", "used", "use"), "use"),
    **dict.fromkeys(("creat", "introduc", "implement", "build", "built", "writ", "add", "make"), "add"),
    **dict.fromkeys(("sav", "stor", "persist", "keep", "kept", "hold", "held"), "keep"),
    **dict.fromkeys(("simpl", "straightforward", "easy", "easi"), "simple"),
    **dict.fromkeys(("fast", "quick", "speedy", "rapid"), "fast"),
    **dict.fromkeys(("chang", "modif", "modify", "alter", "updat"), "change"),
    **dict.fromkeys(("remov", "delet", "drop", "eliminat"), "remove"),
    **dict.fromkeys(("call", "invok"), "call"),
    **dict.fromkeys(("exact", "precis", "accurat"), "exact"),
}
_PLACEHOLDER: Final = re.compile(
    r"(?:tbd|tba|todo|fixme|xxx|wip|to be (?:determined|defined|decided|done|written|added|discussed|filled)|"
    r"coming soon|fill (?:this )?in|placeholder|lorem ipsum)\b.*"
    r"|n/?a|see (?:above|below|draft|the draft)|same (?:as|like) (?:above|before|the draft|in the draft)"
    r"|(?:as|like) (?:above|before|in the draft)|(?:unchanged|no changes?)(?: from the draft)?|later|"
    r"noch offen|wird ergänzt|à définir|por definir|추후 작성|미정|未定|待定",
    re.IGNORECASE | re.DOTALL,
)
_LABEL: Final = re.compile(r"[^:：.\n]{1,40}[:：]\s+")


def normal(text: str) -> str:
    """Normalize a sentence so that copies are equal: lower case, words only, no leading number."""
    return " ".join(_WORD.findall(_NUMBER.sub("", text, count=1).casefold()))


def stemmed(text: str) -> list[str]:
    """List the stems of a text's meaningful words, in order, with repetitions."""
    found = []
    for word in _WORD.findall(text.casefold()):
        if _CONTINUOUS.search(word):
            found += _pairs(word)
        elif word not in _STOP and (len(word) > 1 or word.isdigit()):
            found.append(word if any(char in word for char in "./_") else _SUFFIX.sub("", word))
    return found


def meaningful(text: str) -> list[str]:
    """List the stems of a text, with synonyms unified."""
    return [_SAME.get(stem, stem) for stem in stemmed(text)]


def _pairs(word: str) -> list[str]:
    runs = _CONTINUOUS.findall(word)
    pairs = [run[at : at + 2] for run in runs for at in range(max(1, len(run) - 1))]
    return pairs + [rest for rest in _CONTINUOUS.split(word) if rest]


def is_placeholder(text: str) -> bool:
    """Return whether a text is only a placeholder, with or without a label."""
    bare = text.strip(" \t\n.()[]*_-–—…?!`>")
    rest = _LABEL.sub("", bare, count=1)
    return not bare or bool(_PLACEHOLDER.fullmatch(bare) or _PLACEHOLDER.fullmatch(rest.strip(" *_()")))


def says_something(text: str, *, least: int, besides: Collection[str] = ()) -> bool:
    """Return whether a text has at least `least` meaningful words that are not in `besides`."""
    if is_placeholder(text):
        return False
    return len({word for word in meaningful(text) if word not in besides}) >= least


@lru_cache(maxsize=64)
def stems(words: tuple[str, ...]) -> frozenset[str]:
    """Return the stems of some words, to exclude them elsewhere. Phrases are skipped."""
    return frozenset(stem for word in words if " " not in word for stem in meaningful(word))


def alike(left: Collection[str], other: Collection[str]) -> tuple[float, float]:
    """Compare two sets of stems: the shared part of their union, and of the smaller set."""
    ours, theirs = frozenset(left), frozenset(other)
    shared = len(ours & theirs)
    if not shared:
        return 0.0, 0.0
    return shared / len(ours | theirs), shared / min(len(ours), len(theirs))


def distinct(texts: Iterable[str], *, enough: int) -> list[str]:
    """Return the first `enough` texts that differ from all before them; rewording does not count."""
    kept: list[str] = []
    seen: list[frozenset[str]] = []
    for text in texts:
        if len(kept) == enough:
            break
        words = frozenset(meaningful(text))
        if not is_repeated(words, seen):
            kept.append(text)
            seen.append(words)
    return kept


def is_repeated(words: frozenset[str], seen: Iterable[frozenset[str]]) -> bool:
    """Return whether most of these stems are in an earlier set."""
    for known in seen:
        of_all, of_smaller = alike(words, known)
        if words == known or of_all >= 0.6 or (of_smaller >= 0.85 and min(len(words), len(known)) >= 4):
            return True
    return False


def occurrences(text: str, words: tuple[str, ...]) -> frozenset[str]:
    """Return the given words that a text contains; words over 4 letters also match with an ending."""
    return frozenset(_any_of(words).findall(text.casefold()))


@lru_cache(maxsize=16)
def _any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    forms = [_form(word) for word in sorted(words, key=len, reverse=True)]
    return re.compile("|".join(forms) or r"(?!)")


def _form(word: str) -> str:
    if _CONTINUOUS.search(word) or "가" <= word[0] <= "힣":
        return re.escape(word)
    return rf"(?<!\w){re.escape(word)}" + (r"(?!\w)" if len(word) <= 4 else "")
