"""What a sandbox shows of the user's installations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asbuilt.agents.sandbox.toolchains import shown_for

if TYPE_CHECKING:
    from pathlib import Path


def _program(file: Path, text: str = "") -> str:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)
    return str(file)


@pytest.mark.parametrize("named", ["{home}/apps/agent/bin/agent", "$HOME/apps/agent/bin/agent"])
def test_what_a_script_stands_before_is_shown_with_it(tmp_path: Path, named: str) -> None:
    home = tmp_path / "home"
    real = _program(home / "apps" / "agent" / "bin" / "agent")
    (home / "apps" / "agent" / "lib").mkdir()
    (home / "apps" / "agent" / "notes.txt").write_text("private")
    wrapper = _program(home / "local" / "agent", f'#!/bin/sh\nexec "{named.format(home=home)}" "$@"\n')
    shown = shown_for({"PATH": "/usr/bin"}, (home,), wrapper)
    assert {wrapper, real, str(home / "apps/agent/lib")} <= {*shown}
    assert not any(path in shown for path in (str(home), str(home / "apps"), str(home / "apps/agent")))


def test_a_script_that_is_given_to_its_interpreter_is_shown_alone(tmp_path: Path) -> None:
    script = tmp_path / "tools" / "agent.py"
    script.parent.mkdir()
    script.write_text("print(1)\n")
    shown = shown_for({"PATH": "/usr/bin"}, (tmp_path / "home",), str(script))
    assert [path for path in shown if path.startswith(str(tmp_path))] == [str(script)]


def test_of_a_workspace_of_go_a_persons_own_modules_are_not_shown(tmp_path: Path) -> None:
    home = tmp_path / "home"
    _program(home / "go" / "bin" / "gopls")
    (home / "go" / "src" / "bank").mkdir(parents=True)
    _program(home / "sdk" / "go1.26" / "bin" / "go")
    (home / "sdk" / "go1.26" / "src" / "runtime").mkdir(parents=True)
    path = f"{home}/go/bin:{home}/sdk/go1.26/bin"
    shown = {one.removeprefix(f"{home}/") for one in shown_for({"PATH": path}, (home,))}
    assert {"go/bin", "sdk/go1.26/bin", "sdk/go1.26/src"} <= shown
    assert "go/src" not in shown
