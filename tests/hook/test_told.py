"""What the docs say of each tool is what the gate does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from asbuilt.policy.plan_mode.tool_tables import QUIET, READS, REFUSED, RUNS, STARTS, WRITES

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "planning-rules.md"
KINDS = {
    "Read": set(READS),
    "Write": set(WRITES),
    "Bash": {RUNS},
    "Task": set(STARTS),
    "AskUserQuestion": set(QUIET),
    "Artifact": set(REFUSED),
}


@pytest.mark.parametrize("first", KINDS)
def test_each_row_names_its_tools(first: str) -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| `{first}`")]
    assert [set(re.findall(r"`(\w+)`", row.split("|")[1])) for row in rows] == [KINDS[first]]
