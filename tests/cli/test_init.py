"""`asbuilt init` puts asbuilt into an agent and takes it away: what it says, writes, refuses and leaves."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

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


def test_bare_it_says_what_it_can_do_and_writes_nothing(asbuilt: Callable[..., str], home: Path) -> None:
    assert asbuilt("init") == (
        "exit 0\n--- stdout\n"
        "Put asbuilt into the agent that you use. Nothing goes into a repository.\n\n"
        "○ asbuilt init --claude    the gate, plans that survive /clear, commands\n"
        "○ asbuilt init --codex     skills, as $asbuilt-status\n"
        "○ asbuilt init --gemini    an extension: commands, as /asbuilt:status\n"
        "○ asbuilt init --opencode  commands, as /asbuilt-status\n"
    )
    assert _files(home) == {}


def test_it_says_where_it_writes_and_what_changes(asbuilt: Callable[..., str], settings: Path) -> None:
    assert asbuilt("init", "--claude") == (
        "exit 0\n--- stdout\n"
        "✓ claude    ~/.local/share/asbuilt/claude   12 files written\n"
        "✓ settings  ~/.claude/settings.json   2 entries added, nothing else\n"
        "Conversations that start from now on have it, open ones after /reload-plugins.\n"
        "--- stderr\n"
        "Next: asbuilt doctor, which tries the gate\n"
    )
    value = json.loads(settings.read_bytes())
    assert (value["model"], value["enabledPlugins"]) == ("opus", {"asbuilt@asbuilt": True})
    assert asbuilt("init").splitlines()[4].startswith("✓ asbuilt init --claude")


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
        "✓ settings  ~/.claude/settings.json   2 entries taken out, nothing else\n"
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
        "  Next: Correct it there, then repeat the command. Nothing was changed.\n"
    )
    assert _files(home) == before


def test_a_marketplace_of_our_name_is_refused(asbuilt: Callable[..., str], settings: Path) -> None:
    text = '{"extraKnownMarketplaces": {"asbuilt": {"source": {"source": "github", "repo": "a/b"}}}}'
    settings.write_text(text)
    said = asbuilt("init", "--claude")
    assert "knows another marketplace that is named asbuilt" in said
    assert "Next: claude plugin marketplace remove asbuilt, then repeat the command." in said
    assert settings.read_text() == text


def test_a_file_that_is_not_ours_is_never_overwritten(asbuilt: Callable[..., str], home: Path) -> None:
    mine = home / ".config" / "opencode" / "commands" / "asbuilt-status.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    said = asbuilt("init", "--opencode")
    assert "~/.config/opencode/commands/asbuilt-status.md is there" in said
    assert _files(home) == {".config/opencode/commands/asbuilt-status.md": b"mine"}


def test_a_file_that_somebody_changed_is_left(asbuilt: Callable[..., str], home: Path) -> None:
    asbuilt("init", "--opencode")
    mine = home / ".config" / "opencode" / "commands" / "asbuilt-status.md"
    mine.write_text("mine now")
    said = asbuilt("init", "--opencode", "--remove")
    assert "! opencode  ~/.config/opencode/commands   5 files removed, 1 left: somebody changed" in said
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
