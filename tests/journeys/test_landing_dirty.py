"""A landing over changes of the user: the next command clears the way and lands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.journeys.test_commands import office
from tests.journeys.test_next_steps import code_of, nexts

if TYPE_CHECKING:
    from tests.journeys.test_commands import Office

__all__ = ["office"]
pytestmark = pytest.mark.crash


def shell(office: Office, command: str) -> str:
    """Type a line as a person does in a shell."""
    path = os.pathsep.join((str(Path(sys.executable).parent), office.environ["PATH"]))
    done = subprocess.run(  # noqa: S602 - the line is what asbuilt printed
        command,
        shell=True,
        cwd=office.shop / "plans",
        env={**office.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    return f"exit {done.returncode}\n{done.stdout}{done.stderr}"


def test_work_that_the_user_has_changed_too_lands_by_the_next_command(office: Office) -> None:
    (office.shop / "greet.py").write_text("print('hi')\n", encoding="utf-8")
    office.git("add", ".")
    office.git("commit", "-qm", "greet")
    (office.shop / "greet.py").write_text("print('mine')\n", encoding="utf-8")
    (command,) = nexts(office.run("--auto"))
    back = "# then git stash pop brings your changes back; merge what conflicts"
    assert command == f"git stash push -- :/greet.py && asbuilt land greet {back}"
    assert nexts(office.asbuilt("status", "greet")) == [command]
    assert "landed on main" in shell(office, command)
    assert office.git("stash", "list").count("stash@") == 1


def test_a_file_that_the_plan_adds_too_is_set_aside_by_the_next_command(office: Office) -> None:
    (office.shop / "greet.py").write_text("mine\n", encoding="utf-8")
    # The paths are too long for one row.
    command = office.run("--auto").partition("\nNext:\n")[2].partition("#")[0]
    assert code_of(shell(office, command)) == 0
    assert (office.shop / "greet.py.mine").read_text(encoding="utf-8") == "mine\n"
    assert office.git("ls-files", "greet.py") == "greet.py"
