"""What an agent finds of its user's own state of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from asbuilt.agents.contract import Needs
from asbuilt.agents.sandbox.launch import probe
from tests.agents.conftest import Machine
from tests.contracts.adapter import seated

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(probe().level != "bwrap", reason="bubblewrap does not hold here")


def _said(machine: Machine, needs: Needs, script: str) -> str:
    async def spawned() -> bytes:
        seat = seated(machine, machine.brief("works"))
        try:
            process = await seat.spawn(("/bin/sh", "-c", script), needs=needs)
            assert process.stdout is not None
            return await process.stdout.read()
        finally:
            await seat.end()

    return asyncio.run(spawned()).decode()


def test_it_finds_its_own_conversation_at_every_start_and_no_other(tmp_path: Path) -> None:
    machine = Machine(root=tmp_path, level="bwrap")
    state = machine.home / ".agent"
    theirs = state / "sessions"
    theirs.mkdir(parents=True)
    (theirs / "yesterday").write_text("about a bank\n")
    needs = Needs(own=(state,), apart=(theirs, state / "log"))
    look = f"ls -A {theirs}; ls -A {state}/log; echo mine > {theirs}/today"
    assert _said(machine, needs, look) == ""
    assert _said(machine, needs, f"cat {theirs}/*") == "mine\n"
    assert [one.name for one in theirs.iterdir()] == ["yesterday"]
