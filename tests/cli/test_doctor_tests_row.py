"""The row of `doctor` about the tests names what has to be changed: the command, or the setup before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot
from msgspec.structs import replace

from asbuilt.cli.commands.doctor import page
from asbuilt.cli.commands.doctor.facts import SuiteFacts, Tried
from asbuilt.cli.commands.doctor.rows import judge
from asbuilt.cli.ui.screen import Pen
from asbuilt.cli.ui.symbols import UNICODE
from tests.cli.machines import READY

if TYPE_CHECKING:
    from asbuilt.cli.commands.doctor.facts import Facts

PLAIN = Pen(stream=None, styled=False, symbols=UNICODE, utf8=True)


def _row(facts: Facts, name: str) -> str:
    """Show one row alone, as a person sees it."""
    rows = [row for row in judge(facts) if row.name == name]
    return "\n".join(page.lines(PLAIN, rows, "")[:-1]) + "\n"


@pytest.mark.parametrize(
    ("tests", "shown"),
    [
        (
            SuiteFacts(command="", origin="default"),
            snapshot("""\
! tests     no command is set; a run looks for one, and asks
            Fix:  asbuilt doctor --tests tries what it finds, and saves your
                  choice.
"""),
        ),
        (
            SuiteFacts(command="", origin="asbuilt.toml:1", several="pytest -q in api, npm test in web"),
            snapshot(
                "✓ tests     pytest -q in api, npm test in web   from asbuilt.toml:1 (each run\n"
                "            tries them)\n"
            ),
        ),
        (
            SuiteFacts(command="pytset -q", origin="asbuilt.toml:2", absent="pytset"),
            snapshot("""\
! tests     pytset -q   there is no program pytset here
            Why:  asbuilt.toml:2 names it. A setup may install it for the
                  checks.
            Fix:  asbuilt doctor --tests runs the tests as a run does.
"""),
        ),
        (
            SuiteFacts(
                command="pytest -q",
                origin="asbuilt.toml:2",
                tried=Tried(outcome="PASS", why="214 ran, 0 skipped"),
            ),
            snapshot("✓ tests     pytest -q   214 ran, 0 skipped on a clean checkout\n"),
        ),
        (
            SuiteFacts(
                command="pytest -q",
                origin="asbuilt.toml:2",
                tried=Tried(outcome="PASS", why="214 ran, 0 skipped", failing=2),
            ),
            snapshot("""\
! tests     pytest -q   214 ran, 0 skipped, 2 failing on a clean checkout
            Why:  What fails before a run is noted, and does not stop it.
"""),
        ),
        (
            SuiteFacts(
                command="pytest -q",
                origin="asbuilt.toml:2",
                setup_origin="asbuilt.toml:3",
                tried=Tried(outcome="INDETERMINATE", why="setup: exit 3", in_setup=True),
            ),
            snapshot("""\
✗ tests     pytest -q   INDETERMINATE on a clean checkout: setup: exit 3
            Why:  The setup comes before the tests; without it none of them ran.
                  Make it pass from a fresh clone, or set another:
                  asbuilt.toml:3 names it.
            Fix:  asbuilt config set checks.setup "<command>"
                  # with your own command, for example npm ci
"""),
        ),
        (
            SuiteFacts(
                command="pytest -q",
                origin="asbuilt.toml:2",
                tried=Tried(outcome="INDETERMINATE", why="setup: exit 3", in_setup=True),
            ),
            snapshot("""\
✗ tests     pytest -q   INDETERMINATE on a clean checkout: setup: exit 3
            Why:  The setup comes before the tests; without it none of them ran.
                  Make it pass from a fresh clone, or set another as
                  checks.setup.
            Fix:  asbuilt config set checks.setup "<command>"
                  # with your own command, for example npm ci
"""),
        ),
    ],
    ids=["unset", "several suites", "no such program", "passed", "red", "setup", "found-setup"],
)
def test_the_row_of_the_tests(tests: SuiteFacts, shown: str) -> None:
    assert _row(replace(READY, tests=tests), "tests") == shown
