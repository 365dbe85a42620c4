"""Checks prove a tree only when they run its code: wrong environments are found with the real runners."""

from __future__ import annotations

import shlex
import shutil
import sysconfig
import venv
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from asbuilt.proof.suites.model import Severity
from asbuilt.proof.trials.new_tests import remarks_on_unnoticed
from tests.flows.proofs import PYTEST, Project
from tests.git.conftest import shop

if TYPE_CHECKING:
    from pathlib import Path

    from tests.git.shop import Shop

__all__ = ["shop"]
pytestmark = pytest.mark.crash

PRODUCT = "def double(n):\n    return n + n\n"
BROKEN = "def double(n):\n    return n\n"
HONEST = "def double(n):\n    return 2 * n\n"
TEST = "from twice import double\n\n\ndef test_two():\n    assert double(2) == 4\n"
BASE = {"src/twice/__init__.py": PRODUCT, "tests/test_double.py": TEST}
ON_PATH = "[tool.pytest.ini_options]\npythonpath = ['src']\n"


def editable(folder: Path, *shown: Path) -> str:
    """Make a virtual environment in which a package is installed from elsewhere; return its pytest."""
    venv.create(folder, symlinks=True)
    site = next(folder.glob("lib/python*/site-packages"))
    runner = sysconfig.get_path("purelib")
    (site / "twice.pth").write_text("\n".join(map(str, (*shown, runner))) + "\n", encoding="utf-8")
    return f"{shlex.quote(str(folder / 'bin' / 'python'))} -m pytest -q -p no:cacheprovider"


@pytest.mark.parametrize("product", [HONEST, BROKEN])
def test_an_editable_install_of_another_checkout_proves_nothing(
    shop: Shop, tmp_path: Path, product: str
) -> None:
    theirs = tmp_path / "theirs" / "src"
    (theirs / "twice").mkdir(parents=True)
    (theirs / "twice" / "__init__.py").write_text(PRODUCT, encoding="utf-8")
    with closing(Project(shop, tmp_path, BASE, editable(tmp_path / "venv", theirs))) as project:
        shown = project.after({"src/twice/__init__.py": product})
    why = (
        f"`twice` was imported from {theirs}/twice/__init__.py, not from this tree:"
        f" an editable install of another checkout"
    )
    assert (project.before.outcome, project.before.why) == ("INDETERMINATE", why)
    assert (shown.outcome, shown.why, shown.unusable) == ("INDETERMINATE", why, True)


@pytest.mark.parametrize(("product", "outcome"), [(HONEST, "PASS"), (BROKEN, "FAIL")])
def test_tests_that_import_this_tree_tell_an_honest_change_from_a_broken_one(
    shop: Shop, tmp_path: Path, product: str, outcome: str
) -> None:
    with closing(Project(shop, tmp_path, {**BASE, "pyproject.toml": ON_PATH}, PYTEST)) as project:
        shown = project.after({"src/twice/__init__.py": product})
    assert (project.before.outcome, shown.outcome) == ("PASS", outcome)


def test_a_change_that_no_check_runs_is_put_to_a_person(shop: Shop, tmp_path: Path) -> None:
    base = {"twice.py": PRODUCT, "conftest.py": "", "tests/test_double.py": TEST}
    with closing(Project(shop, tmp_path, base, PYTEST)) as project:
        shown = project.after({"thrice.py": "def triple(n):\n    return n\n"})
    assert project.before.notes[-1] == (
        "without the contents of twice.py nothing builds or loads: the checks run this tree"
    )
    assert (shown.outcome, shown.emptied, shown.unnoticed) == (
        "PASS", "green", ("thrice.py: nothing left in it",),
    )  # fmt: skip
    (asked,) = remarks_on_unnoticed(shown.unnoticed)
    assert (asked.severity, asked.words) == (
        Severity.SIGN_OFF,
        "thrice.py: no test notices: every check passes with nothing left in it",
    )


def test_files_that_no_check_runs_are_named_beside_those_that_one_does(shop: Shop, tmp_path: Path) -> None:
    base = {"twice.py": "import time\n" + PRODUCT, "conftest.py": "", "tests/test_double.py": TEST}
    with closing(Project(shop, tmp_path, base, PYTEST)) as project:
        shown = project.after({
            "twice.py": HONEST, "thrice.py": "def triple(n):\n    return n\n", "view.js": "alert(1)\n",
        })  # fmt: skip
    assert (shown.outcome, shown.emptied) == ("PASS", "built")
    assert shown.notes[-3:] == (
        "without the contents of thrice.py, twice.py nothing builds or loads: the checks run this tree",
        "not run by any check: view.js",
        "no check runs this file: thrice.py",
    )


