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
from asbuilt.journal.ids import LOCAL
from asbuilt.lifecycle.approval import AGENT
from asbuilt.session.context.command_arguments import keep_typed
from asbuilt.session.conversation import folder_of
from tests.cli.inbox import DRAFT, TIGHTER, Desk, Inbox, desk, inbox
from tests.cli.nights import REPO
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
  Next: Ask one of them; asbuilt approve lists what waits.
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


def test_words_behind_a_question_are_recorded_as_the_no_that_they_are(desk: Desk) -> None:
    first, second = _signed_off(desk, "1"), _signed_off(desk, "2")
    assert desk.typed("approve", first, "no, bring the test back") == snapshot("""\
exit 0
--- stdout
a1: no. sign off 1: test_v1.py is removed
--- stderr
Next: asbuilt status rate-limit
""")
    as_data = desk.typed("approve", second, "no", "-", "bring", "it", "back", "--json").splitlines()[2]
    recorded = json.loads(as_data)
    assert (recorded["answer"], recorded["note"], recorded["exit"]) == ("no", "bring it back", 0)
    assert _answers(desk) == [("no", "bring the test back"), ("no", "bring it back")]


def test_a_yes_in_words_keeps_its_remark(desk: Desk) -> None:
    asked = _signed_off(desk, "1")
    assert desk.typed("approve", asked, "ok, it only tested v1") == snapshot("""\
exit 0
--- stdout
a1: yes. sign off 1: test_v1.py is removed
--- stderr
Next: asbuilt watch rate-limit
""")
    assert _answers(desk) == [("yes", "it only tested v1")]


def test_words_that_are_neither_yes_nor_no_record_nothing_and_name_both(inbox: Inbox) -> None:
    asked = _signed_off(inbox, "1")
    assert inbox.typed("approve", asked, "yes, but keep the old test") == snapshot("""\
exit 2
--- stderr
error: "yes, but keep the old test" is no answer to a1: it says yes, and adds a
       condition
  Why:  An answer is recorded with your name, so asbuilt does not guess it.
        Nothing was recorded.
  Next: asbuilt approve no a1 -m 'yes, but keep the old test'
    or  asbuilt approve yes a1 -m 'yes, but keep the old test'
""")
    assert inbox.typed("approve", asked, "looks", "good") == snapshot("""\
exit 2
--- stderr
error: "looks good" is no answer to a1: it is neither a yes nor a no
  Why:  An answer is recorded with your name, so asbuilt does not guess it.
        Nothing was recorded.
  Next: asbuilt approve no a1 -m 'looks good'
    or  asbuilt approve yes a1 -m 'looks good'
""")
    assert inbox.typed("approve", asked, "don't `land` it") == snapshot("""\
exit 2
--- stderr
error: "don't `land` it" is no answer to a1: it starts with a refusal, and says
       more than no
  Why:  An answer is recorded with your name, so asbuilt does not guess it.
        Nothing was recorded.
  Next: asbuilt approve no a1 -m "why"
    or  asbuilt approve yes a1 -m "why"
""")
    assert inbox.typed("approve", "yes", asked, "-m", "no, bring it back") == snapshot("""\
exit 2
--- stderr
error: the answer to a1 is yes, and its remark says no: "no, bring it back"
  Why:  An answer is recorded with your name, so asbuilt does not guess. Nothing
        was recorded.
  Next: asbuilt approve no a1 -m 'no, bring it back'
""")
    assert _answers(inbox) == [(None, None)]
    assert inbox.typed("approve", asked, "not yet") == snapshot("""\
exit 0
--- stdout
a1 still waits for an answer.
""")
    assert inbox.typed("approve", "no", asked, "-m", "yes, but keep the old test").startswith("exit 0\n")
    assert _answers(inbox) == [("no", "yes, but keep the old test")]


def test_an_option_is_chosen_by_letter_or_name_and_other_words_are_the_answer(inbox: Inbox) -> None:
    words = "Count requests per what?\n(app.py knows both)\na  API key\nb  client address"
    for number, typed in enumerate(
        ("B)", "client address", "no, per tenant", "both of them", "b, it is simple")
    ):
        asked = inbox.ask(words.replace("what", f"what in {number}"))
        assert inbox.typed("approve", asked, typed).startswith("exit 0\n")
    assert _answers(inbox) == [
        ("yes", "b"),
        ("yes", "b"),
        ("no", "per tenant"),
        ("yes", "both of them"),
        ("yes", "b, it is simple"),
    ]


def _signed_off(inbox: Inbox, phase: str) -> str:
    """Ask whether a test may go."""
    wish = approvals.Wish(inbox.story.made.run, "sign-off", f"sign off {phase}: test_v1.py is removed", phase)
    with inbox.store.write() as session:
        key = f"sign-off/sha256:1/{phase}/r"
        return approvals.ask(session, inbox.address, key=key, wish=wish, actor="asbuilt").name


def _answers(inbox: Inbox) -> list[tuple[str | None, str | None]]:
    with inbox.store.read() as session:
        asked = [approvals.named(session, LOCAL, REPO, number) for number in range(1, 9)]
    return [(one.answer, one.note) for one in asked if one is not None]


def test_what_is_typed_behind_the_command_of_a_conversation_is_read_in_the_same_way(inbox: Inbox) -> None:
    environ = {"ASBUILT_CONVERSATION": "c-1"}
    folder = folder_of({"ASBUILT_HOME": str(inbox.home.path)}, "c-1")
    os.makedirs(folder)  # noqa: PTH103 - the conversation's folder is a string everywhere

    def typed(words: str) -> str:
        keep_typed(folder, "approve", words)
        return inbox.typed("approve", "--here", **environ).splitlines()[0]

    for phase, words in enumerate(
        ("{} no, bring it back", "no {} bring it back", "No, {}: too big", "yes {} fine", "{}", "{}: Ok"), 1
    ):
        asked = _signed_off(inbox, str(phase))
        assert typed(words.format(asked)) == "exit 0"
    recorded = [
        ("no", "bring it back"),
        ("no", "bring it back"),
        ("no", "too big"),
        ("yes", "fine"),
        ("yes", None),
        ("yes", None),
    ]
    assert _answers(inbox) == recorded
    asked = _signed_off(inbox, "7")
    for words in ("{} looks good", "yes {} but keep the old test", "{}, but keep the old test", "yes {} no"):
        assert typed(words.format(asked)) == "exit 2"
    assert typed(f"later {asked}") == "exit 0"
    assert _answers(inbox) == [*recorded, (None, None)]
