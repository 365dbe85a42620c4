"""docs/how-to/fleet.md, as it is written: three machines, one database, one remote, and no value astray."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crash.partition import CANNOT
from tests.crash.team import SERVERS, Team, steps
from tests.journal.conftest import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.crash, pytest.mark.skipif(bool(CANNOT), reason=CANNOT)]


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    # Its own server: the page's database has a name of its own, and roles are those of a whole server.
    with serving() as postgres:
        made = Team(tmp_path, postgres)
        yield made
        made.close()


def test_the_page_for_a_team_works_as_it_is_written_and_no_secret_is_found_anywhere(team: Team) -> None:
    page = steps()
    assert [*page] == ["Roles", "Workers", "Grants", "Secrets", "Laptops", "Look"]
    shop = team.repository()
    ((_, roles),) = page["Roles"]
    team.sql(roles)
    ((_, lines),) = page["Workers"]
    for name in SERVERS:
        code, shown = team.type(name, lines[0])
        assert (code, "This machine takes runs of the fleet" in shown) == (0, True), shown
    # No system starts services in a namespace.
    assert lines[1:] == ["asbuilt worker install"]
    ((_, grants),) = page["Grants"]
    team.sql(grants)
    ((_, lines),) = page["Secrets"]
    for name in SERVERS:
        for line in lines:
            code, shown = team.type(name, line)
            assert (code, "is set on this worker" in shown) == (0, True), shown
    ((_, lines),) = page["Laptops"]
    for line in lines:
        typed = f"{line} --script {team.script}" if line.startswith("asbuilt run") else line
        code, shown = team.type("ada", typed, start="shop")
        assert code == 0 or "doctor" in line, (line, shown)
        if "doctor" in line:
            assert "shop answers" in shown, shown
    assert "hello" in (shop / "greet.py").read_text("utf-8")
    assert "[x]" in (shop / "plans" / "rate-limit.md").read_text("utf-8")
    ((_, lines),) = page["Look"]
    looked = {}
    for line in lines:
        code, looked[line] = team.type("ada", line)
        assert code == 0, (line, looked[line])
    assert "rate-limit" in looked["asbuilt status"]
    assert "+print('hello')" in looked["asbuilt log rate-limit.1.1.1 --patch"]
    assert looked["asbuilt fleet workers"].count("online") == len(SERVERS)
    assert team.type("ada", "asbuilt report rate-limit.1 --to reports")[0] == 0
    assert len(team.seen) > 20
    assert team.found() == []
    # The search finds what is there.
    planted = team.home("eve") / "planted.log"
    planted.write_text(f"a log with {team.values['git']} in it", encoding="ascii")
    team.seen.add(f"program --password {team.values['person']}")
    assert team.found() == [f"process program --password {team.values['person']}"[:68], str(planted)]
