from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asbuilt.events.attempts import ChecksDone
from asbuilt.events.landings import LandingDone
from asbuilt.events.pulls import IssueHeld, IssuesTold, PullInvariants, PullMended, PullPushed
from asbuilt.events.runs import ReportWritten
from asbuilt.journal import issue_claims
from asbuilt.journal.blobs import Blobs
from tests.forge.hub import CheckRun
from tests.journeys.pulls import GREEN, PENDING, RED, PullShop, pulling
from tests.journeys.shop import LONG, killed_at, one_store
from tests.journeys.untouched import git

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.journeys.shop import Shop

pytestmark = [pytest.mark.crash, one_store]
STEPS = (
    "pull.seen", "pull.intended", "pull.pushed", "pull.opening", "pull.opened", "pull.merging", "pull.merged",
    "landing.done", "plan.marked", "pull.dropping", "landing.tidied", "issues.telling", "issues.told",
    "pull.invariants",
)  # fmt: skip
"""The events between two steps of a landing; the slice kills at those with something outside behind them."""
SLICE = ("pull.intended", "pull.opening", "pull.merging", "issues.telling")
NAMED = "print('hello, you')"
LANDED = ["Mark plan.md", "Greet", "plan", "start"]
MOVED = ["Mark plan.md", "Greet", "theirs", "plan", "start"]


@pytest.fixture
def pulls(shop: Shop, tmp_path: Path) -> Iterator[PullShop]:
    with pulling(shop, tmp_path) as made:
        yield made


def fix(pulls: PullShop, repair: str, **files: str) -> None:
    """Let the agent that mends something of the pull request write files."""
    acts = [f'{{ write = "{name}.py", text = "{text}\\n" }}' for name, text in files.items()]
    pulls.shop.turn(f'phase = "{repair}"\nrole = "fix"', *acts, '{ say = "mended" }')


def names_everybody(pulls: PullShop) -> None:
    """Let the CI be red for whatever greets nobody by name."""
    pulls.hub.ci = lambda commit: list(GREEN if "you" in pulls.hub.show(commit, "greet.py") else RED)


def landed_once(pulls: PullShop) -> None:
    """Say what holds after every landing: one pull request, one merge, one comment, and nothing left."""
    made = pulls.hub.changes()
    assert [path for method, path in made if method == "POST" and path.endswith("/pulls")] == [
        "/repos/ada/shop/pulls"
    ]
    assert [path for method, path in made if path.endswith("/merge")] == [
        f"/repos/ada/shop/pulls/{pulls.pull.number}/merge"
    ]
    assert [len(said) for said in pulls.hub.said.values()] == [1]
    assert pulls.hub.issues[pulls.issue].state == "closed"
    assert pulls.hub.tip("feat/plan") is None
    shop = pulls.shop
    assert shop.git("branch", "--list") == "* main"
    assert list((shop.home / "workspaces").glob("*/*/*")) == []
    assert [(one.broken, one.held) for one in shop.events(PullInvariants)] == [((), 8)]


def test_a_plan_becomes_one_merged_pull_request_and_leaves_nothing_behind(pulls: PullShop) -> None:
    assert pulls.ends() == ("landed", "")
    pull, shop = pulls.pull, pulls.shop
    assert (pull.title, pull.branch, pull.base) == ("[plan] Greetings", "feat/plan", "main")
    assert pulls.log() == LANDED
    assert "- [x]" in pulls.hub.show("main", "plan.md")
    landed_once(pulls)
    greet = pulls.hub.git("log", "--format=%H", "--grep=^Greet$", "main")[:10]
    url = f"http://github.localhost/ada/shop/pull/{pull.number}"
    assert pull.body == (
        "<!-- asbuilt:progress:start -->\n1 of 1 phases proven: `plan.md`, run `plan.1`.\n\n"
        f"- [x] Phase 1: Greet ({greet})\n\n"
        "Written by asbuilt: done means proven, not said. Edits between the marks are overwritten.\n"
        "<!-- asbuilt:progress:end -->\n"
    )
    assert pulls.hub.said[pulls.issue] == [
        f"`plan.md` has landed by {url}: 1 phase, commits `{greet}`.\n\n<!-- asbuilt:landed:plan.md -->"
    ]
    report = Blobs(shop.home / "blobs").get(shop.events(ReportWritten)[-1].report).decode()
    assert url in report
    # The person's own branch is theirs to move; a later run finds everything done all the same.
    assert shop.log() == ["plan", "start"]
    assert pulls.ends() == ("done", "the plan is already complete: every phase is done")


