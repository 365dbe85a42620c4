"""What two processes can want at the same instant, each through the product's own functions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.errors import PlanChanged, StoreFailed
from asbuilt.events.options import RunOptions
from asbuilt.flows import requests
from asbuilt.flows.landing.move import Mover
from asbuilt.flows.requests import Asker, Declined
from asbuilt.flows.run.record import Record
from asbuilt.flows.run_end import end
from asbuilt.git.landing import candidates
from asbuilt.git.repository import open_repository
from asbuilt.journal import approvals, drafts, runs
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.events import history, open_plan
from asbuilt.journal.ids import LOCAL, Address, Segment
from asbuilt.library.atomic_files import replace
from asbuilt.plan.markdown.source import digest
from asbuilt.plan.reader import read
from tests.journal.conftest import open_store
from tests.races.arena import play

if TYPE_CHECKING:
    from collections.abc import Callable

    from asbuilt.flows.landing.move import Refusal
    from asbuilt.git.repository import Repository
    from asbuilt.journal.database.store import Store
    from tests.races.arena import Rival, Said

REPO: Final = "6f9c"
NAMES: Final = ("ada", "bob")
QUESTION: Final = approvals.Wish(run="r", kind="continue", question="go on?")


def plan_of(number: int, who: int = 0) -> Address:
    """Name the plan of a round; each has its own."""
    return Address(LOCAL, REPO, f"plans/{number}{'ab'[who]}.md")


def text_of(number: int, revision: int) -> bytes:
    """Write the plan of a round, each revision with another want."""
    return f"# Plan {number}\n\n## Phase 1 — Do\n\n- [ ] want {revision}\n".encode()


def propose(store: Store, number: int) -> None:
    """Put the first draft of a round's plan into the inbox."""
    plan, address = read(text_of(number, 1)), plan_of(number)
    with store.write() as session:
        open_plan(session, address, "plan")
        written = drafts.write(session, address, plan, run=f"r{number}", by="agent", text=plan.digest)
        drafts.ask(session, address, written, title=plan.title, actor="asbuilt")


class _Journal:
    """Whoever plays with the journal: FOLDER STORE."""

    def __init__(self, who: int, places: list[str]) -> None:
        self.who = who
        self.rooms = Path(places[0]) / "runs"
        self.store = open_store(places[1])
        self.asker = Asker(NAMES[who], f"host-{who}", {})

    def prepare(self, number: int) -> None:
        """Nothing has to be there."""


class Claim(_Journal):
    """Both ask for a run of one plan."""

    def act(self, number: int) -> Said:
        asked = requests.request(
            self.store,
            self.rooms,
            plan_of(number),
            slug="plan",
            options=RunOptions(mode="finish"),
            asker=self.asker,
        )
        if isinstance(asked, Declined):
            holder = asked.holder.run if asked.holder else None
            return {"won": False, "holder": asked.claim.run, "run": holder, "host": asked.claim.host}
        return {"won": True, "run": asked.run}


class Answer(_Journal):
    """Both answer one question, one with yes and one with no."""

    def prepare(self, number: int) -> None:
        if self.who == 0:
            with self.store.write() as session:
                open_plan(session, plan_of(number), "plan")
                approvals.ask(session, plan_of(number), key=f"{number}/ask", wish=QUESTION, actor="asbuilt")

    def act(self, number: int) -> Said:
        counts, asked = requests.answer(
            self.store, LOCAL, REPO, number + 1, reply=("yes", "no")[self.who], note=None, asker=self.asker
        )
        return {"won": counts, "answer": asked.answer, "by": asked.answered_by}


class Approve(_Journal):
    """Both answer one plan's draft: one with yes, the other with no."""

    def prepare(self, number: int) -> None:
        if self.who == 0:
            propose(self.store, number)

    def act(self, number: int) -> Said:
        counts, asked = requests.answer(
            self.store, LOCAL, REPO, number + 1, reply=("yes", "no")[self.who], note=None, asker=self.asker
        )
        return {"won": counts, "answer": asked.answer, "by": asked.answered_by}


class Revise(_Journal):
    """One says yes to a draft while the other edits it."""

    def __init__(self, who: int, places: list[str]) -> None:
        super().__init__(who, places)
        self.blobs = Blobs(Path(places[0]) / "blobs")
        self.first = 1

    def prepare(self, number: int) -> None:
        if self.who == 0:
            propose(self.store, number)
        with self.store.read() as session:
            asked = drafts.drafts_of(session, plan_of(number)).asked
        self.first = int(asked.name[1:]) if asked else 0

    def act(self, number: int) -> Said:
        if self.who == 0:
            counts, asked = requests.answer(
                self.store, LOCAL, REPO, self.first, reply="yes", note=None, asker=self.asker
            )
        else:
            counts, asked = requests.revise(
                self.store, self.blobs, LOCAL, REPO, self.first, data=text_of(number, 2), asker=self.asker
            )
        return {
            "won": counts,
            "answer": asked.answer,
            "by": asked.answered_by,
            "first": asked.number == self.first,
        }


class Ask(_Journal):
    """Two plans of one repository ask a question each; questions are numbered in the repository."""

    def prepare(self, number: int) -> None:
        with self.store.write() as session:
            open_plan(session, plan_of(number, self.who), "plan")

    def act(self, number: int) -> Said:
        try:
            with self.store.write() as session:
                key = f"{number}/{self.who}"
                asked = approvals.ask(
                    session, plan_of(number, self.who), key=key, wish=QUESTION, actor="asbuilt"
                )
        except StoreFailed as error:
            return {"failed": error.what}
        return {"number": asked.number}


