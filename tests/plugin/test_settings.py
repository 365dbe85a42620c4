"""Two entries are spliced into the user's settings, and taken out again: nothing else changes by a byte."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.cli.commands.init.agent_targets import seat_of
from asbuilt.cli.commands.init.command import forgetting, naming, rewrite
from asbuilt.cli.commands.init.registering import (
    AnotherMarketplace,
    NotAnObject,
    Registration,
    is_registered,
    register,
    unregister,
)
from asbuilt.errors import PlanChanged

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "/home/ada/.local/share/asbuilt/claude"
OURS: dict[str, dict[str, object]] = {
    "extraKnownMarketplaces": {"asbuilt": {"source": {"source": "directory", "path": FOLDER}}},
    "enabledPlugins": {"asbuilt@asbuilt": True},
}
ODD = (
    "",
    " \r\n",
    "{}",
    "{ }",
    "{\n}\n",
    "\ufeff{}",
    '{"a": 1}',
    '{"a":1,"a":2}',
    '{\n  "model": "opus"\n}\n',
    '{\r\n\t"model": "opus",\r\n\t"enabledPlugins": {}\r\n}\r\n',
    '{\n    "enabledPlugins": {\n        "x@y": true\n    },\n    "z": [1, {"b": "}"}]\n}',
    '{"enabledPlugins": {"x@y": false}, "extraKnownMarketplaces": {"o": {}}}',
    '{"enabledPlugins": {"asbuilt@asbuilt": false}}',
    '{\n"enabledPlugins":\n{"x@y"\n:true}\n,"b":"\\u007b"}',
    '\n\n{\n\n  "a": {},\n\n\n  "b": 2\n\n}\n\n\n',
    '{"emoji": "\U0001f600", "extraKnownMarketplaces": {   }}',
)

_keys = st.sampled_from(["enabledPlugins", "extraKnownMarketplaces", "model", "a b", "{", '"', "env"])
_values = st.sampled_from(
    [None, True, 0, "", "}", '"', "\\", "\u00e9", [], [1, {"a": "{"}], {}, {"b": {"c": [2]}}]
)
_sections = st.dictionaries(st.sampled_from(["x@y", "other", "\n", ""]), st.just({"o": 1}), max_size=3)


@st.composite
def _files(draw: st.DrawFn) -> str:
    value: dict[str, Any] = {
        key: draw(_sections if key.startswith(("enabled", "extra")) else _values)
        for key in draw(st.lists(_keys, unique=True))
    }
    text = json.dumps(
        value, indent=draw(st.sampled_from([None, 0, 1, 4, "\t"])), ensure_ascii=draw(st.booleans())
    )
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return text + draw(st.sampled_from(["", "\n", "\r\n", "  "]))


def _kept_in_a_file(one: Registration) -> Registration:
    return msgspec.json.decode(msgspec.json.encode(one), type=Registration)


@pytest.mark.parametrize("text", ODD)
def test_settings_are_as_before_once_the_plugin_is_taken_out(text: str) -> None:
    after, kept = register(text, FOLDER, None)
    assert is_registered(after, FOLDER)
    assert unregister(after, FOLDER, _kept_in_a_file(kept)) == text


@given(_files())
def test_only_our_two_entries_are_added_and_come_out_without_a_trace(text: str) -> None:
    after, kept = register(text, FOLDER, None)
    before, now = json.loads(text), json.loads(after)
    for section, entries in OURS.items():
        assert now.pop(section) == {**before.pop(section, {}), **entries}
    assert now == before
    assert unregister(after, FOLDER, _kept_in_a_file(kept)) == text


@given(text=_files(), indent=st.sampled_from([None, 4]))
def test_when_the_settings_were_changed_in_between_only_our_entries_go(text: str, indent: int | None) -> None:
    after, kept = register(text, FOLDER, None)
    value = json.loads(after)
    value["mine"] = 1
    changed = json.dumps(value, indent=indent)
    left = unregister(changed, FOLDER, kept)
    assert left is not None
    assert json.loads(left) == {**json.loads(text), "mine": 1}


def test_a_neighbour_keeps_its_bytes_when_our_entries_go_from_between() -> None:
    after, kept = register('{\n  "model":   "opus"\n}\n', FOLDER, None)
    edited = after.replace("\n}\n", ',\n  "theme" :"dark"\n}\n')
    assert unregister(edited, FOLDER, kept) == '{\n  "model":   "opus",\n  "theme" :"dark"\n}\n'


def test_a_file_that_was_made_for_the_plugin_goes_with_it() -> None:
    after, kept = register(None, FOLDER, None)
    assert json.loads(after) == OURS
    assert unregister(after, FOLDER, kept) is None


def test_a_file_that_was_made_for_the_plugin_stays_when_something_was_added() -> None:
    after, kept = register(None, FOLDER, None)
    edited = json.dumps({**json.loads(after), "model": "opus"}, indent=2)
    assert unregister(edited, FOLDER, kept) == '{\n  "model": "opus"\n}'


def test_a_second_time_changes_nothing() -> None:
    after, kept = register('{"a": 1}', FOLDER, None)
    assert register(after, FOLDER, kept) == (after, kept)


def test_what_somebody_took_out_comes_back_and_still_goes_without_a_trace() -> None:
    after, kept = register('{"a": 1}', FOLDER, None)
    disabled = after.replace("true", "false")
    again, anew = register(disabled, FOLDER, kept)
    assert is_registered(again, FOLDER)
    assert unregister(again, FOLDER, anew) == '{"a": 1}'


def test_another_folder_takes_the_place_of_the_one_before() -> None:
    after, kept = register('{"a": 1}', "/elsewhere", None)
    moved, anew = register(after, FOLDER, kept)
    assert json.loads(moved) == {"a": 1, **OURS}
    assert unregister(moved, FOLDER, anew) == '{"a": 1}'


def test_without_a_record_our_entries_still_go() -> None:
    after, _ = register('{"a": 1, "enabledPlugins": {"x": true}}', FOLDER, None)
    text, kept = register(after, FOLDER, None)
    assert text == after
    for record in (None, kept):
        left = unregister(after, FOLDER, record)
        assert left is not None
        assert json.loads(left) == {"a": 1, "enabledPlugins": {"x": True}, "extraKnownMarketplaces": {}}


def test_a_marketplace_of_our_name_that_is_not_ours_is_left_alone() -> None:
    text = '{"extraKnownMarketplaces": {"asbuilt": {"source": {"source": "github", "repo": "a/b"}}}}'
    with pytest.raises(AnotherMarketplace):
        register(text, FOLDER, None)
    assert unregister(text, FOLDER, None) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 1: Expecting property name enclosed in double quotes"),
        ('{\n  // a comment\n  "a": 1\n}', "line 2: Expecting property name enclosed in double quotes"),
        ('{"a": 1} x', "line 1: Extra data"),
        ("[]", "it is no object"),
        ('{"enabledPlugins": []}', "enabledPlugins is no object"),
        ("[" * 100_000, "too deep"),
    ],
)
def test_what_is_no_settings_file_is_refused(text: str, said: str) -> None:
    with pytest.raises(NotAnObject) as refused:
        register(text, FOLDER, None)
    assert str(refused.value) == said


def test_what_is_saved_in_between_is_not_lost(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    seat, file = seat_of("claude", environ), tmp_path / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text('{"a": 1}')
    planned = naming(seat, file)
    file.write_text('{"a": 2}')
    with pytest.raises(PlanChanged):
        rewrite(file, planned, seat.record, seat.keep)
    assert file.read_text() == '{"a": 2}'
    file.unlink()
    rewrite(file, naming(seat, file), seat.record, seat.keep)
    planned = forgetting(seat, file)
    assert planned.after is None
    file.write_text('{"a": 3}')
    with pytest.raises(PlanChanged):
        rewrite(file, planned, seat.record, seat.keep)
    assert file.read_text() == '{"a": 3}'
