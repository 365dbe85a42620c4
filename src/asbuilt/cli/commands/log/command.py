"""`asbuilt log`: the events of a plan, in order; or its attempts, their changes, and a branch with files."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from shlex import quote
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click
from msgspec import UNSET

from asbuilt.cli.shell.addresses import named, never_ran
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.read_context import complete_address, look_for
from asbuilt.cli.shell.run_context import Site, look_at, site_of
from asbuilt.cli.ui.clock import at, stamp, to_the_second
from asbuilt.cli.ui.columns import cut_middle
from asbuilt.cli.ui.failure import show_failures
from asbuilt.cli.ui.messages import answer, next_command
from asbuilt.cli.ui.screen import Pen, printable
from asbuilt.cli.ui.words import counted
from asbuilt.cli.wording.events import data_of, event_line, plain
from asbuilt.errors import DONE, NameMisspelt, NotFound, UsageWrong
from asbuilt.events.event import Entry
from asbuilt.git.forge.branches import Remote
from asbuilt.git.refs import base_of, changes, patch, restore
from asbuilt.git.workspace import snapshots
from asbuilt.journal import runs
from asbuilt.journal.events import last
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.queries.overview import AttemptView, attempts_of, failures_in
from asbuilt.similar_names import nearest

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session

_ADDRESS: Final = "An attempt's address is plan, run, phase and number, with dots."


class Kept(NamedTuple):
    """An attempt and the commit with its files; None if not kept yet, or deleted after landing."""

    attempt: AttemptView
    commit: str | None

    @property
    def ref(self) -> str:
        """The git ref that keeps its files."""
        return snapshots.ATTEMPTS + self.attempt.id


def every(site: Site, plan: str | None, environ: Mapping[str, str]) -> list[Kept]:
    """Return the attempts of one plan or of all, newest first."""
    with site.journal.store.read() as session:
        rows = session.rows(
            "SELECT plan FROM heads WHERE org = :org AND repo = :repo", org=LOCAL, repo=site.repo
        )
        addresses = (
            [site.address(named(plan).plan)]
            if plan is not None
            else [Address(LOCAL, site.repo, row["plan"]) for row in rows]
        )
        found = [
            attempt for address in addresses for attempt in attempts_of(session, site.journal.blobs, address)
        ]
    found.sort(key=lambda attempt: attempt.facts.began_at, reverse=True)
    _fetch(site, found, environ)
    return [Kept(attempt, snapshots.kept(site.repository, attempt.id)) for attempt in found]


def _fetch(site: Site, attempts: list[AttemptView], environ: Mapping[str, str]) -> None:
    """Fetch what workers of the fleet have pushed and is not here; attempts of other runs are here."""
    missing = {attempt.id for attempt in attempts if snapshots.kept(site.repository, attempt.id) is None}
    with site.journal.store.read() as session:
        found = [runs.find(session, LOCAL, site.repo, name.partition(".")[0]) for name in missing]
    orders = {run.options.fleet for run in found if run is not None and run.options.fleet is not UNSET}
    for order in orders:
        remote = Remote.at(site.repository, order.attempts or order.remote, environ)
        refs = remote.listed(*(snapshots.ATTEMPTS + name for name in sorted(missing)))
        remote.fetch_refs(dict(zip(refs, refs, strict=True)))


def _found(door: Door, name: str) -> tuple[Site, Kept]:
    _, site = look_at(door, name)
    if site is None:
        raise never_ran(name)
    name = name.rpartition(":")[2]
    listed = {kept.attempt.name: kept for kept in every(site, named(name).plan, door.environ)}
    if name not in listed:
        if meant := nearest(name, listed):
            raise NameMisspelt(
                f'no attempt "{name}". Did you mean {meant}?',
                typed=name,
                meant=meant,
                why=_ADDRESS,
                next_step=f"`asbuilt log --attempts {meant}`",
            )
        raise NotFound(
            f'no attempt "{name}"',
            why=_ADDRESS,
            next_step="`asbuilt log --attempts` lists every attempt.",
        )
    return site, listed[name]


def the_kept(door: Door, name: str) -> tuple[Site, Kept, str]:
    """Find an attempt by its address, and the commit with its files."""
    site, found = _found(door, name)
    if found.commit is None and found.attempt.facts.output:
        raise NotFound(
            f"no files are kept of {name}",
            why="It is a stage of authoring, and its output is text.",
            next_step=f"`asbuilt log {found.attempt.name} --patch` shows the text.",
        )
    if found.commit is None:
        raise NotFound(
            f"nothing is kept of {name}",
            why=f"{found.ref} does not exist: the attempt is running, or was deleted after its landing.",
            next_step="`asbuilt log --attempts` lists what is kept.",
        )
    return site, found, found.commit


def show_attempts(door: Door, plan: str | None) -> int:
    """List attempts, the newest first: who worked, how it ended, and where its files are kept."""
    site = site_of(door, plan) if plan is not None else look_at(door)[1]
    listed = [] if site is None else every(site, plan, door.environ)
    files = {
        kept_attempt.attempt.id: _files(site, kept_attempt) for kept_attempt in listed if site is not None
    }
    if door.emitted(
        "asbuilt.attempts/1",
        {"attempts": [_json(kept_attempt, files[kept_attempt.attempt.id]) for kept_attempt in listed]},
    ):
        return DONE
    if not listed:
        door.screen.answer("No agent has worked here.")
        next_command(door, "asbuilt plan list")
        return DONE
    now = datetime.now(UTC)
    for kept_attempt in listed:
        _show(door, kept_attempt, files[kept_attempt.attempt.id], now)
    kept = next(
        (
            kept_attempt.attempt.name
            for kept_attempt in listed
            if kept_attempt.commit or kept_attempt.attempt.facts.output
        ),
        None,
    )
    next_command(door, f"asbuilt log {kept} --patch" if kept is not None else "asbuilt status")
    return DONE


def show_changes(door: Door, attempt: str, *, whole: bool) -> int:
    """Show what an attempt changed against what its phase was built on; `whole`: the changed lines too."""
    site, kept = _found(door, attempt)
    if whole and kept.commit is None and kept.attempt.facts.output:
        return _show_text(door, site, kept, kept.attempt.facts.output)
    site, kept, commit = the_kept(door, attempt)
    base = base_of(site.repository, commit)
    changed = changes(site.repository, commit)
    text = patch(site.repository, commit).decode("utf-8", "surrogateescape") if whole else None
    files = [change._asdict() for change in changed]
    row = {"attempt": kept.attempt.name, "base": base, "commit": commit, "files": files, "patch": text}
    if door.emitted("asbuilt.attempt/1", row):
        return DONE
    pen = door.screen.out
    head = f"{pen.bold(kept.attempt.name)}   {counted(len(changed), 'file')} changed against {base[:7]}"
    door.screen.answer(head)
    for change in changed:
        lines = "binary" if change.added is None else f"+{change.added} -{change.removed}"
        path = cut_middle(printable(change.path), pen.width - len(lines) - 4, pen.symbols)
        door.screen.answer(f"  {path}  {lines}")
    if text is None:
        next_command(door, f"asbuilt log {kept.attempt.name} --patch")
        return DONE
    door.screen.answer()
    door.screen.answer_all(printable(text, lines=True).splitlines())
    return DONE


def _show_text(door: Door, site: Site, kept: Kept, output: str) -> int:
    """Show the output of a stage of authoring, which changes no files."""
    text = "\n\n".join(map(str, site.journal.blobs.get_json(output)))
    nothing: dict[str, object] = {"base": None, "commit": None, "files": [], "patch": None}
    if not door.emitted("asbuilt.attempt/1", {"attempt": kept.attempt.name, **nothing, "text": text}):
        door.screen.answer_all(printable(text, lines=True).splitlines())
    return DONE


def restore_files(door: Door, attempt: str, branch: str) -> int:
    """Create a branch at an attempt's files. The checkout does not change, and no branch is moved."""
    site, kept, commit = the_kept(door, attempt)
    restore(site.repository, commit, branch)
    if door.emitted("asbuilt.restored/1", {"attempt": kept.attempt.name, "branch": branch, "commit": commit}):
        return DONE
    door.screen.answer(printable(f"{branch} is at {commit[:7]}: the files of {kept.attempt.name}."))
    next_command(door, f"git switch {quote(branch)}")
    return DONE


