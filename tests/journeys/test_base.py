"""The base as it is: failures of before the work, tests that prove nothing, checks that are killed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asbuilt.events.attempts import AttemptBegun, ChecksDone
from asbuilt.events.phases import BaselineDone
from tests.journeys.shop import one_store

if TYPE_CHECKING:
    from tests.journeys.shop import Shop

pytestmark = [pytest.mark.crash, one_store]
PYTEST = "python -m pytest -q -p no:cacheprovider"
RED = """\
from pathlib import Path


def test_red():
    assert False


def test_green():
    for file in Path().glob("*.py"):
        exec(file.read_text())
"""


def commit(shop: Shop, **files: str) -> None:
    for name, text in files.items():
        path = shop.checkout / name.replace("__", "/").replace("_py", ".py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        shop.git("add", str(path))
    shop.git("commit", "-qm", "start")


def test_failures_of_the_base_are_counted_and_not_called_a_pass(shop: Shop) -> None:
    commit(shop, tests__test_red_py=RED)
    shop.lands("greet.py", "plan.md")
    run = shop.request(mode="phase", tests=PYTEST, hold=False)
    shop.start()
    assert shop.over(run) == ("landed", "")
    (baseline,) = shop.events(BaselineDone)
    told = (baseline.outcome, baseline.why, baseline.ran, baseline.failed)
    assert told == ("FAIL", "1 of 2 tests already fail", 2, 1)


def test_a_red_suite_that_names_no_test_stops_an_unattended_run(shop: Shop) -> None:
    run = shop.request(mode="phase", tests="echo '5 passed, 3 failed'; exit 1")
    shop.start()
    state, reason = shop.over(run)
    assert (state, "attempt.begun" in shop.kinds()) == ("failed", False)
    assert reason == (
        "the tests of the base prove nothing: 3 of 8 tests already fail, and the runner does not name them,"
        " so new failures cannot be distinguished from old ones."
        ' Next: asbuilt config set checks.tests "<command>"'
    )


def test_tests_that_run_no_file_of_the_base_are_asked_about(shop: Shop) -> None:
    commit(shop, tests__test_it_py="def test_it():\n    assert True\n", shout_py="print('HEY')\n")
    run = shop.request(mode="phase", tests=PYTEST, auto=False)
    shop.start()
    shop.until(lambda: shop.run(run).state == "waiting")
    question = (
        "continue with tests that prove nothing? every check passes without the contents of shout.py: either"
        " the checks run other code than this tree's, or no check runs these files"
    )
    assert shop.answer(run, "no") == [question]
    assert shop.over(run)[0] == "stopped"


def test_a_check_that_is_killed_is_run_again_and_then_asked_about_without_a_fix(shop: Shop) -> None:
    tests = "echo '1 passed, 0 failed'; if [ -e greet.py ]; then kill -9 $$; fi"
    run = shop.request(mode="phase", tests=tests)
    shop.start()
    shop.until(lambda: shop.run(run).state == "waiting")
    words = (
        "the checks of phase 1 were inconclusive: tests: INDETERMINATE, the test run was killed by SIGKILL"
    )
    assert shop.answer(run, "no") == [f"{words}. Run them again?"]
    assert shop.over(run) == ("stopped", words)
    assert [begun.role for begun in shop.events(AttemptBegun)] == ["implement"]
    (checks,) = shop.events(ChecksDone)
    assert (checks.outcome, checks.unusable) == ("INDETERMINATE", True)


def test_a_suite_counts_by_a_whole_summary_and_with_no_fewer_tests_than_before(shop: Shop) -> None:
    summaries = ["3 passed, 0 failed", "collecting", "2 passed, 0 failed", "3 passed, 0 failed"]
    lines = "if [ -e greet.py ]; then wc -l < greet.py; else echo 0; fi"
    cases = "".join(f"{at}) echo '{one}';; " for at, one in enumerate(summaries))
    for attempt in (2, 3):
        head = f'phase = "1"\nrole = "fix"\nattempt = {attempt}'
        shop.turn(head, '{ append = "greet.py", text = "# again\\n" }')
    run = shop.request(mode="phase", tests=f"case $({lines}) in {cases}esac", hold=True)
    shop.start()
    assert shop.over(run)[0] == "held"
    found = [(one.outcome, one.failures[:1]) for one in shop.events(ChecksDone)]
    assert found == [
        ("INDETERMINATE", ("tests: INDETERMINATE, exit 0, but it printed no summary that could be read",)),
        ("FAIL", ("tests: FAIL, 1 test is gone: 3 before, 2 now",)),
        ("PASS", ()),
    ]
