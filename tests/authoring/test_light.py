from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from asbuilt.events.attempts import AttemptBegun
from asbuilt.events.authoring import StageJudged
from asbuilt.events.options_json import plain_options
from asbuilt.events.plans import DraftSetup, DraftTried, DraftWritten, PlanApproved, PlanFiled
from asbuilt.flows.requests import Asker, stop
from asbuilt.journal import approvals
from asbuilt.journal.ids import LOCAL
from asbuilt.plan.problems import Severity
from asbuilt.plan.reader import read
from tests.authoring.desk import BETTER, PLAN, say, turn
from tests.authoring.outputs import PROMISE, QUESTIONS
from tests.journeys.shop import REPO, one_store

if TYPE_CHECKING:
    from tests.authoring.desk import Desk

pytestmark = pytest.mark.crash
WRITTEN = ("done", "wrote plans/greet.md, not committed; editing it needs a new approval")


def test_a_sentence_becomes_a_plan_that_is_filed_when_a_person_says_yes(desk: Desk) -> None:
    desk.lands("plans/greet.md")
    run = desk.author(turn("draft", say(PLAN)))
    desk.start()
    (asked,) = desk.waits(run)
    (draft,), (tried,) = desk.events(DraftWritten), desk.events(DraftTried)
    assert (tried.number, tried.told) == (1, "1 fails before the work, as it should")
    (row,) = json.loads(desk.text(tried.rows))
    assert (row["phase"], row["before"], row["why"]) == ("1", "absent", "greet.py is not there yet")
    assert (asked.kind, asked.intent) == ("plan", draft.intent)
    assert not (desk.checkout / desk.plan).exists()
    desk.answers("yes", "well done")
    assert desk.over(run) == WRITTEN
    assert not (desk.home / "workspaces" / REPO / run / "plan").exists()
    plan = read(desk.filed.encode())
    assert desk.filed.endswith(PLAN)
    assert plan.intent == draft.intent
    assert [problem for problem in plan.problems if problem.severity is Severity.ERROR] == []
    (approved,), (filed,) = desk.events(PlanApproved), desk.events(PlanFiled)
    assert (approved.intent, approved.by, approved.edited) == (draft.intent, "you", False)
    assert (filed.path, filed.digest) == ("plans/greet.md", draft.digest)


@one_store
def test_what_only_a_person_can_decide_is_asked_at_once_and_told_to_the_next_turn(desk: Desk) -> None:
    run = desk.author(turn("draft", say(QUESTIONS), attempt=1), turn("draft", say(PLAN)))
    desk.start()
    first, second = desk.waits(run)
    assert (first.kind, first.question) == (
        "question",
        "Which greeting?\n(mine.md names none)\na  hello\nb  good day",
    )
    assert second.gist == "What without a name?"
    desk.answers("yes", "b")
    desk.answers("yes")
    assert [one.kind for one in desk.waits(run)] == ["plan"]
    told = desk.brief(run, "draft.2").told
    assert [text for name, text in told if name == "answer"] == [
        "Which greeting?\ngood day",
        "What without a name?\nexit 2",
    ]


@one_store
def test_a_plan_that_is_sent_back_is_changed_and_handed_in_unchanged_it_is_refused(desk: Desk) -> None:
    desk.lands("plans/greet.md")
    run = desk.author(
        turn("draft", say(PLAN)),
        turn("revise-1", say(PLAN + PROMISE), attempt=1),
        turn("revise-1", say(BETTER + PROMISE)),
    )
    desk.start()
    desk.waits(run)
    desk.answers("no", "greet the world without a name")
    (asked,) = desk.waits(run)
    judged = [(one.phase, one.outcome) for one in desk.events(StageJudged)]
    assert judged == [("draft", "accepted"), ("revise-1", "refused"), ("revise-1", "accepted")]
    assert "unchanged plan" in desk.events(StageJudged)[1].why
    assert ("feedback", "greet the world without a name") in desk.brief(run, "revise-1.2").told
    first, second = desk.events(DraftWritten)
    assert (first.number, second.number, asked.intent) == (1, 2, second.intent)
    desk.answers("yes")
    assert desk.over(run) == WRITTEN
    assert desk.filed.endswith(BETTER)


