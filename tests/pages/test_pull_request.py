"""A pull request's title, its progress block, and the word to a linked issue."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.pages.pull_request import END, START, Step, closing, mark_for, progress, title, with_progress

STEPS = (
    Step(id="1", title="Token *bucket*", commit="0123456789abcdef0123456789abcdef01234567"),
    Step(id="2a", title=f"{START}\n{END}", commit=None),
)
BLOCK = progress(STEPS, plan="plans/rate-limit.md", run="rate-limit.1")
OLD_START, OLD_END = (mark.replace("asbuilt", "run-plan") for mark in (START, END))
LINES = st.sampled_from(
    [START, END, OLD_START, OLD_END, f"  {START}\r", f"x {END}", "text", "text\r", "", "…"]
)
BODIES = st.lists(LINES).map("\n".join) | st.text()


def test_the_title_names_the_plan_or_its_one_phase() -> None:
    assert title("rate-limit", "Rate limiting\nfor all") == "[rate-limit] Rate limiting for all"
    assert title("rate-limit", "Limits", phase=STEPS[0]) == "[rate-limit] Phase 1: Token *bucket*"
    assert len(title("rate-limit", "x" * 500)) == 240


def test_the_block_lists_the_phases_and_holds_no_mark() -> None:
    assert BLOCK == (
        "1 of 2 phases proven: `plans/rate-limit.md`, run `rate-limit.1`.\n"
        "\n"
        "- [x] Phase 1: Token \\*bucket\\* (0123456789)\n"
        "- [ ] Phase 2a: \\<!-- asbuilt:progress:start --\\> \\<!-- asbuilt:progress:end --\\>\n"
        "\n"
        "Written by asbuilt: done means proven, not said. Edits between the marks are overwritten."
    )


@given(st.lists(st.builds(Step, id=st.just("1"), title=st.text(), commit=st.just(None)), max_size=3), BODIES)
def test_no_title_of_a_phase_breaks_out_of_the_block(steps: list[Step], body: str) -> None:
    once = with_progress(body, progress(steps, plan="p", run="r"))
    assert with_progress(once, BLOCK) == with_progress(body, BLOCK)


@given(BODIES)
def test_putting_it_in_twice_is_putting_it_in_once(body: str) -> None:
    once = with_progress(body, BLOCK)
    assert with_progress(once, BLOCK) == once
    assert BLOCK in once


@given(BODIES, BODIES)
def test_what_stands_around_the_marks_stays_to_the_character(above: str, below: str) -> None:
    body = f"{above}\n{START}\nold\n{END}\n{below}"
    if START in above or END in above:
        return
    assert with_progress(body, BLOCK) == f"{above}\n{START}\n{BLOCK}\n{END}\n{below}"


@given(BODIES)
def test_a_body_that_it_is_added_to_stays_at_its_beginning(body: str) -> None:
    if START in body or OLD_START in body:
        return
    assert with_progress(body, BLOCK).startswith(body)


def test_a_start_that_was_left_alone_claims_nothing() -> None:
    body = f"Mine.\n{START}\nAlso mine."
    once = with_progress(body, "first")
    assert once == f"{body}\n\n{START}\nfirst\n{END}\n"
    assert with_progress(once, "second") == f"{body}\n\n{START}\nsecond\n{END}\n"


def test_the_older_marks_are_known_and_kept() -> None:
    body = f"Mine.\r\n{OLD_START}\r\nold\r\n{OLD_END}\r\nMine, too."
    assert with_progress(body, "new") == f"Mine.\r\n{OLD_START}\r\nnew\n{OLD_END}\r\nMine, too."


@pytest.mark.parametrize(
    "secret",
    [
        "ghp_0123456789abcdefghij",
        "https://ada:hunter22@example.com",
        "password=hunter22",
        "x --password hunter22",
    ],
)
def test_no_secret_gets_out(secret: str) -> None:
    texts = [
        title("rate-limit", secret),
        progress([Step(id="1", title=secret, commit=None)], plan="p", run="r"),
        closing("<!-- m -->", plan=secret, phases=1, commits=()),
    ]
    assert [text for text in texts if secret in text or "hunter22" in text] == []


def test_a_linked_issue_is_told_plan_phases_and_commits() -> None:
    mark = mark_for("plans/rate--limit ü.md")
    assert mark == "<!-- asbuilt:landed:plans/rate%2D%2Dlimit%20%C3%BC.md -->"
    said = closing(mark, plan="plans/rate-limit.md", phases=2, commits=("a" * 40, "b" * 40), pull="#7")
    assert (
        said
        == f"`plans/rate-limit.md` has landed by #7: 2 phases, commits `{'a' * 10}`, `{'b' * 10}`.\n\n{mark}"
    )
