"""A yes covers the text that was shown or edited, and no other."""

from __future__ import annotations

from inline_snapshot import snapshot

from asbuilt.events.plans import PlanFiled
from asbuilt.lifecycle.approval import Approved
from asbuilt.plan.reader import read
from tests.cli.commands.approve.test_command import AtTerminal, ada
from tests.cli.inbox import DRAFT, TIGHTER, Desk, Inbox, desk, inbox
from tests.cli.plans import put

__all__ = ["ada", "desk", "inbox"]


def test_a_yes_names_the_text_that_it_covers_and_who_said_it(desk: Desk) -> None:
    desk.draft(DRAFT)
    assert desk.typed("approve", "yes", "a1") == snapshot("""\
exit 0
--- stdout
✓ Approved Plan: ada, 21:48, revision 1
  plans/rate-limit.md is written next (not committed). Editing it needs a new
  approval.
  Phases 2a and 2b do not need each other.
--- stderr
Next: asbuilt run rate-limit --script FILE
""")
    plan = read(DRAFT.encode())
    assert desk.drafts.approved == (
        Approved(desk.story.made.run, plan.intent, plan.digest, plan.digest, "ada", edited=False),
    )


def test_the_second_answer_is_told_the_first(inbox: Inbox) -> None:
    inbox.draft(DRAFT)
    inbox.typed("approve", "yes", "a1")
    assert inbox.typed("approve", "no", "a1", "-m", "wait", user="bob") == snapshot("""\
exit 4
--- stdout
a1 was already answered: yes, by ada.
--- stderr
Next: asbuilt status rate-limit
""")
    assert len(inbox.drafts.approved) == 1


def test_an_answer_to_a_changed_plan_is_refused_and_shown_what_differs(desk: Desk) -> None:
    desk.draft(DRAFT)
    desk.draft(TIGHTER)
    assert desk.typed("approve", "yes", "a1") == snapshot("""\
exit 4
--- stdout
a1 is about revision 1, but revision 2 by agent is newer. Nothing was answered.
Changes:
  - - [ ] At most 5 ms added per request
  + - [ ] At most 2 ms added per request
--- stderr
Next: asbuilt approve show a2
""")
    assert desk.drafts.approved == ()


def test_an_edit_is_a_revision_and_the_yes_covers_it(inbox: Inbox, ada: AtTerminal) -> None:
    assert ada.types("approve", "yes", "a1", "--edit", typed=b"y\n") == snapshot("""\
exit 0
Changes:
  - - [ ] At most 5 ms added per request
  + - [ ] At most 2 ms added per request
✓ plan check: clean
Approve revision 2, sha256:5606? [y/N] y
✓ Approved Plan (edited by user): ada, 21:48, revision 2
  plans/rate-limit.md is written next (not committed). Editing it needs a new
  approval.
  Phases 2a and 2b do not need each other.
Next: asbuilt run rate-limit --script FILE
""")
    drafts = inbox.drafts
    assert [(one.number, one.by, one.label) for one in drafts.revisions] == [
        (1, "agent", ""),
        (2, "ada", "edited by user"),
    ]
    assert [(one.name, one.answer) for one in drafts.questions] == [("a1", "revised"), ("a2", "yes")]
    (approved,) = drafts.approved
    assert (approved.intent, approved.edited) == (read(TIGHTER.encode()).intent, True)
    assert inbox.blobs.get(approved.text).decode() == TIGHTER
    assert list(inbox.home.edits.iterdir()) == []


def test_an_edit_that_nobody_confirms_waits_as_the_newest_revision(inbox: Inbox, ada: AtTerminal) -> None:
    assert ada.types("approve", "yes", "a1", "--edit", typed=b"\n").startswith("exit 0\n")
    assert [(one.name, one.answer) for one in inbox.drafts.questions] == [("a1", "revised"), ("a2", None)]
    assert inbox.drafts.approved == ()


def test_a_run_refuses_what_was_not_approved_shows_it_and_asks(inbox: Inbox, ada: AtTerminal) -> None:
    inbox.typed("approve", "yes", "a1")
    inbox.story.append("21:50:00", PlanFiled(path="plans/rate-limit.md"), "filed")
    inbox.story.over("21:51:00", "done")
    put(inbox.shop, rate_limit=TIGHTER)
    (inbox.shop / "script.toml").write_text("", encoding="utf-8")
    run = ("run", "rate-limit", "--script", "script.toml")
    refused = ada.types(*run)
    assert refused == snapshot("""\
exit 4
  - - [ ] At most 5 ms added per request
  + - [ ] At most 2 ms added per request
error: rate-limit is not the plan that ada approved; what it wants now waits for
       a yes (a2)
  Why:  An approval covers only the text that was shown.
  Next: asbuilt approve show a2
        # shows what differs
""")
    assert ada.types(*run) == refused
    assert ada.types("approve", "no", "a2", "-m", "too tight") == snapshot("""\
exit 0
a2: no. approve the plan “Rate limiting for the public API”?
Next: asbuilt status rate-limit
""")
    assert ada.types(*run).splitlines()[3:] == snapshot(
        [
            "error: rate-limit is not the plan that ada approved; what it wants now was",
            "       declined (a2)",
            "  Why:  An approval covers only the text that was shown.",
            "  Next: asbuilt plan open rate-limit",
            "    or  see what differs: asbuilt approve show a2",
        ]
    )
