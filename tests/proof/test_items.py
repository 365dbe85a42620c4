"""What a work item asks for is read from its words, never from a name in backticks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.proof.items import Asks, asks_of, items_of, without_criteria

WORDS = ["remove", "stays", "or", "tests", "faster", "comments", "raises", "flag", "stub", "total", "adds"]
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
names = st.sampled_from(
    ["remove_item", "no.py", "keeps/or.go", "log(error)", "Stub", "flags", "rename(a, b)", "docs/typo.md"]
)


@pytest.mark.parametrize(
    ("item", "asks"),
    [
        ("`total` takes 10 percent off", Asks(0)),
        ("`remove_item` takes 10 percent off", Asks(0)),
        ("Rename `sum` to `total`", Asks.ABSENCE | Asks.FORM | Asks.WORDS),
        ("`total` is faster", Asks.FORM),
        ("`total` keeps its name", Asks.AS_IT_WAS | Asks.FORM),
        ("Add tests for `total`", Asks.TESTS | Asks.LOOK),
        ("`tests/test_total.py` has a case of no prices", Asks.TESTS | Asks.AS_IT_WAS),
        ("`total` takes percent off, shown in `tests/test_total.py`", Asks(0)),
        ("Describe `total` in the README", Asks.LOOK | Asks.REPORT | Asks.DOCUMENTS),
        ("`total` refuses a price below 0 with ValueError", Asks.REFUSAL),
        ("A file that cannot be read is ignored", Asks.TOLERANCE),
        ("Large orders cost less behind a flag", Asks.SWITCH),
        ("Run `ruff format src`", Asks.LOOK | Asks.FORM | Asks.WORDS),
    ],
)
def test_an_item_asks_for_what_its_words_are_about(item: str, asks: Asks) -> None:
    (found,) = items_of(f"- [ ] {item}\n")
    assert (found.text, found.asks) == (item, asks)


@given(sentences, names, st.integers(0, 8))
def test_a_name_in_backticks_changes_nothing_that_an_item_asks_for(text: str, name: str, at: int) -> None:
    words = text.split()
    named = " ".join([*words[:at], f"`{name}`", *words[at:]])
    assert asks_of(named) | Asks.TESTS == asks_of(text) | Asks.TESTS


@given(sentences, sentences)
def test_more_words_take_nothing_away(first: str, second: str) -> None:
    assert asks_of(first) in asks_of(f"{first} {second}")


@given(st.lists(sentences, max_size=5), st.sampled_from(["- [ ] ", "* [x] ", "1. ", "- "]))
def test_every_bullet_above_the_checks_is_an_item_whatever_its_mark(texts: list[str], mark: str) -> None:
    plan = "".join(f"{mark}{text}\n" for text in texts)
    found = [item.text for item in items_of(f"### Work Items\n{plan}### Verification\n- `pytest`\n")]
    assert found == texts
    assert [
        item.text for item in items_of(without_criteria(f"{plan}### Acceptance Criteria\n- it runs\n"))
    ] == texts


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    asks_of(text)
    for item in items_of(text):
        assert "\n" not in item.text
        assert asks_of(item.text) in item.asks
