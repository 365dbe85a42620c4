"""`asbuilt report`: what a run promised and what is proven, on the screen or as a page.

Rule: nothing is written into a checkout unless --to names the folder, and no file is overwritten.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Any, Final

import click

from asbuilt.cli.commands.status import views_here
from asbuilt.cli.runs.next_step import Next, helping, installing
from asbuilt.cli.shell.addresses import named
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.read_context import Looking, complete_address, look, look_for
from asbuilt.cli.ui.clock import at, lasting, parsed, stamp, zone_of
from asbuilt.cli.ui.failure import show_failures
from asbuilt.cli.ui.messages import advise, answer, headline
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted, listed
from asbuilt.errors import DONE, NameTaken, NotFound, StoreFailed
from asbuilt.flows.report import account_of, with_earlier_phases
from asbuilt.flows.run.record import Record
from asbuilt.journal.queries.overview import events_of, facts_from
from asbuilt.journal.runs import Run
from asbuilt.lifecycle.delivery.facts import Landed
from asbuilt.lifecycle.run.proving import ProvingFacts
from asbuilt.lifecycle.status.report import Account, notes, sums
from asbuilt.pages.run_report import Page

_SETTLED_S: Final = 3.0
"""Seconds after which a browser process that is still alive counts as started."""


def keep(page: Page, folder: Path) -> Path:
    """Write the page into the run's folder, replacing an older one, and return the HTML file."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, text in (("report.md", page.markdown), ("report.html", page.html)):
            fresh = folder / f".{name}.{os.getpid()}"
            fresh.write_text(text, encoding="utf-8")
            fresh.replace(folder / name)
    except OSError as error:
        raise _unwritten(folder, error, f"`df -h {quote(str(folder.parent))}`") from error
    return folder / "report.html"


