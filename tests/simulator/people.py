"""What people do, by the shipped requests. The one rule: they only do what a command lets them do."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from asbuilt.errors import StoreFailed
from asbuilt.events.options_json import plain_options, read_options
from asbuilt.flows import requests
from asbuilt.flows.run.marks import marked
from asbuilt.git.commits import Commit
from asbuilt.journal import approvals, claims, runs
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.queries.overview import events_of
from asbuilt.lifecycle.status.plan_state import fold_plan
from tests.simulator.model_git import PERSON, state_of
from tests.simulator.model_spaces import LARGE
from tests.simulator.story import REPO

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from asbuilt.journal.approvals import Approval
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.claims import Claim
    from asbuilt.journal.database.store import Session
    from asbuilt.journal.runs import Run
    from tests.simulator.ledger import Ledger
    from tests.simulator.model_git import Model
    from tests.simulator.stage import Actor, Stage
    from tests.simulator.story import Act, Script, Story

ASKER: Final = requests.Asker("a person", "here", {})


class People:
    """Everybody who is not asbuilt."""

    def __init__(self, stage: Stage, ledger: Ledger, blobs: Blobs, model: Model, story: Story) -> None:
        self._stage = stage
        self._ledger = ledger
        self._blobs = blobs
        self._model = model
        self._story = story
        self.broke: set[str] = set()
        """Plans whose claim somebody has broken."""
        self.edited: set[str] = set()
        """Plans whose file somebody has changed by hand."""
        self.next_id = ""
        """What the next run is called: by its plan, whoever comes first."""

    def do(self, act: Act) -> None:
        """Do something, whether it works or not."""
        entered = self._enter(partial(self._do, act), act.kind)
        if act.point:
            self._stage.intrude(entered, 0)

    def hear(self, number: int, key: str) -> None:
        """Hear that something is asked; who is eager answers before anything else happens."""
        asked = approvals.named(self._ledger.look(), LOCAL, REPO, number)
        if asked is None or not self._story.is_eager(key):
            return
        self._stage.intrude(self._enter(partial(self._answer, asked)), self._story.haste(key))
        if not self._story.is_calm:
            self._enter(partial(self._answer, asked, other=True))

    def settle(self) -> bool:
        """Answer and resume whatever waits for somebody; False when nothing does."""
        session = self._ledger.look()
        asked = approvals.waiting(session, LOCAL, REPO)
        open_runs = runs.open_of(session, LOCAL)
        waiting = [one for one in asked if any(run.run == one.run for run in open_runs)]
        paused = [run for run in open_runs if runs.pauses(session, run).is_open]
        for one in waiting:
            self._enter(partial(self._answer, one))
        for run in paused:
            self._enter(partial(self._go_on, run))
        return bool(waiting or paused)

    def _enter(self, do: Callable[[], None], what: str = "") -> Actor:
        return self._stage.enter(f"person {what}", None, partial(self._patiently, do))

    def _patiently(self, do: Callable[[], None]) -> None:
        """Do it; where the store does not answer, again after a while."""
        while True:
            try:
                do()
            except StoreFailed as error:
                self._stage.tell(f"is told: {error}")
                self._stage.sleep(60.0)
            else:
                return

    def _do(self, act: Act) -> None:
        script = self._story.scripts[act.plan]
        newest = self._newest(script)
        match act.kind:
            case "run" if newest is not None and self._story.is_calm:
                # Asked for before, by somebody who was not told so.
                return
            case "run":
                self._request(script, script.options)
            case "land" | "undo" | "verify" | "continue" if newest is not None:
                self._again(script, newest, act.kind)
            case "stop" if newest is not None:
                stopped = requests.stop(self._ledger, newest, reason="enough", asker=ASKER)
                self._stage.tell(f"stop {newest.run}: {stopped}")
            case "pause" if newest is not None:
                paused = requests.pause(self._ledger, newest, reason="lunch", asker=ASKER)
                self._stage.tell(f"pause {newest.run}: {paused}")
            case "go_on" if newest is not None:
                self._go_on(newest)
            case "answer":
                for one in approvals.waiting(self._ledger.look(), LOCAL, REPO, limit=1):
                    self._answer(one)
            case "break":
                self._break(script, requests.take_away)
            case "break_as_before":
                self._break(script, _break_as_before)
            case "edit" | "tick" | "commit" | "clash" | "merge" | "commit_plan":
                self._work(act.kind, script)
            case _:
                self._stage.tell(f"{act.kind} {script.slug}: there is no run")

    def _request(self, script: Script, options: dict[str, Any]) -> None:
        options = {**options, "checkout": str(self._model.root)}
        address = Address(LOCAL, REPO, script.path)
        rooms: Path = self._model.root / "runs"
        self.next_id = f"{script.slug}{len(runs.of_plan(self._ledger.look(), address)) + 1}"
        asked = requests.request(
            self._ledger, rooms, address, slug=script.slug, options=read_options(options), asker=ASKER
        )
        what = f"declined, {asked.claim.run} has it" if isinstance(asked, requests.Declined) else asked.run
        self._stage.tell(f"{options['kind']} {script.slug} {_shown(options)}: {what}")

    def _again(self, script: Script, newest: Run, kind: str) -> None:
        """Ask for a run that follows another one, as `land`, `plan verify` and `resume` do."""
        options = {name: value for name, value in plain_options(newest.options).items() if name != "of"}
        if kind == "continue":
            if newest.state in ("failed", "stopped"):
                self._request(script, {**options, "continues": newest.run})
            return
        options |= {"kind": kind, "auto": True, "hold": False}
        if kind == "undo":
            address = Address(LOCAL, REPO, script.path)
            options["of"] = fold_plan(events_of(self._ledger.look(), self._blobs, address)).newest
            if options["of"] is None:
                return
        self._request(script, options)

    def _go_on(self, run: Run) -> None:
        said = requests.resume(self._ledger, run, asker=ASKER)
        self._stage.tell(f"go on {run.run}: {said}")

    def _answer(self, asked: Approval, *, other: bool = False) -> None:
        said = self._story.answer(asked.key)
        if other:
            said = "no" if said == "yes" else "yes"
        if "/keep/" in asked.key:
            for space in self._model.spaces.values():
                space.files = {name: data for name, data in space.files.items() if data != LARGE}
        word: approvals.Answer = "yes" if said == "yes" else "no"
        counts, _ = requests.answer(
            self._ledger, LOCAL, REPO, asked.number, reply=word, note=None, asker=ASKER
        )
        self._stage.tell(f"answer {asked.key}: {said}, counts: {counts}")

    def _break(self, script: Script, take_away: Callable[..., Claim | None]) -> None:
        with self._ledger.write() as session:
            held = take_away(session, Address(LOCAL, REPO, script.path), reason="gone", asker=ASKER)
            if held is not None:
                self.broke.add(script.path)
        self._stage.tell(f"break {script.slug}: {held.run if held else None}")

    def _work(self, kind: str, script: Script) -> None:
        """Work in the checkout, as people do."""
        model, file = self._model, self._model.root / script.path
        phase = script.phases[0]
        if model.carried != model.refs["refs/heads/main"]:
            self._stage.tell("another git is at work in the checkout")
            return
        if kind == "edit":
            text = file.read_bytes().replace(
                b"make `%s-%s`" % (script.slug.encode(), phase.encode()),
                b"make `%s-%s` well" % (script.slug.encode(), phase.encode()),
            )
            file.write_bytes(text)
            self.edited.add(script.path)
        elif kind == "tick":
            file.write_bytes(marked(file.read_bytes(), {phase: "0" * 10}))
            self.edited.add(script.path)
        elif kind == "merge":
            branch = model.refs.get(f"refs/heads/asbuilt/{script.slug}")
            if branch is not None and self._merge(branch):
                self._stage.tell(f"merges asbuilt/{script.slug}")
                return
        else:
            at = model.refs["refs/heads/main"]
            files = dict(model.files(at))
            if kind == "commit_plan":
                files[script.path] = file.read_bytes()
                self.edited.add(script.path)
            files["mine" if kind != "clash" else f"{script.slug}-{phase}"] = repr(self._stage.now).encode()
            self._commit(at, files)
        self._stage.tell(f"{kind} {script.slug}: {state_of(model, script.path)}")

    def _merge(self, branch: str) -> bool:
        """Move the branch forward to what is proven, where nothing has come between."""
        model, at = self._model, self._model.refs["refs/heads/main"]
        dirty = any(state_of(model, plan) == "dirty" for plan in model.plans)
        if dirty or at not in model.history(branch):
            return False
        model.swap("refs/heads/main", branch, at)
        model.carry(branch)
        return True

    def _commit(self, at: str, files: dict[str, bytes]) -> None:
        model = self._model
        name = model.store(
            Commit(
                name="", tree=model.tree(files), parents=(at,), author=PERSON, committer=PERSON,
                message=b"A person's work\n",
            )
        )  # fmt: skip
        if model.swap("refs/heads/main", name, at):
            model.carry(name)

    def _newest(self, script: Script) -> Run | None:
        found = runs.of_plan(self._ledger.look(), Address(LOCAL, REPO, script.path), limit=1)
        return found[0] if found else None


def _shown(options: dict[str, Any]) -> str:
    names = ("mode", "phase", "auto", "hold", "landing", "tests", "setup")
    return " ".join(f"{name}={options[name]}" for name in names if options.get(name))


def _break_as_before(
    session: Session, address: Address, *, reason: str, asker: requests.Asker
) -> Claim | None:
    """Break a claim as an older asbuilt does on the same journal: the run that had it is not told."""
    return claims.break_(session, address, reason=reason, actor=asker.actor)
