"""`asbuilt run --every`: schedule a plan. Contradicting options are refused before anything is scheduled."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from shlex import quote
from typing import Any, NamedTuple

import click
from msgspec import UNSET, UnsetType

from asbuilt import wiring
from asbuilt.cli.commands.worker.install import is_installed
from asbuilt.cli.runs.grants import need_grants
from asbuilt.cli.shell.options import Door, with_options
from asbuilt.cli.shell.run_context import Site, asker
from asbuilt.cli.ui.clock import now_in, stamp
from asbuilt.cli.ui.messages import answer, next_command, talk
from asbuilt.cli.ui.schedules import over_words, schedule_json, schedule_sentence
from asbuilt.errors import UsageWrong
from asbuilt.events.options import Between, RunOptions
from asbuilt.flows.schedule import schedule, setting_of
from asbuilt.journal import schedules
from asbuilt.journal.ids import Address
from asbuilt.journal.runs import Run
from asbuilt.journal.schedules import Schedule
from asbuilt.library.time_zones import zone_name
from asbuilt.lifecycle.run import working_hours
from asbuilt.lifecycle.run.working_hours import Window
from asbuilt.lifecycle.schedule import grammar
from asbuilt.lifecycle.schedule.firing import Setting
from asbuilt.settings import Settings


class When(NamedTuple):
    """When to run a plan, as typed."""

    every: str | None
    now: bool
    between: str | None


times = with_options(
    click.option("--every", metavar="WHEN", help="a phase at these times, with --auto: 4h, day at 9am, cron"),
    click.option("--now", is_flag=True, help="with --every: start the first phase at once"),
    click.option(
        "--between", metavar="HOURS", help="start phases only in these hours, for example 22:00-07:00"
    ),
)
"""The options that make a `When`."""


class Every(NamedTuple):
    """A cadence as stored and as typed, and its time zone."""

    cadence: str
    asked: str
    zone: str

    def from_now(self, now: str) -> Setting:
        """Return the schedule setting that starts now."""
        return Setting(self.cadence, self.zone, now)


def refuse_contradictions(
    slug: str, when: When, *, finish: bool, phase: str | None, foreground: bool
) -> None:
    """Refuse options that contradict each other."""
    if when.every is None and when.now:
        raise UsageWrong(
            "--now needs --every",
            why="A run without a schedule starts now anyway.",
            next_step=f"`asbuilt run {slug}`",
        )
    if when.every is None:
        return
    if finish:
        raise UsageWrong(
            "--finish and --every exclude each other",
            why="A scheduled run does one phase; its schedule fires until all phases are done.",
            next_step=f"`asbuilt run {slug} --finish --auto` runs all of it now.",
        )
    if phase is not None or foreground:
        given, word = ("--foreground", "--foreground") if phase is None else (f"phase {phase}", phase)
        raise UsageWrong(
            f"{given} does not go with --every",
            why="The worker starts every scheduled run, and finds the next phase automatically.",
            next_step=f"`asbuilt run {slug} {word}` runs it now.",
        )


class Timed(NamedTuple):
    """When to run a plan, parsed."""

    every: Every | None
    now: bool
    hours: Between | UnsetType
    """The hours as stored in a run."""

    @property
    def implies_auto(self) -> bool:
        """Whether the runs are those of a schedule, which ask nothing."""
        return self.every is not None

    def rows(self, now: str) -> list[tuple[str, str]]:
        """Return the meaning of cadence and hours, with the next three times of each."""
        rows: list[tuple[str, str]] = []
        window = working_hours.window_in(self.hours)
        if self.every is not None:
            setting = self.every.from_now(now)
            first = " at once, then" if self.now else ","
            rows += [
                ("Every", f"one phase{first} {setting.meaning}, {setting.zone}"),
                ("", _listed(setting.next_times(now, window))),
                ("", _remark(self.every)),
            ]
        if window is not None:
            state = "closed" if window.opens_at(now) else "open"
            rows += [
                ("Hours", f"begins phases only {window.words}, {window.zone}; {state} now"),
                ("", f"opens {_listed(window.next_times(now))}"),
            ]
        return rows

    def plain(self, now: str) -> dict[str, Any] | None:
        """Return the cadence as JSON data; None without one."""
        return self.every and {
            "cadence": self.every.cadence,
            "zone": self.every.zone,
            **_meant(self.every.from_now(now), working_hours.window_in(self.hours)),
        }


def read_times(door: Door, settings: Settings, when: When, *, plan: str) -> Timed:
    """Parse the cadence, if there is one, and the hours."""
    every = None if when.every is None else _cadence(settings, door, when.every, plan)
    return Timed(every, when.now, _hours(settings, door, when.between, plan))


def _cadence(settings: Settings, door: Door, every: str, plan: str) -> Every:
    read = grammar.read(every)
    if isinstance(read, grammar.Unreadable):
        raise UsageWrong(
            f'"{every}" is no schedule: {read.why}',
            why=f"asbuilt does not guess a schedule. It reads: {', '.join(grammar.EXAMPLES)}.",
            next_step=f'`asbuilt run {quote(plan)} --every "day at 9am"`',
            typed=every,
            meant="day at 9am",
        )
    moved = grammar.moved(read, settings.number("schedule.offset"))
    zone = zone_name(settings.text("time.zone"), door.environ)
    return Every(grammar.write(moved), grammar.write(read), zone)


def _hours(settings: Settings, door: Door, between: str | None, plan: str) -> Between | UnsetType:
    if between is None:
        return UNSET
    zone = zone_name(settings.text("time.zone"), door.environ)
    window = working_hours.read(between, zone)
    if window is None:
        raise UsageWrong(
            f'"{between}" is no span of hours',
            why="A run could start outside the hours that you allow.",
            next_step=f"`asbuilt run {quote(plan)} --between 22:00-07:00`; the hours may span midnight.",
            typed=between,
            meant="22:00-07:00",
        )
    return Between(hours=window.words, zone=zone)


def put_on(
    door: Door, site: Site, address: Address, every: Every, options: RunOptions, *, is_all: bool
) -> bool:
    """Schedule a plan and start a worker; return `is_all`. False: a run follows, and --json shows only it."""
    home = site.journal.home
    options = need_grants(door, options)
    asked = schedule(
        site.journal.store,
        home,
        address,
        slug=options.slug,
        cadence=every.cadence,
        zone=every.zone,
        options=options,
        asker=asker(door),
    )
    wiring.ensure_worker(home, door.environ)
    if is_all or not door.json:
        _confirm(door, asked.schedule, every, is_new=asked.before is None)
    if is_all and not door.json:
        slug = options.slug
        next_command(door, f"asbuilt run {slug}", other=f"end the schedule: `asbuilt stop {slug}`")
    return is_all


def show_schedule(door: Door, site: Site, run: Run) -> None:
    """Print when the schedule of a run's plan fires next, or that it ended since the run was requested."""
    if door.json:
        return
    with site.journal.store.read() as session:
        timer = schedules.find(session, run.address)
        over = schedules.over(session, run.address, since=run.at)
    now = now_in(wiring.zone(site.desk.settings))
    if timer is not None:
        door.screen.talk(f"Scheduled {schedule_sentence(timer, now)}.")
    elif over is not None:
        talk(door, "", f"The schedule {over_words(over, now)}.")


