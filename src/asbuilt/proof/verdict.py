"""A verdict on every item of a phase. A verifier's word fails an item; it never overrules a failed check."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.proof.evidence import Outcome


class ItemVerdict(NamedTuple):
    """What was found about one work item or criterion."""

    item: int
    text: str
    outcome: Outcome
    why: str


class Verdict(NamedTuple):
    """The verdict on a phase."""

    outcome: Outcome
    items: tuple[ItemVerdict, ...]

    @property
    def failures(self) -> tuple[str, ...]:
        """Word what is not proven, for whoever has to mend it."""
        return tuple(
            f"item {item.item}, {item.text}: {item.outcome}, {item.why}"
            for item in self.items
            if item.outcome != "PASS"
        )


def judge_items(items: Sequence[str], said: Sequence[tuple[int, str, str]]) -> Verdict:
    """Judge every item by what a verifier said of it. What nobody spoke of is NOT_RUN and does not pass."""
    if not items:
        return Verdict("PASS" if _all_pass(said) else "NOT_RUN", ())
    told: dict[int, tuple[str, str]] = {}
    for number, word, why in said:
        # Of two words on one item the harder one holds.
        if number not in told or word.upper() != "PASS":
            told[number] = (word.upper(), why)
    judged = tuple(_judge(number, text, told.get(number)) for number, text in enumerate(items, 1))
    passed = all(item.outcome == "PASS" for item in judged)
    return Verdict("PASS" if passed else "FAIL", judged)


def _judge(number: int, text: str, told: tuple[str, str] | None) -> ItemVerdict:
    if told is None:
        return ItemVerdict(number, text, "NOT_RUN", "the verifier said nothing of it")
    word, why = told
    if word == "PASS" and not _is_gap(why):
        return ItemVerdict(number, text, "PASS", why)
    return ItemVerdict(number, text, "FAIL", why or "the verifier gave no reason")


def _is_gap(why: str) -> bool:
    """Tell whether a PASS is taken back by its own words: a noted gap is a gap."""
    said = why.casefold()
    return any(
        words in said
        for words in (
            "noted as gap",
            "noted as a gap",
            "not a blocker",
            "deferred",
            "todo",
            "future work",
            "stub",
        )
    )


def _all_pass(said: Sequence[tuple[int, str, str]]) -> bool:
    return bool(said) and all(word.upper() == "PASS" and not _is_gap(why) for _, word, why in said)
