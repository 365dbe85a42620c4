"""What a start may load, by module name: milliseconds differ from machine to machine, names do not."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.cli.nights import BASE
from tests.cli.screens import a_night
from tests.plan.cases import load_all

if TYPE_CHECKING:
    from pathlib import Path

START = """\
import sys
bare = set(sys.modules)
sys.argv = ["asbuilt", *sys.argv[1:]]
from asbuilt.cli.shell.main import main
main()
loaded = set(sys.modules) - bare
"""
LOADED = f"{START}print(*sorted(loaded), file=sys.stderr)"
COMPILED = f"""\
{START}
classes = {{one for name in loaded if name.startswith("asbuilt") for one in vars(sys.modules[name]).values()
           if hasattr(one, "__dataclass_fields__")}}
print(*sorted(one.__name__ for one in classes), file=sys.stderr)
"""
HEAVY = (
    "asyncio",
    "click",
    "dataclasses",
    "inspect",
    "json",
    "markdown_it",
    "pathlib",
    "re",
    "subprocess",
    "tomlkit",
    "tomllib",
    "typing",
    "yaml",
)


def _loaded(cwd: Path, *arguments: str, **more: str) -> set[str]:
    return _told(LOADED, cwd, *arguments, **more)


def _told(child: str, cwd: Path, *arguments: str, **more: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", child, *arguments],
        cwd=cwd,
        env={"HOME": str(cwd), **more},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.split("\n")[-2].split())


@pytest.mark.parametrize("argument", ["--version", "-V", "--help", "-h"])
def test_version_and_help_load_nothing_but_their_own_words(tmp_path: Path, argument: str) -> None:
    loaded = _loaded(tmp_path, argument)
    assert loaded == {
        "asbuilt",
        "asbuilt._version",
        "asbuilt.cli",
        "asbuilt.cli.shell",
        "asbuilt.cli.shell.top_level_help",
        "asbuilt.cli.shell.main",
    }, "import it where the command is dispatched (cli/shell/main.py), not at the top of these modules"


@pytest.mark.parametrize("name", HEAVY)
def test_the_names_of_heavy_modules_are_spelled_as_they_load(name: str) -> None:
    __import__(name)
    assert name in sys.modules


@pytest.mark.parametrize(
    "arguments", [("config", "show"), ("config", "show", "--json"), ("config", "-h"), ("plan", "-h")]
)
def test_a_command_loads_no_parser_that_it_does_not_use(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    loaded = _loaded(tmp_path, *arguments)
    assert "click" in loaded
    assert loaded & {"markdown_it", "yaml", "tomlkit", "asyncio", "asbuilt.plan"} == set(), (
        "a command is loaded only when chosen: name it in a LazyGroup, import nothing of it"
    )


@pytest.mark.parametrize("arguments", [(), ("status",), ("status", "rate-limit")])
def test_looking_loads_neither_parser_nor_engine_nor_git(arguments: tuple[str, ...]) -> None:
    with a_night() as night:
        # A branch that has moved since the run began may have its work, which git is asked.
        (night.shop / ".git/refs/heads/main").write_text(f"{BASE}\n", encoding="ascii")
        loaded = _loaded(night.shop, *arguments, ASBUILT_HOME=str(night.home.path))
    assert "asbuilt.journal.queries.overview" in loaded
    heavy = {"markdown_it", "yaml", "tomlkit", "asyncio", "subprocess", "zoneinfo", "dbos", "sqlalchemy"}
    ours = {
        "asbuilt.plan.reader", "asbuilt.git.repository", "asbuilt.agents.host.main", "asbuilt.flows",
        "asbuilt.lifecycle.authoring.options", "asbuilt.lifecycle.tasks.model",
    }  # fmt: skip
    assert loaded & (heavy | ours) == set(), (
        "a command that only looks starts from cli/shell/read_context.py, and takes nothing from"
        " cli/shell/run_context.py"
    )


@pytest.mark.parametrize("arguments", [(), ("status",)])
def test_looking_has_no_class_compiled_that_a_start_has_to_pay_for(arguments: tuple[str, ...]) -> None:
    with a_night() as night:
        compiled = _told(COMPILED, night.shop, *arguments, ASBUILT_HOME=str(night.home.path))
    assert compiled == set(), "make it a named tuple or a msgspec Struct"


def test_showing_a_plan_loads_neither_agents_nor_the_engine() -> None:
    with a_night() as night:
        plan = night.shop / "rate-limit.md"
        plan.write_bytes(next(case.data for case in load_all() if case.name == "canonical-tracker"))
        loaded = _loaded(night.shop, "plan", "show", str(plan), ASBUILT_HOME=str(night.home.path))
    assert {"asbuilt.plan.reader", "asbuilt.journal.queries.spending"} <= loaded
    # What runs have done to its phases is folded from the journal, as `status` does it.
    ours = {"asbuilt.ports", "asbuilt.agents.roster"}
    assert loaded & ({"asyncio", "subprocess", "shutil", "dbos", "sqlalchemy"} | ours) == set(), (
        "costs come from cli/runs/costs.py; agents are not looked for"
    )
