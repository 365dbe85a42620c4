"""A reload is kept by one conversation, taken once, and stale in an hour."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.session.context.reload_request import LASTS_S, Reload, drop, keep, kept, take

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1_000_000.0
ONE = Reload("/shop/plans/a.md", "s1", NOW, "/shop", "plan-pending", approved=True)


def test_a_reload_is_taken_once(tmp_path: Path) -> None:
    folder = str(tmp_path / "c")
    keep(folder, ONE)
    assert kept(folder, now=NOW + 1) == ONE
    assert [take(folder, now=NOW + 1) for _ in range(3)] == [ONE, None, None]
    assert list((tmp_path / "c").iterdir()) == []


@pytest.mark.parametrize("age", [-1, LASTS_S + 1])
def test_a_reload_of_more_than_an_hour_ago_is_taken_away_and_not_given(tmp_path: Path, age: int) -> None:
    folder = str(tmp_path)
    keep(folder, ONE)
    assert kept(folder, now=NOW + age) is None
    assert take(folder, now=NOW + age) is None
    assert list(tmp_path.iterdir()) == []


def test_without_a_kind_a_plan_is_pending(tmp_path: Path) -> None:
    old = {"plan": "/p.md", "session": "s", "at": NOW, "cwd": "/shop"}
    (tmp_path / "reload").write_text(json.dumps(old))
    assert kept(str(tmp_path), now=NOW) == Reload("/p.md", "s", NOW, "/shop", "plan-pending", approved=True)


def test_dropping_what_is_not_there_is_as_good(tmp_path: Path) -> None:
    drop(str(tmp_path))
    assert take(str(tmp_path / "none"), now=NOW) is None


@given(
    st.one_of(
        st.binary(), st.dictionaries(st.text(), st.integers()).map(lambda one: json.dumps(one).encode())
    )
)
def test_whatever_the_file_holds_nothing_is_raised(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / "reload").write_bytes(data)
    try:
        data.decode()
    except UnicodeDecodeError:
        return  # the door's silence; test_conversation has it
    assert take(str(folder), now=NOW) is None


RACER = """
import sys
from asbuilt.session.context.reload_request import take
sys.stdin.readline()
won = [at for at in range(int(sys.argv[2])) if take(f"{sys.argv[1]}/{at}", now=1_000_000.0)]
print(" ".join(map(str, won)))
"""


def test_of_two_that_race_for_a_reload_exactly_one_has_it(tmp_path: Path) -> None:
    rounds = 200
    for at in range(rounds):
        keep(str(tmp_path / str(at)), ONE)
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(tmp_path), str(rounds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for one in racers:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    won = [int(word) for one in racers for word in one.communicate(timeout=60)[0].split()]
    assert sorted(won) == list(range(rounds))
