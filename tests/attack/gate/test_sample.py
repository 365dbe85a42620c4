"""A slice of what the gate allows is run outside the ring; `just gate-sample 2000 0` runs more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.attack.gate import languages
from tests.attack.gate.sample import effects
from tests.attack.gate.stage import build
from tests.attack.gate.traced import run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.crash
WRITES = (
    "touch pwned",
    "rm README.md",
    "mkdir x",
    "ls > out.txt",
    "chmod +x README.md",
    "sed -i p README.md",
)
TALKS = ("echo x > /dev/tcp/127.0.0.1/9", "echo x > /dev/udp/127.0.0.1/9")


@pytest.mark.parametrize("command", [*WRITES, *TALKS])
def test_an_effect_is_seen(tmp_path: Path, command: str) -> None:
    assert run(build(tmp_path / "stage"), command).effects


@pytest.mark.parametrize("command", ["ls -la", "git status", "cat README.md 2>/dev/null | head -2", "id"])
def test_reading_has_no_effect(tmp_path: Path, command: str) -> None:
    assert run(build(tmp_path / "stage"), command).effects == ()


def test_a_slice_of_the_allowed_mutants_writes_nothing_and_calls_nobody() -> None:
    assert effects(60, 0) == []


@pytest.mark.parametrize(
    ("kind", "size", "first"),
    [("sed", 4000, 9000), ("awk", 800, 0), ("jq", 150, 0), ("test", 3000, 0)],
)
def test_a_slice_of_small_programs_leaves_no_mark_and_tells_no_secret(
    tmp_path: Path, kind: str, size: int, first: int
) -> None:
    allowed, found = languages.marked(build(tmp_path / "stage"), kind, size, first)
    assert allowed > size // 100
    assert found == []
