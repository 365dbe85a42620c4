"""What a process in each sandbox finds of the secrets around it: nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from asbuilt.agents.plan_session import PlanningSeat
from asbuilt.agents.sandbox.launch import launch, probe
from asbuilt.agents.sandbox.proxy import served
from asbuilt.agents.sandboxed_commands import SandboxProcesses
from asbuilt.hook.look_starter import made
from asbuilt.policy.sandbox.look_script import FILTER
from asbuilt.policy.sandbox.seccomp import seccomp_filter
from asbuilt.ports import Command
from asbuilt.session.look_command import place
from tests.agents.conftest import Machine
from tests.attack.canaries.planted import planted
from tests.contracts.attempts import ended, started_with

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.attack.canaries import planted as planting

pytestmark = pytest.mark.skipif(probe().level != "bwrap", reason="bubblewrap does not hold here")
INSIDE = Path(__file__).parent / "inside.py"
LEAST = 60


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Machine, planting.Planted]]:
    """Make a machine with secrets around it; not below /tmp, where everything is out of reach anyway."""
    cache = Path.home() / ".cache"
    cache.mkdir(exist_ok=True)
    with TemporaryDirectory(prefix="asbuilt-tests-", dir=cache) as name:
        room = Path(name).resolve()
        machine = Machine(root=room / "m", level="bwrap")
        with planted(machine.home, room) as secrets:
            monkeypatch.setenv("BANK_TOKEN", secrets.word)
            _leave(machine.workspace, secrets)
            url = f"https://ann:{secrets.word}@forge.example/shop.git"
            for setting in ("config", "config.worktree", "modules/part/config"):
                file = machine.common / setting
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(f'[core]\n[remote "forge"]\n\turl = {url}\n')
            (machine.common / "annex" / "creds").mkdir(parents=True)
            (machine.common / "annex" / "creds" / "1").write_text(secrets.word)
            yield machine, secrets


def _leave(folder: Path, secrets: planting.Planted) -> tuple[str, ...]:
    """Put the program that looks, and what it looks for, where the sandbox shows them."""
    copyfile(INSIDE, folder / "inside.py")
    (folder / "spec.json").write_text(json.dumps(secrets.spec))
    return (sys.executable, "-I", "-S", str(folder / "inside.py"), str(folder / "spec.json"))


def _found(output: str) -> list[str]:
    line = next((one for one in output.splitlines() if "FOUND " in one), None)
    assert line is not None, output
    names: list[str] = json.loads(line.partition("FOUND ")[2])
    return names


def test_there_is_enough_to_find_and_outside_of_a_sandbox_it_is_found(
    held: tuple[Machine, planting.Planted],
) -> None:
    """Shows that the tests below can fail."""
    machine, secrets = held
    spec = {**secrets.spec, "walk": []}
    (machine.workspace / "spec.json").write_text(json.dumps(spec))
    argv = (
        sys.executable,
        "-I",
        "-S",
        str(machine.workspace / "inside.py"),
        str(machine.workspace / "spec.json"),
    )
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    found = _found(done.stdout)
    assert secrets.count >= LEAST
    told = (Path(__file__).parents[3] / "docs/explanation/security.md").read_text(encoding="utf-8")
    assert f"begin -->{secrets.count}<!--" in told, f"docs/explanation/security.md: {secrets.count}"
    assert len(set(spec["files"]) & set(found)) == len(spec["files"])
    assert len([one for one in found if one.startswith(("socket", "tcp"))]) == 6


@pytest.mark.parametrize(
    ("role", "writable"), [("implement", True), ("verify", False), ("plan", False), ("critique", False)]
)
def test_an_agent_finds_none(held: tuple[Machine, planting.Planted], role: str, *, writable: bool) -> None:
    machine, _ = held
    argv = f"{sys.executable} -I -S inside.py spec.json"
    brief = started_with(
        machine,
        machine.playing(f"[[turn]]\nacts = [{{ run = '''{argv}''' }}]\n", role=role, writable=writable),
    )
    ended(machine, brief)
    events, _ = machine.attempts.events(brief.attempt)
    said = "\n".join(str(event["text"]) for event in events if event["kind"] in ("said", "noted"))
    assert _found(said) == []


def test_a_check_finds_none(held: tuple[Machine, planting.Planted]) -> None:
    machine, secrets = held
    processes = SandboxProcesses(
        scratch=machine.state / "scratch",
        hidden=(machine.state,),
        homes=(machine.home,),
        environment={"PATH": os.environ["PATH"]},
    )
    argv = _leave(machine.workspace, secrets)
    ran = processes.run(Command(argv=argv, cwd=machine.workspace, writable=(machine.workspace,)))
    assert _found(ran.output.decode()) == []


def test_a_command_of_a_planning_conversation_finds_none(held: tuple[Machine, planting.Planted]) -> None:
    machine, secrets = held
    shop = machine.root / "shop"
    argv = _leave(shop, secrets)
    environ = {"HOME": str(machine.home), "PATH": os.environ["PATH"], "BANK_TOKEN": secrets.word}
    folder = machine.root / "state" / "conversations" / "1-2"
    folder.mkdir(parents=True)
    script = made(str(shop), environ, "bwrap", str(folder))
    assert script is not None
    (folder / FILTER).write_bytes(seccomp_filter())
    place(str(folder), script)
    done = subprocess.run(
        [str(folder / "look"), " ".join(argv)],
        cwd=shop,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert _found(done.stdout + done.stderr) == []


def test_a_planning_session_finds_its_own_login_and_settings_alone(
    held: tuple[Machine, planting.Planted],
) -> None:
    machine, secrets = held
    shop = machine.root / "shop"
    (shop / "plans").mkdir(exist_ok=True)
    argv = _leave(shop, secrets)
    seat = PlanningSeat(
        root=shop,
        plans=shop / "plans",
        folder=machine.state / "conversations" / "1-2",
        config=machine.state / "planning" / "claude",
        look=machine.state / "look",
        home=machine.home,
        environ={"PATH": os.environ["PATH"], "BANK_TOKEN": secrets.word},
    )
    seat.folder.mkdir(parents=True)
    seat.furnish()
    egress = seat.way_out("bwrap", lambda _host, _why: None)
    assert egress is not None
    with launch("bwrap", seat.request({}, "", egress), argv, egress=egress) as process, served(egress):
        output, _ = process.communicate(timeout=60)
    own = {f"{machine.home}/.claude/{name}" for name in (".credentials.json", "settings.json")}
    linked = {f"{seat.config}/{name}" for name in (".claude.json", "settings.json")}
    assert {*_found(output.decode())} == {*own, *linked}
