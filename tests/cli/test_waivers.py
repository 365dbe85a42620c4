"""A waiver is answered like any question, and only with a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from asbuilt.journal import approvals
from asbuilt.journal.ids import LOCAL
from tests.cli.nights import REPO, Night
from tests.cli.screens import shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def night(tmp_path: Path, shop: Path) -> Iterator[Night]:
    made = Night(tmp_path, shop)
    made.wake()
    yield made
    made.close()


def test_a_waiver_without_a_reason_is_refused_and_stays_open(night: Night) -> None:
    story = night.plan("rate-limit", "21:20:00")
    wish = approvals.Wish(story.made.run, "waiver", "accept phase 1 without this item? Give a reason.", "1")
    with night.store.write() as session:
        approvals.ask(session, story.made.address, key="waiver/sha256:1/2/r", wish=wish, actor="asbuilt")
    for words in ((), ("-m", "  ")):
        assert shown(night, ("approve", "yes", "a1", *words), "plain", 80) == snapshot("""\
exit 2
--- stderr
error: a1 asks for a waiver, and a waiver needs a reason
  Why:  The reason is shown in the report, in the commit and in the plan.
  Next: asbuilt approve yes a1 -m "why"
""")
    with night.store.read() as session:
        assert [one.answer for one in approvals.waiting(session, LOCAL, REPO)] == [None]


def test_quoted_code_keeps_its_backticks_and_fits_the_terminal(night: Night) -> None:
    story = night.plan("rate-limit", "21:20:00")
    question = "accept phase 1, although `discounted` in `shop.py` always answers `return 6000`, and why?"
    wish = approvals.Wish(story.made.run, "waiver", question, "1")
    with night.store.write() as session:
        approvals.ask(session, story.made.address, key="waiver/sha256:1/2/r", wish=wish, actor="asbuilt")
    assert "`discounted` in `shop.py`" in shown(night, ("approve", "show", "a1"), "plain", 80)
    said = shown(night, ("approve", "yes", "a1", "-m", "it may"), "plain", 80)
    assert said.partition("--- stderr")[0] == snapshot("""\
exit 0
--- stdout
a1: yes. accept phase 1, although `discounted` in `shop.py` always answers
`return 6000`, and why?
""")
