"""Whatever a command raises becomes words and an exit code, and an unforeseen thing leaves a crash log."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from inline_snapshot import snapshot

from asbuilt.cli.shell import boundary
from asbuilt.cli.ui.screen import answer_lost
from asbuilt.errors import NotFound, PlanChanged

if TYPE_CHECKING:
    from collections.abc import Callable


def _raising(error: BaseException) -> Callable[[], int]:
    def work() -> int:
        raise error

    return work


@pytest.fixture
def state(tmp_path: Path) -> dict[str, str]:
    return {"ASBUILT_HOME": str(tmp_path / "state")}


@pytest.mark.parametrize("code", [0, 1, 4, None])
def test_the_code_of_a_command_is_the_code_of_the_process(code: int | None, state: dict[str, str]) -> None:
    assert boundary.run(lambda: code, argv=[], environ=state) == (code or 0)


def test_an_error_says_what_why_and_next(capsys: pytest.CaptureFixture[str], state: dict[str, str]) -> None:
    error = NotFound(
        'no plan "rate-limt". Did you mean rate-limit?',
        why="Looked in plans/, docs/plans/, specs/*/plans/, and in the folder of your own plans elsewhere.",
        next_step="`asbuilt plan show rate-limit`, or `asbuilt plan list` for all of them, and there may be.",
    )
    assert boundary.run(_raising(error), argv=["run", "--", "--json"], environ=state) == 3
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == snapshot("""\
error: no plan "rate-limt". Did you mean rate-limit?
  Why:  Looked in plans/, docs/plans/, specs/*/plans/, and in the folder of your
        own plans elsewhere.
  Next: asbuilt plan show rate-limit
    or  asbuilt plan list
        # for all of them, and there may be
""")


def test_a_full_disk_is_no_bug(capsys: pytest.CaptureFixture[str], state: dict[str, str]) -> None:
    error = OSError(errno.ENOSPC, "No space left on device", "state/worker.log")
    assert boundary.run(_raising(error), argv=[], environ=state) == 1
    assert capsys.readouterr().err == snapshot("""\
error: the disk is full: state/worker.log
  Why:  Every step is recorded first, and this one could not be. Nothing was
        changed.
  Next: df -h
        # shows which disk is full; free some space, then run the command again
""")
    assert not Path(state["ASBUILT_HOME"]).exists()


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.EROFS, "Read-only file system"), (errno.EACCES, "Permission denied")],
)
def test_a_file_that_the_system_refuses_is_no_bug(
    number: int, words: str, capsys: pytest.CaptureFixture[str], state: dict[str, str]
) -> None:
    assert boundary.run(_raising(OSError(number, words, "shop/.git/config")), argv=[], environ=state) == 4
    assert (
        capsys.readouterr().err
        == f"""\
error: shop/.git/config: {words}
  Why:  The current user lacks permission for this file, or its file system is
        read-only.
  Next: ls -ld shop/.git/config
        # shows who has access
"""
    )
    assert not Path(state["ASBUILT_HOME"]).exists()


def test_a_command_in_an_error_is_never_broken(
    capsys: pytest.CaptureFixture[str], state: dict[str, str]
) -> None:
    command = "asbuilt plan mark plans/" + "a-long-name/" * 8 + 'plan.md 4b --done "so it is"'
    error = PlanChanged("it changed", why="Somebody wrote it.", next_step=f"Look, then `{command}`, and see.")
    assert boundary.run(_raising(error), argv=[], environ=state) == 4
    assert f"        {command}" in capsys.readouterr().err.split("\n")


def test_text_of_somebody_else_cannot_steer_the_terminal(
    capsys: pytest.CaptureFixture[str], state: dict[str, str]
) -> None:
    error = NotFound("no plan \x1b[2J\u202eevil`\udcff", why="\x9b31m", next_step="`\x1b]0;x\x07`")
    boundary.run(_raising(error), argv=[], environ=state)
    assert capsys.readouterr().err == snapshot("""\
error: no plan \\x1b[2J\\u202eevil`\\xff
  Why:  \\x9b31m
  Next: \\x1b]0;x\\x07
""")


def test_a_usage_error_of_click_is_said_in_our_form(
    capsys: pytest.CaptureFixture[str], state: dict[str, str]
) -> None:
    assert boundary.run(_raising(click.UsageError("Both cannot be.")), argv=[], environ=state) == 2
    assert capsys.readouterr().err == snapshot("""\
error: asbuilt: both cannot be
  Next: asbuilt -h
        # shows examples and options
""")


@pytest.mark.parametrize(
    ("typed", "document"),
    [
        (
            ("status", "nope"),
            {
                "error": "NotFound",
                "what": 'no plan "nope"',
                "why": "Neither the journal nor the plan folders have a plan of that name.",
                "next": "`asbuilt plan list`",
                "next_command": "asbuilt plan list",
                "exit": 3,
            },
        ),
        (
            ("plan", "shwo"),
            {
                "error": "UsageWrong",
                "what": 'asbuilt plan has no command "shwo". Did you mean show?',
                "why": "",
                "next": "`asbuilt plan show --json`",
                "next_command": "asbuilt plan show --json",
                "exit": 2,
            },
        ),
        (
            ("memory",),
            {
                "error": "UsageWrong",
                "what": "asbuilt memory: missing command",
                "why": "",
                "next": "`asbuilt memory -h` shows examples and options.",
                "next_command": "asbuilt memory -h",
                "exit": 2,
            },
        ),
    ],
)
def test_with_json_an_error_is_a_document_on_stdout_too(
    typed: tuple[str, ...], document: dict[str, object], environ: dict[str, str], shop: Path
) -> None:
    plain, told = (
        subprocess.run(
            [sys.executable, "-m", "asbuilt", *typed, *more],
            cwd=shop,
            env=environ,
            capture_output=True,
            check=False,
            text=True,
        )
        for more in ((), ("--json",))
    )
    assert json.loads(told.stdout) == {"schema": "asbuilt.error/1", **document}
    assert (plain.stdout, plain.returncode) == ("", told.returncode) == ("", document["exit"])
    assert str(document["what"]) in told.stderr


def test_an_interrupt_and_a_bug_are_documents_for_scripts_too(
    capsys: pytest.CaptureFixture[str], state: dict[str, str]
) -> None:
    found = []
    for error in (KeyboardInterrupt(), ZeroDivisionError("oh"), OSError(errno.ENOSPC, "full", "x")):
        boundary.run(_raising(error), argv=["--json"], environ=state)
        document = json.loads(capsys.readouterr().out)
        found.append((document["error"], document["next_command"], document["exit"]))
    assert found == [
        ("Interrupted", None, 130),
        ("Bug", "asbuilt doctor bug-report", 70),
        ("DiskFull", "df -h", 1),
    ]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()])
def test_an_interrupt_is_130(
    error: BaseException, capsys: pytest.CaptureFixture[str], state: dict[str, str]
) -> None:
    assert boundary.run(_raising(error), argv=[], environ=state) == 130
    assert capsys.readouterr().err == "\nInterrupted.\n"


def test_an_answer_that_could_not_be_written_is_a_failure(
    capsys: pytest.CaptureFixture[str], state: dict[str, str]
) -> None:
    lost = answer_lost(OSError(28, "No space left on device"))
    assert boundary.run(_raising(lost), argv=[], environ=state) == 1
    assert capsys.readouterr().err == snapshot("""\
error: the answer could not be written: No space left on device
  Why:  A reader would get only a part of it.
  Next: Look at where the output goes (a full disk, a closed terminal), then
        repeat the command.
""")


def test_anything_else_is_our_bug_and_leaves_a_log_for_this_user_only(
    capsys: pytest.CaptureFixture[str], state: dict[str, str]
) -> None:
    assert boundary.run(_raising(ZeroDivisionError("oh\udcff")), argv=["plan", "\x1b"], environ=state) == 70
    (log,) = (Path(state["ASBUILT_HOME"]) / "crashes").iterdir()
    assert capsys.readouterr().err == (
        f"error: this is a bug in asbuilt; its crash log: {log}\n  Next: asbuilt doctor bug-report\n"
    )
    text = log.read_text()
    assert text.startswith("asbuilt 0.")
    assert "argv ['plan', '\\x1b']\n\nTraceback" in text
    assert text.endswith("ZeroDivisionError: oh\\udcff\n")
    modes = [oct(path.stat().st_mode & 0o777) for path in (log, log.parent, log.parent.parent)]
    assert modes == ["0o600", "0o700", "0o700"]


@pytest.mark.parametrize("home", ["/dev/null/state", "relative/state"])
def test_a_crash_whose_log_cannot_be_written_shows_the_traceback(
    home: str, capsys: pytest.CaptureFixture[str]
) -> None:
    work = _raising(ZeroDivisionError("oh"))
    assert boundary.run(work, argv=[], environ={"ASBUILT_HOME": home}) == 70
    told = capsys.readouterr().err
    assert told.startswith("Traceback (most recent call last):\n")
    assert told.endswith(
        "ZeroDivisionError: oh\nerror: this is a bug in asbuilt; no crash log could be written\n"
        "  Next: asbuilt doctor bug-report\n"
    )


def test_a_broken_pipe_that_is_not_our_output_is_a_bug(state: dict[str, str]) -> None:
    assert boundary.run(_raising(BrokenPipeError()), argv=[], environ=state) == 70


@pytest.mark.parametrize("arguments", [["--help"], ["config", "show"], ["config", "show", "--json"]])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_leaves_early_is_no_failure(
    arguments: list[str], unbuffered: str, environ: dict[str, str], shop: Path
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "asbuilt", *arguments],
        stdout=writing,
        stderr=subprocess.PIPE,
        cwd=shop,
        env=environ | {"PYTHONUNBUFFERED": unbuffered},
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_disk_is_a_failure_in_words(environ: dict[str, str], shop: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "asbuilt", "config", "show"],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=shop,
            env=environ,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.startswith(b"error: the answer could not be written: No space left on device\n")
