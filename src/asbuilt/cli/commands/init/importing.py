"""Import settings of other tools: `.claude/zskills-config.json`, Claude Code's settings, and its variables.

Rule: every setting that is found is either mapped to one of ours or listed with the reason why not. A file
that cannot be read counts as empty and is listed, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from asbuilt.cli.commands.config.show import words
from asbuilt.cli.commands.init.agent_targets import claude_settings
from asbuilt.cli.shell.options import Door
from asbuilt.cli.shell.settings_files import chosen_now, edit, file_for, refuse_locked
from asbuilt.cli.ui.confirm import agreed
from asbuilt.cli.ui.messages import answer
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import DONE, PARKED, SettingInvalid
from asbuilt.library.repository_discovery import Repository, find_repository
from asbuilt.settings import Place, Setting, Value, from_text, setting_named
from asbuilt.settings.values import from_toml

_SCHEMA: Final = "asbuilt.settings-import/1"
_ZSKILLS: Final = ".claude/zskills-config.json"
_CLAUDE: Final = (".claude/settings.json", ".claude/settings.local.json")
_DIRECT: Final = {True: "refuse", False: "allow"}
_OURS: Final = {
    "execution.landing": "landing.mode",
    "execution.branch_prefix": "landing.branch_prefix",
    "testing.full_cmd": "checks.tests",
    "ui.file_patterns": "ui.patterns",
    "timezone": "time.zone",
    "agents.min_model": "agents.min_model",
    "ci.max_fix_attempts": "landing.ci_fixes",
    "plansDirectory": "plans.folder",
    "CLAUDE_CODE_PLAN_V2_AGENT_COUNT": "author.planners",
    "CLAUDE_CODE_PLAN_V2_EXPLORE_AGENT_COUNT": "author.explorers",
}
"""Settings whose value is taken as it is."""
_WITHOUT: Final = {
    "testing.output_file": "asbuilt keeps the output of every test run",
    "dev_server.cmd": "a service needs its port: see checks.services",
    "worktree_root": "workspaces are in the state folder (ASBUILT_HOME)",
    "useAutoModeDuringPlan": "Claude Code reads it itself; the gate is read-only in every mode",
}


class Found(NamedTuple):
    """A setting of another tool, and what becomes of it."""

    origin: str
    """Where it was found: `.claude/zskills-config.json execution.landing`."""
    why_not: str = ""
    setting: Setting | None = None
    value: Value = ""


class New(NamedTuple):
    """A value that differs from the one in force."""

    setting: Setting
    before: Value
    after: Value
    place: Place
    origin: str

    @property
    def plain(self) -> dict[str, Any]:
        """Return it as JSON data."""
        change = {"key": self.setting.key, "before": self.before, "after": self.after}
        return {**change, "file": self.place.name, "from": self.origin}


def found_here(door: Door, repository: Repository | None) -> list[Found]:
    """List the settings of other tools that are found here."""
    return [_mapped(origin, name, raw) for origin, name, raw in _raw(door, repository)]


def bring(door: Door, *, dry_run: bool, yes: bool) -> int:
    """Show what differs from the settings in force, ask, and write it."""
    repository = find_repository(door.start)
    found = found_here(door, repository)
    new, left = (
        list(_new(door, repository, found)),
        [found_setting for found_setting in found if found_setting.setting is None],
    )
    for new_setting in () if door.json else new:
        answer(door, "- ", printable(f"{new_setting.setting.key} = {words(new_setting.before)}"))
        whence = f"({new_setting.place.name}, from {new_setting.origin})"
        answer(door, "+ ", printable(f"{new_setting.setting.key} = {words(new_setting.after)} {whence}"))
    for other in () if door.json else left:
        answer(door, "  ", printable(f"not imported: {other.origin}: {other.why_not}"))
    is_agreed = bool(new) and not dry_run and (yes or agreed(door, "Write these settings?"))
    for new_setting in new if is_agreed else ():
        refuse_locked(chosen_now(repository, door.environ, new_setting.setting), new_setting.setting)
    for new_setting in new if is_agreed else ():
        edit(new_setting.place, new_setting.setting, new_setting.after, repository)
    if door.json:
        others = [{"from": found_setting.origin, "why": found_setting.why_not} for found_setting in left]
        data = {"differ": [new_setting.plain for new_setting in new], "left": others, "written": is_agreed}
        door.screen.emit_json({"schema": _SCHEMA, **data})
    elif is_agreed:
        answer(door, "", f"Wrote {counted(len(new), 'setting')}.")
    elif not new:
        is_same = len(left) < len(found)
        same = f"Your settings have {'the other' if left else 'these'} values already."
        answer(door, "", same if is_same else "Nothing to import.")
    return DONE if is_agreed or dry_run or not new else PARKED


def _new(door: Door, repository: Repository | None, found: list[Found]) -> Iterator[New]:
    for origin, _, setting, value in found:
        before = chosen_now(repository, door.environ, setting).value if setting else value
        if setting is not None and before != value:
            place = file_for(repository, door.environ, setting, value)
            yield New(setting, before, value, place, origin)


def _mapped(origin: str, name: str, raw: object) -> Found:
    if raw is _UNREADABLE:
        return Found(origin, "the file is not a JSON object")
    if name in _WITHOUT:
        return Found(origin, _WITHOUT[name])
    key, value = _OURS.get(name, ""), raw
    match name, raw:
        case "execution.main_protected", bool(is_protected):
            key, value = "landing.direct", _DIRECT[is_protected]
        case "ci.auto_fix", False:
            key, value = "landing.ci_fixes", 0
        case "ci.auto_fix", True:
            return Found(origin, "this is the default")
        case "CLAUDE_CODE_PLAN_MODE_INTERVIEW_PHASE", _:
            is_on = str(raw).strip().lower() in ("1", "true", "yes", "on")
            key, value = "author.mode", "interview" if is_on else "fitting"
        case "ui.file_patterns", str(patterns):
            value = [patterns]
        case _:
            pass
    if not key:
        return Found(origin, "asbuilt has no such setting")
    setting = setting_named(key)
    try:
        read = from_text if isinstance(value, str) else from_toml
        return Found(origin, "", setting, read(setting, value, where="", next_step=""))  # type: ignore[arg-type]  # either takes its own
    except SettingInvalid as error:
        return Found(origin, error.what)


_UNREADABLE: Final = object()


def _raw(door: Door, repository: Repository | None) -> Iterator[tuple[str, str, object]]:
    """Yield each setting of another tool: its place, its name and its value."""
    environ = dict(door.environ)
    root = repository.root if repository else None
    if root is not None:
        config = _object(root / _ZSKILLS)
        if config is _UNREADABLE:
            yield _ZSKILLS, "", _UNREADABLE
        elif isinstance(config, dict):
            testing, checks = config.get("testing"), config.get("ci")
            if isinstance(checks, dict) and checks.get("auto_fix") is False:
                checks.pop("max_fix_attempts", None)
            if isinstance(testing, dict) and not testing.get("full_cmd") and testing.get("unit_cmd"):
                testing["full_cmd"] = testing["unit_cmd"]
            yield from (
                (f"{_ZSKILLS} {name}", name, value)
                for name, value in _leaves(config)
                if name != "testing.unit_cmd"
            )
    for file in (claude_settings(door.environ), *(root / name for name in _CLAUDE if root)):
        kept = _object(file)
        if isinstance(kept, dict):
            environ |= kept["env"] if isinstance(kept.get("env"), dict) else {}
            yield from (
                (f"{file.name} {name}", name, kept[name])
                for name in ("plansDirectory", "useAutoModeDuringPlan")
                if name in kept
            )
    for name in environ:
        if name.startswith(("CLAUDE_CODE_PLAN_V2_", "CLAUDE_CODE_PLAN_MODE_")):
            yield name, name, environ[name]


def _leaves(table: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        whole = f"{path}{name}"
        if isinstance(value, dict):
            yield from _leaves(value, f"{whole}.")
        elif value not in ("", None, []):
            yield whole, value


def _object(file: Path) -> object:
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError):
        return _UNREADABLE
    return value if isinstance(value, dict) else _UNREADABLE
