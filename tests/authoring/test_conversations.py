"""A plan authored by a conversation: its hooks as Claude Code calls them, its commands as its agent does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Self

import pytest

from tests.authoring.desk import say, turn
from tests.authoring.outputs import EXPLORED, HEY, PROMISE, UNDERSTOOD, WEIGHED, line_of
from tests.hook.talk import Talk
from tests.journeys.test_commands import Office, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType

pytestmark = pytest.mark.crash

WANTED = """call "out" to whoever's there; `rm` nothing"""
BETTER = HEY.replace("Nobody listens", "No one hears")
_HOLDS = {"P2": "(new)", "P6": "grep -q", "P8": "Other languages", "P9": "prints HEY", "P10": "calls out"}
CRITIQUE = json.dumps(
    {
        "verdicts": [
            {"principle": one, "verdict": "PASS", "evidence": [{"line": line_of(words, HEY)}]}
            for one, words in {**_HOLDS, "P11": "Effort: S"}.items()
        ]
    }
)
STAGES = [UNDERSTOOD, EXPLORED.replace("plan.md", "plans/greet.md"), WEIGHED, HEY]


class Study(Office):
    """A person's repository with conversations in it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (self.shop / "mine.md").write_text("# Mine\n", encoding="utf-8")
        self.git("add", "mine.md")
        self.git("commit", "-qm", "a file to read")
        self.script.write_text(turn("critique-1", say(CRITIQUE)), encoding="utf-8")
        self.folder = folder

    def talk(self) -> Spoken:
        """Begin a conversation."""
        return Spoken(self)


class Spoken(Talk):
    """A conversation whose agent runs commands of asbuilt."""

    def __init__(self, study: Study) -> None:
        super().__init__(study.folder, ASBUILT_SANDBOX_REQUIRED="false")
        self.study = study

    def author(self, typed: str) -> str:
        """Type /asbuilt:author, which runs the command that its skill names."""
        self.prompt(f"/asbuilt:author {typed}")
        return self.runs("author", "--here")

    def runs(self, *arguments: str) -> str:
        """Run a command as the agent."""
        before = dict(self.study.environ)
        self.study.environ["CLAUDE_PID"] = str(self.agent.pid)
        try:
            return self.study.asbuilt(*arguments)
        finally:
            self.study.environ = before

    def writes(self, file: Path) -> str:
        """Ask the gate whether the agent may write a file."""
        given = {"file_path": str(file), "content": "# Call out"}
        call = {"permission_mode": "default", "tool_name": "Write", "tool_use_id": "t1", "tool_input": given}
        decision: str = (
            self.hears("PreToolUse", **call).get("hookSpecificOutput", {}).get("permissionDecision")
        )
        return decision

    def begin(self) -> str:
        """Author a plan with one round of critique."""
        return self.author(f"{WANTED} --refine-iterations 1 --name hey --script {self.study.script}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.die()


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    made = Study(tmp_path)
    yield made
    made.close()


def test_a_conversation_authors_a_plan_that_another_process_criticises(study: Study) -> None:
    with study.talk() as talk:
        begun = talk.begin()
        assert begun.startswith("exit 0")
        assert "[1/6] understand\n" in begun
        assert f" prompt\n{WANTED}\n>>> " in begun

        refused = talk.stop(text="I know what to do.")
        assert refused.startswith("asbuilt: [1/6] understand\n")
        assert "Refused 1 of 5 times; the block `refusal` says what was found and needed." in refused
        assert "found no numbered item with words of your own; needed: at least 3, each with 2 or" in refused
        for said, then in zip(STAGES[:3], ("explore", "alternatives", "draft"), strict=True):
            assert f"/6] {then}\n" in talk.stop(active=True, text=said)
        told = talk.stop(active=True, text=HEY)
        assert told == (
            "asbuilt: hey: critique-1 is next, by another process."
            " Run `asbuilt author next`, and do what it says."
        )
        # An agent that does not run it is not trapped.
        assert talk.stop(active=True, text="Is that so?") == ""

        due = talk.runs("author", "next")
        assert "[6/6] revise\n" in due
        assert '"principle"' in due
        assert UNDERSTOOD not in due
        assert "Run `asbuilt author next`" in talk.stop(text=BETTER + PROMISE)
        assert "waits for the user's approval as a1. Say so, and end" in talk.runs("author", "next")
        assert talk.stop(text="Approve a1.") == ""
        assert not (study.shop / "plans/hey.md").exists()

        study.asbuilt("approve", "no", "a1", "-m", "say HEI")
        due = talk.runs("author", "next")
        assert "[7/7] revise\n" in due
        assert " feedback\nsay HEI\n" in due
        assert "a plan that answers: say HEI" in talk.stop(text=BETTER + PROMISE)
        other = BETTER.replace("HEY", "HEI")
        assert "the draft is next, by another process" in talk.stop(active=True, text=other + PROMISE)
        assert "waits for the user's approval as a2" in talk.runs("author", "next")
    assert study.asbuilt("approve", "yes", "a2").startswith("exit 0")
    study.asbuilt("watch", "hey")
    assert (study.shop / "plans/hey.md").read_text(encoding="utf-8").endswith(other)


def test_a_yes_at_another_terminal_ends_plan_mode_in_the_conversation(study: Study) -> None:
    with study.talk() as talk:
        talk.begin()
        for said in STAGES:
            talk.stop(active=True, text=said)
        talk.runs("author", "next")
        talk.stop(text=BETTER + PROMISE)
        assert "waits for the user's approval as a1" in talk.runs("author", "next")
        assert talk.writes(study.shop / "made.md") == "deny"
        study.asbuilt("approve", "yes", "a1")
        study.asbuilt("watch", "hey")
        told = " ".join(talk.runs("author", "next").split())
        assert told == (
            "exit 0 --- stdout The authoring of hey is over: wrote plans/hey.md, not committed; editing it"
            " needs a new approval. Plan mode is off; work may start."
        )
        assert talk.writes(study.shop / "made.md") != "deny"


def test_a_conversation_that_is_killed_is_followed_by_another_one(study: Study) -> None:
    with study.talk() as talk:
        talk.begin()
        assert "/6] explore\n" in talk.stop(text=UNDERSTOOD)
        with study.talk() as other:
            assert "hey is authored in another conversation" in other.runs("author", "next")
            assert "a plan is being authored here already: hey" in other.author("something else")
    with study.talk() as after:
        due = after.author("next")
        assert "[2/6] explore\n" in due
        assert f"record\nunderstand-1\n\n{UNDERSTOOD}" in due
        assert "/6] alternatives\n" in after.stop(text=STAGES[1])
        # The same session in a new process, as `claude --resume` begins one.
        after.die()
        with study.talk() as resumed:
            resumed.session = after.session
            assert "this conversation authors hey" in resumed.context("SessionStart", source="resume")
            assert resumed.stop(text="Nobody has asked for this yet.") == ""
            assert "[3/6] alternatives\n" in resumed.runs("author", "next")


def test_what_the_person_says_in_between_is_answered_and_not_judged(study: Study) -> None:
    with study.talk() as talk:
        talk.begin()
        told = talk.prompt("what is this?")
        assert "The user's message comes first; after it, run `asbuilt author next`" in told
        assert talk.stop(text="A plan is being authored.") == ""
        talk.runs("author", "next")
        assert "Refused 1 of 5 times" in talk.stop(text="A plan is being authored.")
        cleared = talk.cleared()
        assert "this conversation authors hey" in cleared
        assert talk.stop(text="Hello.") == ""


def test_a_message_that_the_event_does_not_carry_is_read_from_the_transcript(study: Study) -> None:
    with study.talk() as talk:
        talk.begin()
        talk.says(1_000, UNDERSTOOD)
        answer = talk.hears("Stop", stop_hook_active=False)
        assert "/6] explore\n" in answer["reason"]


def test_a_state_that_nobody_can_read_traps_nobody_and_is_kept(study: Study) -> None:
    with study.talk() as talk:
        talk.begin()
        file = talk.folder / "authoring"
        for broken in (b"\xff\x00", b"{}", b"[1]", file.read_bytes().replace(b"understand/1", b"nowhere")):
            file.write_bytes(broken)
            answer = talk.hears("Stop", stop_hook_active=False, last_assistant_message=UNDERSTOOD)
            assert "decision" not in answer
            assert "cannot continue" in answer["systemMessage"]
            assert not file.exists()
            assert (talk.folder / "authoring.unreadable").read_bytes() == broken
        assert "[1/6] understand\n" in talk.runs("author", "next")
        assert "/6] explore\n" in talk.stop(text=UNDERSTOOD)


def test_a_stage_that_is_refused_too_often_ends_the_authoring_and_lets_everybody_go(study: Study) -> None:
    with study.talk() as talk:
        talk.author(f"{WANTED} --attempts 2 --name hey --script {study.script}")
        assert "Refused 1 of 2 times" in talk.stop(text="No.")
        answer = talk.hears("Stop", stop_hook_active=True, last_assistant_message="No again.")
        assert "decision" not in answer
        assert answer["systemMessage"].startswith(
            "asbuilt: the authoring of hey is over: understand was given up"
        )
        assert talk.stop(text="Anything.") == ""


def test_before_claude_code_would_end_the_turn_itself_the_agent_is_told_to_ask(study: Study) -> None:
    with study.talk() as talk:
        talk.author(f"{WANTED} --attempts 9 --name hey --script {study.script}")
        for refused in range(1, 7):
            assert f"Refused {refused} of 9 times" in talk.stop(active=refused > 1, text="No.")
        told = talk.stop(active=True, text="No.")
        assert told == "asbuilt: hey: understand is due. Run `asbuilt author next`, and do what it says."
        assert talk.stop(active=True, text="No.") == ""
        assert "Refused 7 of 9 times" in talk.runs("author", "next")
        assert "Refused 8 of 9 times" in talk.stop(text="No.")


def test_an_interview_in_a_conversation_grows_one_file_and_hands_it_in_when_it_is_promised(
    study: Study,
) -> None:
    with study.talk() as talk:
        told = talk.author(f"{WANTED} --interview --name hey --script {study.script}")
        assert "[1/1] draft\n" in told
        assert "Ask with AskUserQuestion" in told
        status = json.loads(talk.runs("author", "status", "--json").partition("--- stdout\n")[2])
        assert (status["mode"], status["in_conversation"], status["plan_so_far"]) == ("interview", True, None)
        (run,) = (one.name for one in (talk.state / "runs").iterdir())
        file = talk.state / "runs" / run / "plan.md"
        assert f"Grow the plan in {file}" in " ".join(told.split())
        assert talk.writes(file) != "deny"
        assert talk.writes(talk.shop / "hey.py") == "deny"
        file.write_text("# Call out\n", encoding="utf-8")
        # A turn that ends to talk is not judged, and the user's answer does not end the interview.
        assert talk.stop(text="Which greeting?") == ""
        assert f"The plan so far is {file}." in talk.prompt("HEY")
        assert f"so far  {file}" in talk.runs("author", "status")
        assert "Refused 1 of 5 times" in talk.stop(text=f"Done.{PROMISE}")
        file.write_text(HEY, encoding="utf-8")
        assert "hey: the draft is next, by another process." in talk.stop(active=True, text=PROMISE)
        until(lambda: "approve the plan hey?" in study.asbuilt("approve"))


def test_cancel_says_where_it_was_keeps_the_record_and_is_no_error_where_nothing_is(study: Study) -> None:
    with study.talk() as talk:
        assert "nothing to cancel" in talk.author("cancel")
        talk.begin()
        talk.stop(text=UNDERSTOOD)
        assert "hey   [2/6] explore" in talk.author("status")
        cancelled = talk.author("cancel")
        assert cancelled.startswith("exit 0")
        assert "hey   Cancelled at [2/6] explore. Accepted outputs are kept." in cancelled
        assert talk.stop(text="Anything.") == ""
        assert "Usage  asbuilt author" in talk.author("help")
        resumed = study.asbuilt("run", "hey")
        assert resumed.startswith("exit 5")
        assert "Waits for the conversation that authors it, at the stage explore." in " ".join(
            resumed.split()
        )
        assert f"record\nunderstand-1\n\n{UNDERSTOOD}" in talk.author("next")
