"""What a fold fills is declared, made, compared and told as a dataclass is."""

from __future__ import annotations

from typing import Any

import pytest

from asbuilt.lifecycle.run.folded import Folded, fresh


class Count(Folded):
    """One thing, and how often it was seen."""

    name: str
    times: int = 0
    seen: list[str] = fresh(factory=list)


def test_fields_are_given_by_position_or_by_name_and_else_have_their_default() -> None:
    count = Count("a", seen=["x"])
    assert (count.name, count.times, count.seen) == ("a", 0, ["x"])
    assert repr(count) == "Count(name='a', times=0, seen=['x'])"
    assert count == Count(name="a", times=0, seen=["x"])


def test_what_one_is_told_no_other_hears() -> None:
    told, other = Count("a"), Count("a")
    told.seen.append("x")
    told.times += 1
    assert (told, other) == (Count("a", 1, ["x"]), Count("a", 0, []))
    assert told != other


def test_one_that_differs_is_another_and_a_field_that_it_has_not_is_refused() -> None:
    count = Count("a", 2, ["x"])
    assert (count.but(times=3), count) == (Count("a", 3, ["x"]), Count("a", 2, ["x"]))
    with pytest.raises(TypeError, match="Count has the fields name, times, seen"):
        count.but(tiems=3)


@pytest.mark.parametrize(
    ("values", "given"), [((), {}), (("a", 1, [], 2), {}), (("a",), {"tiems": 1}), ((), {"times": 1})]
)
def test_a_field_that_is_missing_or_unknown_is_refused(
    values: tuple[Any, ...], given: dict[str, Any]
) -> None:
    with pytest.raises(TypeError, match="Count has the fields name, times, seen"):
        Count(*values, **given)


def test_what_changes_is_in_no_set_and_equals_nothing_of_another_kind() -> None:
    class Other(Folded):
        name: str
        times: int = 0
        seen: list[str] = fresh(factory=list)

    assert Count("a") != Other("a")
    with pytest.raises(TypeError, match="unhashable"):
        hash(Count("a"))
