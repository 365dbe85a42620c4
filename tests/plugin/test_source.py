"""The one source of what agents are given: whole, of one version, and without a misspelt word."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from asbuilt._version import VERSION
from asbuilt.cli.commands.init import agent_targets, rendering
from asbuilt.cli.commands.init.rendering import Call, headed
from asbuilt.session.hook_command import ASKED
from tests.plugin.planted import PLANTED
from tests.plugin.schema import EVENTS, problems

if TYPE_CHECKING:
    from tests.plugin.planted import Slip

HERE = Call(
    asbuilt=("/opt/with space/asbuilt",),
    typed=("asbuilt",),
    hook=lambda event: ("/opt/py thon", "-I", "/opt/main.py", event),
)
SKILLS = ["approve", "plan", "run", "run-plan", "status", "task"]
"""What every agent is given; Claude Code, which has hooks, can also be held to the stages of `author`."""


def test_the_source_says_only_what_claude_code_knows() -> None:
    assert problems(agent_targets.plugin_source()) == []


def test_what_is_rendered_says_only_what_claude_code_knows() -> None:
    assert problems(rendering.claude(agent_targets.plugin_source(), HERE)) == []


@pytest.mark.parametrize("slip", PLANTED, ids=lambda slip: slip.after)
def test_a_misspelt_word_is_a_problem(slip: Slip) -> None:
    assert problems(slip.made_in(agent_targets.plugin_source())) != []


def test_every_version_is_that_of_asbuilt() -> None:
    files = agent_targets.plugin_source()
    plugin = json.loads(files[".claude-plugin/plugin.json"])
    (listed,) = json.loads(files[".claude-plugin/marketplace.json"])["plugins"]
    extension = json.loads(rendering.gemini(files, HERE)["gemini-extension.json"])
    assert [one["version"] for one in (plugin, listed, extension)] == [VERSION] * 3


def test_every_event_that_the_hook_answers_is_given_to_it() -> None:
    events = json.loads(agent_targets.plugin_source()["hooks/hooks.json"])["hooks"]
    assert events.keys() == EVENTS
    assert EVENTS.issuperset(ASKED)


def test_the_gate_is_asked_before_every_tool() -> None:
    (group,) = json.loads(agent_targets.plugin_source()["hooks/hooks.json"])["hooks"]["PreToolUse"]
    assert group["matcher"] == "*"


def test_a_hook_is_called_from_the_root_and_quoted_for_a_shell() -> None:
    hooks = json.loads(rendering.claude(agent_targets.plugin_source(), HERE)["hooks/hooks.json"])["hooks"]
    assert hooks["Stop"][0]["hooks"][0]["command"] == "'/opt/py thon' -I /opt/main.py Stop"


def test_what_runs_without_a_question_is_called_from_the_root() -> None:
    text = rendering.claude(agent_targets.plugin_source(), HERE)["skills/status/SKILL.md"]
    assert "Bash('/opt/with space/asbuilt' status), " in text
    assert "!`'/opt/with space/asbuilt' status`" in text
    assert "!`asbuilt " not in text


def test_what_the_agent_is_to_run_is_called_as_the_gate_knows_it() -> None:
    text = rendering.claude(agent_targets.plugin_source(), HERE)["skills/status/SKILL.md"]
    assert "Bash(asbuilt status:*)\n" in text
    assert "\n`asbuilt status` with that name" in text
    elsewhere = HERE._replace(typed=HERE.asbuilt)
    nowhere = rendering.claude(agent_targets.plugin_source(), elsewhere)["skills/status/SKILL.md"]
    assert "Bash('/opt/with space/asbuilt' status:*)\n" in nowhere
    assert "\n`'/opt/with space/asbuilt' status` with that name" in nowhere


def test_the_planner_reads_and_leaves_the_memory_of_the_project_out() -> None:
    head, body = headed(agent_targets.plugin_source()["agents/planner.md"])
    assert (head["tools"], head["omitClaudeMd"]) == ("Read, Grep, Glob", True)
    assert body.startswith("READ-ONLY. You may not create, change, move or delete any file")


def test_codex_gets_skills_that_only_their_name_starts() -> None:
    given = rendering.codex(agent_targets.plugin_source(), HERE)
    assert sorted(given) == sorted(
        f"asbuilt-{name}/{file}" for name in SKILLS for file in ("SKILL.md", "agents/openai.yaml")
    )
    head, body = headed(given["asbuilt-status/SKILL.md"])
    assert head["name"] == "asbuilt-status"
    assert "(run `'/opt/with space/asbuilt' status` now: what it says stands here)" in body
    assert "session status" not in body
    assert yaml.safe_load(given["asbuilt-status/agents/openai.yaml"]) == {
        "policy": {"allow_implicit_invocation": False}
    }


def test_gemini_gets_commands_that_run_ours_at_once() -> None:
    given = rendering.gemini(agent_targets.plugin_source(), HERE)
    assert sorted(given) == sorted(
        [*(f"commands/asbuilt/{name}.toml" for name in SKILLS), "gemini-extension.json"]
    )
    command = tomllib.loads(given["commands/asbuilt/status.toml"])
    assert (
        command["description"]
        == headed(agent_targets.plugin_source()["skills/status/SKILL.md"])[0]["description"]
    )
    assert "!{'/opt/with space/asbuilt' status}" in command["prompt"]


def test_opencode_gets_commands_that_run_ours_at_once() -> None:
    given = rendering.opencode(agent_targets.plugin_source(), HERE)
    assert sorted(given) == sorted(f"asbuilt-{name}.md" for name in SKILLS)
    head, body = headed(given["asbuilt-run.md"])
    assert head.keys() == {"description"}
    assert "!`'/opt/with space/asbuilt' plan list`" in body
    assert "/asbuilt-status shows how far it is" in body


def test_the_plugin_is_a_part_of_what_is_installed() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]["plugin"] == (
        "asbuilt/cli/commands/init/plugin"
    )