@one_store
def test_a_plan_that_is_declined_twice_without_a_word_ends_it_and_the_draft_is_kept(desk: Desk) -> None:
    run = desk.author(turn("draft", say(PLAN)))
    desk.start()
    desk.waits(run)
    desk.answers("no")
    desk.waits(run)
    desk.answers("no")
    why = "you declined it twice without a reason; the draft stays in the journal"
    assert desk.over(run) == ("stopped", why)
    assert desk.text(desk.events(DraftWritten)[0].text).endswith(PLAN)


@one_store
def test_an_agent_that_never_hands_in_a_plan_is_given_up_and_nothing_is_filed(desk: Desk) -> None:
    run = desk.author(turn("draft", say("I would improve things.")), attempt_limit=2)
    desk.start()
    flawed = "the last has flaws in: sections, steps, plan, checks"
    assert desk.over(run) == ("failed", f"draft was given up after 2 refused answers; {flawed}")
    assert [one.outcome for one in desk.events(StageJudged)] == ["refused", "gave_up"]
    assert desk.events(DraftWritten) == []


@one_store
def test_a_file_that_came_to_lie_there_meanwhile_is_not_overwritten(desk: Desk) -> None:
    run = desk.author(turn("draft", say(PLAN)))
    desk.start()
    desk.waits(run)
    (desk.checkout / "plans").mkdir()
    desk.write("plans/greet.md", "mine\n")
    desk.answers("yes")
    state, reason = desk.over(run)
    assert (state, reason.partition(" Why")[0]) == ("failed", "plans/greet.md exists already.")
    assert desk.filed == "mine\n"


@one_store
def test_a_planner_can_write_nothing(desk: Desk) -> None:
    ask = '{ ask = "edit", path = "mine.md" }'
    run = desk.author(turn("draft", ask, '{ write = "mine.md", text = "x" }', say(PLAN)))
    desk.start()
    desk.waits(run)
    said = desk.said(run, "draft.1")
    assert "denied: This role changes nothing." in said
    assert "Read-only file system" in said


@one_store
def test_a_plan_over_the_length_that_was_chosen_is_refused_and_written_shorter(desk: Desk) -> None:
    long = PLAN.replace("## Risks\n", "## Risks\n" + "".join(f"Risk {at}: late.\n\n" for at in range(40)))
    run = desk.author(turn("draft", say(long), attempt=1), turn("draft", say(PLAN)), length="cap")
    desk.start()
    desk.waits(run)
    first, second = desk.events(StageJudged)
    assert (first.outcome, second.outcome) == ("refused", "accepted")
    assert "lines that are not blank; plan.length cap takes 40" in first.why
    assert "at most 40 lines that are not blank" in desk.brief(run, "draft.1").ask


@one_store
def test_an_authoring_that_was_stopped_is_gone_on_with_where_it_was(desk: Desk) -> None:
    desk.lands("plans/greet.md")
    run = desk.author(turn("draft", say(PLAN)))
    desk.start()
    desk.waits(run)
    stop(desk.store, desk.run(run), reason="not now", asker=Asker("you", "here", {}))
    assert desk.over(run) == ("stopped", "not now")
    again = desk.request(**{**plain_options(desk.run(run).options), "continues": run})
    (asked,) = desk.waits(again)
    first, second = desk.events(DraftWritten)
    assert (first.intent, second.intent, asked.intent) == (first.intent,) * 3
    assert [run for run, _ in desk.of_runs(DraftWritten)][1:] == [again]
    assert second.number == 2
    desk.answers("yes")
    assert desk.over(again) == WRITTEN
    assert desk.kinds().count("attempt.begun") == 1


