"""One measure of likeness suggests plans, attempts, commands, options, settings and agents."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from asbuilt.similar_names import did_you_mean, nearest

NAMES = st.lists(st.from_regex(r"[a-z]{4,10}(-[a-z]{3,8})?", fullmatch=True), min_size=1, max_size=6)


@given(names=NAMES, at=st.integers(0, 5))
def test_a_known_name_is_nearest_to_itself_in_any_case(names: list[str], at: int) -> None:
    name = names[at % len(names)]
    meant = nearest(name.upper(), names)
    assert sorted(meant) == sorted(name)


@given(names=NAMES)
def test_only_a_known_name_is_suggested(names: list[str]) -> None:
    assert nearest("zz", names) in ("", *names)


def test_swapped_letters_come_first_and_a_far_name_is_none() -> None:
    assert nearest("statsu", ["stats", "status"]) == "status"
    assert nearest("--bogus", ["--verbose"]) == ""
    assert nearest("ASBUILT_RUN_LANE", ["ASBUILT_RUN_LANES"]) == "ASBUILT_RUN_LANES"
    assert did_you_mean("gret", ["greet"]) == ". Did you mean greet?"
    assert did_you_mean("x", ["greet"]) == ""
