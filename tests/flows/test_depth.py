"""How deep a phase is proven, with the real runner: what each depth runs, and what it says it did not run."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from asbuilt.proof.trials.weakened_tests import OldTest
from tests.flows.proofs import PYTEST, Project
from tests.flows.trials.test_suite import FAILING_AS_PASSED, FLIPS_BY_PRODUCT
from tests.git.conftest import shop

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.proof.evidence import Evidence
    from tests.git.shop import Shop

__all__ = ["shop"]
pytestmark = pytest.mark.crash

BROKEN = "def double(n):\n    return n\n"
TWO = "from double import double\n\n\ndef test_two():\n    assert double(2) == 4\n"
BASE = {
    "double.py": "def double(n):\n    return n + n\n",
    "conftest.py": "",
    "tests/test_double.py": TWO,
    "tests/test_other.py": "def test_other():\n    assert True\n",
}
MENDS = "import double\n\ndouble.double = lambda n: 2 * n\n\n\ndef test_six():\n    assert double.double(3)\n"
TRIPLE = "def triple(n):\n    return n + n + n\n"
KNOWS = "from triple import triple\n\n\ndef test_triple():\n    assert triple(2) == 6\n"
NOT_RUN = "not run: "
NO_TRIAL = (
    "the phase's tests on its base, the checks without the phase's product files, the phase's own checks on"
    " its base, new lines that no test runs, changes to new lines, changes to new lines against every check;"
    " proof.depth is quick"
)


def _not_run(shown: Evidence) -> list[str]:
    return [note.removeprefix(NOT_RUN) for note in shown.notes if note.startswith(NOT_RUN)]


def _worst(shown: Evidence) -> list[tuple[str, str, str]]:
    olds = [OldTest(*one) for one in shown.olds]
    return [(one.name, one.now, one.then) for one in olds if (one.now, one.then) != ("passed", "passed")]


def test_quick_names_every_trial_that_it_does_not_run(shop: Shop, tmp_path: Path) -> None:
    files: dict[str, str | None] = {"triple.py": TRIPLE, "tests/test_triple.py": KNOWS}
    with closing(Project(shop, tmp_path, BASE, PYTEST, probe=True, depth="quick")) as project:
        tests, check = project.every(files, checks=["grep -q triple triple.py"])
    assert (tests.outcome, tests.canaries, tests.emptied, tests.depth) == (
        "PASS",
        "right",
        "not run",
        "quick",
    )
    assert (_not_run(tests), check.before) == ([NO_TRIAL], "")


@pytest.mark.parametrize(
    "files",
    [
        {"tests/test_double.py": TWO.replace("== 4", "> 0")},
        {"tests/test_a.py": MENDS},
    ],
)
def test_quick_finds_by_single_files_that_old_tests_fail(
    shop: Shop, tmp_path: Path, files: dict[str, str]
) -> None:
    with closing(Project(shop, tmp_path, BASE, PYTEST, depth="quick")) as project:
        shown = project.after({"double.py": BROKEN, **files})
    assert (shown.old, _worst(shown)) == ("red", [("tests.test_double::test_two", "passed", "red")])


def test_a_product_that_patches_the_runner_is_exposed_by_canaries_beside_the_tests_that_mention_it(
    shop: Shop, tmp_path: Path
) -> None:
    with closing(Project(shop, tmp_path, BASE, PYTEST, depth="quick")) as project:
        shown = project.after({"double.py": FLIPS_BY_PRODUCT})
    assert (shown.outcome, shown.why) == ("FAIL", FAILING_AS_PASSED)


def test_quick_leaves_old_tests_to_the_comparison_of_texts_where_only_the_whole_suite_has_them(
    shop: Shop, tmp_path: Path
) -> None:
    base = {**BASE, "tests/checking.py": "def check(got, wanted):\n    assert got == wanted\n"}
    with closing(Project(shop, tmp_path, base, PYTEST, depth="quick")) as project:
        shown = project.after({"tests/checking.py": "def check(got, wanted):\n    print(got)\n"})
    assert (shown.old, _not_run(shown)) == ("", ["the base's tests on the new code; proof.depth is quick"])


def test_a_long_suite_gets_in_normal_what_there_is_time_for(shop: Shop, tmp_path: Path) -> None:
    slow = "import time\n\n\ndef test_slow():\n    time.sleep(20)\n"
    with closing(
        Project(shop, tmp_path, {**BASE, "tests/test_slow.py": slow}, PYTEST, probe=True)
    ) as project:
        honest = project.after({"triple.py": TRIPLE, "tests/test_triple.py": KNOWS})
        lie = project.after({"double.py": BROKEN, "tests/test_double.py": TWO.replace("== 4", "> 0")})
        gone = {"triple.py": None, "tests/test_triple.py": None}
        unused = project.after({**BASE, **gone, "quad.py": TRIPLE})
    assert (honest.old, honest.emptied, bool(honest.noticed), _not_run(honest)) == ("", "built", True, [])
    assert (lie.old, _worst(lie)) == ("red", [("tests.test_double::test_two", "passed", "red")])
    assert (unused.outcome, unused.emptied) == ("PASS", "not run")
    others = "changes to new lines, changes to new lines against every check"
    emptied = "the checks without the phase's product files"
    assert _not_run(unused) == [f"{emptied}, {others}; proof.depth is normal"]


def test_a_check_that_is_the_suite_s_command_is_not_run_again(shop: Shop, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    counts = f"def test_counted():\n    with open({str(runs)!r}, 'a') as file:\n        file.write('.')\n"
    with closing(Project(shop, tmp_path, {**BASE, "tests/test_counted.py": counts}, PYTEST)) as project:
        runs.unlink()
        tests, check = project.every({"double.py": "def double(n):\n    return 2 * n\n"}, checks=[PYTEST])
    assert (check.outcome, check.reused, check.before, check.exit_code) == ("PASS", True, "passes", 0)
    assert (tests.emptied, runs.read_text()) == ("built", ".")


@pytest.mark.parametrize(("depth", "reused"), [("quick", True), ("normal", False), ("strict", False)])
def test_evidence_of_a_tree_stands_where_no_deeper_proof_is_wanted(
    shop: Shop, tmp_path: Path, depth: str, *, reused: bool
) -> None:
    files: dict[str, str | None] = {"triple.py": TRIPLE, "tests/test_triple.py": KNOWS}
    with closing(Project(shop, tmp_path, BASE, PYTEST, depth="quick")) as project:
        project.goes_on(project.every(files), depth=depth)
        again = project.after(files)
    assert (again.reused, again.depth) == (reused, "quick" if reused else depth)
