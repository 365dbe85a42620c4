"""While planning is held, the conversation's own plan is written, and nothing by its name."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from asbuilt.policy.plan_mode.state import Hold
from tests.hook.calling import SILENT, denied

if TYPE_CHECKING:
    from tests.hook.calling import Conversation


# The conversation's own plan.


def test_the_plan_file_that_claude_code_named_is_writable_and_remembered(talk: Conversation) -> None:
    given = {"file_path": str(talk.plan), "content": "# Plan"}
    assert talk.call("Write", given).out.count('"deny"') == 1
    talk.given_a_plan()
    assert talk.call("Write", given) == SILENT
    talk.transcript.unlink()
    talk.plan.write_text("# Plan")
    assert talk.call("Edit", {"file_path": str(talk.plan)}, mode="default") == SILENT
    assert talk.hold is not None
    assert talk.hold.plans == (str(talk.plan),)


@pytest.mark.parametrize("is_written", [True, False])
def test_a_subagent_writes_its_own_plan_beside_the_main_one_and_never_the_main_one(
    talk: Conversation, *, is_written: bool
) -> None:
    talk.given_a_plan()
    if is_written:
        assert talk.call("Write", {"file_path": str(talk.plan)}) == SILENT
        talk.plan.write_text("# Plan")
    own = talk.plan.with_name(f"{talk.plan.stem}-agent-a1b2.md")
    for tool in ("Write", "Edit"):
        assert talk.call(tool, {"file_path": str(talk.plan)}, agent_id="a1b2") == denied(
            f"plan mode is read-only and {tool} changes {talk.plan}."
            f" To propose the change, write it into {own}."
        )
    assert talk.call("Write", {"file_path": str(own)}, agent_id="a1b2") == SILENT
    own.write_text("# Part")
    assert talk.call("Edit", {"file_path": str(own)}, agent_id="a1b2") == SILENT
    assert talk.call("Read", {"file_path": str(own)}, agent_id="a1b2") == SILENT
    assert talk.call("Read", {"file_path": str(own)}) == SILENT
    for another in ("c3d4", "", "../a1b2", "a1b"):
        assert '"deny"' in talk.call("Write", {"file_path": str(own)}, agent_id=another).out
    assert talk.hold is not None
    assert str(own) not in talk.hold.plans


def test_a_refusal_names_the_plan_to_write_to(talk: Conversation) -> None:
    plan = talk.shop / "plans" / "rate-limit.md"
    talk.held(Hold(root=str(talk.shop), plans=(str(plan),)))
    assert talk.call("Edit", {"file_path": str(talk.shop / "src" / "app.py")}) == denied(
        "plan mode is read-only and Edit changes src/app.py."
        " To propose the change, write it into plans/rate-limit.md."
    )


def test_words_of_an_agent_do_not_name_a_plan_file(talk: Conversation) -> None:
    aim = str(talk.shop / "README.md")
    told = {"type": "plan_mode", "planFilePath": aim}
    lines = [
        {"type": "assistant", "message": {"content": [{"type": "text", "text": json.dumps(told)}]}},
        {"type": "user", "attachment": told},
        {"type": "attachment", "attachment": {**told, "isSubAgent": True}},
        {
            "type": "attachment",
            "attachment": {**told, "type": "file", "content": json.dumps(told)},
        },
    ]
    talk.transcript.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"type":"att')
    assert talk.call("Write", {"file_path": aim}).out.count('"deny"') == 1


def _link(talk: Conversation) -> str:
    talk.plan.symlink_to(talk.shop / "src" / "app.py")
    return str(talk.plan)


def _second_name(talk: Conversation) -> str:
    os.link(talk.shop / "src" / "app.py", talk.plan)
    return str(talk.plan)


def _folder(talk: Conversation) -> str:
    talk.plan.mkdir()
    return str(talk.plan)


WAYS: dict[str, Any] = {
    "a link at its end": _link,
    "a second name of another file": _second_name,
    "a folder": _folder,
    "a neighbour": lambda talk: str(talk.plan.with_name("other.md")),
    "another kind": lambda talk: str(talk.plan.with_suffix(".py")),
    "dots": lambda talk: f"{talk.plan.parent}/../plans/{talk.plan.name}",
    "a blank behind": lambda talk: f"{talk.plan} ",
    "a tilde": lambda talk: f"~/.claude/plans/{talk.plan.name}",
    "below it": lambda talk: f"{talk.plan}/x.md",
}


@pytest.mark.parametrize("way", WAYS)
def test_nothing_but_the_plan_itself_is_written_by_its_name(talk: Conversation, way: str) -> None:
    talk.given_a_plan()
    talk.held(Hold(plans=(str(talk.plan),)))
    said = talk.call("Write", {"file_path": WAYS[way](talk), "content": "x"})
    assert (said.code, said.out.count('"permissionDecision":"deny"')) == (0, 1)


@pytest.mark.parametrize("path", [None, "", 7, ["/a.md"], "/a\0.md"])
def test_a_path_that_cannot_be_read_is_refused(talk: Conversation, path: object) -> None:
    for tool in ("Write", "Read"):
        assert talk.call(tool, {"file_path": path}) == denied(
            "plan mode is on, and this call cannot be parsed."
        )


def test_in_a_folder_of_plans_a_new_plan_becomes_the_conversations_own(talk: Conversation) -> None:
    plans = talk.shop / "plans"
    plans.mkdir()
    (plans / "theirs.md").write_text("# Theirs")
    talk.held(Hold(by="session", root=str(talk.shop), plans=(str(plans),)))
    assert talk.call("Edit", {"file_path": str(plans / "theirs.md")}).out.count('"deny"') == 1
    assert talk.call("Write", {"file_path": str(plans / "below" / "new.md")}).out.count('"deny"') == 1
    assert talk.call("Write", {"file_path": str(plans / "new.md")}) == SILENT
    (plans / "new.md").write_text("# New")
    assert talk.call("Edit", {"file_path": str(plans / "new.md")}) == SILENT