class Stop(_Journal):
    """A person stops a run and answers what it asks, while it ends and is told to go on."""

    def prepare(self, number: int) -> None:
        if self.who == 0:
            with self.store.write() as session:
                address = plan_of(number)
                runs.request(
                    session, address, run=f"r{number}", slug="plan", options=RunOptions(), actor="you"
                )
                runs.plan_segment(session, Segment(LOCAL, REPO, f"r{number}", 2, runs.FAR, "asks"))
                wish = QUESTION._replace(run=f"r{number}")
                # The answer to such a question lasts, so the end of the run leaves it open.
                approvals.ask(session, address, key=f"ask/r{number}", wish=wish, actor="asbuilt")

    def act(self, number: int) -> Said:
        with self.store.read() as session:
            (run,) = runs.of_plan(session, plan_of(number))
        said = {}
        try:
            if self.who == 0:
                said["stopped"] = requests.stop(self.store, run, reason="enough", asker=self.asker)
                said["resumed"] = requests.resume(self.store, run, asker=self.asker)
            else:
                with self.store.write() as session:
                    end(session, run, "failed", "it ended")
                said["ended"] = True
                said["answered"], _ = requests.answer(
                    self.store, LOCAL, REPO, number + 1, reply="yes", note=None, asker=self.asker
                )
        except StoreFailed as error:
            return {"failed": error.what}
        return said


class _Load:
    """One proven commit."""

    def __init__(self, repository: Repository, run: str, commit: str) -> None:
        self.repository, self.run, self.commit = repository, run, commit
        self.built: list[str] = []

    def build(self, onto: str, *, sign: bool) -> candidates.Candidate | Refusal:
        found = candidates.pick(self.repository, onto=onto, commits=[self.commit], run=self.run, sign=sign)
        assert isinstance(found, candidates.Candidate), found
        self.built.append(onto)
        return found

    def refusal(self, _: candidates.Candidate) -> None:
        """It is proven wherever it lands."""

    def details(self, _: candidates.Candidate) -> str:
        return ""


class _Landing:
    """Whoever lands, each with a journal of its own: FOLDER REPOSITORY. What is proven is under refs."""

    same = False

    def __init__(self, who: int, places: list[str]) -> None:
        self.whose = "a" if self.same else "ab"[who]
        self.room = Path(places[0]) / f"room-{who}"
        self.room.mkdir()
        self.store = open_store(str(self.room / "journal.db"))
        self.store.migrate(STEPS)
        self.repository = open_repository(Path(places[1]))

    def prepare(self, number: int) -> None:
        address, run = plan_of(number), f"01r{number}{self.whose}"
        with self.store.write() as session:
            asked = runs.request(session, address, run=run, slug="plan", options=RunOptions(), actor="you")
        self.record = Record(run=asked, store=self.store, blobs=Blobs(self.room / "blobs"))
        ref = f"refs/proven/{number}{self.whose}"
        self.load = _Load(self.repository, run, self.repository.git.line("rev-parse", "--verify", ref))

    def act(self, number: int) -> Said:
        run = self.record.run.run
        append, hold = self.record.append, self.record.hold
        mover = Mover(
            repository=self.repository, run=run, branch="main", room=self.room, append=append, hold=hold
        )
        mover.land(self.load, cut_off=None, sign=False, again="asbuilt land plan")
        with self.store.read() as session:
            told = [(one.kind, getattr(one.event, "new", None)) for one in history(session, plan_of(number))]
        return {"built": self.load.built, "told": told[1:]}


class Landing(_Landing):
    """Two runs of two plans land on one branch."""


class SameLanding(_Landing):
    """One run is landed by two processes."""

    same = True


class _File:
    """Whoever writes a plan: FOLDER FILE."""

    def __init__(self, who: int, places: list[str]) -> None:
        self.who = who
        self.file = Path(places[1])
        self.seen = b""

    def prepare(self, _: int) -> None:
        self.seen = self.file.read_bytes()

    def act(self, number: int) -> Said:
        text = f"{NAMES[self.who]} {number}\n" * 2_000
        try:
            replace(self.file, text.encode(), expected=digest(self.seen), name="plan.md")
        except PlanChanged as error:
            return {"won": False, "told": error.what}
        return {"won": True, "text": text.partition("\n")[0]}


class File(_File):
    """Both change the plan that they have read."""


class Editor(_File):
    """One changes the plan, and a person saves it without looking."""

    def act(self, number: int) -> Said:
        if self.who == 0:
            return super().act(number)
        fresh = self.file.with_name("editor-temp")
        fresh.write_text(f"person {number}\n" * 2_000, encoding="ascii")
        fresh.replace(self.file)
        return {"before": self.seen.decode("ascii").partition("\n")[0]}


GAMES: Final[dict[str, Callable[[int, list[str]], Rival]]] = {
    "claim": Claim, "answer": Answer, "approve": Approve, "revise": Revise, "ask": Ask, "stop": Stop,
    "landing": Landing, "same-landing": SameLanding, "file": File, "editor": Editor,
}  # fmt: skip


if __name__ == "__main__":
    play(GAMES[sys.argv[1]], sys.argv[2:])
