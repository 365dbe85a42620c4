from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from asbuilt.lifecycle.status.report import Outlined
from asbuilt.lifecycle.status.timeline import Span
from asbuilt.pages.drawing import edges, graph, timeline


def outlined(**needs: str) -> list[Outlined]:
    """Outline phases, each with what it needs."""
    return [Outlined(name, name, tuple(below.split())) for name, below in needs.items()]


def test_an_edge_that_goes_without_saying_is_not_drawn() -> None:
    assert edges(outlined(a="", b="a", c="a b", d="c b a")) == [("a", "b"), ("b", "c"), ("c", "d")]


def test_two_that_may_run_side_by_side_stand_side_by_side() -> None:
    drawn = graph(outlined(a="", b="a", c="a", d="b c"), {"a": "proven"})
    boxes = [part.partition("<foreignObject")[0] for part in drawn.split('<rect class="box ')[1:]]
    assert boxes == [
        'proven" x="26.00%" y="0" width="48.00%" height="34" rx="8"/>',
        'plain" x="1.00%" y="56" width="48.00%" height="34" rx="8"/>',
        'plain" x="51.00%" y="56" width="48.00%" height="34" rx="8"/>',
        'plain" x="26.00%" y="112" width="48.00%" height="34" rx="8"/>',
    ]


def test_a_phase_that_needs_itself_or_nobody_is_drawn_all_the_same() -> None:
    assert graph(outlined(a="a z", b="c", c="b"), {}).count("<rect") == 3


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6), st.sampled_from("12")), min_size=1))
def test_no_bar_sticks_out_however_long_or_short(rows: list[tuple[int, int, str]]) -> None:
    def at(second: int) -> str:
        return (datetime(2026, 11, 15, tzinfo=UTC) + timedelta(seconds=second)).isoformat()

    spans = [Span("work", phase, at(began), at(began + took), "x") for began, took, phase in rows]
    for part in timeline(spans, {}, UTC).split("<rect ")[1:]:
        left, wide = (float(part.split(f' {name}="')[1].partition("%")[0]) for name in ("x", "width"))
        assert left >= 0
        assert wide >= 0.49
        assert left + wide <= 100.02
