"""A correction of the plan is put to a person as a diff of one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from asbuilt.journal import approvals
from tests.cli.nights import Dated, Night, clock
from tests.cli.screens import shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QUESTION = (
    "correct phase 1 of the plan? the plan says 60-90, and `wc -l < app.py` gives 93\n"
    "- - [ ] `wc -l < app.py` prints 60-90\n"
    "+ - [ ] `wc -l < app.py` prints 88-98"
)


@pytest.fixture
def night(tmp_path: Path, shop: Path) -> Iterator[Night]:
    made = Night(tmp_path, shop)
    story = made.plan("rate-limit", "21:20:00")
    wish = approvals.Wish(story.made.run, "drift", QUESTION, "1")
    with made.store.write() as session:
        approvals.ask(
            Dated(session, clock("21:21:00")), story.made.address, key="drift/1", wish=wish, actor="asbuilt"
        )
    made.wake()
    yield made
    made.close()


def test_the_list_has_the_gist_and_the_question_shows_the_line_before_and_after(night: Night) -> None:
    assert shown(night, ("approve",), "plain", 80) == snapshot("""\
exit 0
--- stdout
  ID   KIND      ABOUT                                     FROM              AGE
  a1   drift     correct phase 1 of the plan? the plan sa… rate-limit.1       0s
--- stderr
Next: asbuilt approve yes a1
  or  decline: asbuilt approve no a1 -m "why"
""")
    assert shown(night, ("approve", "show", "a1"), "plain", 80) == snapshot("""\
exit 0
--- stdout
a1   drift   plans/rate-limit.md
  correct phase 1 of the plan? the plan says 60-90, and `wc -l < app.py` gives
  93
    - - [ ] `wc -l < app.py` prints 60-90
    + - [ ] `wc -l < app.py` prints 88-98
  asked 0s ago; not answered
--- stderr
Next: asbuilt approve yes a1
  or  decline: asbuilt approve no a1 -m "why"
""")
