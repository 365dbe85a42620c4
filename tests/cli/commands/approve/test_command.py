"""A plan is put to a person on one screen; a yes covers the text that was shown, and no other."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
from typing import TYPE_CHECKING, Self

import pytest
from inline_snapshot import snapshot

from asbuilt.events.plans import DraftWritten
from asbuilt.journal import approvals
from asbuilt.lifecycle.approval import AGENT
from tests.cli.inbox import DRAFT, TIGHTER, Desk, Inbox, desk, inbox
from tests.cli.plans import on_terminal

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["desk", "inbox"]


def test_a_text_that_came_without_its_question_voids_the_question_before(inbox: Inbox) -> None:
    inbox.draft(DRAFT)
    text = inbox.blobs.put(TIGHTER.encode())
    written = DraftWritten(number=2, intent="i", digest="d", text=text, by=AGENT)
    inbox.story.append("21:30:00", written, "draft/2")
    assert inbox.typed("approve", "yes", "a1").splitlines()[:3] == snapshot(
        [
            "exit 4",
            "--- stdout",
            "a1 is about revision 1, but revision 2 by agent is newer. Nothing was answered.",
        ]
    )
    assert inbox.drafts.approved == ()


def test_a_plan_with_several_open_questions_does_not_name_one(inbox: Inbox) -> None:
    first, second = inbox.ask("first?"), inbox.ask("second?")
    assert inbox.typed("approve", "yes", "rate-limit") == (
        "exit 2\n--- stderr\n"
        f"error: rate-limit has 2 open questions: {first}, {second}\n"
        "  Why:  An answer is for one question.\n"
        f"  Next: asbuilt approve show {first}\n"
    )


def test_a_no_says_what_becomes_of_the_draft(tmp_path: Path, shop: Path) -> None:
    inbox = Inbox(tmp_path, shop, kind="author")
    inbox.wake()
    inbox.draft(DRAFT)
    assert inbox.typed("approve", "no", "a1") == snapshot("""\
exit 0
--- stdout
a1: no. You will be asked again what to change.
--- stderr
Next: asbuilt watch rate-limit
""")
    inbox.draft(TIGHTER, again=True)
    assert inbox.typed("approve", "show", "a2").splitlines()[2:5] == snapshot(
        [
            "Approve rate-limit?   a2   revision 2, sha256:5606",
            "It was declined without a reason. Give one with -m if you decline it again.",
            "Rate limiting for the public API",
        ]
    )
    assert inbox.typed("approve", "no", "a2") == snapshot("""\
exit 0
--- stdout
a2: no, again without a reason. The authoring ends; the draft is kept.
""")
    inbox.draft(DRAFT)
    assert inbox.typed("approve", "no", "a3", "-m", "smaller") == snapshot("""\
exit 0
--- stdout
a3: no. The author gets your reason and submits a new draft.
--- stderr
Next: asbuilt watch rate-limit
""")
    inbox.close()


def test_a_letter_that_no_option_has_answers_nothing(inbox: Inbox) -> None:
    words = "Count requests per what?\n(app.py knows both)\na  API key\nb  client address"
    asked = inbox.ask(words)
    assert inbox.typed("approve", "show", asked) == snapshot("""\
exit 0
--- stdout
a1   question   plans/rate-limit.md
  Count requests per what?
    (app.py knows both)
    a  API key
    b  client address
  asked 2h ago; not answered
--- stderr
Next: asbuilt approve yes a1 -m a
  or  in your own words: asbuilt approve a1 "your answer"
""")
    assert inbox.typed("approve", "yes", asked, "-m", "z") == snapshot("""\
exit 2
--- stderr
error: a1 has no option z: a, b
  Why:  A single letter means one of the options.
  Next: asbuilt approve show a1
""")
    assert inbox.typed("approve", "yes", asked, "-m", "B") == snapshot("""\
exit 0
--- stdout
a1: client address. Count requests per what?
--- stderr
Next: asbuilt watch rate-limit
""")


def test_only_those_who_are_named_may_answer(desk: Desk) -> None:
    desk.draft(DRAFT)
    chosen = {"ASBUILT_APPROVALS_PLAN": "bob, lead-*"}
    assert desk.typed("approve", "yes", "a1", **chosen) == snapshot("""\
exit 4
--- stderr
error: a1 is not yours to answer: bob, lead-* may approve plans here
  Why:  approvals.plan lists them, and landed commits name the approver.
  Next: asbuilt approve
        # lists what waits; one of them has to answer
""")
    assert desk.typed("approve", "yes", "a1", user="lead-ann", **chosen).startswith("exit 0\n")
    assert [one.by for one in desk.drafts.approved] == ["lead-ann"]


def test_a_repository_that_the_journal_does_not_know_is_named_in_the_refusal(inbox: Inbox) -> None:
    inbox.draft(DRAFT)
    assert inbox.typed("approve", "show", "nowhere:a1") == snapshot("""\
