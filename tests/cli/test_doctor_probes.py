"""Each probe finds what is there, on real programs, repositories, databases and clocks."""

from __future__ import annotations

import os
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from asbuilt.agents.sandbox.launch import probe
from asbuilt.cli.commands.doctor.facts import (
    Agent,
    AgentsFacts,
    ErrorFacts,
    GitFacts,
    StoreFacts,
    SuiteFacts,
    Tried,
    WorkerFacts,
)
from asbuilt.cli.commands.doctor.machine import (
    Moment,
    look_at_clock,
    look_at_sandbox,
    moment,
    sleeps_by_logind,
    sleeps_by_pmset,
)
from asbuilt.cli.commands.doctor.probes import look_at_store, look_at_worker
from asbuilt.cli.commands.doctor.repository import look_at_git, look_at_tests, look_for_agents, try_tests
from asbuilt.git.user_name import NAMING
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.database.sqlite import SqliteStore
from asbuilt.journal.engine.liveness import only_one
from asbuilt.journal.home import Home, open_home
from asbuilt.settings import Settings, load
from tests.git.shop import Shop, make_shop

if TYPE_CHECKING:
    from pathlib import Path

LOOKED_FOR = ("claude", "codex", "gemini", "opencode", "claude-acp")
needs_ring = pytest.mark.skipif(
    probe().for_work == "none", reason="no ring holds a command on this machine: asbuilt doctor says why"
)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    for name in ("XDG_CONFIG_HOME", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return make_shop(tmp_path)


def _git(shop: Shop) -> GitFacts:
    return look_at_git(shop.root, os.environ)


def _version(shop: Shop) -> str:
    return shop.git("--version").split()[2]


def _settings(**environ: str) -> Settings:
    return load(repository=None, environ={"HOME": "/nonexistent", **environ})


def _program(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def test_a_repository_is_told_with_its_branch_and_what_is_changed(shop: Shop) -> None:
    clean = GitFacts(
        version=_version(shop), repository=shop.root.name, branch="main", has_commits=True, changed=0
    )
    assert _git(shop) == clean
    shop.write("new.txt", "untracked")
    shop.write("src/staged.py", "staged")
    shop.git("add", "src/staged.py")
    assert _git(shop) == replace(clean, changed=2)
    shop.git("checkout", "-q", "--detach")
    assert _git(shop) == replace(clean, branch=None, changed=2)


def test_looking_changes_no_byte_of_the_repository(shop: Shop) -> None:
    def everything() -> dict[Path, tuple[int, bytes]]:
        return {
            path: (path.stat().st_mtime_ns, path.read_bytes())
            for path in shop.root.rglob("*")
            if path.is_file()
        }

    os.utime(next(path for path in shop.root.iterdir() if path.is_file()))  # git would refresh its index
    before = everything()
    _git(shop)
    assert everything() == before


def test_a_repository_without_a_commit_is_told(tmp_path: Path, shop: Shop) -> None:
    fresh = tmp_path / "fresh"
    shop.git("init", "-q", "-b", "trunk", str(fresh))
    assert look_at_git(fresh, os.environ) == GitFacts(
        version=_version(shop),
        repository="fresh",
        branch="trunk",
        first_commit='git add -A && git commit --allow-empty -m "First commit"',
    )


def test_a_git_that_does_not_know_its_user_is_a_problem(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "EMAIL"):
        monkeypatch.delenv(name, raising=False)
    shop.git("config", "user.useConfigOnly", "true")
    shop.git("config", "user.name", "")
    trouble = _git(shop).error
    assert trouble is not None
    assert (trouble.what, trouble.next_step) == (
        "git does not know who you are",
        NAMING,
    )


def test_outside_a_repository_and_without_git(tmp_path: Path, shop: Shop) -> None:
    (tmp_path / "elsewhere").mkdir()
    assert look_at_git(tmp_path / "elsewhere", os.environ) == GitFacts(version=_version(shop))
    assert look_at_git(shop.root, {"PATH": str(tmp_path)}) == GitFacts(version=None)


def test_a_damaged_repository_is_told_in_gits_words(tmp_path: Path, shop: Shop) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / ".git").write_text("nonsense\n")
    assert look_at_git(broken, os.environ) == GitFacts(
        version=_version(shop),
        repository="broken",
        error=ErrorFacts(
            what=f"{broken}/.git does not lead to a git folder",
            why="It is a file, and its first line is not `gitdir: <folder>`.",
            next_step=f"`git worktree repair {broken}`, in the main checkout",
        ),
    )


def test_agents_are_heard_in_an_empty_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-not-for-them")
    programs = tmp_path / "bin"
    _program(
        programs,
        "claude",
        f'env > "{tmp_path}/seen"; ls -A "$HOME" >> "{tmp_path}/seen"; echo "2.1.325 (Claude Code)"',
    )
    _program(programs, "codex-acp", 'echo "codex-cli 0.166.0-alpha.1"')
    _program(programs, "gemini", "echo 1.2.3; exit 1")
    _program(programs, "opencode", "echo nothing of use")
    path = f"{programs}:/usr/bin:/bin"
    assert look_for_agents({"PATH": path, "SECRET": "x"}) == AgentsFacts(
        looked_for=LOOKED_FOR,
        found=(
            Agent(name="claude", version="2.1.325"),
            Agent(name="codex", version="0.166.0-alpha.1"),
            Agent(name="gemini", version=None),
            Agent(name="opencode", version=None),
        ),
        driven=("scripted", *LOOKED_FOR),
    )
    seen = dict(line.partition("=")[::2] for line in (tmp_path / "seen").read_text().splitlines())
    home = seen.pop("HOME")
    for set_by_the_shell in ("PWD", "OLDPWD", "SHLVL", "_"):
        seen.pop(set_by_the_shell, None)
    assert seen == {"PATH": path}
    assert not os.path.exists(home)  # noqa: PTH110


@pytest.mark.crash
def test_an_agent_that_never_answers_is_ended_with_its_children(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    _program(programs, "claude", f'sleep 600 & echo $! > "{tmp_path}/child"; wait')
    found = look_for_agents({"PATH": f"{programs}:/usr/bin:/bin"}).found
    assert found == (Agent(name="claude", version=None),)
    child = int((tmp_path / "child").read_text())
    deadline = time.monotonic() + 60
    while _lives(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _lives(child)


def _lives(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:  # noqa: PTH123
            return stat.read().rpartition(b")")[2].split()[0] != b"Z"
    except FileNotFoundError:
        return False


def test_the_sandbox_is_what_the_ring_itself_found() -> None:
    probed = probe()
    found = look_at_sandbox(required=False)
    assert (found.level, found.version, found.refusals, found.required) == (
        probed.level,
        probed.version,
        probed.reasons,
        False,
    )


@needs_ring
@pytest.mark.parametrize(
    ("command", "setup", "tried"),
    [
        ("cat summary", "", Tried(outcome="PASS", why="3 ran, 0 skipped")),
        ("cat made", "cp summary made", Tried(outcome="PASS", why="3 ran, 0 skipped")),
        ("cat uncommitted", "", Tried(outcome="FAIL", why="exit 1, and no summary of the tests")),
        ("cat summary", "exit 3", Tried(outcome="INDETERMINATE", why="setup: exit 3", in_setup=True)),
        (
            "true",
            "",
            Tried(outcome="INDETERMINATE", why="exit 0, but it printed no summary that could be read"),
        ),
    ],
)
def test_the_tests_run_on_a_clean_checkout_of_what_is_committed(
    shop: Shop, command: str, setup: str, tried: Tried
) -> None:
    shop.commit("summary", {"summary": "===== 3 passed in 0.01s =====\n"})
    shop.write("uncommitted", "===== 3 passed in 0.01s =====\n")
    facts = SuiteFacts(command=command, origin="asbuilt.toml:2")
    assert try_tests(facts, shop.root, setup=setup, hidden=shop.room) == replace(facts, tried=tried)
    assert shop.git("status", "--porcelain") == "?? uncommitted"


@needs_ring
def test_the_tests_do_not_see_the_state_folder(shop: Shop) -> None:
    shop.write("summary", "===== 3 passed in 0.01s =====\n", at=shop.room)
    facts = SuiteFacts(command=f"cat {shop.room}/summary", origin="asbuilt.toml:2")
    tried = try_tests(facts, shop.root, setup="", hidden=shop.room).tried
    assert tried == Tried(outcome="FAIL", why="exit 1, and no summary of the tests")


def test_a_store_that_is_not_there_yet_is_not_made(tmp_path: Path) -> None:
    home = Home(tmp_path / "state" / "asbuilt")
    found = look_at_store(home, _settings())
    assert found == StoreFacts(
        database="SQLite", free_bytes=found.free_bytes, schema=None, known_schema=STEPS[-1].number
    )
    assert found.free_bytes is not None
    assert list(tmp_path.iterdir()) == []


def test_a_journals_schema_is_read(tmp_path: Path) -> None:
    home = open_home(tmp_path / "asbuilt")
    with closing(SqliteStore(home.journal)) as store:
        store.migrate(STEPS)
    assert look_at_store(home, _settings()).schema == STEPS[-1].number


def test_a_journal_that_is_no_database_is_trouble(tmp_path: Path) -> None:
    home = open_home(tmp_path / "asbuilt")
    home.journal.write_bytes(b"not a database at all, but long enough to look like one" * 20)
    trouble = look_at_store(home, _settings()).error
    assert trouble is not None
    assert trouble.what == f"the journal {home.journal} is damaged: it is not a database any more"


def test_a_postgres_that_does_not_answer_is_trouble(tmp_path: Path) -> None:
    found = look_at_store(Home(tmp_path), _settings(ASBUILT_STORE_URL="postgresql://nobody@127.0.0.1:1/none"))
    assert (found.database, found.schema, found.error is not None) == ("Postgres", None, True)


def test_the_worker_is_told_by_its_lock(tmp_path: Path) -> None:
    home = open_home(tmp_path / "asbuilt")
    assert look_at_worker(home) == WorkerFacts(running=False)
    with only_one(home.worker_lock) as mine:
        assert mine
        assert look_at_worker(home) == WorkerFacts(running=True, pid=os.getpid())
    assert look_at_worker(home) == WorkerFacts(running=False)


@pytest.mark.parametrize(
    ("said", "sleeps"),
    [('s "ignore"\n', False), ('s "suspend"\n', True), ('s "lock"\n', False), ("", None), ("u 5\n", None)],
)
def test_logind_tells_whether_it_sleeps(said: str, sleeps: bool | None) -> None:  # noqa: FBT001 - a case
    assert sleeps_by_logind(said) is sleeps


@pytest.mark.parametrize(
    ("said", "sleeps"),
    [
        ("Currently in use:\n standby 1\n sleep                1 (sleep prevented by x)\n", True),
        (" disksleep 10\n sleep 0\n", False),
        ("nothing\n", None),
    ],
)
def test_pmset_tells_whether_it_sleeps(said: str, sleeps: bool | None) -> None:  # noqa: FBT001 - a case
    assert sleeps_by_pmset(said) is sleeps


@given(st.text())
def test_whatever_a_system_says_is_read_without_a_crash(said: str) -> None:
    assert sleeps_by_logind(said) in (True, False, None)
    assert sleeps_by_pmset(said) in (True, False, None)


def test_a_jump_of_the_clock_is_seen() -> None:
    now = moment()
    found = look_at_clock(Moment(wall_s=now.wall_s + 3_600, monotonic_s=now.monotonic_s))
    assert found is not None
    assert -3_700 < found.jumped_s < -3_500


def test_a_linked_checkout_is_told_by_its_own_branch(shop: Shop, tmp_path: Path) -> None:
    shop.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "beside"))
    found = look_at_git(tmp_path / "beside", os.environ)
    assert (found.repository, found.branch, found.changed) == (shop.root.name, "side", 0)


@pytest.mark.parametrize(
    ("command", "absent"),
    [
        ("nosuchprogram -q", "nosuchprogram"),
        ("CI=1 nosuchprogram", "nosuchprogram"),
        ("sh -c true", ""),
        ("exit 3", ""),
        ("cd web && nosuchprogram", ""),
        ("./run-tests", ""),
        ("", ""),
    ],
)
def test_the_program_of_the_tests_is_looked_for(tmp_path: Path, command: str, absent: str) -> None:
    environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "ASBUILT_CHECKS_TESTS": command}
    settings = load(repository=None, environ=environ)
    assert look_at_tests(settings, environ).absent == absent
