"""What stays out of sight in folders that a sandbox shows."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from shutil import which

import pytest

from asbuilt.agents.sandbox.launch import launch, probe, settle
from asbuilt.agents.sandbox.masks import masks_in
from asbuilt.agents.sandboxed_commands import SandboxProcesses
from asbuilt.policy.sandbox.rules import for_planning
from asbuilt.ports import Command


def _write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_sockets_pipes_and_files_that_sign_in_are_masked_and_all_else_is_shown(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "net.sock"))
    clones = tmp_path / "pkg" / "mod" / "cache" / "vcs"
    clones.mkdir(parents=True)
    hidden = {
        tmp_path / "pipe",
        tmp_path / "net.sock",
        clones,
        _write(
            tmp_path / "versions" / "3" / "pip.conf", "[global]\nindex-url = https://ann:tok3nfour@h/simple\n"
        ),
        _write(tmp_path / "etc" / "npmrc", "//h/:_authToken=tok3nfour\n"),
        _write(
            tmp_path / "plugins" / "x" / ".git" / "config", "[remote]\n\turl = https://ann:tok3nfour@h/x\n"
        ),
        _write(tmp_path / ".env", "A=1\n"),
    }
    _write(tmp_path / "plain" / "pip.conf", "[global]\nindex-url = https://h/simple\n")
    _write(tmp_path / "plain" / ".git" / "config", "[core]\n\tbare = false\n")
    _write(tmp_path / "lib" / "x.py", "token = 'tok3nfour'\n")
    assert {*map(Path, masks_in([str(tmp_path)]))} == hidden


def test_of_a_folder_of_gits_what_is_not_gits_own_is_masked(tmp_path: Path) -> None:
    git = tmp_path / "shop" / ".git"
    for name in ("objects", "refs/heads", "hooks", "annex/creds", "git-crypt/keys", "info"):
        (git / name).mkdir(parents=True)
    for name in ("HEAD", "config", "packed-refs", "deploy_key.pem", "sourcetreeconfig.json", "FETCH_HEAD"):
        (git / name).write_text("x")
    others = ("FETCH_HEAD", "annex", "deploy_key.pem", "git-crypt", "hooks", "sourcetreeconfig.json")
    assert (
        {*masks_in([str(tmp_path / "shop")])}
        == {*masks_in([str(git)])}
        == {f"{git}/{name}" for name in others}
    )


def test_other_worktrees_are_masked_whole_and_what_is_gone_in_a_moment_is_not(tmp_path: Path) -> None:
    git = tmp_path / ".git"
    for name in ("objects", "worktrees/verify-1-1"):
        (git / name).mkdir(parents=True)
    for name in ("HEAD", "index.lock", "asbuilt-locks", "asbuilt-adding", "worktrees/verify-1-1/HEAD"):
        (git / name).write_text("x")
    assert masks_in([str(git)]) == (f"{git}/worktrees",)


@pytest.mark.skipif(probe().level != "bwrap", reason="bubblewrap does not hold here")
def test_a_file_that_goes_after_it_was_masked_does_not_keep_a_command_from_starting(tmp_path: Path) -> None:
    going = _write(tmp_path / "work" / ".netrc", "machine a login b password c\n")
    request = settle(for_planning(cwd=str(going.parent)), homes=())
    going.unlink()
    with launch("bwrap", request, ("/bin/echo", "started")) as process:
        assert process.communicate()[0] == b"started\n"


def test_a_large_checkout_does_not_hide_what_is_beside_git(tmp_path: Path) -> None:
    (tmp_path / ".git" / "objects").mkdir(parents=True)
    (tmp_path / ".git" / "HEAD").write_text("x")
    (tmp_path / ".git" / "deploy_key.pem").write_text("x")
    for number in range(4_100):
        (tmp_path / f"{number:05}").touch()
    assert masks_in([str(tmp_path)]) == (str(tmp_path / ".git" / "deploy_key.pem"),)


@pytest.mark.skipif(probe().level != "bwrap", reason="bubblewrap does not hold here")
def test_settings_of_the_kernel_cannot_be_changed_by_root_either(tmp_path: Path) -> None:
    processes = SandboxProcesses(
        scratch=tmp_path / "scratch", hidden=(), homes=(), environment={"PATH": os.environ["PATH"]}
    )
    (tmp_path / "work").mkdir()
    script = "for one in vm/stat_refresh kernel/core_pattern; do (: >> /proc/sys/$one) || echo held; done"
    ran = processes.run(Command(argv=("/bin/sh", "-c", script), cwd=tmp_path / "work"))
    assert ran.output.decode().count("held") == 2


@pytest.mark.skipif(probe().level != "bwrap", reason="bubblewrap does not hold here")
@pytest.mark.skipif(which("chromium") is None, reason="NOT RUN: there is no chromium")
def test_a_check_can_start_a_browser(tmp_path: Path) -> None:
    processes = SandboxProcesses(
        scratch=tmp_path / "scratch", hidden=(), homes=(), environment={"PATH": os.environ["PATH"]}
    )
    (tmp_path / "work").mkdir()
    flags = ("--headless", "--disable-gpu", "--no-sandbox", "--dump-dom")
    ran = processes.run(
        Command(argv=("chromium", *flags, "data:text/html,<p>hello</p>"), cwd=tmp_path / "work")
    )
    assert "<p>hello</p>" in ran.output.decode()