def _confirm(door: Door, timer: Schedule, every: Every, *, is_new: bool) -> None:
    setting, window = setting_of(timer), working_hours.window_in(timer.options.between)
    survives = is_installed(door.environ)
    schedule_data = {**(schedule_json(timer) or {}), **_meant(setting, window), "survives_restart": survives}
    if door.emitted("asbuilt.schedule/1", schedule_data):
        return
    again = "" if is_new else ", in place of the one before"
    answer(door, "", f"Scheduled {timer.slug}: one phase, {setting.meaning}, {timer.zone}{again}.")
    answer(door, "  ", _listed(setting.next_times(timer.since, window)))
    if window is not None:
        answer(door, "  ", f"Phases begin only {window.words}, {window.zone}.")
    answer(door, "  ", _remark(every))
    if not survives:
        text = "Fires only while a worker is running; after `asbuilt worker install` also after a restart."
        door.screen.talk_all(door.screen.err.hanging(f"{door.screen.err.symbols.note} ", text))


def _meant(setting: Setting, window: Window | None) -> dict[str, Any]:
    times = (time.astimezone(UTC).isoformat() for time in setting.next_times(setting.since, window))
    return {"means": setting.meaning, "times": [stamp(time) for time in times]}


def _listed(times: Sequence[datetime]) -> str:
    return ", ".join(f"{time:%a %d %b %H:%M}" for time in times)


def _remark(every: Every) -> str:
    moved = f"Starts at {every.cadence[-5:]} instead of {every.asked[-5:]} (schedule.offset). "
    return f"{moved if every.cadence != every.asked else ''}Implies --auto."
