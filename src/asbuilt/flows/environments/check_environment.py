"""Check environments: a checkout of a tree, and what setup made for it.

In the sandbox every check environment has the same paths, so one setup serves all of them. Each command gets
a view of its own: an overlay where the kernel makes one, else a copy. Rule: no command changes what another
one finds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.flows.environments.limits_and_variables import LIMIT_S, Given, Terms, refuse_unheld
from asbuilt.flows.environments.reports import collect_reports, delete_reports, list_modules, loaded_in
from asbuilt.flows.environments.results import Ran, Results, content_of, fresh, lay, locked, move_made, put
from asbuilt.flows.environments.services import copied, place_logins, place_of, serve
from asbuilt.git.repository import Repository
from asbuilt.git.workspace.checkout_extras import alternates_of, borrow, lend, references_of, words_for
from asbuilt.git.workspace.checkouts import clean_checkout, delete
from asbuilt.policy.sandbox.check_environment import (
    INSIDE,
    OFFLINE,
    PLACED,
    WITHOUT_SCRIPTS,
    Places,
    for_results,
    for_setup,
    places_below,
)
from asbuilt.policy.sandbox.rules import Overlay, Placed
from asbuilt.policy.sandbox.services import Service, variables_of
from asbuilt.policy.shell.judge import argv_of
from asbuilt.ports import Command, Ended, Processes
from asbuilt.proof.pictures import MAX_PICTURE
from asbuilt.proof.runner_command_lines import Call, real_argv, reporting
from asbuilt.proof.trials.recorders import strays

if TYPE_CHECKING:
    from asbuilt.proof.projects.model import Setup

_LOOKED_AT: Final = 100
"""Most files that a command for pictures may leave."""
_OBJECTS: Final = f"{INSIDE}/objects"
_VIEWED: Final = ("checkout", "home", "cache")


class CheckEnvironments:
    """The check environments of one repository."""

    def __init__(  # noqa: PLR0913  each of these is a different matter
        self,
        folder: Path,
        repository: Repository,
        processes: Processes,
        *,
        limit_s: int = LIMIT_S,
        environment: Mapping[str, str] | None = None,
        history: str = "",
        given: Given = Given(),  # noqa: B008  frozen
        announce: Callable[[str], None] | None = None,
    ) -> None:
        """Keep the parts. Commands see `environment`; `announce` gets the command of a setup first."""
        refuse_unheld(given, processes)
        self._folder = folder
        self._repository = repository
        self._processes = processes
        self._terms = Terms(limit_s, environment or {}, history, given, announce)

    @contextmanager
    def take(self, setup: Setup) -> Iterator[CheckEnvironment]:
        """Lock the first free environment for a setup and yield it; the kernel unlocks it if we die."""
        for number in count():
            folder = self._folder / setup.digest / str(number)
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Without mounts, each check environment has its own paths, and the setup's results contain them.
            shared = folder.parent if self._processes.can_place else folder
            with locked(folder, waits=False) as is_mine:
                if is_mine:
                    with Results(shared).held() as results:
                        yield CheckEnvironment(
                            folder, self._repository, self._processes, setup, self._terms, results
                        )
                    return


class CheckEnvironment:
    """One check environment, locked by this process."""

    def __init__(
        self,
        folder: Path,
        repository: Repository,
        processes: Processes,
        setup: Setup,
        terms: Terms,
        results: Results,
    ) -> None:
        self._folder = folder
        self._here = places_below(str(folder))
        self._repository = repository
        self._processes = processes
        self._setup = setup
        self._terms = terms
        self._results = results
        self._is_placed = processes.can_place
        self.is_laid = self._is_placed and processes.can_overlay(folder)
        """True: a command gets an overlay of the setup's results, False: a copy."""
        self._is_trusted = True
        self.lacks: tuple[str, ...] = ()
        """Submodules and LFS files that the user's clone lacks, as text."""
        self._above: tuple[Path, ...] = ()
        self._inside: Places = PLACED if self._is_placed else self._here
        self._checkout, self.out = folder / "checkout", folder / "out"
        self.root = self._inside.checkout if self._is_placed else os.path.realpath(self._checkout)
        """Path of the checkout, for a command."""
        self.python_path = terms.environment.get("PYTHONPATH")

    def set_up(self, tree: str, *, is_trusted: bool = True) -> Ran | None:
        """Run the setup; None if its results exist.

        On a tree that an agent wrote it is not trusted: install scripts do not run where the package manager
        can skip them, and no other setup uses its downloads. A setup that is cut off leaves no results.
        """
        self._is_trusted = is_trusted
        if self._setup.command is None or self._results.are_made:
            return None
        with self._results.making() as made:
            if made is None:
                return None
            self._clean(tree)
            mounts, overlays = self._for_making(made, is_trusted=is_trusted)
            given = self._terms.given.for_setup(is_trusted=is_trusted)
            logins = place_logins(made / "home", given)
            if self._terms.announce is not None:
                self._terms.announce(self._setup.command)
            scripts = {} if is_trusted else WITHOUT_SCRIPTS
            ended = self._run(
                argv_of(self._setup.command),
                (*mounts, *logins.mounts),
                overlays,
                is_setup=True,
                environment={**for_setup(self._inside), **given.setup, **scripts},
                secrets=logins.secrets,
            )
            logins.remove()
            delete(self._folder / "git")
            if ended.exit_code == 0:
                if self.is_laid:
                    delete(made / "checkout" / ".git")
                else:
                    move_made(self._repository, tree, self._checkout, made / "checkout")
                self._results.finish(made)
        return Ran(self._setup.command, tree, self._setup.digest, ended)

    def _for_making(self, made: Path, *, is_trusted: bool) -> tuple[tuple[Placed, ...], tuple[Overlay, ...]]:
        """Return mounts and overlays that make a setup write its results to their place."""
        for name in ("home", "cache"):
            (made / name).mkdir(mode=0o700)
            if not self._is_placed:
                delete(self._folder / name)
                (self._folder / name).symlink_to(made / name)
        downloads = (self._folder.parent.parent if is_trusted else self._folder) / "downloads"
        if not is_trusted:
            delete(downloads)
        downloads.mkdir(mode=0o700, exist_ok=True)
        lower = (*self._above, self._checkout)
        views = (self._view(made / "checkout", *lower),) if self.is_laid else ()
        checkout = views[0].point if views else str(self._checkout)
        mounts = (
            Placed(checkout, PLACED.checkout),
            Placed(str(made / "home"), PLACED.home),
            Placed(str(made / "cache"), PLACED.cache),
            Placed(str(downloads), PLACED.downloads),
        )
        return mounts, views

    def limit_for(self, before_s: float) -> int:
        """Return the time limit of a command that took `before_s`: 3 times that, at least the usual limit."""
        return max(self._terms.limit_s, ceil(3 * before_s))

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on what commands find here."""
        how = "an overlay" if self.is_laid else "copies, since no overlay can be made here"
        made = (f"setup results: {how}",) if self._results.are_made else ()
        own = () if self._is_trusted else ("packages were installed for this tree alone",)
        return (*made, *own, *self.lacks)

    @property
    def report(self) -> str:
        """Path of the runner's report."""
        return f"{self._inside.out}/report.xml"

    def run(  # noqa: PLR0913  each of these is a different matter
        self,
        tree: str,
        command: str,
        *,
        over: Mapping[str, bytes | None] | None = None,
        call: Call | None = None,
        limit_s: int | None = None,
        folder: str = "",
        keeps_cache: bool = False,
        modules: tuple[str, ...] = (),
    ) -> Ran:
        """Run a command on exactly a tree and the setup's results; it sees nothing of earlier commands.

        `over` maps paths to other contents, None for a file to leave out. `call` is another way to call the
        same command, `limit_s` another time limit, `folder` the folder of the checkout to run in.
        `keeps_cache` keeps its build caches for later commands: only for a tree that no agent touched. Every
        Python process lists where it loaded `modules` from.
        """
        kept, path = self._folder.parent.parent / "services", self._terms.environment.get("PATH", "")
        served = serve(self._terms.given.services, kept, self._processes, path)
        if isinstance(served, Ended):
            return Ran(command, tree, self._setup.digest, served)
        self._clean(tree, over or {})
        mounts, overlays = self._views(keeps_cache=keeps_cache, data=served.data)
        if call is None:
            package = content_of(self._checkout / folder / "package.json") or b""
            call = reporting(real_argv(argv_of(command), package.decode("utf-8", "replace")), self.report)
        if not self.is_laid:
            delete_reports(self._checkout, call.reports)
        listing = list_modules(modules, self.out, self._inside.out, self.python_path) if modules else {}
        ended = self._run(
            call.argv,
            mounts,
            overlays,
            is_setup=False,
            environment={
                **OFFLINE,
                **variables_of(served.services),
                **call.environment,
                **listing,
                **self._terms.given.checks,
            },
            services=served.services,
            limit_s=limit_s,
            folder=folder,
        )
        found = strays(loaded_in(self.out), self.root) if modules else ()
        return Ran(command, tree, self._setup.digest, ended, self._reported(call.reports), found)

    def _reported(self, patterns: tuple[str, ...]) -> bytes | None:
        wrote = self._folder / "upper" / "checkout" if self.is_laid else self._checkout
        report = content_of(self.out / "report.xml") or collect_reports(wrote, patterns)
        return None if report is None else self._terms.hide(report)

    def look(self, tree: str, command: str) -> tuple[Ran, list[tuple[str, bytes]]]:
        """Run a command that takes pictures; return its result and the files in its pictures folder."""
        call = Call(argv_of(command), {"ASBUILT_PICTURES": self._inside.out})
        ran = self.run(tree, command, call=call)
        files = sorted(self.out.iterdir())[:_LOOKED_AT]
        found = ((file.name, content_of(file, MAX_PICTURE)) for file in files)
        return ran, [(name, content) for name, content in found if content is not None]

    def forget(self) -> None:
        """Have the next run make the setup again: its results stopped working."""
        self._results.forget()

    def _clean(self, tree: str, over: Mapping[str, bytes | None] | None = None) -> None:
        """Put exactly a tree into the checkout, with `over` in place of its files."""
        # With overlays only asbuilt writes there, so git's index shows what differs.
        index = self._folder / "index" if self.is_laid else None
        # Left by a git of ours that died; no other process uses this folder.
        (self._folder / "index.lock").unlink(missing_ok=True)
        clean_checkout(self._repository, tree, self._checkout, index=index)
        self._above = self._borrow(tree)
        for path, content in (over or {}).items():
            put(self._checkout, path, content)
        fresh(self.out)
        if self._is_placed:
            history = self._terms.history
            lend(
                self._repository,
                self._folder / "git",
                tree=tree,
                history=history,
                objects_at=_OBJECTS,
                index=index,
            )

    def _borrow(self, tree: str) -> tuple[Path, ...]:
        """Borrow what the tree only refers to; returns the folder to overlay on the checkout."""
        references = references_of(self._repository, tree)
        self.lacks = tuple(words_for(reference) for reference in references if reference.source is None)
        if len(self.lacks) == len(references):
            return ()
        folder = borrow(self._repository, references, self._folder.parent.parent / "borrowed")
        if not self.is_laid:
            for reference in references:
                if reference.source is not None:
                    delete(self._checkout / reference.path)
            lay(folder, self._checkout)
        return (folder,)

    def _views(
        self, *, keeps_cache: bool, data: tuple[tuple[str, Path], ...]
    ) -> tuple[tuple[Placed, ...], tuple[Overlay, ...]]:
        """Return a command's view of the setup's results: overlays, else copies."""
        made = self._results.folder
        if not self.is_laid:
            for name in ("home", "cache"):
                fresh(self._folder / name)
            if made is not None:
                for name in _VIEWED:
                    lay(made / name, self._folder / name)
            mine = [Placed(getattr(self._here, name), getattr(PLACED, name)) for name in _VIEWED]
            return (*mine, *copied(data, self._folder / "services")), ()
        upper = self._folder / "upper"
        delete(upper)
        overlays = []
        mounts = []
        for name in _VIEWED:
            below = [made / name] if made else []
            if name == "cache" and keeps_cache and made:
                mounts.append(Placed(str(made / name), PLACED.cache))
                continue
            lower = [*self._above, self._checkout, *below] if name == "checkout" else below
            if not lower:
                (upper / name).mkdir(mode=0o700, parents=True)
                mounts.append(Placed(str(upper / name), getattr(PLACED, name)))
                continue
            overlays.append(self._view(upper / name, *lower))
            mounts.append(Placed(overlays[-1].point, getattr(PLACED, name)))
        for name, source in data:
            overlays.append(self._view(upper / f"service-{name}", source))
            mounts.append(Placed(overlays[-1].point, place_of(name)))
        return tuple(mounts), tuple(overlays)

    def _view(self, upper: Path, *lower: Path) -> Overlay:
        point, work = (fresh(self._folder / f"{part}-{upper.name}") for part in ("point", "work"))
        upper.mkdir(mode=0o700, parents=True, exist_ok=True)
        return Overlay(lower=tuple(map(str, lower)), upper=str(upper), work=str(work), point=str(point))

    def _leading(self, path: str) -> dict[str, str]:
        """Return the variables that point to the setup's results."""
        if self._setup.command is None:
            return {}
        made = self._results.folder
        return for_results(self._inside, path, has_venv=made is None or (made / "home" / "venv").is_dir())

    def _run(  # noqa: PLR0913  a command, its mounts and its terms
        self,
        argv: tuple[str, ...],
        mounts: tuple[Placed, ...],
        overlays: tuple[Overlay, ...],
        *,
        is_setup: bool,
        environment: Mapping[str, str] | None = None,
        services: tuple[Service, ...] = (),
        secrets: tuple[str, ...] = (),
        limit_s: int | None = None,
        folder: str = "",
    ) -> Ended:
        given, opened = self._terms.environment, self._terms.given.opened
        placed = (
            *mounts,
            Placed(str(self.out), PLACED.out),
            # Install scripts put hooks there; what a setup writes there is deleted with it.
            Placed(str(self._folder / "git"), f"{PLACED.checkout}/.git", writable=is_setup),
            Placed(str(self._repository.common / "objects"), _OBJECTS, writable=False),
        )
        ended = self._processes.run(
            Command(
                argv=argv,
                cwd=Path(self._inside.checkout, folder),
                home=Path(self._inside.home),
                writable=() if self._is_placed else (self._checkout, self.out, self._folder / "cache"),
                readable=(*alternates_of(self._repository), *map(Path, opened.readable)),
                network=opened.network if is_setup else "none",
                hosts=opened.hosts,
                environment={**given, **self._leading(given.get("PATH", "")), **(environment or {})},
                placed=placed if self._is_placed else (),
                overlays=overlays,
                services=services,
                as_user=bool(self._terms.given.services),
                timeout_s=limit_s or self._terms.limit_s,
            )
        )
        return self._terms.masked(ended, secrets)
