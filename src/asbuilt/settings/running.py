"""Settings of a run, in the form of its options.

A run reads them when it starts and again when it continues; a difference is a `Change`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from msgspec import structs

from asbuilt.events.options import RunOptions, value_or
from asbuilt.events.options_json import plain_options, read_options
from asbuilt.settings.layers import Layer, Settings
from asbuilt.settings.registry import SETTINGS

COMMANDS: Final = ("checks.tests", "checks.suites", "checks.setup", "checks.services", "ui.pictures")
"""Keys whose values are programs to start."""
_PLACES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "checks.tests": ("tests",),
        "checks.suites": ("suites",),
        "checks.counts": ("counts",),
        "checks.setup": ("setup",),
        "checks.minutes": ("limits", "checks_min"),
        "proof.depth": ("depth",),
        "checks.probe": ("probe",),
        "checks.services": ("services",),
        "checks.env": ("env", "checks"),
        "setup.env": ("env", "setup"),
        "setup.credentials": ("credentials",),
        "ui.patterns": ("ui",),
        "ui.pictures": ("pictures",),
        "ui.tester": ("tester",),
        "landing.sign": ("sign",),
        "landing.reports": ("reports",),
        "landing.programs": ("programs",),
        "landing.ci_poll_s": ("pull", "poll_s"),
        "landing.ci_limit_s": ("pull", "limit_s"),
        "landing.ci_fixes": ("pull", "fixes"),
        "sandbox.required": ("ring_required",),
        "sandbox.network": ("sandbox", "network"),
        "sandbox.setup": ("sandbox", "setup"),
        "sandbox.hosts": ("sandbox", "hosts"),
        "sandbox.readable": ("sandbox", "readable"),
        "attention.desktop": ("desktop",),
        "limits.usd": ("caps", "usd"),
        "limits.tokens": ("caps", "tokens"),
        "limits.hours": ("caps", "hours"),
        **{key: ("scope", key.partition(".")[2]) for key in SETTINGS if key.startswith("scope.")},
    }
)
"""Where a run's options hold each key. Agents and the landing mode are missing: flags set them, too."""


class Change(NamedTuple):
    """A setting that differs from the run's value."""

    key: str
    before: Any
    after: Any

    @property
    def is_command(self) -> bool:
        """Whether it changes a program to start."""
        return self.key in COMMANDS

    @property
    def is_of_landing(self) -> bool:
        """Whether a landing or an undo, which starts no agent, reads it."""
        return self.key.partition(".")[0] in ("checks", "setup", "sandbox", "landing")


def command_in(settings: Settings, key: str) -> str | None:
    """Return the chosen command; None: detect it, empty: `none` was chosen."""
    chosen = settings.text(key).strip()
    return "" if chosen == "none" else chosen or None


def chosen_for_runs(settings: Settings) -> RunOptions:
    """Return the options of a run that follow from settings alone."""
    chosen: dict[str, Any] = {}
    for key, (*folders, name) in _PLACES.items():
        table = chosen
        for folder in folders:
            table = table.setdefault(folder, {})
        table[name] = _option(settings, key)
    return read_options(chosen)


def beside_checks(settings: Settings) -> RunOptions:
    """Return the options for services, variables and credentials of checks and setup."""
    chosen = chosen_for_runs(settings)
    return RunOptions(services=chosen.services, env=chosen.env, credentials=chosen.credentials)


def with_sandbox(options: RunOptions, settings: Settings) -> RunOptions:
    """Return options with the sandbox settings as chosen now."""
    chosen = chosen_for_runs(settings)
    return structs.replace(options, sandbox_required=chosen.sandbox_required, sandbox=chosen.sandbox)


def check_limit_s(options: RunOptions) -> int:
    """Return the limit in seconds of a setup, the tests or one check; older runs have the default."""
    default: Any = SETTINGS["checks.minutes"].default
    return 60 * value_or(options.limits.checks_min, int(default))


def differing(before: RunOptions, after: RunOptions) -> list[Change]:
    """List the settings that both options have, with different values."""
    old, new = plain_options(before), plain_options(after)
    found = ((key, _held(old, place), _held(new, place)) for key, place in _PLACES.items())
    return [Change(key, then[0], now[0]) for key, then, now in found if then and now and then[0] != now[0]]


def renewed(options: RunOptions, settings: Settings) -> tuple[RunOptions, list[Change]]:
    """Return the options of a run that continues, with its settings as chosen now, and the changes."""
    changes, whole = differing(options, chosen_for_runs(settings)), plain_options(options)
    for key, _, after in changes:
        *folders, name = _PLACES[key]
        table = whole
        for folder in folders:
            table = table[folder]
        table[name] = after
    return read_options(whole), changes


def _option(settings: Settings, key: str) -> Any:  # noqa: ANN401 - as JSON holds it
    value = settings.chosen[key].value
    if key in ("checks.tests", "checks.setup"):
        return command_in(settings, key)
    if key.startswith("limits."):
        return value or None
    if key == "checks.counts" and settings.chosen[key].origin.layer is Layer.DEFAULT:
        return None
    if isinstance(value, tuple):
        return [element if isinstance(element, str) else element._asdict() for element in value]
    return value.strip() if isinstance(value, str) else value


def _held(plain: Mapping[str, Any], place: tuple[str, ...]) -> tuple[Any] | None:
    table: Any = plain
    for name in place:
        if not isinstance(table, dict) or name not in table:
            return None
        table = table[name]
    return (table,)