@pytest.mark.parametrize("landing", ["cherry-pick", "direct"])
@killed_at("issues.telling")
def test_a_landing_without_a_pull_request_closes_the_issues_once(
    pulls: PullShop, landing: str, point: str
) -> None:
    run = pulls.request(landing=landing)
    pulls.shop.lands("greet.py", "plan.md")
    pulls.shop.start_killed(point)
    assert pulls.shop.over(run) == ("landed", "")
    assert pulls.hub.issues[pulls.issue].state == "closed"
    greet = pulls.shop.git("log", "--format=%H", "--grep=^Greet$", "main")[:10]
    assert pulls.hub.said[pulls.issue] == [
        f"`plan.md` has landed: 1 phase, commits `{greet}`.\n\n<!-- asbuilt:landed:plan.md -->"
    ]


def test_an_issue_that_cannot_be_closed_fails_no_landing(pulls: PullShop) -> None:
    pulls.shop.git("remote", "remove", "origin")
    run = pulls.request(landing="cherry-pick")
    pulls.shop.lands("greet.py", "plan.md")
    pulls.shop.start()
    assert pulls.shop.over(run) == ("landed", "")
    (told,) = pulls.shop.events(IssuesTold)
    assert told.failed == (f"#{pulls.issue} is not closed: this repository has no remote origin",)


def test_an_issue_that_another_plan_has_claimed_is_that_plans_to_close(pulls: PullShop) -> None:
    shop, other = pulls.shop, pulls.shop.address._replace(plan="other.md")
    early, late = (pulls.hub.issue(title) for title in ("Theirs from the start", "Theirs since the phases"))
    numbers = [pulls.issue, early, late]
    with shop.store.write() as session:
        issue_claims.acquire(session, other, [early], run="theirs", actor="you")
    held = pulls.request(landing="cherry-pick", hold=True, issues=numbers)
    shop.start()
    assert shop.over(held)[0] == "held"
    with shop.store.write() as session:
        issue_claims.release(session, shop.address)
        issue_claims.acquire(session, other, [late], run="theirs", actor="you")
    run = pulls.request(kind="land", landing="cherry-pick", issues=numbers)
    shop.lands("greet.py", "plan.md")
    shop.start()
    assert shop.over(run) == ("landed", "")
    states = {number: pulls.hub.issues[number].state for number in numbers}
    assert states == {pulls.issue: "closed", early: "open", late: "open"}
    assert list(pulls.hub.said) == [pulls.issue]
    said = [(found, event.number, event.plan) for found, event in shop.of_runs(IssueHeld)]
    assert said == [(held, early, "other.md"), (run, early, "other.md"), (run, late, "other.md")]
    assert [one.numbers for one in shop.events(IssuesTold)] == [(pulls.issue,)]
    with shop.store.read() as session:
        left = [(one.number, one.plan) for one in issue_claims.every(session, other.org, other.repo)]
    assert left == [(early, "other.md"), (late, "other.md")]


def test_a_red_ci_is_mended_by_an_agent_and_proven_before_it_is_pushed(pulls: PullShop) -> None:
    names_everybody(pulls)
    fix(pulls, "ci_checks", greet=NAMED)
    assert pulls.ends() == ("landed", "")
    assert pulls.log() == ["Fix the checks of plan", *LANDED]
    run, _ = pulls.shop.of_runs(PullMended)[0]
    brief = (pulls.shop.attempt(run or "", "ci_checks.1") / "brief.json").read_text()
    assert "the forge's check build fails" in brief
    assert "nobody is named" in brief
    landed_once(pulls)


