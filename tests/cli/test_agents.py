"""`asbuilt agents` and `asbuilt tell`, as somebody types them; programs on PATH are ours and do nothing."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from inline_snapshot import snapshot

from asbuilt.agents.sandbox.launch import probe
from tests.cli.plans import RATE_LIMIT, put

if TYPE_CHECKING:
    from pathlib import Path


def typed(folder: Path, environ: dict[str, str], *arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "asbuilt", *arguments],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def asked(folder: Path, environ: dict[str, str], *arguments: str) -> Any:  # noqa: ANN401 - JSON
    code, said, complained = typed(folder, environ, *arguments, "--json")
    assert said, (code, complained)
    return json.loads(said)


@pytest.fixture
def planned(shop: Path, environ: dict[str, str]) -> Path:
    """Commit a plan to the repository."""
    put(shop, rate_limit=RATE_LIMIT)
    for arguments in (
        ["add", "."],
        ["-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *arguments], cwd=shop, check=True, env=environ)  # noqa: S607
    return shop


@pytest.fixture
def installed(tmp_path: Path, environ: dict[str, str]) -> Path:
    """Two programs that only know their version, before all others on PATH."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, version in (("claude", "2.1.325 (Claude Code)"), ("gemini", "0.61.0")):
        (programs / name).write_text(f"#!/bin/sh\n[ -z \"$ANTHROPIC_API_KEY\" ] && echo '{version}'\n")
        (programs / name).chmod(0o755)
    environ["PATH"] = f"{programs}:{environ['PATH']}"
    return programs


@pytest.mark.usefixtures("installed")
def test_agents_list_says_who_is_here_and_who_would_have_which_role(
    shop: Path, environ: dict[str, str]
) -> None:
    environ["ANTHROPIC_API_KEY"] = "sk-test"
    code, said, _ = typed(shop, environ, "agents", "list")
    ring = {"bwrap": "bubblewrap", "seatbelt": "Seatbelt"}.get(probe().for_work, "none")
    assert (code, said.splitlines()) == (
        0,
        [
            f"  AGENT       VERSION  SIGNED IN  THROUGH  {'RING':<{len(ring)}}  ROLES",
            f"✓ claude      2.1.325  by key     control  {ring}  implement, fix, plan",
            "– codex       not installed",
            f"✓ gemini      0.61.0   unknown    ACP      {ring}  verify, critique",
            "– opencode    not installed",
            "– claude-acp  not installed",
        ],
    )
    assert "sk-test" not in json.dumps(asked(shop, environ, "agents", "list"))


def test_codex_without_its_adapter_is_found_with_the_command_that_installs_it(
    installed: Path, planned: Path, environ: dict[str, str]
) -> None:
    for name in ("claude", "gemini"):
        (installed / name).rename(installed / "codex")
    command = "npm install -g @zed-industries/codex-acp"
    _, said, _ = typed(planned, environ, "agents", "list")
    assert f"– codex       not installed: {command}" in said.splitlines()
    code, said, told = typed(planned, environ, "run", "rate-limit", "--dry-run")
    assert (code, said, told.splitlines()) == (
        3,
        "",
        [
            "error: codex is installed, and codex-acp is not",
            "  Why:  asbuilt drives codex through the adapter codex-acp.",
            f"  Next: {command}, then run again.",
        ],
    )


def test_agents_test_tries_the_ring_the_gate_and_the_agent_itself(
    shop: Path, environ: dict[str, str]
) -> None:
    told = asked(shop, environ, "agents", "test", "scripted", "--live")
    assert [(one["name"], one["held"]) for one in told["trials"]] == [
        ("ring", True),
        ("gate", True),
        ("live", True),
    ]
    assert told["trials"][2]["said"] == (
        "scripted was told to write outside, and nothing is there; 1 call refused"
    )
    state = shop.parent / "home/.local/state/asbuilt"
    assert [*(state / "trials").iterdir()] == []


@pytest.mark.usefixtures("installed")
def test_an_agent_that_does_not_even_start_is_not_called_held(shop: Path, environ: dict[str, str]) -> None:
    code, said, _ = typed(shop, environ, "agents", "test", "gemini", "--live")
    assert code == 4
    assert [line[:7].split() for line in said.splitlines() if line[:1] != " "] == [
        ["✓", "ring"],
        ["✓", "gate"],
        ["!", "live"],
    ]


def test_a_note_is_kept_with_its_teller_and_shown(planned: Path, environ: dict[str, str]) -> None:
    code, said, _ = typed(planned, environ, "tell", "rate-limit", "Redis 6 is what we run")
    assert (code, said) == (
        0,
        "rate-limit   The next attempt is told so. Criteria and checks are as they were.\n",
    )
    _, log, _ = typed(planned, environ, "log", "rate-limit")
    assert "tells the next attempt: Redis 6 is what we run" in " ".join(log.split())
    (plan,) = asked(planned, environ, "status")["plans"]
    assert (plan["notes"], plan["state"]) == (["Redis 6 is what we run"], "not run")


@pytest.mark.usefixtures("installed")
def test_a_rehearsal_says_who_works_the_cap_and_where_it_lands(
    planned: Path, environ: dict[str, str]
) -> None:
    code, said, _ = typed(planned, environ, "run", "rate-limit", "--dry-run")
    assert code == 0
    assert said.splitlines()[-3:] == [
        "Agents   claude implements, gemini verifies",
        "Cost     no past runs to go by; capped at $15.00 (API prices) a run",
        "Lands    on main, when you say so",
    ]


@pytest.mark.usefixtures("installed")
def test_a_rehearsal_says_what_a_schedule_and_hours_mean_and_puts_nothing_on(
    planned: Path, environ: dict[str, str]
) -> None:
    environ["ASBUILT_TIME_ZONE"] = "Europe/Prague"
    times = ("--every", "day at 9am", "--between", "22:00-07:00", "--dry-run")
    code, said, hint = typed(planned, environ, "run", "rate-limit", *times)
    rows = [
        re.sub(r"\b(open|closed) now", "[STATE] now", re.sub(r"\b\w{3} \d\d \w{3} ", "[DAY] ", row))
        for row in said.splitlines()[-6:]
    ]
    assert (code, rows, hint) == snapshot(
        (
            0,
            [
                "Lands    on main, by cherry-pick, when proven",
                "Every    one phase, every day at 09:03, Europe/Prague",
                "         [DAY] 22:00, [DAY] 22:00, [DAY] 22:00",
                "         09:03, not 09:00, to miss the rush (schedule.offset). Implies --auto.",
                "Hours    begins phases only 22:00-07:00, Europe/Prague; [STATE] now",
                "         opens [DAY] 22:00, [DAY] 22:00, [DAY] 22:00",
            ],
            "Nothing was written.\n",
        )
    )
    told = asked(planned, environ, "run", "rate-limit", *times)
    assert {**told["schedule"], "times": len(told["schedule"]["times"])} == snapshot(
        {"cadence": "day at 09:03", "zone": "Europe/Prague", "means": "every day at 09:03", "times": 3}
    )
    assert told["options"]["between"] == {"hours": "22:00-07:00", "zone": "Europe/Prague"}
    assert asked(planned, environ, "next")["schedules"] == []
