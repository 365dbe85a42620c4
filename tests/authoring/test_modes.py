from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asbuilt.events.attempts import AttemptBegun
from asbuilt.events.authoring import StageJudged
from asbuilt.events.plans import DraftWritten
from asbuilt.journal import memory
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.queries.overview import run_view
from asbuilt.lifecycle.effort import FOR_A_PLAN
from asbuilt.lifecycle.memory import Kind, lesson
from asbuilt.plan.lint import LINES
from tests.authoring.desk import BETTER, PLAN, PROMPT, say, turn
from tests.authoring.outputs import EXPLORED, FINAL, PROMISE, QUESTIONS, STAGED, critique
from tests.journeys.shop import REPO, one_store

if TYPE_CHECKING:
    from tests.authoring.desk import Desk

pytestmark = pytest.mark.crash


def test_a_staged_authoring_goes_through_its_stages_and_carries_what_nobody_settled(desk: Desk) -> None:
    desk.lands("plans/greet.md")
    run = desk.author(*STAGED, mode="staged", refine_iterations=1)
    desk.start()
    desk.waits(run)
    judged = [(one.phase, one.outcome) for one in desk.events(StageJudged)]
    stages = ("understand", "explore", "alternatives", "draft", "critique-1", "revise-1")
    assert judged == [(stage, "accepted") for stage in stages]
    begun = [(one.phase, one.role) for one in desk.events(AttemptBegun)]
    assert begun == [(stage, "critique" if stage == "critique-1" else "plan") for stage in stages]
    # The author did not answer the finding, so the plan carries it.
    desk.answers("yes")
    desk.until(lambda: desk.run(run).is_over)
    head, _, tail = desk.filed.partition("# Greet by name")
    assert "exit_reason: completed" in head
    assert tail.partition("## Open Questions")[2] == (
        "\n- F1 (P5, risks): Nothing says what two names get.\n"
    )
    assert "<promise>" not in tail
    with desk.store.read() as session:
        kept = [one.text for one in memory.every(session, LOCAL, REPO)]
    where = "P5 missing at “No name is given: exit 2 with a usage line.”"
    assert kept == [f"{where}: Nothing says what two names get. (plan for: {PROMPT})"]
    again = desk.author(turn("draft", say(PLAN)))
    desk.waits(again)
    assert dict(desk.brief(again, "draft.1").told)["memory"] == f"- {kept[0]}"


@one_store
def test_a_critique_that_settles_it_is_the_last_one_and_the_revision_after_it_ends_it(desk: Desk) -> None:
    desk.lands("plans/greet.md")
    run = desk.author(
        *STAGED[:-2],
        turn("critique-1", say(critique(finds=False))),
        turn("revise-1", say(FINAL)),
        mode="staged",
        refine_iterations=3,
    )
    desk.start()
    desk.waits(run)
    judged = [(one.phase, one.outcome) for one in desk.events(StageJudged)]
    assert judged[4:] == [("critique-1", "accepted"), ("revise-1", "accepted")]
    with desk.store.read() as session:
        shown = run_view(session, Blobs(desk.home / "blobs"), desk.run(run)).phases
    assert [one.id for one in shown][4:] == ["critique-1", "revise-1"]
    assert "exit_reason: completed" in desk.text(desk.events(DraftWritten)[0].text)


@one_store
def test_the_second_critic_sees_what_changed_and_what_is_open_and_nothing_else(desk: Desk) -> None:
    desk.lands("plans/greet.md")
    resolved = PLAN.replace("exit 2 with a usage line.", "exit 2 with a usage line; two names: the same.")
    run = desk.author(
        *STAGED[:-1],
        turn("revise-1", say(resolved)),
        turn("critique-2", say(critique(resolved, finds=False))),
        turn("revise-2", say(resolved.replace("Ann", "Bea") + PROMISE)),
        mode="staged",
        refine_iterations=2,
    )
    desk.start()
    desk.waits(run)
    told = dict(desk.brief(run, "critique-2.1").told)
    assert told["open"] == "F1 (P5, missing, material): Nothing says what two names get."
    assert "two names: the same" in told["plan"]
    assert "Other languages" not in told["plan"]
    assert "record" not in told


@one_store
def test_explorers_and_planners_work_side_by_side_and_one_makes_a_plan_of_what_they_propose(
    desk: Desk,
) -> None:
    run = desk.author(
        turn("explore", say(EXPLORED)),
        turn("explore-2", say(EXPLORED.replace("one heading", "a heading"))),
        turn("draft", say(PLAN), attempt=1),
        turn("draft-2", say(BETTER)),
        turn("draft", say(BETTER)),
        mode="standard",
        agents=2,
    )
    desk.start()
    desk.waits(run)
    judged = [(one.phase, one.number, one.outcome) for one in desk.events(StageJudged)]
    assert judged == [("explore", 1, "accepted"), ("draft", 1, "proposed"), ("draft", 2, "accepted")]
    assert [one.agents for one in desk.events(AttemptBegun)] == [2, 2, 1]
    proposals = [text for name, text in desk.brief(run, "draft.2").told if name == "proposal"]
    assert proposals == [PLAN, BETTER]
    leans = [desk.brief(run, name).ask.rpartition(", you: ")[2] for name in ("explore.1", "explore-2.1")]
    assert len(set(leans)) == 2
    assert desk.text(desk.events(DraftWritten)[0].text).endswith(BETTER)


