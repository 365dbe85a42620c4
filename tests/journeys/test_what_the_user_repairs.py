"""Causes that no setting of asbuilt repairs: red tests, a missing program, git without a name or an owner."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.journeys.test_commands import office
from tests.journeys.test_next_steps import code_of, nexts

if TYPE_CHECKING:
    from tests.journeys.test_commands import Office

__all__ = ["office"]
pytestmark = pytest.mark.crash
SLUGIFY = "module.exports.slugify = (title) => title.toLowerCase().replaceAll(' ', '-');\n"
TESTS = """\
const test = require("node:test");
const assert = require("node:assert");
const { slugify } = require("../slugify.js");

test("words", () => assert.equal(slugify("A B"), "a-b"));
test("case", () => assert.equal(slugify("AB"), "ab"));
"""


@pytest.fixture
def node(office: Office) -> Office:
    """Give a Node.js project whose tests run by `npm test`."""
    package = {"name": "slugs", "version": "1.0.0", "scripts": {"test": "node --test test/"}}
    files = {
        "package.json": json.dumps(package),
        "slugify.js": SLUGIFY,
        "test/slugify.test.js": TESTS,
        "asbuilt.toml": 'checks.tests = "npm test"\nchecks.setup = "none"\n',
    }
    for name, text in files.items():
        (office.shop / name).parent.mkdir(exist_ok=True)
        (office.shop / name).write_text(text, encoding="utf-8")
    office.git("add", ".")
    office.git("commit", "-qm", "A project")
    return office


def test_tests_that_all_fail_on_main_are_named_and_the_run_is_the_next_step(node: Office) -> None:
    (node.shop / "slugify.js").write_text("module.exports.slugify = (title) => 'x';\n", encoding="utf-8")
    node.git("commit", "-qam", "Broken")
    failed = node.run("--finish", "--auto")
    told = " ".join(failed.split())
    reason = "the tests fail on main: 2 of 2 tests already fail, so no new failure could be noticed."
    assert f"greet.1 failed: {reason}" in told
    assert "'x' == 'a-b'" in failed
    assert "prove nothing" not in told
    assert nexts(failed) == ["asbuilt run greet # after you repair the tests on main"]
    assert "Every test fails, so a run may notice no new failure." in node.asbuilt("doctor", "--tests")
    (node.shop / "asbuilt.toml").unlink()
    found = node.asbuilt("doctor", "--tests")
    assert (code_of(found), nexts(found)) == (1, ["asbuilt doctor --tests # after you repair the tests"])
    node.git("revert", "--no-edit", "HEAD")
    node.git("checkout", "HEAD", "asbuilt.toml")
    assert "landed on main: 4 phases proven" in node.run("--finish", "--auto")


def test_a_program_that_is_not_installed_is_named_with_the_command_to_try_again(node: Office) -> None:
    folder = node.state.parent / "programs"
    folder.mkdir()
    for name in ("git", "python3", "python", "sh", "bwrap", "grep", "cat"):
        if (found := shutil.which(name)) is not None:
            (folder / name).symlink_to(found)
    node.environ["PATH"] = str(folder)
    failed = node.run("--finish", "--auto")
    assert "The sandbox has no program node that can be started." in failed
    assert nexts(failed) == ["asbuilt run greet # after you install node"]
    assert 'or  if its name is wrong: asbuilt config set checks.tests "<command>"' in failed
    assert "! tests     npm test   there is no program npm here" in node.asbuilt("doctor")
    assert nexts(node.asbuilt("status", "greet")) == ["asbuilt run greet # after you install node"]
    assert nexts(node.asbuilt("doctor", "--tests")) == ["asbuilt doctor --tests # after you install node"]
    (node.shop / "asbuilt.toml").write_text('checks.setup = "npm ci"\n', encoding="utf-8")
    assert nexts(node.asbuilt("doctor", "--tests")) == ["asbuilt doctor --tests # after you install npm"]


def test_a_test_file_that_the_agent_removed_is_named_in_the_failure(node: Office) -> None:
    node.script.write_text(
        """
