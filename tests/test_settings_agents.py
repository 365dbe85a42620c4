"""An agent has a table of settings; a repository names none."""

from __future__ import annotations

from asbuilt.settings import Layer
from asbuilt.settings.layers import Origin
from tests.settings_world import World, world

__all__ = ["world"]


AGENTS = """\
[agents]
slots = 3
[agents.quick]
kind = "claude"
model = "haiku"
max_turns = 40
budget_usd = 2
[agents.codex]
command = "/opt/codex-acp --flag"
[roles]
verify = "codex"
"""


def test_an_agent_has_a_table_of_its_own(world: World) -> None:
    world.user.write_text(AGENTS, encoding="utf-8")
    settings = world.load()
    assert settings.named("agents") == {
        "quick": {"kind": "claude", "model": "haiku", "max_turns": 40, "budget_usd": 2.0},
        "codex": {"command": "/opt/codex-acp --flag"},
    }
    assert (settings.number("agents.slots"), settings.text("roles.verify")) == (3, "codex")
    assert settings.chosen["agents.quick.model"].origin == Origin(
        Layer.USER, "~/.config/asbuilt/config.toml", 5, file=world.user
    )


def test_what_is_wrong_in_an_agents_table_is_told_with_its_line_and_what_may_be_meant(world: World) -> None:
    world.user.write_text(
        '[agents.quick]\nmodle = "haiku"\nmax_turns = 0.5\n[agents]\nquik = "x"\n', encoding="utf-8"
    )
    file = "~/.config/asbuilt/config.toml"
    assert world.problems() == [
        f'{file}:2: no setting "agents.quick.modle". Did you mean agents.quick.model?',
        f"{file}:3: agents.quick.max_turns 0.5 is not a number from 0 to 10000",
        f'{file}:5: no setting "agents.quik"',
    ]


def test_a_repository_names_no_agent_and_no_command(world: World) -> None:
    (world.repository / "asbuilt.toml").write_text(AGENTS, encoding="utf-8")
    assert world.problems() == [
        f"asbuilt.toml:{line}: a repository may not set {key}"
        for line, key in [
            (2, "agents.slots"),
            (4, "agents.quick.kind"),
            (5, "agents.quick.model"),
            (6, "agents.quick.max_turns"),
            (7, "agents.quick.budget_usd"),
            (9, "agents.codex.command"),
            (11, "roles.verify"),
        ]
    ]


def test_an_organisation_locks_what_an_agent_is_started_with(world: World) -> None:
    world.organisation.write_text(
        'locked = ["agents.codex.command"]\n[agents.codex]\ncommand = "/opt/ours"\n', encoding="utf-8"
    )
    world.user.write_text(AGENTS, encoding="utf-8")
    assert world.load().named("agents")["codex"] == {"command": "/opt/ours"}
