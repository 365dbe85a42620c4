"""A night in which the draft of a plan waits for an answer, and people who type at it."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest

from asbuilt.journal import approvals
from asbuilt.journal.drafts import ask, drafts_of, write
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.lifecycle.approval import AGENT
from asbuilt.plan.reader import read
from tests.cli.conftest import without_agents
from tests.cli.nights import REPO, Night
from tests.cli.plans import RATE_LIMIT
from tests.cli.screens import printed, shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from asbuilt.lifecycle.approval import Drafts

DRAFT = re.sub(r"✅ Done|🟡", "⬚", RATE_LIMIT.replace("[x]", "[ ]").replace("`4f1c9a2`", "")).replace(
    "### Work Items\n\n- [ ] A bucket", "### Work Items\n\nSize: S\n\n- [ ] A bucket"
)
TIGHTER = DRAFT.replace("At most 5 ms", "At most 2 ms")


class Inbox(Night):
    """A night in which an authoring has put its draft into the inbox."""

    def __init__(self, folder: Path, shop: Path, *, kind: str = "run") -> None:
        super().__init__(folder, shop)
        self.story = self.plan("rate-limit", "21:20:00", kind=kind)
        self.address = Address(LOCAL, REPO, "plans/rate-limit.md")

    def ask(self, question: str) -> str:
        """Ask something while it plans."""
        wish = approvals.Wish(self.story.made.run, "question", question)
        with self.store.write() as session:
            return approvals.ask(session, self.address, key=question, wish=wish, actor="asbuilt").name

    def draft(self, text: str, by: str = AGENT, *, asks: bool = True, again: bool = False) -> str:
        """Hand in a text, and ask about it."""
        plan = read(text.encode())
        with self.store.write() as session:
            blob = self.blobs.put(text.encode())
            written = write(session, self.address, plan, run=self.story.made.run, by=by, text=blob)
            if not asks:
                return ""
            return ask(session, self.address, written, title=plan.title, actor="asbuilt", again=again).name

    def typed(self, *words: str, user: str = "ada", **more: str) -> str:
        """Type a command as somebody, and give all that was said; times are of no account."""
        path = without_agents(os.environ["PATH"])
        chosen = {"LOGNAME": user, "PATH": path, "ASBUILT_AGENTS_IMPLEMENT": "scripted", **more}
        said = self._said(words, chosen)
        said = re.sub(r"\b\d\d:\d\d\b", "21:48", said)
        return re.sub(r"asked \S+ ago", "asked 2h ago", said)

    def _said(self, words: tuple[str, ...], chosen: dict[str, str]) -> str:
        return shown(self, words, "plain", 80, **chosen)

    @property
    def drafts(self) -> Drafts:
        with self.store.read() as session:
            return drafts_of(session, self.address)


class Desk(Inbox):
    """An inbox whose commands are processes: for tests that prove a required behaviour."""

    def _said(self, words: tuple[str, ...], chosen: dict[str, str]) -> str:
        return printed(self, *words, **chosen)


@pytest.fixture
def desk(tmp_path: Path, shop: Path) -> Iterator[Desk]:
    made = Desk(tmp_path, shop)
    made.wake()
    yield made
    made.close()


@pytest.fixture
def inbox(tmp_path: Path, shop: Path) -> Iterator[Inbox]:
    made = Inbox(tmp_path, shop)
    made.wake()
    yield made
    made.close()
