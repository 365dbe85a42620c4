"""The corpus of commands: nothing unsafe passes, and nothing of ordinary exploration is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from asbuilt.policy.shell import verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).parent
STRETCH = "stretch:"
"""Rows that a gate may refuse."""


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """Make a repository with what the rows speak of, and a home that is not around it."""
    shop = tmp_path / "shop"
    for name in (
        "README.md",
        "CHANGELOG.md",
        "src/app.py",
        "src/util.py",
        "tests/test_app.py",
        "data.csv",
        ".env",
    ):
        file = shop / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("text\n", encoding="utf-8")
    for name in (".git", "evil.git"):
        (shop / name).mkdir()
        (shop / name / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    (tmp_path / "home").mkdir()
    return shop


def rows(name: str) -> Iterator[dict[str, object]]:
    for line in (HERE / name).read_text(encoding="utf-8").split("\n"):
        if line:
            yield json.loads(line)


def refused(command: str, shop: Path) -> str | None:
    return verdict(
        command,
        cwd=str(shop),
        home=str(shop.parent / "home"),
        root=str(shop),
        resolve=os.path.realpath,
        exists=os.path.lexists,
    )


@pytest.mark.parametrize("name", ["corpus.jsonl", "own.jsonl"])
def test_no_unsafe_command_is_allowed(name: str, world: Path) -> None:
    allowed = [
        row["cmd"] for row in rows(name) if not row["safe"] and refused(str(row["cmd"]), world) is None
    ]
    assert allowed == []


@pytest.mark.parametrize("name", ["corpus.jsonl", "own.jsonl"])
def test_every_ordinary_command_is_allowed(name: str, world: Path) -> None:
    kept = {
        row["cmd"]: why
        for row in rows(name)
        if row["safe"] and not str(row["class"]).startswith(STRETCH)
        if (why := refused(str(row["cmd"]), world)) is not None
    }
    assert kept == {}


def test_what_a_gate_may_refuse_is_counted(
    world: Path, record_property: Callable[[str, object], None]
) -> None:
    stretch = [
        str(row["cmd"])
        for name in ("corpus.jsonl", "own.jsonl")
        for row in rows(name)
        if str(row["class"]).startswith(STRETCH)
    ]
    kept = [command for command in stretch if refused(command, world) is not None]
    record_property("stretch", f"{len(stretch) - len(kept)} of {len(stretch)} allowed; refused: {kept}")
    assert 0 < len(kept) < len(stretch)
