"""The machine is kept awake exactly while an agent works."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.agents.test_sleep_inhibitor import Program
from tests.journeys.test_commands import Office, office

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["office"]
pytestmark = pytest.mark.crash


@pytest.mark.parametrize(("inhibit", "told"), [("true", ["began", "ended"] * 2), ("false", [])])
def test_a_worker_keeps_the_machine_awake_while_an_agent_works(
    office: Office, tmp_path: Path, inhibit: str, told: list[str]
) -> None:
    program = Program(tmp_path)
    program.is_there()
    office.environ |= {
        "PATH": f"{program.folder}:{office.environ['PATH']}",
        "ASBUILT_POWER_INHIBIT": inhibit,
    }
    assert office.run("--auto").splitlines()[0] == "exit 0"
    assert program.words == told
