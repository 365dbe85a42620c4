"""The doctor's row on the forge: where pull requests would be opened, and whether gh is signed in there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from asbuilt.cli.commands.doctor.facts import ErrorFacts, ForgeFacts
from asbuilt.cli.commands.doctor.page import Row, State, Stops
from asbuilt.cli.commands.doctor.probes import look_at_forge
from asbuilt.cli.commands.doctor.rows import judge
from tests.cli.machines import READY
from tests.forge.test_github import GHS, environ, room_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.forge.server import Stub
    from tests.git.shop import Shop


def row_of(forge: ForgeFacts) -> Row:
    return next(row for row in judge(replace(READY, forge=forge)) if row.name == "forge")


@pytest.mark.parametrize("which", GHS)
def test_gh_says_whether_it_is_signed_in_and_nobody_is_asked(
    which: str, tmp_path: Path, stub: Stub, shop: Shop
) -> None:
    path = room_of(which, tmp_path / "bin")
    found = look_at_forge(shop.root, environ(stub, shop, path), wanted=False)
    assert found is not None
    assert (found.host, found.error) == ("github.localhost", None)
    assert str(found.version).startswith("2.")
    found = look_at_forge(shop.root, environ(stub, shop, path, signed_in=False), wanted=True)
    assert found is not None
    assert found.error is not None
    assert found.error.what == "gh is not signed in to github.localhost"
    assert stub.hub.requests == []


def test_without_gh_there_is_a_row_only_where_it_is_wanted(tmp_path: Path, stub: Stub, shop: Shop) -> None:
    (tmp_path / "bin").mkdir()
    given = environ(stub, shop, tmp_path / "bin") | {"PATH": str(tmp_path / "bin")}
    assert look_at_forge(shop.root, given, wanted=False) is None
    found = look_at_forge(shop.root, given, wanted=True)
    assert found is not None
    assert found.error is not None
    assert found.error.what == "there is no program gh on PATH"


def test_where_no_remote_leads_to_a_forge_there_is_a_row_only_where_it_is_wanted(shop: Shop) -> None:
    assert look_at_forge(shop.root, {}, wanted=False) is None
    found = look_at_forge(shop.root, {}, wanted=True)
    assert found is not None
    assert found.error is not None
    assert found.error.what == "this repository has no remote origin"
    assert look_at_forge(shop.home, {}, wanted=True) is None


def test_the_row_is_a_problem_only_where_work_lands_by_pull_request() -> None:
    good = ForgeFacts(wanted=True, host="github.com", version="2.74.0")
    assert row_of(good) == Row(
        name="forge", state=State.GOOD, lead="gh 2.74.0", text="signed in to github.com", facts=good
    )
    bad = replace(good, error=ErrorFacts(what="not signed in", why="so", next_step="do"))
    assert row_of(bad) == Row(
        name="forge",
        state=State.PROBLEM,
        text="not signed in",
        why="so",
        next_step="do",
        facts=bad,
        stops=Stops.NOTHING,
    )
    idle = replace(bad, wanted=False)
    assert row_of(idle) == Row(
        name="forge", state=State.NOTE, text="not signed in", next_step="do", facts=idle
    )