def _files(site: Site, kept: Kept) -> int | None:
    return None if kept.commit is None else len(changes(site.repository, kept.commit))


def _show(door: Door, kept: Kept, files: int | None, now: datetime) -> None:
    pen, facts = door.screen.out, kept.attempt.facts
    when = at(facts.ended_at or facts.began_at, now)
    nothing = "its text is kept" if facts.output else "nothing kept"
    changed = nothing if files is None else f"{counted(files, 'file')} changed"
    lead = f"{_symbol(pen, kept)} {printable(kept.attempt.name)}  "
    door.screen.answer_all(
        pen.hanging(lead, f"{facts.role}, {ending(kept)} {when}, {changed}", commands=False, under=2)
    )
    if files is not None:
        door.screen.answer(f"  {pen.dim(kept.ref)}")  # whole, also where it is wider: it is copied


def _symbol(pen: Pen, kept: Kept) -> str:
    facts, symbols = kept.attempt.facts, pen.symbols
    if kept.attempt.is_proven:
        return symbols.proven
    if facts.ending is None:
        return symbols.working
    return symbols.failed if facts.failures else symbols.not_run


def ending(kept: Kept) -> str:
    """Return how an attempt ended: what its agent said, and whether asbuilt has proven it."""
    facts = kept.attempt.facts
    if facts.ending is None:
        return "running since"
    if facts.ending != "done":
        return facts.ending.replace("_", " ")
    if kept.attempt.is_proven:
        return "proven"
    if kept.attempt.judged:
        return kept.attempt.judged.replace("_", " ")
    return "says done, not proven" if facts.failures else "says done, not judged"


