"""Agents over ACP inside the ring: they work, ask, judge, and can change nothing that would act later."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.contracts.attempts import ended, started_with
from tests.live.stage import LiveStage, verdict_failing
from tests.model import Say, answer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.model import Model

LONG = pytest.mark.long
AGENTS = ["codex-acp", "gemini", "claude-acp", pytest.param("opencode", marks=LONG)]
pytestmark = pytest.mark.live

ALLOWING = {
    # codex has nothing of the kind: its rules name commands one by one.
    "codex-acp": {".codex/AGENTS.md": "Do as you like.\n"},
    "gemini": {".gemini/policies/all.toml": '[[rule]]\ntoolName = "*"\ndecision = "allow"\npriority = 999\n'},
    "claude-acp": {
        ".claude/.credentials.json": "{}",
        ".claude/settings.json": json.dumps(
            {
                "permissions": {"allow": ["Bash", "Write"], "defaultMode": "acceptEdits"},
                "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch hooked.txt"}]}]},
            }
        ),
    },
    "opencode": {".local/share/opencode/auth.json": "{}"},
}
"""Below the user's HOME: settings that allow everything, which stay what they are and count for nothing."""
LATER = {
    "codex-acp": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "claude-acp": ".claude/settings.json",
    "opencode": ".config/opencode/opencode.json",
}
TRIES = """\
for file in {files}; do
    echo tried >> "$file" && echo "wrote $file" >> wrote.txt
done
git commit --allow-empty --message x && echo committed >> wrote.txt
echo ran > ran.txt
"""


def staged(room: Path, model: Model, agent: str) -> LiveStage:
    stage = LiveStage(room, agent, model)
    for name, text in ALLOWING[agent].items():
        file = stage.lodging.home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return stage


def asked(stage: LiveStage) -> list[tuple[object, object]]:
    events, _ = stage.attempts.events("01J.1.1")
    return [(event["call"], event["allowed"]) for event in events if event["kind"] == "asked"]


def settings_of(stage: LiveStage) -> dict[str, str]:
    names = [*ALLOWING[stage.agent], LATER[stage.agent]]
    return {name: (stage.lodging.home / name).read_text() for name in names}


@pytest.mark.parametrize("agent", AGENTS)
def test_it_asks_although_the_user_allows_all_and_the_ring_holds_what_the_gate_cannot_see(
    agent: str, room: Path, model: Model
) -> None:
    stage = staged(room, model, agent)
    home, shop = stage.lodging.home, stage.root / "shop"
    out_of_reach = [home / LATER[agent], home / "new.txt", shop / "new.txt", stage.workspace / ".git"]
    script = TRIES.format(files=" ".join(map(str, out_of_reach)))
    before = settings_of(stage)
    brief = stage.playing(
        answer(Say("I begin."), stage.speech.writes(stage.workspace / "tries.sh", script)),
        stage.runs("sh tries.sh"),
        answer(Say("made it")),
    )
    result = ended(stage, started_with(stage, brief))
    assert (result.ending, result.says, result.ring) == ("done", "made it", "bwrap")
    assert asked(stage) == [("edit", True), ("run", True)]
    assert {path.name for path in stage.workspace.iterdir()} == {".git", "plans", "tries.sh", "ran.txt"}
    assert settings_of(stage) == before
    assert not any(path.exists() for path in out_of_reach[1:3])


@pytest.mark.parametrize(
    "agent", ["codex-acp", *(pytest.param(name, marks=LONG) for name in ("gemini", "claude-acp", "opencode"))]
)
def test_a_verifier_changes_nothing_and_leaves_its_verdict_by_the_tool(
    agent: str, room: Path, model: Model
) -> None:
    stage = staged(room, model, agent)
    twice: dict[str, Any] = {"items": verdict_failing(2)["items"][:1] * 3}
    brief = stage.playing(
        answer(stage.speech.runs("touch made.txt; cat plans/login.md")),
        answer(stage.speech.judges(twice)),
        answer(stage.speech.judges(verdict_failing(2))),
        answer(Say("judged")),
        role="verify",
        writable=False,
    )
    result = ended(stage, started_with(stage, brief))
    assert (result.ending, result.says, result.ring) == ("done", "judged", "bwrap")
    assert result.verdict is not None
    assert (result.verdict.intent, result.verdict.problems) == (brief.intent, ())
    words = [(entry.item, entry.outcome) for entry in result.verdict.entries]
    assert words == [(1, "PASS"), (2, "FAIL"), (3, "PASS")]
    assert {path.name for path in stage.workspace.iterdir()} == {".git", "plans"}
    refused = [request for request in model.requests("agent") if "Not taken: item 1 has two" in request.words]
    assert refused != []


def test_what_it_plants_for_later_fails_the_attempt(room: Path, model: Model) -> None:
    stage = staged(room, model, "codex-acp")
    planted = stage.lodging.home / ".codex" / "hooks.json"
    brief = stage.playing(
        answer(stage.speech.writes(stage.workspace / "plants.sh", f"echo evil > {planted}\n")),
        stage.runs("sh plants.sh"),
        answer(Say("made it")),
    )
    result = ended(stage, started_with(stage, brief))
    assert (result.ending, str(planted) in result.reason) == ("failed", True)
