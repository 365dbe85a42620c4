"""What is typed behind the name of a question is recorded as it is meant, or not at all."""

from __future__ import annotations

import json
import os

from inline_snapshot import snapshot

from asbuilt.journal import approvals
from asbuilt.journal.ids import LOCAL
from asbuilt.session.context.command_arguments import keep_typed
from asbuilt.session.conversation import folder_of
from tests.cli.inbox import Desk, Inbox, desk, inbox
from tests.cli.nights import REPO

__all__ = ["desk", "inbox"]


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


def test_words_that_are_no_answer_record_nothing_and_unknown_words_lead_to_the_question(inbox: Inbox) -> None:
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
  Next: asbuilt approve show a1
    or  answer with the word yes or no: asbuilt approve yes a1
""")
    assert inbox.typed("approve", asked, "don't `land` it") == snapshot("""\
exit 2
--- stderr
error: "don't `land` it" is no answer to a1: it starts with a refusal, and says
       more than no; a reason stands behind a comma: "no, …"
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
