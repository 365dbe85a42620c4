"""Small changes to new lines, with a real runner: what no test notices is told, and decides nothing."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from asbuilt.agents.sandboxed_commands import SandboxProcesses
from asbuilt.flows.environments.check_environment import CheckEnvironments
from asbuilt.flows.trials.allowance import Allowance
from asbuilt.flows.trials.phase_trials import lines_not_run, probe
from asbuilt.flows.trials.suite import Order, Trials
from asbuilt.proof.projects.model import Setup
from tests.flows.proofs import FOR_NODE, NO_PLUGINS, PYTEST, Project
from tests.git.conftest import shop

if TYPE_CHECKING:
    from pathlib import Path

    from tests.git.shop import Shop

__all__ = ["shop"]
pytestmark = pytest.mark.crash

BASE = {"old.py": "LONG = 'ab' > 'a'\n", "tests/test_old.py": "def test_old():\n    assert True\n"}
PRODUCT = "LONG = 'ab' > 'a'\nLARGE = 'b' > 'a'\n"
KNOWS = "from old import LARGE\n\n\ndef test_large():\n    assert LARGE\n"
IGNORES = "import old\n\n\ndef test_large():\n    assert old\n"
SLOW_S = 600.0


def committed(shop: Shop, files: dict[str, str]) -> str:
    for name, content in files.items():
        shop.write(name, content)
    shop.commit("files")
    return shop.git("rev-parse", "main^{tree}")


def environments_at(shop: Shop, folder: Path) -> CheckEnvironments:
    processes = SandboxProcesses(scratch=folder / "scratch", homes=(folder / "nobody",), level="none")
    return CheckEnvironments(
        folder / "setups", shop.repository, processes, limit_s=120, environment=NO_PLUGINS
    )


def probed(
    shop: Shop,
    folder: Path,
    files: dict[str, str],
    *,
    box_s: float = SLOW_S,
    before: dict[str, str] = BASE,
) -> tuple[str, ...]:
    """Probe what a phase makes of the base, as if its suite had taken so long."""
    base, tree = committed(shop, before), committed(shop, files)
    with environments_at(shop, folder).take(Setup(None, "none")) as environment:
        trials = Trials(environment, shop.repository, tree, Order(base, ""))
        allowance = Allowance("strict")
        allowance.add_suite(box_s, tests_differ=True)
        return (*probe(trials, environment.run(tree, PYTEST), allowance).notes, *allowance.notes)


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (
            {"old.py": PRODUCT, "tests/test_new.py": KNOWS},
            ("1 of 1 change to the new lines was noticed by the phase's own tests",),
        ),
        (
            {"old.py": PRODUCT, "tests/test_new.py": IGNORES},
            (
                "0 of 1 change to the new lines was noticed by the phase's own tests",
                "not noticed: old.py:2: `>` -> `<=`",
            ),
        ),
        (
            {"old.py": PRODUCT},
            (
                "0 of 1 change to the new lines was noticed by the tests",
                "not noticed: old.py:2: `>` -> `<=`",
            ),
        ),
        ({"notes.md": "1 < 2\n", "tests/test_new.py": IGNORES}, ()),
    ],
)
def test_what_no_test_notices_is_told(
    shop: Shop, tmp_path: Path, files: dict[str, str], told: tuple[str, ...]
) -> None:
    assert probed(shop, tmp_path, files) == told


def test_tests_that_do_not_pass_alone_show_nothing(shop: Shop, tmp_path: Path) -> None:
    helps = {**BASE, "tests/test_a.py": "import old\n\n\ndef test_a():\n    old.READY = True\n"}
    needs = "import old\n\n\ndef test_new():\n    assert old.READY\n"
    told = ("no change to the new lines was tried: the phase's own tests do not pass alone",)
    assert probed(shop, tmp_path, {"old.py": PRODUCT, "tests/test_new.py": needs}, before=helps) == told


def test_a_suite_that_was_red_before_shows_nothing_by_its_exit_code(shop: Shop, tmp_path: Path) -> None:
    red = {**BASE, "tests/test_red.py": "def test_red():\n    assert False\n"}
    assert probed(shop, tmp_path, {"old.py": PRODUCT}, before=red) == ()


def test_a_probe_without_time_is_named(shop: Shop, tmp_path: Path) -> None:
    files = {"old.py": PRODUCT, "tests/test_new.py": KNOWS}
    told = ("not run: changes to new lines; proof.depth is strict",)
    assert probed(shop, tmp_path, files, box_s=0.0) == told


@pytest.mark.parametrize("is_on", [True, False])
def test_a_run_probes_unless_it_is_switched_off(shop: Shop, tmp_path: Path, is_on: bool) -> None:  # noqa: FBT001
    with closing(Project(shop, tmp_path, BASE, PYTEST, probe=is_on)) as project:
        shown = project.after({"old.py": PRODUCT, "tests/test_new.py": KNOWS})
    assert shown.outcome == "PASS"
    assert any("to the new lines was" in note for note in shown.notes) is is_on


def test_the_verifier_is_pointed_at_new_lines_that_no_test_runs(shop: Shop, tmp_path: Path) -> None:
    never = f"{PRODUCT}if not LONG:\n    SMALL = ''\n"
    with closing(Project(shop, tmp_path, BASE, PYTEST, probe=True)) as project:
        shown = project.after({"old.py": never, "tests/test_new.py": KNOWS})
    assert shown.outcome == "PASS"
    assert "new lines that no test near them runs: old.py:4" in shown.notes
    assert shown.unseen == ("old.py:4: no test near them runs these lines",)


HALF = """\
LONG = 'ab' > 'a'


def price(cents, sale=False):
    if sale:
        cents = cents - 10
        return cents
    return cents
"""
HALF_TESTED = "from old import price\n\n\ndef test_price():\n    assert price(5) == 5\n"
HALF_IN_NODE = """\
exports.double = (n) => n + n;
exports.half = (n, sale) => {
  // a comment that is no code: 𝒳
  if (sale) {
    return n / 2 - 1;
  }
  return n / 2;
};
"""
NODE_TESTED = (
    "const test = require('node:test');\nconst assert = require('node:assert');\n"
    "const { half } = require('../double.js');\n"
    "test('half', () => { assert.strictEqual(half(4), 2); });\n"
)


@pytest.mark.parametrize(
    ("tests", "before", "files", "told"),
    [
        (PYTEST, BASE, {"old.py": HALF, "tests/test_new.py": HALF_TESTED}, ("old.py:6-7",)),
        (
            "node --test",
            FOR_NODE,
            {"double.js": HALF_IN_NODE, "test/half.test.js": NODE_TESTED},
            ("double.js:5",),
        ),
        # A file that no test loads is not judged here, nor is a run that fails.
        (PYTEST, BASE, {"new.py": HALF, "tests/test_new.py": IGNORES}, ()),
        (PYTEST, BASE, {"old.py": HALF, "tests/test_new.py": f"{HALF_TESTED}    assert LONG\n"}, ()),
    ],
)
def test_new_lines_that_no_test_runs_are_named(
    shop: Shop,
    tmp_path: Path,
    tests: str,
    before: dict[str, str],
    files: dict[str, str],
    told: tuple[str, ...],
) -> None:
    base, tree = committed(shop, before), committed(shop, files)
    with environments_at(shop, tmp_path).take(Setup(None, "none")) as environment:
        trials = Trials(environment, shop.repository, tree, Order(base, ""))
        suite = environment.run(tree, tests)
        green = suite._replace(ended=replace(suite.ended, exit_code=0))
        assert lines_not_run(environment, trials, green, Allowance()) == told
