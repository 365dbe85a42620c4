"""`asbuilt selftest agent` with the real Claude Code and codex on the scripted model."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING

import pytest

from tests.journeys.test_selftest_agent import SCRIPTS
from tests.live.house import HERE, JUDGES, WORKS, House
from tests.model import Call, answer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.model import Model

pytestmark = pytest.mark.live
PHASE = "Phase 1 — slugify"
SLUGS = '''\
"""Names of articles in addresses."""

import re


def path_of(slug):
    return f"/articles/{slug}"


def slugify(title):
    words = re.findall("[a-z0-9]+", title.lower())
    if not words:
        raise ValueError(title)
    return "-".join(words)
'''


@pytest.fixture
def house(room: Path, model: Model) -> Iterator[House]:
    made = House(room, model, verifier="codex-acp")
    made.environ["TMPDIR"] = str(room / "tmp")
    (room / "tmp").mkdir()
    yield made
    made.close()


def test_a_plan_is_proven_with_the_users_own_agents_and_the_table_names_their_models(house: House) -> None:
    script = tomllib.loads((SCRIPTS / "python.toml").read_text(encoding="utf-8"))
    tests = next(act["text"] for act in script["turn"][0]["acts"] if act.get("write"))
    house.model.play(
        WORKS,
        # The file is there, so that claude has to read it before it writes.
        answer(Call("Read", {"file_path": f"{HERE}/slugs.py"}), when=PHASE),
        answer(Call("Write", {"file_path": f"{HERE}/slugs.py", "content": SLUGS}), when=PHASE),
        *house.writes(PHASE, "tests/test_slugify.py", tests),
    )
    house.model.play(
        JUDGES, *house.judges(PHASE, *[{"check": "python3 -m unittest tests/test_slugify.py"}] * 5)
    )
    code, said = house.type("selftest", "agent", "--yes", "--json", "--only", "python")
    told = json.loads(said.splitlines()[-1])
    [plan] = told["plans"]
    assert (code, plan["outcome"], plan["why"]) == (0, "proven", "")
    assert (told["implements"], told["verifies"]) == (
        "claude (claude-opus-5-5)", "codex (its own choice of model)",
    )  # fmt: skip
    assert (plan["cost"]["is_whole"], plan["cost"]["usd"] > 0) == (False, True)
    assert "Cost     unknown: codex reports no dollars; limit $15.00 for all of them\n" in said
    assert list((house.state.parent / "tmp").glob("asbuilt-selftest-*")) == []
    assert not house.state.exists(), "the user's own journal is not even made"
