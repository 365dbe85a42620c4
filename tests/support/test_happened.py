from __future__ import annotations

import pytest

from asbuilt.errors import JournalDamaged
from asbuilt.events.event import Entry, Unknown
from asbuilt.events.phases import BaselineDone, PhaseBegun
from tests.support.happened import happened, plain, told


def test_what_happened_is_what_a_journal_would_hold() -> None:
    begun = ("phase.begun", {"run": "r", "at": "t", "phase": "1"})
    assert happened([begun, ("baseline.done", {"outcome": "PASS"})]) == [
        Entry(seq=1, key="1", at="t", actor="asbuilt", event=PhaseBegun(phase="1"), run="r"),
        Entry(seq=2, key="2", at="", actor="asbuilt", event=BaselineDone(outcome="PASS"), v=2),
    ]
    assert plain(happened([begun])[0]) == ("phase.begun", {"run": "r", "phase": "1"})
    assert told("phase.begun", phase="1") == PhaseBegun(phase="1")


@pytest.mark.parametrize(
    "wrong",
    [
        ("phase.began", {"phase": "1"}),
        ("phase.begun", {"phase": "1", "intend": "i"}),
        ("phase.begun", {}),
        ("phase.begun", {"phase": 1}),
    ],
)
def test_a_typo_raises(wrong: tuple[str, dict[str, object]]) -> None:
    with pytest.raises((ValueError, JournalDamaged), match=r"phase\.beg"):
        happened([wrong])


def test_what_no_class_has_is_kept_where_a_test_is_about_it() -> None:
    strange, more = happened(
        [("no.such", {"run": "r", "x": 1}), ("phase.begun", {"phase": "1", "y": 2})], unknown=True
    )
    assert (strange.event, strange.run) == (Unknown(name="no.such", number=1, data={"run": "r", "x": 1}), "r")
    assert more.more == {"y": 2}