def test_a_ci_that_stays_red_is_a_question_and_no_ends_it(pulls: PullShop) -> None:
    names_everybody(pulls)
    fix(pulls, "ci_checks", greet="print('hello, all')")
    run = pulls.request(pull={"fixes": 1})
    pulls.shop.start()
    shop = pulls.shop
    shop.until(lambda: shop.run(run).state == "waiting" and "approval.asked" in shop.kinds())
    url = f"http://github.localhost/ada/shop/pull/{pulls.pull.number}"
    what = f"pr-ci-failing: build of pull request #{pulls.pull.number} ({url}) fails after 1 fixes"
    assert shop.answer(run, "no") == [f"{what}; try again?"]
    assert shop.over(run) == ("pr-ci-failing", what)
    assert (pulls.pull.state, pulls.log("feat/plan")[0]) == ("open", "Fix the checks of plan")
    assert shop.git("branch", "--list", "asbuilt/*") == "asbuilt/plan"


def test_an_agent_that_mends_the_ci_by_changing_what_it_runs_mends_nothing(pulls: PullShop) -> None:
    names_everybody(pulls)
    pulls.shop.turn(
        'phase = "ci_checks"\nrole = "fix"',
        '{ write = ".github/workflows/build.yml", text = "on: never\\n" }',
        '{ say = "mended" }',
    )
    run = pulls.request(pull={"fixes": 1})
    pulls.shop.start()
    shop = pulls.shop
    shop.until(lambda: "approval.asked" in shop.kinds())
    assert [one.outcome for one in shop.events(ChecksDone)] == ["PASS", "FAIL"]
    assert len(shop.events(PullPushed)) == 1
    shop.answer(run, "no")
    assert shop.over(run)[0] == "pr-ci-failing"


def overtaken(pulls: PullShop, files: dict[str, str]) -> tuple[str, str]:
    """Let somebody push to main while the checks are at work: the run, and main's new tip."""
    pulls.hub.ci = lambda _: list(PENDING)
    run = pulls.request()
    pulls.shop.start()
    pulls.shop.until(lambda: "run.parked" in pulls.shop.kinds())
    theirs = pulls.theirs(files)
    pulls.hub.ci = lambda _: list(GREEN)
    pulls.hub.check(pulls.pull.head, CheckRun(name="build", conclusion="success"))
    return run, theirs


def test_a_target_that_moves_is_followed_and_proven_on_again(pulls: PullShop) -> None:
    run, theirs = overtaken(pulls, {"theirs.txt": "theirs\n"})
    assert pulls.shop.over(run) == ("landed", "")
    assert [one.target for one in pulls.shop.events(PullPushed)][1:] == [theirs]
    assert pulls.log() == MOVED
    landed_once(pulls)


def test_a_conflict_in_one_file_is_resolved_by_an_agent_and_proven(pulls: PullShop) -> None:
    fix(pulls, "merge_conflict", greet="print('welcome')\\nprint('hello')")
    run, _ = overtaken(pulls, {"greet.py": "print('welcome')\n"})
    assert pulls.shop.over(run) == ("landed", "")
    assert [one.repair for one in pulls.shop.events(PullMended)] == ["merge_conflict"]
    assert pulls.log() == MOVED
    assert pulls.hub.show("main", "greet.py") == "print('welcome')\nprint('hello')"
    landed_once(pulls)


def test_a_conflict_in_six_files_is_a_persons_whose_work_is_proven_and_merged(
    pulls: PullShop, tmp_path: Path
) -> None:
    names = ["greet.py", *(f"{name}.py" for name in "abcde")]
    acts = [f'{{ write = "{name}", text = "print(\'hello\')\\n" }}' for name in names]
    pulls.shop.turn('phase = "1"\nrole = "implement"', *acts, '{ say = "done" }')
    run, _ = overtaken(pulls, dict.fromkeys(names, "print('welcome')\n"))
    shop = pulls.shop
    shop.until(lambda: shop.run(run).state == "waiting" and "approval.asked" in shop.kinds())
    by_hand(pulls, tmp_path / "clone")
    (question,) = shop.answer(run, "yes")
    files = "a.py, b.py, c.py, d.py, e.py, greet.py"
    assert question.startswith(f"Not pushed: 6 files conflict with main: {files}.")
    assert "git rebase origin/main; git push --force-with-lease origin feat/plan" in question
    assert shop.over(run) == ("landed", "")
    assert pulls.log() == MOVED
    landed_once(pulls)


