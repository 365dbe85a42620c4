"""The ring of a conversation: one command, read-only, offline, without secrets."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from asbuilt.agents.sandbox import landlock
from asbuilt.agents.sandbox.launch import probe
from asbuilt.hook.look_starter import made
from asbuilt.policy.plan_mode.state import Hold
from asbuilt.session.look_command import place, wrapped
from tests.contracts.attempts import until
from tests.hook.calling import Conversation, Said
from tests.live.stage import git

if TYPE_CHECKING:
    from collections.abc import Iterator

LANDLOCK = 4
pytestmark = pytest.mark.skipif(probe().level != "bwrap", reason="bubblewrap does not hold here")


@pytest.fixture
def talk() -> Iterator[Conversation]:
    # Not below /tmp: there everything is out of reach anyway, and these tests would prove nothing.
    cache = Path.home() / ".cache"
    cache.mkdir(exist_ok=True)
    with TemporaryDirectory(prefix="asbuilt-tests-", dir=cache) as folder:
        talk = Conversation(Path(folder).resolve())
        git(talk.shop, "init", "--quiet", "--initial-branch=main")
        git(talk.shop, "add", ".")
        git(talk.shop, "commit", "--quiet", "--message=start")
        talk.held(Hold(root=str(talk.shop)))
        yield talk


def look(talk: Conversation, text: str, *, cwd: Path | None = None, **more: str) -> Said:
    """Run a text as Claude Code's shell runs what the gate made of it."""
    command = wrapped(str(talk.folder), text, since=0)
    environ = {**talk.environ, "CLAUDE_CODE_MESSAGING_SOCKET": "/some/socket", "API_KEY": "k", **more}
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd=cwd or talk.shop, env=environ, capture_output=True, check=False
    )
    return Said(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_a_command_has_its_output_its_errors_and_its_code(talk: Conversation) -> None:
    for _ in range(2):
        assert look(talk, 'git log --format=%s | head -3; echo "it\'s" >&2; exit 7') == Said(
            7, "start\n", "it's\n"
        )
    assert "bwrap" in talk.folder.joinpath("look").read_text()


def test_it_starts_where_the_shell_stands(talk: Conversation) -> None:
    assert look(talk, "pwd && cat app.py", cwd=talk.shop / "src") == Said(
        0, f"{talk.shop}/src\nlimit = 10\n", ""
    )


def test_nothing_can_be_changed(talk: Conversation) -> None:
    aims = [talk.shop / "new", talk.shop / "src" / "app.py", talk.shop / ".git" / "index", talk.home / "new"]
    aims += [talk.folder / "hold", talk.folder / "look", Path("/var/tmp/new")]  # noqa: S108
    before = [aim.read_bytes() if aim.exists() else None for aim in aims]
    look(talk, "true")
    before[5] = aims[5].read_bytes()
    for aim in aims:
        look(talk, f"echo x > '{aim}'; rm -f '{aim}'; touch '{aim}'")
    assert [aim.read_bytes() if aim.exists() else None for aim in aims] == before


def test_git_looks_and_leaves_the_index_and_starts_nothing(talk: Conversation) -> None:
    mark = talk.shop / "ran"
    for key in ("core.fsmonitor", "core.pager", "core.sshCommand", "core.alternateRefsCommand"):
        git(talk.shop, "config", key, f"touch {mark}; false")
    (talk.shop / "src" / "app.py").touch()
    index = (talk.shop / ".git" / "index").read_bytes()
    assert look(talk, "git status --short && git diff && git log -1 --format=%s") == Said(0, "start\n", "")
    assert (talk.shop / ".git" / "index").read_bytes() == index
    assert not mark.exists()
    assert look(talk, "git fetch /tmp; git ls-remote ext::true").code != 0


def test_secrets_and_the_environment_are_out_of_sight(talk: Conversation) -> None:
    (talk.home / ".ssh").mkdir()
    (talk.home / ".ssh" / "id").write_text("secret")
    (talk.home / ".netrc").write_text("secret")
    said = look(
        talk,
        "cat ~/.ssh/id /run/* $H/.ssh/id $H/.netrc; env; cat /proc/1/environ".replace("$H", str(talk.home)),
    )
    assert "secret" not in said.out
    assert "API_KEY" not in said.out
    assert "MESSAGING" not in said.out
    # One that comes while the conversation lasts is hidden as well.
    (talk.home / ".pypirc").write_text("secret")
    assert look(talk, f"cat {talk.home}/.pypirc").out == ""
    (talk.home / ".netrc").unlink()
    assert look(talk, "echo on") == Said(0, "on\n", "")


def test_there_is_no_network(talk: Conversation) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        port = server.getsockname()[1]
        said = look(talk, f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected")
        assert (said.code != 0, said.out) == (True, "")
        with pytest.raises(BlockingIOError):
            server.accept()


def test_what_it_started_ends_with_it(talk: Conversation) -> None:
    name = f"{os.getpid()}{id(talk)}"
    assert look(talk, f"sleep 300.{name} > /dev/null 2>&1 & echo gone") == Said(0, "gone\n", "")
    until(lambda: not any(name in _command_of(pid) for pid in Path("/proc").glob("[0-9]*")), seconds=60)


def _command_of(process: Path) -> str:
    try:
        return (process / "cmdline").read_text()
    except OSError:
        return ""


def test_more_than_one_word_is_not_run(talk: Conversation) -> None:
    look(talk, "true")
    done = subprocess.run(
        [talk.folder / "look", "echo", "hi"], env=talk.environ, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (125, b"")


def test_a_checkout_whose_history_lies_elsewhere_is_shown_whole(talk: Conversation, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    git(talk.shop, "worktree", "add", "--quiet", "--detach", str(linked))
    talk.held(Hold(root=str(linked)))
    assert look(talk, "git log --format=%s; git status --short", cwd=linked) == Said(0, "start\n", "")


def test_without_a_ring_nothing_is_made_unless_the_user_wants_it_so(talk: Conversation) -> None:
    assert made(str(talk.shop), talk.environ, "none", str(talk.folder)) is None
    script = made(
        str(talk.shop), {**talk.environ, "ASBUILT_SANDBOX_REQUIRED": "false"}, "none", str(talk.folder)
    )
    assert script is not None
    place(str(talk.folder), script)
    assert look(talk, "pwd; echo $API_KEY") == Said(0, f"{talk.shop}\n\n", "")


@pytest.mark.skipif(landlock.abi() < LANDLOCK, reason="this kernel has no Landlock")
def test_landlock_holds_a_command_where_bubblewrap_does_not(talk: Conversation) -> None:
    script = made(str(talk.shop), talk.environ, "landlock", str(talk.folder))
    assert script is not None
    place(str(talk.folder), script)
    said = look(talk, "git log --format=%s; echo x > new; cat ~/.ssh/id; exit 3")
    assert (said.code, said.out, (talk.shop / "new").exists()) == (3, "start\n", False)
