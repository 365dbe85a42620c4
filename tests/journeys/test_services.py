"""docs/how-to/services.md, typed literally: tests that need Postgres and a variable, to landed code."""

from __future__ import annotations

import re
import shlex
import zlib
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from asbuilt.agents.sandbox.launch import probe
from tests.journeys.test_commands import office

if TYPE_CHECKING:
    from tests.journeys.test_commands import Office

__all__ = ["office"]

POSTGRES = Path("/").glob("usr/lib/postgresql/*/bin/initdb")
pytestmark = [
    pytest.mark.crash,
    pytest.mark.skipif(probe().level != "bwrap", reason="no bubblewrap works here"),
    pytest.mark.skipif(not any(POSTGRES), reason="Debian's postgresql is not installed"),
]
TOKEN = "the token for tests"  # noqa: S105  of no service
DIGEST = sha256(TOKEN.encode()).hexdigest()
TESTS = """\
import os
import subprocess
import unittest
from hashlib import sha256

import stock


class Stock(unittest.TestCase):
    def test_what_is_sold_is_taken_from_the_table(self):
        print("signs in with", os.environ["API_TOKEN"])
        self.assertEqual(sha256(os.environ["API_TOKEN"].encode()).hexdigest(), "%s")
        ask = ["psql", "-qAtc", "create table stock (n int); insert into stock values (5); " + stock.SOLD]
        self.assertEqual(subprocess.check_output(ask, text=True), "%s\\n")
"""
PLAN = """\
# Sell

## Phase 1 — Sell two
### Dependencies
None.
### Work Items
- [ ] `stock.py` sells 2 in place of 1
- [ ] `tests/test_stock.py` expects 3
### Verification
- `python3 -m unittest discover -s tests -t .`
"""
SCRIPT = """\
[[turn]]
phase = "1"
role = "implement"
acts = [{{ write = "stock.py", text = {product} }}, {{ write = "tests/test_stock.py", text = {tests} }}]
[[turn]]
role = "verify"
acts = [{{ verdict = "pass" }}]
"""


def _sold(number: int) -> str:
    return f'SOLD = "update stock set n = n - {number} returning n"\n'


def _toml(text: str) -> str:
    return f"'''\n{text}'''"


def _steps() -> list[str]:
    """Read the commands of the numbered steps."""
    text = Path(__file__).parents[2].joinpath("docs/how-to/services.md").read_text(encoding="utf-8")
    section = text.partition("## From an empty setting to landed code")[2].partition("\n## ")[0]
    blocks = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    return [line.strip() for block in blocks for line in block.strip().splitlines()]


def _content(file: Path) -> bytes:
    """Read what the state folder has of a file; outputs are kept compressed."""
    content = file.read_bytes()
    with suppress(zlib.error):
        return zlib.decompress(content)
    return content


@pytest.fixture
def project(office: Office) -> Office:
    (office.shop / "plans" / "greet.md").unlink()
    (office.shop / "plans" / "sell.md").write_text(PLAN)
    (office.shop / "stock.py").write_text(_sold(1))
    (office.shop / "tests").mkdir()
    (office.shop / "tests" / "__init__.py").write_text("")
    (office.shop / "tests" / "test_stock.py").write_text(TESTS % (DIGEST, 4))
    office.script.write_text(SCRIPT.format(product=_toml(_sold(2)), tests=_toml(TESTS % (DIGEST, 3))))
    office.git("add", "-A")
    office.git("commit", "-qm", "a shop")
    return office


def test_the_steps_of_the_page_lead_from_an_empty_setting_to_landed_code(project: Office) -> None:
    said = {}
    for step in _steps():
        program, *words = shlex.split(step)
        if program == "git":
            project.git(*words)
            continue
        script = ["--script", str(project.script)] if words[0] == "run" else []
        words = ["sell" if word == "PLAN" else word for word in words]
        said[words[0]] = project.asbuilt(*words, *script)
        if words[0] == "doctor":
            # Nobody is at a terminal: it stops, and names the command that grants.
            assert said["doctor"].startswith("exit 4\n"), said["doctor"]
            grants = re.search(r"Next: asbuilt (config set checks\.granted \S+)", said["doctor"])
            assert grants, said["doctor"]
            project.asbuilt(*shlex.split(grants[1]))
            said["doctor"] = project.asbuilt(*words)
        assert said[words[0]].startswith("exit 0\n"), said[words[0]]

    assert "sell.1 landed on main: 1 phase proven" in said["run"]
    assert (project.shop / "stock.py").read_text() == _sold(2)
    kept = {file: _content(file) for file in project.state.rglob("*") if file.is_file()}
    assert [file.name for file, content in kept.items() if TOKEN.encode() in content] == ["given.json"]
    assert any(b"signs in with [secret]" in content for content in kept.values())
