"""Try a plan's checks from a command, and show what each did. The checkout is not touched."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from asbuilt import wiring
from asbuilt.cli.runs.grants import need_variables
from asbuilt.cli.shell.options import Door
from asbuilt.cli.ui.failure import show_failures
from asbuilt.cli.ui.messages import answer, coloured, talk
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import GateStopped, NotFound
from asbuilt.flows.checks.dry_run import Trying
from asbuilt.flows.checks.prove import tree_of
from asbuilt.flows.environments.check_environment import CheckEnvironments
from asbuilt.flows.environments.limits_and_variables import Given
from asbuilt.flows.registration import known
from asbuilt.flows.run.environment import given_by
from asbuilt.git.first_use import first_commit
from asbuilt.git.repository import Repository, open_repository, resolve
from asbuilt.git.user_name import committing
from asbuilt.journal.home import Home
from asbuilt.policy.sandbox.variables import passed
from asbuilt.proof.checks_before_work import Before, Tried, trial_summary
from asbuilt.proof.failure import Failure
from asbuilt.settings import load, state_folder
from asbuilt.settings.granted_variables import given
from asbuilt.settings.running import beside_checks

if TYPE_CHECKING:
    from asbuilt.cli.shell.plan_context import Desk


@contextmanager
def trying(door: Door, desk: Desk) -> Iterator[Trying]:
    """Provide a temporary environment that runs checks on the last commit; it is deleted at the end.

    Setups of earlier runs of this repository are reused. If there are none, they are built in the temporary
    folder.
    """
    if desk.library.repository is None:
        raise NotFound(
            "checks are tried on what is committed, and there is no repository here",
            why="They need a clean checkout of the project.",
            next_step="`cd your-repo` goes to the repository of the plan; or name it with --repo.",
        )
    repository = open_repository(desk.library.repository.root)
    commit = resolve(repository, "HEAD")
    if commit is None:
        first = committing(first_commit(repository.root), repository.common)
        raise GateStopped(
            "nothing is committed here yet",
            why="Checks are tried on a clean checkout of the last commit.",
            next_step=f"{first}, or check the text alone: `asbuilt plan check`",
        )
    home = Home(state_folder(door.environ))
    with tempfile.TemporaryDirectory(prefix="asbuilt-try-", ignore_cleanup_errors=True) as made:
        room = Path(made).resolve()
        processes = wiring.check_processes(home, room / "scratch", door.environ)
        setups = _setups(door, desk, repository) or room / "setups"
        environments = CheckEnvironments(
            setups,
            repository,
            processes,
            environment=passed(door.environ),
            history=commit,
            given=given_here(door, desk),
            announce=partial(talk, door, "Setting up: "),
        )
        yield Trying(repository, environments, tree_of(repository, commit), processes.level)


def given_here(door: Door, desk: Desk) -> Given:
    """Return what checks get besides a checkout, by the current settings. Asks for missing grants."""
    repository = desk.library.repository
    options = beside_checks(desk.settings)
    if repository is None:
        return given_by(options, {})
    need_variables(door, structs.replace(options, checkout=str(repository.root)))
    settings = load(repository=repository.root, environ=door.environ)
    values = given(settings, repository.root, door.environ)
    return given_by(options, {**values, "home": door.environ.get("HOME")})


def _setups(door: Door, desk: Desk, repository: Repository) -> Path | None:
    journal = wiring.find_journal(desk.settings, door.environ)
    repo = journal and known(journal.store, repository)
    return journal.home.path / "setups" / repo if journal and repo else None


def failures_in(tried: Sequence[Tried]) -> list[Failure]:
    """Return the failures of tried checks, each once."""
    return [*dict.fromkeys(trial.failure for trial in tried if trial.failure is not None)]


def show_tried(door: Door, tried: Sequence[Tried]) -> None:
    """Show what each check did before the work, and a summary line."""
    pen = door.screen.out
    symbols = {
        Before.PASSES: pen.symbols.note,
        Before.UNREADABLE: pen.symbols.failed,
        Before.NO_PROGRAM: pen.symbols.failed,
        Before.UNCLEAR: pen.symbols.not_run,
    }
    for trial in tried:
        symbol = pen.symbols.not_started if trial.is_fit else symbols[trial.before]
        lead = f"{symbol} {printable(trial.phase) or '-':<3} {trial.before:<11} "
        command = printable(trial.command.partition("\n")[0])
        first, *rest = pen.hanging(lead, f"{command}: {trial.why}", commands=False, under=6)
        door.screen.answer_all(
            (coloured(pen, symbol, needs_you=not trial.is_fit) + first.removeprefix(symbol), *rest)
        )
    show_failures(door, failures_in(tried))
    if tried:
        answer(door, "", f"Tried {counted(len(tried), 'check')}: {trial_summary(tried)}.")
    else:
        answer(door, "", "It has no check that could be tried.")