def by_hand(pulls: PullShop, clone: Path) -> None:
    """Do what the question says, as a person does."""
    hub = str(pulls.hub.git_dir)
    clone.mkdir()
    git(clone, "clone", "-q", str(pulls.shop.checkout), ".")
    git(clone, "config", "user.name", "A Person")
    git(clone, "config", "user.email", "a@example.com")
    git(clone, "fetch", "-q", hub, "main")
    git(clone, "switch", "-q", "-c", "feat/plan", "origin/asbuilt/plan")
    git(clone, "rebase", "-q", "-X", "theirs", "FETCH_HEAD")
    git(clone, "push", "-q", "--force", hub, "feat/plan")


def test_who_closes_the_pull_request_ends_the_run_and_everything_is_kept(pulls: PullShop) -> None:
    pulls.hub.ci = lambda _: list(PENDING)
    run = pulls.request()
    pulls.shop.start()
    shop = pulls.shop
    shop.until(lambda: "run.parked" in shop.kinds())
    pulls.pull.state = "closed"
    url = f"http://github.localhost/ada/shop/pull/{pulls.pull.number}"
    assert shop.over(run) == (
        "stopped",
        f"pull request #{pulls.pull.number} ({url}) was closed; all proven commits are kept",
    )
    assert (shop.log("asbuilt/plan")[0], pulls.log("feat/plan")[0]) == ("Greet", "Mark plan.md")


def test_without_auto_merging_is_a_persons_and_landing_then_only_writes_it_down(pulls: PullShop) -> None:
    state, reason = pulls.ends(auto=False, mode="phase")
    url = f"http://github.localhost/ada/shop/pull/{pulls.pull.number}"
    said = f"pull request #{pulls.pull.number} ({url}) is proven and green; merge it when you are ready"
    assert (state, reason) == ("pr-ready", said)
    with pulls.hub.lock:
        pulls.hub.merge(pulls.pull, "squash")
    assert pulls.ends(kind="land") == ("landed", "")
    assert [path for method, path in pulls.hub.changes() if path.endswith("/merge")] == []
    assert [one.new for one in pulls.shop.events(LandingDone)] == [pulls.pull.merged_as]


@pytest.mark.parametrize("point", STEPS if LONG else SLICE)
def test_killed_at_any_step_it_is_one_pull_request_one_merge_and_one_comment(
    pulls: PullShop, point: str
) -> None:
    run = pulls.request()
    pulls.shop.start()
    pulls.shop.until(lambda: point in pulls.shop.kinds())
    pulls.shop.kill()
    pulls.shop.start()
    assert pulls.shop.over(run) == ("landed", "")
    assert pulls.log() == LANDED
    landed_once(pulls)


def test_phase_by_phase_each_run_builds_on_what_was_merged_before(pulls: PullShop) -> None:
    shop = pulls.shop
    second = "\n## Phase 2 — Part\n### Dependencies\nPhase 1.\n### Work Items\n- [ ] `part.py` parts\n"
    checks = "### Verification\n- `grep -q hello greet.py`\n- `grep -q bye part.py`\n"
    shop.commit("plan.md", (shop.checkout / "plan.md").read_text(encoding="utf-8") + second + checks, "more")
    shop.git("push", "-q", str(pulls.hub.git_dir), "main")
    act = '{ write = "part.py", text = "print(\'bye\')\\n" }'
    shop.turn('phase = "2"\nrole = "implement"', act, '{ say = "done" }')
    assert pulls.ends(mode="phase") == ("landed", "")
    assert (pulls.hub.said, pulls.hub.issues[pulls.issue].state) == ({}, "open")
    assert pulls.ends(mode="phase") == ("landed", "")
    titles = [pull.title for pull in pulls.hub.pulls.values()]
    assert titles == ["[plan] Phase 1: Greet", "[plan] Phase 2: Part"]
    assert pulls.log() == ["Mark plan.md", "Part", "Mark plan.md", "Greet", "more", "plan", "start"]
    assert pulls.hub.issues[pulls.issue].state == "closed"
    assert shop.log() == ["more", "plan", "start"]