exit 3
--- stderr
error: the journal knows no repository nowhere
  Why:  A repository is named by its folder, or by its id if two folders have
        the same name.
  Next: asbuilt approve --all
        # lists what waits in every repository
""")
    assert inbox.typed("approve", "show", "shop-api:a9").splitlines()[2] == snapshot(
        "error: there is no question shop-api:a9 here"
    )


def test_a_script_is_told_everywhere_by_its_name_who_asks(inbox: Inbox) -> None:
    inbox.draft(DRAFT)
    ways = (("approve",), ("approve", "show", "a1"), ("approve", "later", "a1"), ("approve", "yes", "a1"))
    told = [json.loads(inbox.typed(*way, "--json").split("\n", 2)[2]) for way in ways]
    assert [one.get("run") or one["waiting"][0]["run"] for one in told] == ["rate-limit.1"] * 4


def test_later_leaves_it_open_and_is_written_down(inbox: Inbox) -> None:
    inbox.draft(DRAFT)
    assert inbox.typed("approve", "later", "a1") == snapshot("""\
exit 0
--- stdout
a1 still waits for an answer.
""")
    assert inbox.typed("approve", "later", "a1") == inbox.typed("approve", "later", "a1")
    log = inbox.typed("log", "rate-limit").splitlines()
    assert [line.split(maxsplit=2)[2] for line in log if " later " in line] == [
        "later      a1 is left open by ada"
    ]
    assert [one.answer for one in inbox.drafts.questions] == [None]


def test_only_a_plan_has_a_text_to_edit_and_only_somebody_at_a_terminal_edits(
    inbox: Inbox, ada: AtTerminal
) -> None:
    assert "error: --edit needs a terminal\n" in inbox.typed("approve", "yes", "a1", "--edit", "--no-input")
    inbox.story.ask("21:30:00", "2a")
    assert "error: a2 is not about a plan: continue with phase 2a?\n" in ada.types(
        "approve", "yes", "a2", "--edit"
    )
    said = " ".join(inbox.typed("approve", "pr", "a2").split())
    assert "a2 is not about a plan: continue with phase 2a?" in said


def test_a_proven_run_has_a_report_and_no_question(inbox: Inbox) -> None:
    inbox.story.prove("21:30:00", "1", "4f1c9a2")
    inbox.story.over("21:31:00", "held")
    assert inbox.typed("approve", "show", "rate-limit.1") == snapshot("""\
exit 2
--- stderr
error: rate-limit.1 is a proven run, not a question
  Why:  Its report shows what would land.
  Next: asbuilt report rate-limit.1
""")


def test_a_question_whose_draft_is_lost_says_so(inbox: Inbox) -> None:
    wish = approvals.Wish(inbox.story.made.run, "plan", "approve it?", intent="sha256:9c41")
    with inbox.store.write() as session:
        approvals.ask(session, inbox.address, key="plan/sha256:9c41/1/r1", wish=wish, actor="asbuilt")
    assert "error: the draft of a1 is not in the journal\n" in inbox.typed("approve", "show", "a1")


EDIT = "sed -i 's/5 ms/2 ms/'"


class AtTerminal:
    """A person who types, with an editor that does what they would."""

    def __init__(self, inbox: Inbox, environ: dict[str, str]) -> None:
        self.inbox = inbox
        self.environ = {
            **environ, "LOGNAME": "ada", "ASBUILT_HOME": str(inbox.home.path), "NO_COLOR": "1",
            "ASBUILT_AGENTS_IMPLEMENT": "scripted", "EDITOR": EDIT,
        }  # fmt: skip

    def types(self, *words: str, typed: bytes = b"", **more: str) -> str:
        """Type a command and what it asks for; gives the exit code and what the terminal shows."""
        code, said = on_terminal(self.inbox.shop, self.environ, *words, typed=typed, columns=80, **more)
        said = re.sub(r"\b\d\d:\d\d\b", "21:48", said.replace(str(self.inbox.home.path), "[HOME]"))
        return f"exit {code}\n{said}"


class Talk:
    """A command at a terminal that is answered while it asks; what is typed before is not an answer."""

    def __init__(self, root: Path, environ: dict[str, str], *words: str) -> None:
        self._ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (24, 80))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "asbuilt", *words], cwd=root, env=environ,
            stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        self._heard = ""

    def __enter__(self) -> Self:
        return self

    def hears(self, *words: str) -> None:
        """Wait until words were said, one after the other, behind those that were waited for before."""
        for word in words:
            while word not in self._heard:
                assert select.select([self._ours], [], [], 120)[0], self._heard
                self._heard += os.read(self._ours, 65_536).decode("utf-8", "replace")
            self._heard = self._heard.partition(word)[2]

    def says(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def interrupts(self) -> None:
        """Press Ctrl-C until it is heard: right before a read starts, Python loses it."""
        for _ in range(5):
            self._process.send_signal(signal.SIGINT)
            while select.select([self._ours], [], [], 10)[0]:
                self._heard += os.read(self._ours, 65_536).decode("utf-8", "replace")
                # The rest of a prompt may come after the signal that was lost.
                if "Next: " in self._heard:
                    return

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._ours)


@pytest.fixture
def ada(inbox: Inbox, environ: dict[str, str]) -> AtTerminal:
    inbox.draft(DRAFT)
    return AtTerminal(inbox, environ)


def test_an_edit_that_breaks_the_plan_is_refused_kept_and_gone_on_with(inbox: Inbox, ada: AtTerminal) -> None:
    said = ada.types("approve", "yes", "a1", "--edit", EDITOR="sed -i 's/^None/Phase 9/'")
    assert said == snapshot("""\
