"""What an agent changed is looked at before any of it runs; what no machine can settle, a person does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from asbuilt.events.attempts import ChecksDone, VerdictGiven
from asbuilt.events.event import Failure
from asbuilt.events.runs import ReportWritten
from asbuilt.journal import approvals
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.ids import LOCAL
from tests.journeys.shop import PLAN, REPO, STARTS_ALL, killed_at, one_store

if TYPE_CHECKING:
    from tests.journeys.shop import Shop

pytestmark = [pytest.mark.crash, one_store]
IMPLEMENT, FIX, VERIFY = (f'phase = "1"\nrole = "{role}"' for role in ("implement", "fix", "verify"))
GREET = '{ write = "greet.py", text = "print(\'hello\')\\n" }'
CI = '{ write = ".gitlab-ci.yml", text = "test: [true]\\n" }'
NOTICED = ".gitlab-ci.yml: ci changed: it is new; the phase does not order it"
SIGN_OFF = f"sign off {NOTICED}"
TEST = "from greet import hello\n\n\ndef test_hello():\n    assert hello() == 'hello'\n"
WEAKENED = (
    "test_greet.py, test_hello: old test fails: it passed on the base,"
    " and it fails on the new code: AssertionError: assert 'hi' == 'hello'"
)
SLOW = f"sleep 2; {STARTS_ALL}; echo 'unit: 1 passed, 0 failed'"


def run_of(command: str) -> str:
    return "{ run = '''" + command + "''' }"


def failures(shop: Shop) -> list[list[str]]:
    return [list(one.failures) for one in shop.events(ChecksDone)]


def asked(shop: Shop) -> list[approvals.Approval]:
    with shop.store.read() as session:
        return approvals.waiting(session, LOCAL, REPO)


def kept(shop: Shop, digest: str) -> bytes:
    return Blobs(shop.home / "blobs").get(digest)


def test_a_weakened_test_whose_old_text_fails_is_told_to_the_fixer(shop: Shop) -> None:
    shop.commit("greet.py", "def hello():\n    return 'hello'\n", "a product")
    shop.commit("test_greet.py", TEST, "a test")
    weaken = '{ replace = "test_greet.py", old = " == \'hello\'", new = "" }'
    restore = '{ replace = "test_greet.py", old = "assert hello()", new = "assert hello() == \'hello\'" }'
    broken = '{ replace = "greet.py", old = "return \'hello\'", new = "return \'hi\'" }'
    mended = '{ replace = "greet.py", old = "return \'hi\'", new = "return \'hello\'" }'
    tested = '{ write = "test_volume.py", text = "import greet\\ndef test(): assert greet.VOLUME == 2\\n" }'
    shop.turn(IMPLEMENT, '{ append = "greet.py", text = "VOLUME = 2\\n" }', tested, broken, weaken)
    shop.turn(FIX, restore, mended)
    shop.lands("greet.py", "test_greet.py", "test_volume.py", "plan.md")
    run = shop.request(mode="phase", tests="python -m pytest -q -p no:cacheprovider")
    shop.start()
    assert shop.over(run) == ("landed", "")
    first, second = shop.events(ChecksDone)
    assert (first.outcome, first.failures) == ("FAIL", (WEAKENED,))
    assert (second.outcome, second.failures) == ("PASS", ())
    shown, *_ = json.loads(kept(shop, first.evidence or ""))
    assert (shown["outcome"], shown["old"], [one[:3] for one in shown["olds"]]) == (
        "PASS",
        "red",
        [["test_greet::test_hello", "passed", "red"]],
    )
    assert [(one["rule"], one["severity"]) for one in json.loads(kept(shop, first.remarks or ""))] == [
        ("not-compared", "note"),
        ("old-test-fails", "fails"),
        ("no-test-notices", "sign_off"),
    ]
    assert json.loads(kept(shop, second.remarks or "")) == []
    brief = json.loads((shop.attempt(run, "1.2") / "brief.json").read_bytes())
    assert brief["brief"]["failures"] == [WEAKENED]


def test_a_case_that_an_ordered_merge_of_tests_drops_is_told_to_the_fixer_and_asked_about(shop: Shop) -> None:
    right, wrong = (
        "def hello(name=''):\n    return f'hello {name}'.strip()\n",
        "def hello(name=''):\n    return 'hello'\n",
    )
    old = f"{TEST}\n\ndef test_name():\n    assert hello('Ann') == 'hello Ann'\n"
    order = "- [ ] Merge `test_hello` and `test_name` into one test, `test_greeting`; delete the old ones\n"
    shop.commit("plan.md", PLAN.replace("says hello\n", f"says hello\n{order}"), "an order")
    shop.commit("greet.py", right, "a product")
    shop.commit("test_greet.py", old, "tests")
    volume = "\n\ndef test_volume():\n    assert __import__('greet').VOLUME == 2\n"
    left = json.dumps(TEST.replace("test_hello", "test_greeting") + volume)
    merged = f'{{ write = "test_greet.py", text = {left} }}'
    broken, mended = (
        f'{{ write = "greet.py", text = {json.dumps(text + "VOLUME = 2")} }}' for text in (wrong, right)
    )
    shop.turn(IMPLEMENT, broken, merged)
    shop.turn(FIX, mended)
    shop.lands("greet.py", "test_greet.py", "plan.md")
    run = shop.request(mode="phase", tests="python -m pytest -q -p no:cacheprovider")
    shop.start()
    shop.until(lambda: shop.run(run).state == "waiting")
    (question,) = shop.answer(run, "yes")
    assert "test_name: test removed" in question
    assert "no new test has its case: assert hello('Ann') == 'hello Ann'" in question
    assert shop.over(run) == ("landed", "")
    first, second = shop.events(ChecksDone)
    assert "test_name: test removed" in first.failures[0]
    assert "it fails on the new code" in first.failures[0]
    assert (second.outcome, second.failures) == ("PASS", ())


@killed_at("approval.asked", "signoff.wanted")
def test_unattended_a_change_that_wants_a_sign_off_waits_for_it_and_then_lands(
    shop: Shop, point: str
) -> None:
    shop.turn(IMPLEMENT, GREET, CI)
    shop.lands("greet.py", ".gitlab-ci.yml", "plan.md")
    run = shop.request(mode="phase")
    shop.start_killed(point)
    shop.until(lambda: shop.run(run).state == "waiting")
    assert [(one.kind, one.phase) for one in asked(shop)] == [("sign-off", "1")]
    assert shop.log() == ["start"]
    assert shop.answer(run, "yes") == [SIGN_OFF]
    assert shop.over(run) == ("landed", "")
    assert shop.log() == ["Mark plan.md", "Greet", "start"]
    report = kept(shop, shop.events(ReportWritten)[-1].report).decode()
    noticed = (
        "- **for a person** ci changed, `.gitlab-ci.yml`\n  - Now: `it is new; the phase does not order it`\n"
    )
    assert f"{noticed}  - Signed off: yes by you on " in report


def test_what_is_held_is_signed_off_by_whoever_lands_it_and_a_no_lands_nothing(shop: Shop) -> None:
    shop.turn(IMPLEMENT, GREET, CI)
    held = shop.request(mode="phase", hold=True)
    shop.start()
    state, reason = shop.over(held)
    told = "before it lands you have to sign off 1 of its changes"
    assert (state, reason.rpartition("; ")[2], asked(shop)) == ("held", told, [])
    first = shop.request(kind="land", auto=False, hold=False)
    shop.until(lambda: shop.run(first).state == "waiting")
    assert shop.answer(first, "no") == [SIGN_OFF]
    assert shop.over(first)[0] == "stopped"
    assert shop.log() == ["start"]
    shop.lands("greet.py", ".gitlab-ci.yml", "plan.md")
    second = shop.request(kind="land", auto=False, hold=False)
    shop.until(lambda: shop.run(second).state == "waiting")
    assert shop.answer(second, "yes") == [SIGN_OFF]
    assert shop.over(second) == ("landed", "")


def test_a_setting_of_git_that_an_unheld_agent_changed_fails_until_it_is_put_back(shop: Shop) -> None:
    shop.turn(IMPLEMENT, GREET, run_of("git config core.hooksPath /nowhere"))
    shop.turn(f"{FIX}\nattempt = 3", run_of("git config --unset core.hooksPath"))
    shop.lands("greet.py", "plan.md")
    run = shop.request(mode="phase")
    shop.start(ASBUILT_TEST_NO_RING="1")
    assert shop.over(run) == ("landed", "")
    changed = "git config core.hookspath: changed outside the workspace: /nowhere; put it back"
    assert failures(shop) == [[changed], [changed], []]


def test_a_file_that_appears_in_the_checkout_while_nothing_holds_the_agent_is_asked_about(shop: Shop) -> None:
    theirs = shop.checkout / "theirs.txt"
    shop.turn(IMPLEMENT, GREET, run_of(f"echo evil > {theirs}"))
    run = shop.request(mode="phase")
    shop.start(ASBUILT_TEST_NO_RING="nowhere")
    shop.until(lambda: shop.run(run).state == "waiting")
    (question,) = shop.answer(run, "no")
    assert question.startswith("sign off theirs.txt: changed in your checkout: ")
    assert shop.over(run)[0] == "stopped"
    assert theirs.read_text(encoding="utf-8") == "evil\n"
    theirs.unlink()


def test_a_verifier_that_writes_files_has_judged_nothing(shop: Shop) -> None:
    better = '{ append = "greet.py", text = "# better\\n" }'
    shop.turn(f"{VERIFY}\nattempt = 1", better, '{ verdict = "pass" }')
    shop.turn(FIX, '{ append = "greet.py", text = "# again\\n" }')
    shop.lands("greet.py", "plan.md")
    run = shop.request(mode="phase")
    shop.start(ASBUILT_TEST_NO_RING="1")
    assert shop.over(run) == ("landed", "")
    first, second = shop.events(VerdictGiven)
    wrote = "the verifier wrote files that it was given to read: greet.py"
    assert first.failures == (Failure(wrote, is_fault=True),)
    assert second.outcome == "PASS"
    assert (shop.checkout / "greet.py").read_text(encoding="utf-8") == "print('hello')\n# again\n"


def test_a_process_that_an_agent_leaves_behind_edits_nothing_that_is_judged(shop: Shop) -> None:
    left = "{ spawn = '''sh -c \"sleep 1; echo evil >> greet.py\"''' }"
    shop.turn(IMPLEMENT, GREET, left, '{ say = "done" }')
    shop.lands("greet.py", "plan.md")
    run = shop.request(mode="phase", tests=SLOW)
    shop.start(ASBUILT_TEST_NO_RING="1")
    assert shop.over(run) == ("landed", "")
    assert (shop.checkout / "greet.py").read_text(encoding="utf-8") == "print('hello')\n"


def test_what_is_written_into_the_workspace_after_the_snapshot_is_not_proven_and_stops_the_run(
    shop: Shop,
) -> None:
    run = shop.request(mode="phase", tests=SLOW)
    shop.start()
    shop.until(lambda: "tree.kept" in shop.kinds())
    (shop.home / "workspaces" / REPO / run / "plan.1" / "greet.py").write_text("evil\n", encoding="utf-8")
    state, reason = shop.over(run)
    assert (state, "has files that are not kept: greet.py" in reason) == ("failed", True)
    assert shop.git("show", "asbuilt/plan:greet.py") == "print('hello')"
