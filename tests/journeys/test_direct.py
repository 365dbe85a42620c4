"""`asbuilt run --direct`: typed, it lands each phase once it is proven, also without --auto."""

from __future__ import annotations

import pytest

from tests.journeys.test_commands import Office, office

__all__ = ["office"]
pytestmark = pytest.mark.crash


def test_direct_lands_each_phase_once_it_is_proven_and_still_asks_between_them(office: Office) -> None:
    said = office.run("--finish", "--direct")
    assert said.startswith("exit 5")
    assert "Lands    on main, phase by phase, when proven" in said
    assert "continue with phase 2a?" in " ".join(said.split())
    assert office.git("log", "--format=%s", "main").splitlines() == ["Mark plans/greet.md", "Greet", "start"]


def test_direct_contradicts_hold(office: Office) -> None:
    assert office.run("--direct", "--hold") == (
        "exit 2\n--- stderr\nerror: --hold and --direct contradict each other\n"
        "  Why:  --direct lands each phase once it is proven; --hold lands nothing.\n"
        "  Next: asbuilt run greet --direct\n"
        "    or  prove all first: asbuilt run greet --hold\n"
    )