@one_store
def test_what_was_answered_before_a_stop_is_not_asked_again_and_what_was_not_leaves_the_inbox(
    desk: Desk,
) -> None:
    run = desk.author(turn("draft", say(QUESTIONS), attempt=1), turn("draft", say(PLAN)))
    desk.start()
    desk.waits(run)
    desk.answers("yes", "b")
    stop(desk.store, desk.run(run), reason="not now", asker=Asker("you", "here", {}))
    assert desk.over(run) == ("stopped", "not now")
    with desk.store.read() as session:
        assert approvals.waiting(session, LOCAL, REPO) == []
    desk.script.write_text(turn("draft", say(PLAN)), encoding="utf-8")
    again = desk.request(**{**plain_options(desk.run(run).options), "continues": run})
    assert [one.question for one in desk.waits(again)] == [
        "What without a name?\n(nothing calls it)\na  exit 2\nb  the world"
    ]
    assert desk.kinds().count("attempt.begun") == 1
    desk.answers("yes")
    assert [one.kind for one in desk.waits(again)] == ["plan"]
    assert [text for name, text in desk.brief(again, "draft.1").told if name == "answer"] == [
        "Which greeting?\ngood day",
        "What without a name?\nexit 2",
    ]


@one_store
def test_a_no_that_was_said_before_a_stop_is_heard_by_whoever_goes_on(desk: Desk) -> None:
    desk.lands("plans/greet.md")
    run = desk.author(turn("draft", say(PLAN)), turn("revise-1", "{ hang = true }"))
    desk.start()
    desk.waits(run)
    desk.answers("no", "greet the world without a name")
    desk.until(lambda: desk.kinds().count("attempt.begun") == 2)
    stop(desk.store, desk.run(run), reason="not now", asker=Asker("you", "here", {}))
    assert desk.over(run) == ("stopped", "not now")
    desk.script.write_text(turn("revise-1", say(BETTER + PROMISE)), encoding="utf-8")
    again = desk.request(**{**plain_options(desk.run(run).options), "continues": run})
    (asked,) = desk.waits(again)
    assert [one.phase for one in desk.events(AttemptBegun)] == ["draft", "revise-1", "revise-1"]
    assert ("feedback", "greet the world without a name") in desk.brief(again, "revise-1.1").told
    texts = [(of, one.number) for of, one in desk.of_runs(DraftWritten)]
    assert texts == [(run, 1), (again, 2), (again, 3)]
    assert asked.intent == desk.events(DraftWritten)[-1].intent
    desk.answers("yes")
    assert desk.over(again) == WRITTEN
    assert desk.filed.endswith(BETTER)


@one_store
def test_a_setup_for_the_checks_of_a_draft_is_reported_before_it_runs(desk: Desk) -> None:
    run = desk.author(turn("draft", say(PLAN)), setup="true")
    desk.start()
    desk.waits(run)
    assert [one.command for one in desk.events(DraftSetup)] == ["true"]
    kinds = desk.kinds()
    assert kinds.index("stage.judged") < kinds.index("draft.setup") < kinds.index("draft.tried")


@one_store
def test_a_yes_that_could_not_be_filed_is_filed_by_whoever_goes_on(desk: Desk) -> None:
    desk.lands("plans/greet.md")
    run = desk.author(turn("draft", say(PLAN)))
    desk.start()
    desk.waits(run)
    (desk.checkout / "plans").mkdir()
    desk.write("plans/greet.md", "mine\n")
    desk.answers("yes")
    assert desk.over(run)[0] == "failed"
    (desk.checkout / "plans" / "greet.md").unlink()
    again = desk.request(**{**plain_options(desk.run(run).options), "continues": run})
    assert desk.over(again) == WRITTEN
    assert desk.filed.endswith(PLAN)
    assert desk.kinds().count("approval.asked") == 1
    assert [one.told for one in desk.events(DraftTried)] == ["1 fails before the work, as it should"] * 2