@one_store
def test_an_interview_asks_again_but_nothing_twice_and_grows_its_plan(desk: Desk) -> None:
    skeleton, grown = "# Greet by name\n\n## Goal\n", "# Greet by name\n\n## Goal\nHello to whoever is named."
    first = f"{skeleton}\n```json\n{QUESTIONS}\n```"
    again = QUESTIONS.replace("Which greeting?", "Which language?").replace(
        "without a name", "with two names"
    )
    run = desk.author(
        turn("draft", say(QUESTIONS), attempt=1),
        turn("draft", say(first), attempt=2),
        turn("draft", say(first), attempt=3),
        turn("draft", say(f"{grown}\n```json\n{again}\n```"), attempt=4),
        turn("draft", say(PLAN)),
        mode="interview",
    )
    desk.start()
    file = desk.home / "runs" / run / "plan.md"
    for gists, so_far in (
        (["Which greeting?", "What without a name?"], skeleton),
        (["Which language?", "What with two names?"], grown),
    ):
        assert [one.gist for one in desk.waits(run)] == gists
        assert file.read_text(encoding="utf-8") == so_far.strip()
        desk.answers("yes", "a")
        desk.answers("no", "later")
        desk.until(lambda: desk.run(run).state == "waiting")
    desk.until(lambda: "draft.written" in desk.kinds())
    outcomes = [one.outcome for one in desk.events(StageJudged)]
    assert outcomes == ["refused", "asks", "refused", "asks", "accepted"]
    assert "plan so far: found questions alone" in desk.events(StageJudged)[0].why
    assert "was asked before" in desk.events(StageJudged)[2].why
    assert dict(desk.brief(run, "draft.5").told)["plan so far"] == grown


@one_store
@pytest.mark.parametrize("use_memory", [True, False])
def test_what_is_remembered_is_told_to_whoever_explores_unless_that_is_off(
    desk: Desk, *, use_memory: bool
) -> None:
    with desk.store.write() as session:
        fact = lesson(Kind.FACT, "greet.py must stay below ten lines")
        memory.remember(session, LOCAL, REPO, [fact], actor="you")
    run = desk.author(turn("draft", say(PLAN)), use_memory=use_memory)
    desk.start()
    desk.waits(run)
    told = dict(desk.brief(run, "draft.1").told)
    assert told.get("memory") == ("- greet.py must stay below ten lines" if use_memory else None)


@one_store
def test_of_several_only_whoever_was_turned_away_begins_again(desk: Desk) -> None:
    run = desk.author(
        turn("explore", say(EXPLORED)),
        '[[turn]]\nphase = "explore-2"\nstart = 1\nacts = [{ limit = 1 }]\n',
        turn("explore-2", say(EXPLORED.replace("one heading", "a heading"))),
        turn("draft", say(PLAN), attempt=1),
        turn("draft-2", say(BETTER)),
        turn("draft", say(BETTER)),
        mode="standard",
        agents=2,
    )
    desk.start()
    desk.waits(run)
    starts = [
        len((desk.attempt(run, name) / "starts").read_text(encoding="utf-8").splitlines())
        for name in ("explore.1", "explore-2.1")
    ]
    assert starts == [1, 2]


@one_store
def test_a_critic_judges_by_the_principles_that_were_chosen_and_effort_is_told_to_the_author(
    desk: Desk,
) -> None:
    ours = "- P6 checks: a command that can be pasted.\n- P8 limits: what is left out."
    run = desk.author(
        turn("draft", say(PLAN)),
        turn("critique-1", say(critique()), attempt=1),
        turn("critique-1", say(critique(only=("P6", "P8"), finds=False))),
        turn("revise-1", say(FINAL)),
        mode="staged",
        phases=["draft", "critique", "revise"],
        principles=ours,
        effort="hard",
    )
    desk.start()
    desk.waits(run)
    judged = [(one.phase, one.outcome) for one in desk.events(StageJudged)]
    stages = [("critique-1", "refused"), ("critique-1", "accepted"), ("revise-1", "accepted")]
    assert judged == [("draft", "accepted"), *stages]
    assert dict(desk.brief(run, "critique-1.1").told)["principles"] == ours
    asks = {name: FOR_A_PLAN["hard"] in desk.brief(run, name).ask for name in ("draft.1", "critique-1.1")}
    assert asks == {"draft.1": True, "critique-1.1": False}


@one_store
def test_a_last_text_leaves_room_for_what_nobody_settled_and_without_memory_nothing_is_kept(
    desk: Desk,
) -> None:
    full = PLAN.replace("## Risks\n", "## Risks\n" + "".join(f"Risk {at}: late.\n" for at in range(23)))
    full = full.replace("None.", "How loud?")
    assert sum(bool(line.strip()) for line in full.splitlines()) == LINES
    run = desk.author(
        turn("draft", say(PLAN)),
        turn("critique-1", say(critique())),
        turn("revise-1", say(full + PROMISE), attempt=1),
        turn("revise-1", say(FINAL)),
        mode="staged",
        phases=["draft", "critique", "revise"],
        length="cap",
        use_memory=False,
    )
    desk.start()
    desk.waits(run)
    judged = [(one.phase, one.outcome) for one in desk.events(StageJudged)]
    assert judged[2:] == [("revise-1", "refused"), ("revise-1", "accepted")]
    assert "with what the critique left open it has 41 lines" in desk.events(StageJudged)[2].why
    with desk.store.read() as session:
        assert memory.every(session, LOCAL, REPO) == []
