"""Checks stand on the kept tree alone: nothing that an agent left around it has a say."""

from __future__ import annotations

import importlib.util
import py_compile
import shlex
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from asbuilt.flows.trials.suite import Order, Trials
from tests.flows.proofs import PYTEST, Project
from tests.git.conftest import shop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.git.shop import Shop

__all__ = ["shop"]

CHECK = f"{shlex.quote(sys.executable)} check.py"
FILES = {
    "check.py": (
        "import product, sys\n"
        "works = product.works()\n"
        "print(f'unit: {int(works)} passed, {int(not works)} failed')\n"
        "sys.exit(not works)\n"
    ),
    "product.py": "def works():\n    return True\n",
    ".gitignore": "secret.py\n",
}
LOOKS = "from pathlib import Path\nimport os\n\n\ndef works():\n    return {}\n"
BROKEN = "def works():\n    return False\n"
CHANCE = """
from pathlib import Path
from product import works

def test_by_chance():
    counter = Path({counter!r})
    times = int(counter.read_text()) + 1
    counter.write_text(str(times))
    assert works() and times {passes}
"""


@pytest.fixture
def project(shop: Shop, tmp_path: Path) -> Iterator[Project]:
    with closing(Project(shop, tmp_path, FILES, CHECK)) as made:
        yield made


def write(at: Path, text: str = "") -> None:
    at.parent.mkdir(parents=True, exist_ok=True)
    at.write_text(text, encoding="utf-8")


def leave_a_stale_cache(workspace: Path) -> None:
    """Leave a compiled module that Python believes without a look at its source."""
    source = workspace / "product.py"
    text = source.read_text(encoding="utf-8")
    write(source, FILES["product.py"])
    cached = importlib.util.cache_from_source(str(source))
    py_compile.compile(str(source), cached, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    write(source, text)


@pytest.mark.parametrize(
    ("product", "leave"),
    [
        ("from secret import works\n", lambda at: write(at / "secret.py", FILES["product.py"])),
        (BROKEN, leave_a_stale_cache),
        (LOOKS.format("Path('node_modules/a/b').exists()"), lambda at: write(at / "node_modules/a/b")),
        (LOOKS.format("Path('.cache/b').exists()"), lambda at: write(at / ".cache/b")),
        (LOOKS.format("'AGENT' in os.environ"), lambda _: None),
        (LOOKS.format("(Path.home() / 'agent').exists()"), lambda _: None),
    ],
    ids=["ignored", "compiled", "installed", "cached", "environment", "home"],
)
def test_what_an_agent_left_around_its_tree_proves_nothing(
    project: Project,
    product: str,
    leave: Callable[[Path], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AGENT", "1")
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path / "agent")
    shop = project.shop
    workspace = shop.workspace()
    write(workspace.path / "product.py", product)
    leave(workspace.path)
    tree = shop.keep(workspace).tree
    (shown,) = project.proving.prove(tree, order=Order(project.base, ""))
    assert shown.outcome == "FAIL"
    monkeypatch.undo()


def test_a_file_that_was_never_added_is_part_of_the_tree_that_is_proven_and_landed(project: Project) -> None:
    shop = project.shop
    workspace = shop.workspace()
    write(workspace.path / "product.py", "from added import works\n")
    write(workspace.path / "added.py", FILES["product.py"])
    tree = shop.keep(workspace).tree
    (shown,) = project.proving.prove(tree, order=Order(project.base, ""))
    assert (shown.outcome, shop.git("ls-tree", "--name-only", tree, "added.py")) == ("PASS", "added.py")


def test_a_link_in_the_place_of_a_runners_file_gives_way_to_what_the_base_has(shop: Shop) -> None:
    base = shop.commit("base", {"pytest.ini": "[pytest]\n", "hooks.py": "x = 1\n", "kept/a.pyc": "1"})
    (shop.root / "pytest.ini").unlink()
    for name, to in (("pytest.ini", "hooks.py"), ("conftest.py", "hooks.py"), ("__pycache__", "kept")):
        (shop.root / name).symlink_to(to)
    tree = shop.git("rev-parse", f"{shop.commit('links')}^{{tree}}")
    trials = Trials(None, shop.repository, tree, Order(base, ""))  # type: ignore[arg-type]  # nothing is run
    assert trials.over_tests == {"__pycache__": None, "conftest.py": None, "pytest.ini": b"[pytest]\n"}


@pytest.mark.crash
@pytest.mark.parametrize(
    ("passes", "outcome", "flaky"),
    [("!= 2", "PASS", (("tests.test_chance::test_by_chance", 2, 3, False),)), ("< 2", "FAIL", ())],
)
def test_a_test_that_fails_once_is_told_with_its_chances_and_one_that_fails_again_is_broken(
    shop: Shop, tmp_path: Path, passes: str, outcome: str, flaky: tuple[object, ...]
) -> None:
    counter = tmp_path / "counter"
    counter.write_text("0")
    test = CHANCE.format(counter=str(counter), passes=passes)
    files = {**FILES, "conftest.py": "", "tests/test_chance.py": test}
    with closing(Project(shop, tmp_path, files, PYTEST)) as project:
        shown = project.after({"product.py": FILES["product.py"] + "# better\n"})
    assert (project.before.outcome, shown.outcome, shown.flaky) == ("PASS", outcome, flaky)
    assert counter.read_text() == "3"