def test_a_plan_s_own_check_that_fails_without_the_files_is_enough(shop: Shop, tmp_path: Path) -> None:
    base = {"twice.py": PRODUCT, "conftest.py": "", "tests/test_double.py": TEST}
    with closing(Project(shop, tmp_path, base, PYTEST)) as project:
        shown = project.after({"thrice.py": "print(3)\n"}, checks=["grep -q 3 thrice.py"])
    assert (shown.outcome, shown.emptied) == ("PASS", "tested")


def test_a_phase_without_product_files_says_that_there_was_nothing_to_empty(
    shop: Shop, tmp_path: Path
) -> None:
    base = {"twice.py": PRODUCT, "conftest.py": "", "tests/test_double.py": TEST}
    with closing(Project(shop, tmp_path, base, PYTEST)) as project:
        shown = project.after({"README.md": "doubles\n"})
    assert (shown.outcome, shown.emptied) == ("PASS", "none")
    assert shown.notes[-1] == "no product file to empty: the phase changes none"


def test_a_suite_that_runs_no_file_of_the_base_proves_nothing(shop: Shop, tmp_path: Path) -> None:
    base = {"twice.py": PRODUCT, "other.py": "", "tests/test_it.py": "def test_it():\n    assert True\n"}
    with closing(Project(shop, tmp_path, base, PYTEST)) as project:
        before = project.before
    why = (
        "every check passes without the contents of twice.py, src/app.py: either the checks run other"
        " code than this tree's, or no check runs these files"
    )
    assert (before.outcome, before.why, before.emptied) == ("INDETERMINATE", why, "green")


def test_old_failures_do_not_stand_for_a_suite_that_notices(shop: Shop, tmp_path: Path) -> None:
    red = "def test_red():\n    assert False\n"
    base = {"twice.py": PRODUCT, "conftest.py": "", "tests/test_a.py": red, "tests/test_double.py": TEST}
    with closing(Project(shop, tmp_path, base, PYTEST)) as project:
        noticed = project.after({"twice.py": HONEST})
        unnoticed = project.after({"twice.py": HONEST, "thrice.py": "def triple(n):\n    return n\n"})
        unnoticed = project.after({"twice.py": PRODUCT, "thrice.py": "x = 1\n", "four.py": "x = 2\n"})
    assert (noticed.outcome, noticed.emptied) == ("PASS", "built")
    assert (unnoticed.emptied, unnoticed.unnoticed) == (
        "green", ("four.py: nothing left in it", "thrice.py: nothing left in it"),
    )  # fmt: skip


def test_a_sitecustomize_of_the_project_runs_and_processes_of_tests_are_listed_too(
    shop: Shop, tmp_path: Path
) -> None:
    theirs = tmp_path / "theirs"
    (theirs / "twice").mkdir(parents=True)
    (theirs / "twice" / "__init__.py").write_text(PRODUCT, encoding="utf-8")
    (theirs / "sitecustomize.py").write_text("import os\nos.environ['CHAINED'] = 'yes'\n", encoding="utf-8")
    test = (
        "import os, subprocess, sys\n\n\ndef test_two():\n    assert os.environ['CHAINED'] == 'yes'\n"
        "    assert not any('/out/' in folder for folder in sys.path)\n"
        "    subprocess.run([sys.executable, '-c', 'import twice'], check=True, cwd='/')\n"
    )
    base = {**BASE, "tests/test_double.py": test}
    with closing(Project(shop, tmp_path, base, editable(tmp_path / "venv", theirs))) as project:
        before = project.before
    assert (before.outcome, before.ran, before.failed) == ("INDETERMINATE", 1, 0)
    assert before.why.startswith(f"`twice` was imported from {theirs}/twice/__init__.py, not from this tree")


def test_an_installed_copy_is_told_from_an_editable_install(shop: Shop, tmp_path: Path) -> None:
    tests = editable(tmp_path / "venv")
    copy = next((tmp_path / "venv").glob("lib/python*/site-packages")) / "twice.py"
    copy.write_text(PRODUCT, encoding="utf-8")
    with closing(Project(shop, tmp_path, BASE, tests)) as project:
        before = project.before
    assert before.outcome == "INDETERMINATE"
    assert before.why.endswith("/twice.py, not from this tree: an installed copy of the package")


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_a_javascript_suite_that_loads_another_copy_proves_nothing(shop: Shop, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.js"
    theirs.write_text("exports.double = (n) => n + n;\n", encoding="utf-8")
    test = (
        "const test = require('node:test');\nconst assert = require('node:assert');\n"
        "const { double } = require('%s');\n"
        "test('two', () => { assert.strictEqual(double(2), 4); });\n"
    )
    base = {"double.js": theirs.read_text(encoding="utf-8"), "test/double.test.js": test % theirs}
    with closing(Project(shop, tmp_path, base, "node --test")) as project:
        assert (project.before.outcome, project.before.emptied) == ("INDETERMINATE", "green")
        mended = project.after(
            {"test/double.test.js": test % "../double.js", "double.js": "exports.double = (n) => 2 * n;\n"}
        )
    assert (mended.outcome, mended.emptied) == ("PASS", "tested")