def _json(kept: Kept, files: int | None) -> dict[str, Any]:
    facts = kept.attempt.facts
    return {
        "attempt": kept.attempt.name,
        "phase": kept.attempt.phase,
        "role": facts.role,
        "ending": facts.ending,
        "proven": kept.attempt.is_proven,
        "began_at": stamp(facts.began_at),
        "ended_at": stamp(facts.ended_at) if facts.ended_at else None,
        "files": files,
        "ref": kept.ref if kept.commit else None,
        "commit": kept.commit,
    }


PAGE: Final = 200


@subcommand(
    "log",
    ("asbuilt log rate-limit", "what happened, in order"),
    ("asbuilt log rate-limit --phase 2a", "to one phase"),
    ("asbuilt log rate-limit.1.2a.2", "of one attempt"),
    ("asbuilt log rate-limit --before 141", "what came before event 141"),
    ("asbuilt log rate-limit --attempts", "what agents wrote, the newest first"),
    ("asbuilt log rate-limit.1.2a.2 --patch", "what an attempt changed, line by line"),
    ("asbuilt log rate-limit.1.2a.2 --restore look", "create the branch look with its files"),
    ("asbuilt log rate-limit --json", "events whole, each with its number"),
)
@click.argument("plan", required=False, shell_complete=complete_address)
@click.option("--phase", metavar="ID", help="only what concerns this phase")
@click.option("--before", metavar="N", type=click.IntRange(min=1), help="only what came before event N")
@click.option("--attempts", is_flag=True, help="list attempts; of one attempt, the files that it changed")
@click.option("--patch", is_flag=True, help="of one attempt: the changed lines too")
@click.option("--restore", "branch", metavar="BRANCH", help="of one attempt: create a branch with its files")
def command(  # noqa: PLR0913 - click passes each option by its name
    door: Door,
    plan: str | None,
    *,
    phase: str | None,
    before: int | None,
    attempts: bool,
    patch: bool,
    branch: str | None,
) -> int:
    """Show what happened to a plan: what agents say, what asbuilt ran, and what that proved.

    At most the last 200 events are shown; the command for earlier ones is printed below them.
    """
    is_attempt = plan is not None and named(plan).attempt is not None
    if plan is not None and (branch or patch or (attempts and is_attempt)):
        return restore_files(door, plan, branch) if branch else show_changes(door, plan, whole=patch)
    if attempts:
        return show_attempts(door, plan)
    if plan is None:
        raise UsageWrong(
            "asbuilt log needs the name of a plan",
            why="Each plan has its own events.",
            next_step="`asbuilt status` lists the plans that have run.",
        )
    return _show_events(door, plan, phase, before)


def _show_events(door: Door, plan: str, phase: str | None, before: int | None) -> int:
    looking = look_for(door, plan)
    address, name = looking.find(plan)
    run = looking.run(plan).run if name.run is not None else None
    wanted = {"run": run, "phase": phase or name.phase, "number": _number(name.attempt)}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    with looking.journal.store.read() as session:
        entries, earlier = _page(session, address, before, wanted)
    failures = [failures_in(looking.journal.blobs, entry.event) for entry in entries]
    if door.json:
        rows = [
            {**plain(entry), "at": stamp(entry.at), "failures": [failure.plain for failure in failed]}
            for entry, failed in zip(entries, failures, strict=True)
        ]
        door.screen.emit_json(
            {"schema": "asbuilt.log/1", "plan": address.plan, "events": rows, "earlier": earlier}
        )
        return DONE
    if not entries:
        answer(door, "", "No matching events.")
        next_command(door, f"asbuilt log {name.plan}")
    lines = [event_line(entry) for entry in entries]
    wide = max((len(line.phase) for line in lines), default=0)
    words = max([11, *(len(line.word) + 1 for line in lines)])
    for entry, line, failed in zip(entries, lines, failures, strict=True):
        label = f"{line.phase:<{max(3, wide)}} {line.word.lower():<{words}}"
        lead = f"{to_the_second(entry.at, looking.moment.now)}  {label}"
        answer(door, printable(lead), line.text, under=min(len(lead), door.screen.out.width // 3))
        show_failures(door, failed)
    if earlier is not None:
        only = f" --phase {phase}" if phase else ""
        next_command(door, f"asbuilt log {plan}{only} --before {earlier}")
    return DONE


def _page(
    session: Session, address: Address, before: int | None, wanted: dict[str, str | int | None]
) -> tuple[list[Entry], int | None]:
    """Return the last page of matching events before `before`, and the number to page back from, or None."""
    found: list[Entry] = []
    while len(found) < PAGE and (page := last(session, address, before=before, limit=PAGE)):
        found[:0] = [entry for entry in page if wanted.items() <= _about(entry).items()]
        before = page[0].seq
    found = found[-PAGE:]
    return found, found[0].seq if len(found) == PAGE and found[0].seq > 1 else None


def _number(attempt: str | None) -> int | None:
    return None if attempt is None else int(attempt.rstrip("vt"))


def _about(entry: Entry) -> dict[str, object]:
    data = data_of(entry)
    return {name: data.get(name) for name in ("run", "phase", "number")}