def copy_to(page: Page, folder: Path, name: str) -> list[Path]:
    """Write the page into a folder that the user named, and return the files."""
    files = {folder / f"{name}.html": page.html, folder / f"{name}.md": page.markdown}
    taken = next((file for file in files if os.path.lexists(file)), None)
    if taken is not None:
        raise NameTaken(
            f"there is a {taken.name} already in {folder}",
            why="An existing report is never overwritten.",
            next_step=f"`mv {quote(str(taken))} {quote(f'{taken}.old')}`, or name another folder.",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            with file.open("x", encoding="utf-8") as opened:
                opened.write(text)
    except OSError as error:
        raise _unwritten(folder, error, f"`asbuilt report {name} --to ~/reports`") from error
    return [*files]


def show(file: Path, environ: Mapping[str, str]) -> bool:
    """Open a file in a browser. Return False if none could be started."""
    command = _browser(environ)
    if command is None:
        return False
    try:
        started = subprocess.Popen(  # noqa: S603 - what the user has for it
            [*command, str(file)],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return started.wait(_SETTLED_S) == 0
    except subprocess.TimeoutExpired:
        return True
    except OSError:
        return False


def _browser(environ: Mapping[str, str]) -> list[str] | None:
    chosen = environ.get("BROWSER", "").split(os.pathsep)[0].strip()
    if chosen:
        try:
            return shlex.split(chosen)
        except ValueError:
            return None
    has_screen = sys.platform == "darwin" or environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")
    for name in ("open",) if sys.platform == "darwin" else ("xdg-open", "wslview"):
        found = shutil.which(name, path=environ.get("PATH", ""))
        if found and (has_screen or name == "wslview"):
            return [found]
    return None


def _unwritten(folder: Path, error: OSError, next_step: str) -> StoreFailed:
    return StoreFailed(
        f"the page cannot be written into {folder}: {(error.strerror or 'unknown reason').lower()}",
        why="It is made from the journal each time, so nothing is lost.",
        next_step=next_step,
    )


@subcommand(
    "report",
    ("asbuilt report", "the newest run here"),
    ("asbuilt report rate-limit", "the newest run of a plan"),
    ("asbuilt report rate-limit --open", "the whole account as a page, in your browser"),
    ("asbuilt report rate-limit.1 --to ~/reports", "the page as HTML and as Markdown, copied there"),
    ("asbuilt report rate-limit.1 --markdown", "the page on the screen, for a pull request"),
)
@click.argument("plan", required=False, shell_complete=complete_address)
@click.option("--open", "is_opened", is_flag=True, help="show the page in a browser")
@click.option("--to", "folder", metavar="DIR", help="copy the page into a folder")
@click.option("--markdown", is_flag=True, help="print the page as Markdown")
def command(door: Door, plan: str | None, *, is_opened: bool, folder: str | None, markdown: bool) -> int:
    """Show what a run promised, what asbuilt has proven of it, and what to know before you trust it."""
    looking, run = _found(door, plan)
    if run.options.plans:
        slug, is_written = run.options.slug, run.state == "done"
        does = "wrote" if is_written else "did not finish" if run.is_over else "is writing"
        raise NotFound(
            f"{slug} has not run yet: {slug}.{run.number} {does} the plan",
            why="A report shows what a run promised and proved.",
            next_step=f"`asbuilt {'run' if is_written else 'status'} {slug}`",
        )
    is_plan = plan is None or named(plan).run is None
    facts, account = _read(looking, run, is_plan=is_plan)
    page = Page(account, zone_of(looking.moment.now))
    files = []
    if is_opened:
        files.append(keep(page, looking.journal.home.runs / run.run))
    if folder is not None:
        files += copy_to(page, (door.start / folder).resolve(), account.name)
    if door.json:
        report_data = {**_json(run, facts, account), "files": [str(file) for file in files]}
        door.screen.emit_json({"schema": "asbuilt.report/1", **report_data})
    elif markdown:
        door.screen.answer_all(printable(page.markdown, lines=True).removesuffix("\n").split("\n"))
    elif files:
        for file in files:
            door.screen.answer(printable(str(file)))
    else:
        _show(door, looking, run, facts, account)
    if is_opened and not show(files[0], door.environ):
        door.screen.talk(
            f"{door.screen.err.symbols.note} No browser could be started; open that file yourself."
        )
    return DONE


def _read(looking: Looking, run: Run, *, is_plan: bool) -> tuple[ProvingFacts, Account]:
    """Read a run's account with all that it landed; that of a plan has what waits to be landed, too."""
    record = Record(run=run, store=looking.journal.store, blobs=looking.journal.blobs)
    with looking.journal.store.read() as session:
        now, events = session.now, events_of(session, looking.journal.blobs, run.address)
    facts = facts_from(run, events)
    if not isinstance(facts, ProvingFacts):
        raise TypeError(facts.kind)
    account = account_of(record, facts, events, looking.journal.home.workspaces / run.repo / run.run, now)
    account = with_earlier_phases(record, facts, events, account, pending=is_plan)
    return facts, account if run.is_over else account._replace(state=run.state)


def _found(door: Door, plan: str | None) -> tuple[Looking, Run]:
    if plan is not None:
        looking = look_for(door, plan)
        return looking, looking.run(plan)
    _, here = look(door)
    views = views_here(here) if here is not None else []
    newest = [view.run for view in views if view.run and not view.run.run.options.plans]
    if here is None or not newest:
        raise NotFound(
            "nothing has run here",
            why="A report shows what a run promised and proved.",
            next_step="`asbuilt plan list` lists the plans.",
        )
    return here, newest[0].run


def _show(door: Door, looking: Looking, run: Run, facts: ProvingFacts, account: Account) -> None:
    pen, now = door.screen.out, looking.moment.now
    ended = f" {at(run.ended_at, now)}" if run.ended_at else ""
    where = f" on {account.target}" if run.state == "landed" else ""
    took = lasting((parsed(run.ended_at or now.isoformat()) - parsed(run.at)).total_seconds())
    if account.at_work_s is not None:
        took += f", {lasting(account.at_work_s)} of it at work"
    cost = f", {facts.spent.words} at API prices" if facts.spent.brief else ""
    headline(door, account.name, f"{run.state}{where}{ended}, {took}{cost}")
    answer(door, "", _what_came(account))
    if run.state == "failed":
        answer(door, f"{pen.symbols.failed} ", account.reason)
        show_failures(door, account.failed, more=f"asbuilt status {account.slug}")
    for phase, text in notes(account):
        answer(door, f"{pen.symbols.note} ", f"phase {phase}: {text}" if phase else text, under=4)
    if account.advice is not None:
        advise(door, *account.advice)
    # Only the account of a plan has work of other runs that has not landed.
    is_of_plan = any(phase.run and not phase.landed for phase in account.phases)
    opens = f"asbuilt report {account.slug if is_of_plan else account.name} --open"
    if comment := installing(account.failed):
        page = f"open the page: `{opens}`"
        Next(f"asbuilt run {account.slug}", comment=comment, other=page).show(door)
    elif command := helping(account.failed):
        Next(command, also=f"asbuilt run {account.slug}", other=f"open the page: `{opens}`").show(door)
    else:
        Next(opens).show(door)


def _what_came(account: Account) -> str:
    total = sums(account)
    left = f" Not run: {total.not_run}." if total.not_run else ""
    if account.kind == "verify" and account.phases:
        passed = f"{total.checks_passed} of {counted(total.checks, 'check')} passed"
        return f"Checked {counted(len(account.phases), 'phase')} again: {passed}.{left}"
    if account.phases:
        proven = f"{total.items_proven} of {counted(total.items, 'item')}"
        waived = f"; {total.waived} waived" if total.waived else ""
        begun = {phase.id for phase in account.phases}
        later = [row.id for row in account.outline if not (row.is_done_before or row.id in begun)]
        if later and account.state in ("failed", "stopped"):
            left += f" Not started: {'phase' if len(later) == 1 else 'phases'} {listed(later)}."
        checks = f"{total.checks_passed} of {counted(total.checks, 'check')}"
        return f"Proven: {proven}, {checks}{waived}.{_earlier(account)}{left}"
    came = ""
    if account.undone:
        came = f"Reverted {_named(account.undone)}. "
    elif account.state in ("done", "undone") and account.reason:
        came = f"{account.reason[0].upper()}{account.reason[1:]}. "
    return f"{came}No agent worked in this run."


def _earlier(account: Account) -> str:
    """Return the sentences about phases that earlier runs proved."""
    by_run: dict[str, list[str]] = {}
    for phase in reversed(account.phases):
        if phase.run:
            by_run.setdefault(phase.run, []).append(phase.id)
    return "".join(
        f" {'Phase' if len(phases) == 1 else 'Phases'} {listed(phases)}"
        f" {'was' if len(phases) == 1 else 'were'} proven by {run}."
        for run, phases in by_run.items()
    )


def _named(landed: tuple[Landed, ...]) -> str:
    phases = [landed_phase.phase for landed_phase in landed]
    return f"{'phase' if len(phases) == 1 else 'phases'} {listed(phases)}"


def _json(run: Run, facts: ProvingFacts, account: Account) -> dict[str, Any]:
    return {
        "run": account.name,
        "plan": account.plan,
        "state": run.state,
        "at": stamp(run.at),
        "ended_at": stamp(run.ended_at) if run.ended_at else None,
        "reason": account.reason,
        **sums(account)._asdict(),
        "advice": account.advice and account.advice[1],
        "failures": [failure.plain for failure in account.failed],
        "next": helping(account.failed) or account.next_step or None,
        "notes": [{"phase": phase, "text": text} for phase, text in notes(account)],
        "cost": facts.spent.plain,
    }