exit 4
Changes:
  - None.
  + Phase 9.
  - None.
  + Phase 9.
error: your text has 1 error: line 46: phase 1 depends on phase 9, which does
       not exist
  Why:  asbuilt cannot tell when a phase of such a plan is done. Your text is
        kept.
  Next: asbuilt approve yes a1 --edit
        # opens your text again
""")
    assert len(inbox.drafts.revisions) == 1
    said = ada.types(
        "approve", "yes", "a1", "--edit", typed=b"y\n", EDITOR="sed -i 's/^Phase 9/None/;s/5 ms/2 ms/'"
    )
    assert said.startswith("exit 0\n")
    assert [one.edited for one in inbox.drafts.approved] == [True]


def test_what_was_answered_before_is_not_edited_any_more(inbox: Inbox, ada: AtTerminal) -> None:
    inbox.typed("approve", "no", "a1", "-m", "smaller", user="bob")
    assert ada.types("approve", "yes", "a1", "--edit", EDITOR="no-such-editor") == (
        "exit 4\na1 was already answered: no, by bob.\nNext: asbuilt status rate-limit\n"
    )


def test_an_edit_of_nothing_asks_about_the_same_text(inbox: Inbox, ada: AtTerminal) -> None:
    said = ada.types("approve", "yes", "a1", "--edit", typed=b"y\n", EDITOR="true")
    assert said.startswith("exit 0\nThe requirements are unchanged. a1 still waits.\n")
    assert [(one.name, one.answer) for one in inbox.drafts.questions] == [("a1", "yes")]
    assert [one.edited for one in inbox.drafts.approved] == [False]


def test_who_was_answered_while_they_edited_is_told_and_keeps_their_text(
    inbox: Inbox, ada: AtTerminal, tmp_path: Path
) -> None:
    editor = tmp_path / "editor"
    other = f"LOGNAME=bob {sys.executable} -m asbuilt approve yes a1 >&2"
    editor.write_text(f'#!/bin/sh\n{other}\n{EDIT} "$1"\n', encoding="utf-8")
    editor.chmod(0o700)
    said = ada.types("approve", "yes", "a1", "--edit", EDITOR=str(editor))
    assert said.partition("error: ")[2] == snapshot("""\
a1 was answered while you edited: yes, by bob
  Why:  Your text is kept as edits/r1-1.md in the state folder.
  Next: asbuilt approve show a1
""")
    assert [(one.name, one.answer) for one in inbox.drafts.questions] == [("a1", "yes")]
    (kept,) = inbox.home.edits.iterdir()
    assert kept.read_text(encoding="utf-8") == TIGHTER


def test_a_word_that_is_no_answer_is_asked_again_and_leaving_answers_nothing(
    inbox: Inbox, ada: AtTerminal
) -> None:
    inbox.story.park("21:30:00", "approval", None)
    with Talk(inbox.shop, ada.environ, "watch", "rate-limit") as talk:
        talk.hears("l later >")
        talk.says("perhaps\n")
        talk.hears('"perhaps" is no answer: it is neither a yes nor a no.', "l later >")
        talk.interrupts()
        talk.hears("Waits for you: a1", "Next: asbuilt approve show a1")
    with Talk(inbox.shop, ada.environ, "watch", "rate-limit") as talk:
        talk.hears("l later >")
        talk.says("YES\n")
        talk.hears("Approved Plan: ada")
    assert [(one.name, one.answer) for one in inbox.drafts.questions] == [("a1", "yes")]


def test_whoever_looks_on_decides_there_and_may_edit_before(inbox: Inbox, ada: AtTerminal) -> None:
    inbox.story.park("21:30:00", "approval", None)
    with Talk(inbox.shop, ada.environ, "watch", "rate-limit") as talk:
        talk.hears("l later >")
        talk.says("f\n")
        talk.hears("A table of limits", "l later >")
        talk.says("e\n")
        talk.hears("a2 asks about revision 2 (edited by user)", "l later >")
        talk.says("y\n")
        talk.hears("Approved Plan (edited by user): ada")
    assert [(one.name, one.answer) for one in inbox.drafts.questions] == [("a1", "revised"), ("a2", "yes")]
    assert [one.edited for one in inbox.drafts.approved] == [True]
