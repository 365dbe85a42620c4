"""`asbuilt gate check` answers each line, whatever is in it, and runs nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


def check(folder: Path, *words: str, lines: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "asbuilt", "gate", "check", *words],
        input=lines,
        capture_output=True,
        cwd=folder,
        env={"HOME": str(folder / "home"), "PATH": "/usr/bin:/bin"},
        check=False,
        timeout=60,
    )


def test_a_person_sees_the_answer_and_scripts_the_exit_code(tmp_path: Path) -> None:
    passed, stopped = check(tmp_path, "git log | head"), check(tmp_path, "rm README.md")
    assert (passed.returncode, passed.stdout, passed.stderr) == (0, b"allowed in plan mode\n", b"")
    assert (stopped.returncode, stopped.stdout, stopped.stderr) == (
        4,
        b"refused: plan mode is read-only and rm changes files. Allowed: cat FILE, ls -la FILE\n",
        b"",
    )


def test_a_wildcard_is_judged_by_the_files_that_are_there(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "notes").symlink_to(tmp_path / "home" / "notes")
    asked = subprocess.run(
        [sys.executable, "-m", "asbuilt", "gate", "check", "cat no*"],
        capture_output=True,
        cwd=tmp_path / "shop",
        env={"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"},
        check=False,
        timeout=60,
    )
    assert (asked.returncode, asked.stderr) == (4, b"")
    assert asked.stdout.startswith(b"refused: no* stands for notes too, which is in a home and outside ")


def test_json_is_one_object(tmp_path: Path) -> None:
    assert json.loads(check(tmp_path, "ls", "--json").stdout) == {
        "schema": "asbuilt.gate-check/1",
        "cmd": "ls",
        "verdict": "allow",
        "reason": "",
    }


def test_every_line_gets_an_answer_whatever_is_in_it(tmp_path: Path) -> None:
    lines = [
        b'{"cmd": "ls -la"}',
        b'{"cmd": "rm x", "safe": false}',
        b"",
        b"no json",
        b"\xff\xfe",
        b'{"cmd": 3}',
        b'{"cmd": null}',
        b"[]",
        b'{"cmd": "ls \\u0000"}',
        b'{"cmd": "\\ud800"}',
        b"[" * 100_000,
        b'{"cmd": "' + b"a" * 100_000 + b'"}',
        b'{"cmd": "pwd"}',
    ]
    told = check(tmp_path, "--jsonl", lines=b"\n".join(lines))
    answers = [json.loads(line) for line in told.stdout.decode().splitlines()]
    assert told.returncode == 0
    assert [answer["verdict"] for answer in answers] == ["allow", *["deny"] * 11, "allow"]
    assert [sorted(answer) for answer in answers] == [["cmd", "reason", "verdict"]] * len(lines)
    assert all(answer["reason"] for answer in answers if answer["verdict"] == "deny")


@pytest.mark.parametrize("words", [(), ("ls", "--jsonl")])
def test_it_takes_a_command_or_lines(words: tuple[str, ...], tmp_path: Path) -> None:
    told = check(tmp_path, *words)
    assert (told.returncode, told.stdout) == (2, b"")
    assert told.stderr.startswith(
        b"error: gate check takes a command, or --jsonl and lines on standard input\n"
    )


def test_it_judges_from_where_it_is_called(tmp_path: Path) -> None:
    (tmp_path / "shop/.git").mkdir(parents=True)
    (tmp_path / "shop/.git/HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    (tmp_path / "shop/src").mkdir()
    assert check(tmp_path / "shop/src", "cd ..").returncode == 0
    assert check(tmp_path / "shop/src", "cd ../..").returncode == 4


@pytest.mark.parametrize(
    ("cmd", "verdict"),
    [
        ("grep '$(rm x); > y' README.md", "allow"),
        ('grep "a|b" README.md', "allow"),
        ("grep $(rm x) README.md", "deny"),
        ("grep 'a README.md", "deny"),
        ('grep "a README.md', "deny"),
        ("git log", "allow"),
        ("git log --output=x", "deny"),
        ("git branch", "allow"),
        ("git branch -D main", "deny"),
        ("find . -name x", "allow"),
        ("find . -delete", "deny"),
        ("sort README.md", "allow"),
        ("sort -o README.md README.md", "deny"),
    ],
)
def test_quotes_make_text_of_special_characters_and_arguments_are_judged_too(
    cmd: str, verdict: str, tmp_path: Path
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    assert json.loads(check(tmp_path, cmd, "--json").stdout)["verdict"] == verdict
