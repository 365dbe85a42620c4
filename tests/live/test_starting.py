"""An agent that a test starts gets nothing of ours, talks to loopback only, and leaves our HOME alone."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.live.home import untouched
from tests.live.starting import AGENTS, KEY, NotLoopback, lodged
from tests.model import Call, Say, answer

if TYPE_CHECKING:
    from tests.model import Model

pytestmark = pytest.mark.live


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_has_exactly_the_environment_that_is_written_down(
    agent: str, room: Path, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "A_SECRET", "NODE_OPTIONS"):
        monkeypatch.setenv(name, "the user's own")
    lodging = lodged(agent, room / "home", model.url("impl"))
    rows: list[str] = []
    while not any(rows):
        # One that has said its version before we look is a zombie, and has no environment any more.
        with lodging.start("--version", cwd=room) as process:
            rows = Path(f"/proc/{process.pid}/environ").read_text().split("\0")
            os.killpg(process.pid, signal.SIGKILL)
    given = dict(row.split("=", 1) for row in rows if row)
    assert given == {**lodging.environment, "HOME": str(room / "home"), "TMPDIR": str(room / "tmp")}
    assert "the user's own" not in given.values()


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_knows_no_model_but_the_one_on_loopback(agent: str, room: Path, model: Model) -> None:
    lodging = lodged(agent, room / "home", model.url("impl"))
    written = [file.read_text() for file in lodging.home.rglob("*") if file.is_file()]
    told = [*lodging.environment.values(), *written]
    assert any(model.url("impl") in text for text in told)
    assert [text for text in told if "http" in text.replace(model.url("impl"), "")] == []
    assert KEY in "".join(told)


@pytest.mark.parametrize(
    "url", ["https://api.example.com", "http://0.0.0.0:80", "http://localhost.example.com"]
)
def test_an_agent_is_not_lodged_where_it_would_talk_to_somebody(url: str, room: Path) -> None:
    with pytest.raises(NotLoopback):
        lodged("claude", room / "home", url)
    assert list((room / "home").iterdir()) == []


def test_a_whole_run_by_hand_leaves_the_home_of_whoever_started_it_alone(room: Path, model: Model) -> None:
    file = room / "work" / "made.txt"
    file.parent.mkdir()
    model.play(
        "impl", answer(Call("Write", {"file_path": str(file), "content": "made\n"})), answer(Say("done"))
    )
    lodging = lodged("claude", room / "home", model.url("impl"))
    with untouched(Path.home()):
        process = lodging.start(
            *("-p", "go", "--output-format", "json", "--permission-mode", "acceptEdits"), cwd=file.parent
        )
        said, _ = process.communicate(timeout=120)
    assert (process.returncode, json.loads(said)["result"], file.read_text()) == (0, "done", "made\n")
    assert {request.headers["x-api-key"] for request in model.requests("impl", main=False)} == {KEY}


@pytest.mark.parametrize("name", [".claude/new", ".codex/config.toml", ".claude.json"])
def test_whatever_comes_or_changes_in_a_home_is_noticed(name: str, tmp_path: Path) -> None:
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text("")

    def touch() -> None:
        with untouched(tmp_path):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text("x")
            os.utime(tmp_path / name, (1, 1))

    with pytest.raises(AssertionError, match="touched your HOME"):
        touch()
