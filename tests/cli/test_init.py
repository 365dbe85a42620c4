"""`asbuilt init` puts asbuilt into an agent and takes it away: what it says, writes, refuses and leaves."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from asbuilt.agents.sandbox.launch import probe
from tests.cli.test_agents import asked, typed

if TYPE_CHECKING:
    from collections.abc import Callable

ALL = ("--claude", "--codex", "--gemini", "--opencode")


@pytest.fixture
def home(environ: dict[str, str]) -> Path:
    return Path(environ["HOME"])


@pytest.fixture
def settings(home: Path) -> Path:
    (home / ".claude").mkdir()
    file = home / ".claude" / "settings.json"
    file.write_bytes(b'{\r\n\t"model": "opus"\r\n}\r\n')
    return file


def _files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


TOOLS = """\
○ asbuilt init --claude    the gate, plans that survive /clear, commands
○ asbuilt init --codex     skills, as $asbuilt-status
○ asbuilt init --gemini    an extension: commands, as /asbuilt:status
○ asbuilt init --opencode  commands, as /asbuilt-status
"""


def _sandboxed(shown: str) -> str:
    """Name what this machine's sandbox is, and what follows from it."""
    shown = re.sub(r"(?m)^  sandbox   .*\n(?:            .*\n)*", "  sandbox   [SANDBOX]\n", shown)
    return shown.replace("Next: asbuilt doctor --fix sandbox\n", "Next: [SANDBOX]\n")


def _next(command: str) -> str:
    return f"Next: {command}\n" if probe().for_work != "none" else "Next: [SANDBOX]\n"


def test_bare_it_says_what_is_here_and_what_it_can_do_and_writes_nothing(
    asbuilt: Callable[..., str], home: Path
) -> None:
    assert _sandboxed(asbuilt("init")) == (
        "exit 0\n--- stdout\n"
        "shop-api   on main\n"
        "  settings  asbuilt's defaults; asbuilt.toml changes them\n"
        "  agent     none found: install claude, codex, gemini or opencode\n"
        "  tests     none found; a plan's own checks still run\n"
        "  sandbox   [SANDBOX]\n"
        "Wrote nothing. An option installs asbuilt into that agent (files in your home).\n"
        f"\n{TOOLS}--- stderr\n{_next('asbuilt doctor agents')}"
    )
    assert _files(home) == {}


