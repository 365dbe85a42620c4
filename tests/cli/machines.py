"""Machines as the doctor finds them: facts, whole."""

from __future__ import annotations

from asbuilt._version import VERSION
from asbuilt.agents.sandbox.unavailable import Knobs, why_bubblewrap, why_landlock
from asbuilt.cli.commands.doctor.facts import (
    Agent,
    AgentsFacts,
    ClockFacts,
    ErrorFacts,
    Facts,
    GateFacts,
    GitFacts,
    PowerFacts,
    SandboxFacts,
    StoreFacts,
    SuiteFacts,
    Tried,
    WorkerFacts,
)

LOOKED_FOR = ("claude", "codex", "gemini", "opencode", "claude-acp")
NO_NAMESPACE = "bwrap: setting up uid map: Permission denied"

READY = Facts(
    git=GitFacts(version="2.47.1", repository="shop-api", branch="main", has_commits=True),
    settings=(),
    agents=AgentsFacts(
        looked_for=LOOKED_FOR,
        found=(Agent(name="claude", version="2.1.325"), Agent(name="codex", version="0.166.0")),
        driven=("scripted", "claude", "codex"),
    ),
    sandbox=SandboxFacts(level="bwrap", version="0.11.0", refusals=(), required=True),
    gate=GateFacts(installed=True, enabled=True, version=VERSION, refused=True, took_ms=24.3),
    tests=SuiteFacts(command="uv run pytest -q", origin="asbuilt.toml:2"),
    store=StoreFacts(database="SQLite", free_bytes=61_400_000_000, schema=1, known_schema=1),
    worker=WorkerFacts(running=False),
    power=PowerFacts(sleeps=True, source="logind"),
    clock=ClockFacts(ahead_of_disk_s=0.0, behind_us_s=0.0, jumped_s=0.0),
)
"""A laptop on which nothing is missing."""

TROUBLED = Facts(
    git=GitFacts(version="2.43.0", repository="shop-api", branch="main", has_commits=True, changed=2),
    settings=(
        ErrorFacts(
            what='asbuilt.toml:7: landing.mode "merge" is not cherry-pick, pr, direct',
            why="A guessed landing could move the wrong branch.",
            next_step="Correct asbuilt.toml:7; `asbuilt config show --origin` shows who sets what.",
        ),
    ),
    agents=AgentsFacts(
        looked_for=LOOKED_FOR, found=(Agent(name="gemini", version=None),), driven=("scripted",)
    ),
    sandbox=SandboxFacts(
        level="none",
        version="",
        refusals=(why_bubblewrap(NO_NAMESPACE, Knobs(apparmor=True), there=True), why_landlock("")),
        required=True,
    ),
    gate=GateFacts(installed=True, enabled=True, version=VERSION, output="sh: 1: /gone/python: not found"),
    tests=SuiteFacts(
        command="pytest -q",
        origin="asbuilt.toml:2",
        tried=Tried(outcome="NOT_RUN", why="0 tests ran"),
    ),
    store=StoreFacts(
        database="SQLite",
        free_bytes=1_900_000,
        schema=None,
        known_schema=1,
    ),
    worker=WorkerFacts(running=True, pid=41822),
    power=None,
    clock=ClockFacts(ahead_of_disk_s=0.0, behind_us_s=86_400.0, jumped_s=0.0),
)
"""A machine on which much is."""
