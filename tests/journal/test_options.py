"""Options of runs as a journal stores them: read from every version, and written back without loss."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, UnsetType, structs

from asbuilt.errors import JournalDamaged
from asbuilt.events.options import (
    AgentProgram,
    Authoring,
    Between,
    CapChoices,
    Extra,
    RunOptions,
    ServiceChoice,
    SuiteChoice,
    TaskOrder,
    TeamMember,
    Variables,
)
from asbuilt.events.options_json import plain_options, read_options
from asbuilt.journal import runs
from asbuilt.journal.encoding.codec import options_of, options_text
from asbuilt.journal.ids import new_id
from tests.journal.conftest import PLAN

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Store

_OLDER = Path(__file__).parent / "older" / "options.jsonl"
st.register_type_strategy(UnsetType, st.just(UNSET))
st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))
# A value of any JSON type, in the one field that may have all.
_PLAIN = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
_SESSIONS = st.dictionaries(st.text(max_size=5), _PLAIN, max_size=3)
_KNOWN = {one.name for one in structs.fields(RunOptions)}


def _drawn() -> st.SearchStrategy[RunOptions]:
    authorings = st.builds(Authoring, session=_SESSIONS)
    names = st.text(min_size=1, max_size=5).filter(lambda name: name not in _KNOWN)
    extras = st.dictionaries(names, _PLAIN, max_size=2).map(
        lambda found: tuple(Extra(path=(name,), value=value) for name, value in sorted(found.items()))
    )
    hints = get_type_hints(RunOptions)
    others = {name: st.from_type(hints[name]) for name in _KNOWN - {"authoring", "more"}}
    return st.builds(RunOptions, authoring=st.just(UNSET) | authorings, more=extras, **others)


def _stored() -> list[dict[str, Any]]:
    return [json.loads(line) for line in _OLDER.read_text(encoding="utf-8").splitlines()]


@given(options=_drawn())
def test_options_are_read_as_they_were_written(options: RunOptions) -> None:
    text = options_text(options)
    assert options_of(text) == options
    assert options_text(options_of(text)) == text


@pytest.mark.parametrize("plain", _stored(), ids=lambda plain: plain.get("kind", "without-a-kind"))
def test_options_that_older_versions_stored_keep_every_key_and_value(plain: dict[str, Any]) -> None:
    again = json.loads(options_text(options_of(json.dumps(plain))))
    assert {name: again[name] for name in plain} == plain


def test_the_options_of_an_older_run_are_typed_values() -> None:
    first = next(one for one in map(read_options, _stored()) if one.kind == "run")
    assert first.agents["verify"] == TeamMember(
        name="codex", program=AgentProgram(kind="codex", command=("/usr/bin/codex-acp",))
    )
    assert first.caps == CapChoices(usd=15.0, tokens=None, hours=None)
    assert first.suites == (SuiteChoice(command="pytest -q", folder="api", counts="tests"),)
    assert first.services == (ServiceChoice(name="postgres"),)
    assert first.env == Variables(checks=("API_TOKEN",), setup=())
    assert first.between == Between(hours="22:00-07:00", zone="Europe/Prague")
    assert (first.issues, first.mode, first.landing, first.holds) == ((12,), "finish", "pr", False)
    task = next(one for one in map(read_options, _stored()) if one.kind == "task")
    assert task.ordered == TaskOrder(7, "plan", "specs/007/plans/01_say.md", 1, "hard", timeout_s=60)


def test_keys_that_a_run_does_not_have_take_their_defaults() -> None:
    empty = options_of("{}")
    assert empty == RunOptions()
    assert (empty.kind, empty.mode, empty.landing) == ("run", "phase", "cherry-pick")
    assert (empty.holds, empty.requires_sandbox, empty.signs_if_configured) == (True, True, True)
    assert not read_options({"auto": True}).holds
    assert "tests" not in plain_options(empty)
    assert plain_options(read_options({"tests": None}))["tests"] is None


def test_keys_that_this_version_does_not_know_are_kept_when_options_are_rewritten(store: Store) -> None:
    later = {
        "slug": "x",
        "colour": {"sky": "blue"},
        "more": 1,
        "sandbox": {"network": "none", "gpu": True},
        "agents": {"plan": {"name": "claude", "program": {"kind": "claude", "seed": 4}}},
    }
    with store.write() as session:
        run = runs.request(session, PLAN, run=new_id(), slug="x", options=read_options(later), actor="you")
        runs.set_options(session, run, structs.replace(run.options, slug="y"))
        found = runs.find(session, run.org, run.repo, run.run)
    assert found is not None
    again = plain_options(found.options)
    assert (again["slug"], again["colour"], again["more"]) == ("y", {"sky": "blue"}, 1)
    assert again["sandbox"] == {"network": "none", "gpu": True}
    assert again["agents"]["plan"]["program"]["seed"] == 4
    without_team = plain_options(structs.replace(found.options, agents={}))
    assert without_team["agents"] == {}


@pytest.mark.parametrize(
    "stored",
    ['{"landing": "rebase"}', '{"kind": "dance"}', '{"auto": "yes"}', '{"caps": {"usd": "much"}}', "[]"],
)
def test_options_that_cannot_be_read_are_damage_of_the_journal(stored: str) -> None:
    with pytest.raises(JournalDamaged, match="options of a run"):
        options_of(stored)