def test_in_a_python_repository_one_screen_shows_what_was_found_and_the_next_step(
    shop: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    (shop / "pyproject.toml").write_text('[project]\nname = "shop"\nversion = "0"\n', encoding="utf-8")
    (shop / "tests").mkdir(exist_ok=True)
    (shop / "tests" / "test_shop.py").write_text("def test_it() -> None: ...\n", encoding="utf-8")
    ann = ("-c", "user.name=Ann", "-c", "user.email=ann@example.com")
    for arguments in (("add", "."), (*ann, "commit", "--quiet", "--message=tests")):
        subprocess.run(["git", *arguments], cwd=shop, env=environ, check=True)  # noqa: S607
    agent = tmp_path / "bin" / "claude"
    agent.parent.mkdir()
    agent.write_text("#!/bin/sh\n", encoding="utf-8")
    agent.chmod(0o755)
    there = environ | {"PATH": f"{agent.parent}{os.pathsep}{environ['PATH']}"}
    rows = (
        "  settings  asbuilt's defaults; asbuilt.toml changes them\n"
        "  agent     claude\n"
        "  tests     python -m pytest -q (and 1 more), found and not tried yet\n"
    )
    _, out, err = typed(shop, there, "init")
    assert rows in out
    assert _sandboxed(err) == _next("asbuilt init --claude")
    assert len(f"{out}{err}".splitlines()) <= 24
    _, out, err = typed(shop, there, "init", "--claude")
    assert "12 files written\n" in out
    assert rows in out
    assert err == "Next: asbuilt doctor\n      # tests the gate\n"
    assert len(f"{out}{err}".splitlines()) <= 24
    assert _sandboxed(typed(shop, there, "init")[2]) == _next("asbuilt doctor --tests")
    suites = '[checks]\nsuites = [{ command = "pytest -q" }, { folder = "web", command = "npm test" }]\n'
    (shop / "asbuilt.toml").write_text(suites, encoding="utf-8")
    assert "  tests     pytest -q, npm test in web\n" in typed(shop, there, "init")[1]
    (shop / "asbuilt.toml").write_text('[checks]\ntests = "pytest -q"\n', encoding="utf-8")
    _, out, err = typed(shop, there, "init")
    assert "  settings  1 value from asbuilt.toml\n  agent     claude\n  tests     pytest -q\n" in out
    assert _sandboxed(err) == _next('asbuilt author "what you want to build"')
    assert len(f"{out}{err}".splitlines()) <= 24


def test_it_says_where_it_writes_and_what_changes(asbuilt: Callable[..., str], settings: Path) -> None:
    assert _sandboxed(asbuilt("init", "--claude")) == (
        "exit 0\n--- stdout\n"
        "✓ claude    ~/.local/share/asbuilt/claude   12 files written\n"
        "✓ settings  ~/.claude/settings.json   2 entries added, nothing else\n"
        "Active in new conversations, and in open ones after /reload-plugins.\n"
        "\nshop-api   on main\n"
        "  settings  asbuilt's defaults; asbuilt.toml changes them\n"
        "  agent     none found: install claude, codex, gemini or opencode\n"
        "  tests     none found; a plan's own checks still run\n"
        "  sandbox   [SANDBOX]\n"
        "--- stderr\n"
        "Next: asbuilt doctor\n      # tests the gate\n"
    )
    value = json.loads(settings.read_bytes())
    assert (value["model"], value["enabledPlugins"]) == ("opus", {"asbuilt@asbuilt": True})
    assert "\n✓ asbuilt init --claude" in asbuilt("init")


def test_a_second_time_there_is_nothing_to_change(
    asbuilt: Callable[..., str], home: Path, settings: Path
) -> None:
    asbuilt("init", *ALL)
    before = _files(home)
    said = asbuilt("init", *ALL)
    assert said.count("nothing to change") == 5
    assert _files(home) == before
    assert settings.exists()


def test_what_is_taken_away_leaves_no_file_and_no_byte(
    asbuilt: Callable[..., str], home: Path, settings: Path
) -> None:
    before = _files(home)
    asbuilt("init", *ALL)
    assert len(_files(home)) == 42
    assert asbuilt("init", *ALL, "--remove") == (
        "exit 0\n--- stdout\n"
        "✓ claude    ~/.local/share/asbuilt/claude   12 files removed\n"
        "✓ settings  ~/.claude/settings.json   2 entries removed, nothing else\n"
        "✓ codex     ~/.codex/skills   12 files removed\n"
        "✓ gemini    ~/.gemini/extensions/asbuilt   7 files removed\n"
        "✓ opencode  ~/.config/opencode/commands   6 files removed\n"
    )
    assert _files(home) == before
    assert settings.read_bytes() == b'{\r\n\t"model": "opus"\r\n}\r\n'


def test_a_dry_run_shows_the_change_and_writes_nothing(
    asbuilt: Callable[..., str], home: Path, settings: Path
) -> None:
    before = _files(home)
    settings.write_bytes(b'{\n  "model": "opus"\n}\n')
    said = asbuilt("init", "--claude", "--dry-run")
    assert "2 entries would be added, nothing else\n    @@ -1,3 +1,14 @@\n     {\n    -  " in said
    assert '    +    "asbuilt@asbuilt": true\n' in said
    assert _files(home).keys() == before.keys()


def test_settings_that_were_not_there_are_gone_again(asbuilt: Callable[..., str], home: Path) -> None:
    asbuilt("init", "--claude")
    assert (home / ".claude" / "settings.json").exists()
    assert "~/.claude/settings.json   removed; it was not there before" in asbuilt(
        "init", "--claude", "--remove"
    )
    assert _files(home) == {}


def test_settings_for_the_user_alone_stay_so(asbuilt: Callable[..., str], settings: Path) -> None:
    settings.chmod(0o600)
    asbuilt("init", "--claude")
    assert settings.stat().st_mode & 0o777 == 0o600


def test_a_link_stays_a_link(asbuilt: Callable[..., str], settings: Path) -> None:
    real = settings.parent.parent / "dotfiles.json"
    settings.rename(real)
    settings.symlink_to(real)
    asbuilt("init", "--claude")
    assert settings.is_symlink()
    assert b"asbuilt@asbuilt" in real.read_bytes()
    asbuilt("init", "--claude", "--remove")
    assert (settings.is_symlink(), real.read_bytes()) == (True, b'{\r\n\t"model": "opus"\r\n}\r\n')


def test_the_configuration_folder_that_claude_code_is_told_is_used(
    asbuilt: Callable[..., str], home: Path, settings: Path
) -> None:
    before = settings.read_bytes()
    other = home / "other"
    asbuilt("init", "--claude", CLAUDE_CONFIG_DIR=str(other))
    assert b"asbuilt@asbuilt" in (other / "settings.json").read_bytes()
    assert settings.read_bytes() == before


def test_files_stay_while_another_configuration_names_them(
    asbuilt: Callable[..., str], home: Path, settings: Path
) -> None:
    other = str(home / "other")
    asbuilt("init", "--claude")
    asbuilt("init", "--claude", CLAUDE_CONFIG_DIR=other)
    asbuilt("init", "--claude", "--remove")
    hooks = home / ".local" / "share" / "asbuilt" / "claude" / "hooks" / "hooks.json"
    assert (b"asbuilt" in settings.read_bytes(), hooks.exists()) == (False, True)
    asbuilt("init", "--claude", "--remove", CLAUDE_CONFIG_DIR=other)
    assert not hooks.exists()


def test_settings_that_claude_code_cannot_read_are_refused_and_nothing_is_written(
    asbuilt: Callable[..., str], home: Path, settings: Path
) -> None:
    settings.write_bytes(b'{\n  // mine\n  "model": "opus",\n}\n')
    before = _files(home)
    assert asbuilt("init", "--claude") == (
        "exit 1\n--- stderr\n"
        "error: ~/.claude/settings.json cannot be read as JSON: line 2: Expecting\n"
        "       property name enclosed in double quotes\n"
        "  Why:  Claude Code ignores such a file as a whole, and what we add to it would\n"
        "        be lost.\n"
        "  Next: ${EDITOR:-vi} ~/.claude/settings.json\n        # then repeat the command\n"
    )
    assert _files(home) == before


def test_a_marketplace_of_our_name_is_refused(asbuilt: Callable[..., str], settings: Path) -> None:
    text = '{"extraKnownMarketplaces": {"asbuilt": {"source": {"source": "github", "repo": "a/b"}}}}'
    settings.write_text(text)
    said = asbuilt("init", "--claude")
    assert "knows another marketplace that is named asbuilt" in said
    assert "Next: claude plugin marketplace remove asbuilt\n" in said
    assert settings.read_text() == text


def test_a_file_that_is_not_ours_is_never_overwritten(asbuilt: Callable[..., str], home: Path) -> None:
    mine = home / ".config" / "opencode" / "commands" / "asbuilt-status.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    said = asbuilt("init", "--opencode")
    assert "~/.config/opencode/commands/asbuilt-status.md exists" in said
    assert _files(home) == {".config/opencode/commands/asbuilt-status.md": b"mine"}


def test_a_file_that_somebody_changed_is_left(asbuilt: Callable[..., str], home: Path) -> None:
    asbuilt("init", "--opencode")
    mine = home / ".config" / "opencode" / "commands" / "asbuilt-status.md"
    mine.write_text("mine now")
    said = asbuilt("init", "--opencode", "--remove")
    assert "! opencode  ~/.config/opencode/commands   5 files removed, 1 left: changed by others" in said
    assert _files(home) == {".config/opencode/commands/asbuilt-status.md": b"mine now"}


def test_what_another_version_wrote_is_written_anew(
    asbuilt: Callable[..., str], home: Path, settings: Path
) -> None:
    asbuilt("init", "--claude")
    folder = home / ".local" / "share" / "asbuilt"
    record = json.loads((folder / "claude.json").read_bytes())
    # As if an older asbuilt had written another text, and one file more.
    for name, text in (("agents/planner.md", "old"), ("agents/gone.md", "old")):
        file = folder / "claude" / name
        file.write_text(text)
        said = subprocess.run(["sha256sum", file], capture_output=True, check=True).stdout  # noqa: S607
        record["files"][str(file)] = [f"sha256:{said.decode().split()[0]}"]
    (folder / "claude.json").write_text(json.dumps(record))
    assert "1 file written, 1 file removed" in asbuilt("init", "--claude")
    assert "READ-ONLY" in (folder / "claude" / "agents" / "planner.md").read_text()
    assert not (folder / "claude" / "agents" / "gone.md").exists()
    assert settings.exists()


def test_the_command_in_the_plugin_is_the_one_that_gate_command_prints(
    asbuilt: Callable[..., str], home: Path, settings: Path
) -> None:
    asbuilt("init", "--claude")
    hooks = json.loads((home / ".local/share/asbuilt/claude/hooks/hooks.json").read_bytes())["hooks"]
    command = hooks["PreToolUse"][0]["hooks"][0]["command"]
    assert shlex.split(command) == _answer(asbuilt, "gate", "command")["argv"]
    assert settings.exists()


def test_doctor_proves_the_installed_hook_alive(
    asbuilt: Callable[..., str], home: Path, settings: Path
) -> None:
    asbuilt("init", "--claude")
    row = _gate(asbuilt)
    assert (row["state"], row["facts"]["refused"], row["facts"]["version"]) == ("good", True, "[VERSION]")
    hooks = home / ".local/share/asbuilt/claude/hooks/hooks.json"
    whole = hooks.read_text()
    python = _answer(asbuilt, "gate", "command")["argv"][0]
    for broken in ("/gone/python", "/bin/true"):
        hooks.write_text(whole.replace(python, broken))
        row = _gate(asbuilt)
        assert (row["state"], row["facts"]["refused"], row["next"]) == (
            "problem",
            False,
            "asbuilt init --claude",
        )
    hooks.write_text(whole)
    settings.write_text("{}")
    assert (_gate(asbuilt)["state"], _gate(asbuilt)["facts"]["enabled"]) == ("note", False)
    assert not (home / ".local" / "state").exists(), "the doctor leaves nothing there"


def _gate(asbuilt: Callable[..., str]) -> dict[str, Any]:
    rows: list[dict[str, Any]] = _answer(asbuilt, "doctor")["rows"]
    return next(row for row in rows if row["name"] == "gate")


def _answer(asbuilt: Callable[..., str], *arguments: str) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(asbuilt(*arguments, "--json").partition("--- stdout\n")[2])
    return said


ZSKILLS = {
    "execution": {"landing": "pr", "main_protected": True, "branch_prefix": "work/"},
    "testing": {"unit_cmd": "make unit", "full_cmd": "make test", "output_file": ".test-results.txt"},
    "ui": {"file_patterns": "web/**"},
    "ci": {"max_fix_attempts": 4, "auto_fix": False},
    "timezone": "Europe/Berlin",
    "dev_server": {"cmd": "npm start"},
    "mystery": 1,
}


def test_settings_of_other_tools_are_shown_as_a_difference_and_imported_after_a_yes(
    shop: Path, environ: dict[str, str]
) -> None:
    (shop / ".claude").mkdir()
    (shop / ".claude" / "zskills-config.json").write_text(json.dumps(ZSKILLS), encoding="utf-8")
    claude = {"plansDirectory": "docs/plans", "env": {"CLAUDE_CODE_PLAN_MODE_INTERVIEW_PHASE": "true"}}
    (shop / ".claude" / "settings.json").write_text(json.dumps(claude), encoding="utf-8")
    there = {
        **environ,
        "CLAUDE_CODE_PLAN_V2_AGENT_COUNT": "10",
        "CLAUDE_CODE_PLAN_V2_EXPLORE_AGENT_COUNT": "11",
    }
    overview = typed(shop, there, "init")[1]
    assert overview.endswith("10 settings of other tools can be imported: asbuilt init --import\n")
    code, said, _ = typed(shop, there, "init", "--import")
    assert code == 5
    assert "- landing.mode = cherry-pick\n+ landing.mode = pr (asbuilt.toml, from" in said
    assert "not imported: CLAUDE_CODE_PLAN_V2_EXPLORE_AGENT_COUNT: author.explorers" in said
    assert not (shop / "asbuilt.toml").exists()
    assert typed(shop, there, "init", "--import", "--dry-run")[0] == 0
    told = asked(shop, there, "init", "--import", "--yes")
    assert told["written"]
    assert {one["key"]: one["after"] for one in told["differ"]} == {
        "landing.mode": "pr",
        "landing.direct": "refuse",
        "landing.branch_prefix": "work/",
        "checks.tests": "make test",
        "ui.patterns": ["web/**"],
        "landing.ci_fixes": 0,
        "time.zone": "Europe/Berlin",
        "plans.folder": "docs/plans",
        "author.planners": 10,
        "author.mode": "interview",
    }
    assert [one["from"].rpartition(" ")[2] for one in told["left"]] == [
        "testing.output_file",
        "dev_server.cmd",
        "mystery",
        "CLAUDE_CODE_PLAN_V2_EXPLORE_AGENT_COUNT",
    ]
    shown = {one["key"]: one["value"] for one in asked(shop, environ, "config", "show")["settings"]}
    assert (shown["landing.mode"], shown["author.planners"], shown["author.mode"]) == ("pr", 10, "interview")
    assert "Your settings have the other values already" in typed(shop, there, "init", "--import")[1]


def test_a_file_of_another_tool_that_is_no_json_is_listed_and_nothing_is_guessed(
    shop: Path, environ: dict[str, str]
) -> None:
    (shop / ".claude").mkdir()
    (shop / ".claude" / "zskills-config.json").write_text('{"landing": "pr"', encoding="utf-8")
    assert asked(shop, environ, "init", "--import", "--yes") == {
        "schema": "asbuilt.settings-import/1",
        "differ": [],
        "left": [{"from": ".claude/zskills-config.json", "why": "the file is not a JSON object"}],
        "written": False,
    }