[[turn]]
role = "implement"
acts = [{ write = "greet.py", text = "hello" }, { delete = "test/slugify.test.js" }, { say = "Done." }]

[[turn]]
acts = [{ say = "I looked again." }]
""",
        encoding="utf-8",
    )
    failed = joined(node.run())
    assert "removed: test/slugify.test.js" in failed


NAMING = (
    'git config --global user.name "Your Name" &&'
    " git config --global user.email you@example.com # with your own name and address"
)


def test_git_without_a_name_gets_one_before_a_command_that_commits(office: Office) -> None:
    shutil.rmtree(office.shop / ".git")
    assert nexts(office.asbuilt()) == ["git init # this folder is no Git repository"]
    assert "Next: git init # makes one of this folder" in joined(office.run())
    office.git("init", "-q")
    for command in ((), ("init",)):
        assert nexts(office.asbuilt(*command)) == [NAMING]
    assert f"Next: {NAMING}" in joined(office.run("--finish", "--auto"))
    office.git("config", "user.name", "Ann")
    office.git("config", "user.email", "ann@example.com")
    first = 'git add -A && git commit -m "First commit"'
    for command in ((), ("init",)):
        assert nexts(office.asbuilt(*command)) == [first]


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives a folder to another user")
def test_a_repository_of_another_user_is_trusted_first(office: Office) -> None:
    trust = f"git config --global --add safe.directory {office.shop}"
    os.chown(office.shop, 12345, 12345)
    for command in ((), ("init",), ("doctor",)):
        assert trust in joined(office.asbuilt(*command))
    office.git("config", "--file", f"{office.environ['HOME']}/.gitconfig", "safe.directory", str(office.shop))
    for command in ((), ("init",)):
        assert "safe.directory" not in office.asbuilt(*command)
    shutil.rmtree(office.shop / ".git")
    (office.state.parent / "home/.gitconfig").unlink()
    assert trust in joined(office.asbuilt())


def joined(shown: str) -> str:
    """Join the rows of each command."""
    return " ".join(shown.split())


BROKEN = "ALL = {'tea': 4\n"
IMPORTING = """\
import unittest

import prices


class Prices(unittest.TestCase):
    def test_prices(self):
        self.assertEqual(prices.ALL['tea'], 4)
"""


def test_a_main_that_cannot_be_imported_stops_an_unattended_run_and_asks_in_an_attended_one(
    office: Office,
) -> None:
    """Other tests fail when prices.py is emptied, so they do run this tree; none could show a new failure."""
    files = {
        "prices.py": BROKEN,
        "tests/__init__.py": "",
        "tests/test_prices.py": IMPORTING,
        "asbuilt.toml": 'checks.tests = "python3 -m unittest -v"\nchecks.setup = "none"\n',
    }
    for name, text in files.items():
        (office.shop / name).parent.mkdir(exist_ok=True)
        (office.shop / name).write_text(text, encoding="utf-8")
    office.git("add", ".")
    office.git("commit", "-qm", "Broken")
    failed = office.run("--finish", "--auto")
    assert "greet.1 failed: the tests fail on main: 1 of 1 tests already fail." in joined(failed)
    assert nexts(failed) == ["asbuilt run greet # after you repair the tests on main"]
    assert "or with these tests, asking you first: asbuilt run greet --finish" in joined(failed)
    asked = joined(office.run("--finish"))
    assert "continue although the tests fail on main? 1 of 1 tests already fail" in asked
    (office.shop / "prices.py").write_text("ALL = {'tea': 4}\n", encoding="utf-8")
    office.git("commit", "-qam", "Repaired")
    assert code_of(office.asbuilt("stop", "greet")) == 0
    assert "landed on main" in joined(office.run("--finish", "--auto"))
