"""What a run proves with: the command it found, the setup it made, and what it does not run twice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeVar

import pytest
from msgspec.structs import replace

from asbuilt.events.approvals import ApprovalAsked
from asbuilt.events.attempts import ChecksDone, TogetherDone
from asbuilt.events.phases import BaselineDone, SetupDone, TestsResolved
from asbuilt.journal.blobs import Blobs
from tests.journeys.shop import ALL, LANDED, STARTS_ALL

if TYPE_CHECKING:
    from asbuilt.events.event import Event
    from tests.journeys.shop import Shop

_Kind = TypeVar("_Kind", bound="Event")
pytestmark = pytest.mark.crash
PYTEST = "python -m pytest -q"
COUNTED = "echo 'unit: 1 passed, 0 failed'"
TESTS = """\
from pathlib import Path

FILES = [*Path().glob("*.py")]


def test_one():
    assert all(file.read_text() for file in FILES)


def test_two():
    assert all(__import__(file.stem) for file in FILES)
"""


def add_tests(shop: Shop) -> None:
    (shop.checkout / "tests").mkdir()
    (shop.checkout / "tests" / "test_all.py").write_text(TESTS)
    shop.git("add", "tests")
    shop.git("commit", "-qm", "start")


def told(shop: Shop, run: str, kind: type[_Kind]) -> list[_Kind]:
    return [event for of, event in shop.of_runs(kind) if of == run]


def test_a_detected_command_is_tried_and_asked_for_once_in_a_repository(shop: Shop) -> None:
    add_tests(shop)
    first = shop.request(mode="phase", auto=False, setup="")
    shop.start()
    shop.until(lambda: shop.run(first).state == "waiting")
    assert shop.answer(first, "yes") == [
        f"`{PYTEST}` passed on main: 2 ran, 0 failed. Use it to prove phases?"
    ]
    shop.until(lambda: shop.run(first).state == "held")
    suites = (("", PYTEST, "pytest", "tests"),)
    found = TestsResolved(source="detected", command=PYTEST, found=("tests/test_all.py",), suites=suites)
    assert told(shop, first, TestsResolved) == [found]
    shop.lands("greet.py", "part.py", "plan.md")
    second = shop.request(mode="phase", setup="")
    assert shop.over(second) == ("landed", "")
    assert told(shop, second, TestsResolved) == [replace(found, agreed="a1")]
    assert told(shop, second, ApprovalAsked) == []


def test_suites_of_several_folders_are_found_and_prove_a_phase_together(shop: Shop) -> None:
    files = {
        "api/app.py": "def hello():\n    return 'hello'\n",
        "api/tests/test_app.py": "import app\ndef test_hello(): assert app.hello() == 'hello'\n",
        "web/package.json": '{"type": "module", "scripts": {"test": "node --test"}}',
        "web/app.js": "export const hello = () => 'hello'\n",
        "web/app.test.js": "import test from 'node:test'\nimport assert from 'node:assert'\n"
        "import { hello } from './app.js'\ntest('hello', () => assert.equal(hello(), 'hello'))\n"
        "test('short', () => assert.equal(hello().length, 5))\n",
    }
    for path, text in files.items():
        (shop.checkout / path).parent.mkdir(parents=True, exist_ok=True)
        (shop.checkout / path).write_text(text)
    shop.git("add", ".")
    shop.git("commit", "-qm", "start")
    run = shop.request(mode="phase", auto=False, setup="")
    shop.start()
    shop.until(lambda: shop.run(run).state == "waiting")
    assert shop.answer(run, "yes") == [
        f"`{PYTEST}` in api, `npm test` in web passed on main: 3 ran, 0 failed. Use it to prove phases?"
    ]
    shop.until(lambda: shop.run(run).state == "held")
    blobs = Blobs(shop.home / "blobs")
    (done,) = told(shop, run, ChecksDone)
    shown = json.loads(blobs.get(done.evidence or ""))
    assert [(one["name"], one["outcome"], one["ran"], one["folder"]) for one in shown] == [
        ("tests in api", "PASS", 1, "api"),
        ("tests in web", "PASS", 2, "web"),
        ("grep -q hello greet.py", "PASS", None, None),
    ]


def test_the_verifier_is_told_which_new_lines_no_test_runs(shop: Shop) -> None:
    add_tests(shop)
    shop.turn(
        'phase = "1"\nrole = "implement"',
        "{ write = \"greet.py\", text = \"HELLO = 'hello'\\nif not HELLO:\\n    HELLO = ''\\n\" }",
        '{ write = "tests/test_greet.py", text = "import greet\\ndef test_it(): assert greet.HELLO" }',
        '{ say = "done" }',
    )
    run = shop.request(mode="phase", tests=PYTEST, setup="", probe=True, hold=True)
    shop.start()
    shop.until(lambda: shop.run(run).state == "held")
    brief = json.loads((shop.attempt(run, "1.1v") / "brief.json").read_bytes())["brief"]
    assert brief["unseen"] == ["greet.py:3: no test near them runs these lines"]


def test_a_no_to_the_detected_command_stops_the_run_before_any_work(shop: Shop) -> None:
    add_tests(shop)
    run = shop.request(mode="phase", auto=False, setup="")
    shop.start()
    shop.until(lambda: shop.run(run).state == "waiting")
    shop.answer(run, "no")
    assert shop.over(run) == ("stopped", "you said no to the tests")
    assert "attempt.begun" not in shop.kinds()


def test_unattended_with_tests_that_nobody_has_named_stops_and_says_how_to_name_them(shop: Shop) -> None:
    add_tests(shop)
    run = shop.request(mode="phase")
    shop.start()
    shop.until(lambda: shop.run(run).is_over)
    found = f"no test command is set; found `{PYTEST}` (tests/test_all.py)."
    way_on = "Next: asbuilt doctor --tests --save"
    assert (shop.run(run).state, shop.reason()) == ("failed", f"{found} {way_on}")
    assert "setup.done" not in shop.kinds()


def test_setup_runs_once_for_all_phases_and_a_proven_tree_is_not_proven_again(shop: Shop) -> None:
    shop.lands(*LANDED)
    stamp = "cat /proc/sys/kernel/random/uuid"
    run = shop.request(
        mode="finish",
        setup=f"sleep 1; {stamp} > stamp; {stamp} > $HOME/stamp",
        tests=f"{STARTS_ALL}; cat stamp $HOME/stamp && {COUNTED}; echo evil > stamp; echo evil > $HOME/stamp",
    )
    shop.start()
    shop.until(lambda: "workspace.made" in shop.kinds())
    shop.kill()
    shop.start()
    assert shop.over(run) == ("landed", "")
    assert shop.log() == ALL
    blobs = Blobs(shop.home / "blobs")
    proofs: list[BaselineDone | ChecksDone | TogetherDone] = [
        *told(shop, run, BaselineDone),
        *told(shop, run, ChecksDone),
        *told(shop, run, TogetherDone),
    ]
    shown = [one for proof in proofs for one in json.loads(blobs.get(proof.evidence or ""))]
    tests = [one for one in shown if one["name"] == "tests"]
    assert len({blobs.get(one["output"]) for one in tests}) == 1
    assert {one["setup"] for one in tests} == {done.digest for done in told(shop, run, SetupDone)}
    assert [one["reused"] for one in tests] == [False] * 6 + [True]
    assert [done.reused for done in told(shop, run, TogetherDone)] == [("tests", "grep -q both both.py")]


def test_a_setup_that_fails_ends_the_run_and_its_output_is_kept(shop: Shop) -> None:
    run = shop.request(mode="phase", setup="echo no such package; exit 4", tests=COUNTED)
    shop.start()
    shop.until(lambda: shop.run(run).is_over)
    reason = "the setup failed, so nothing could be proven: `echo no such package; exit 4`: exit 4"
    assert (shop.run(run).state, shop.reason()) == ("failed", reason)
    (done,) = told(shop, run, SetupDone)
    assert done.outcome == "INDETERMINATE"
    assert Blobs(shop.home / "blobs").get(done.output or "") == b"no such package\n"


def test_a_base_whose_tests_give_no_summary_stops_the_run(shop: Shop) -> None:
    run = shop.request(mode="phase", tests="echo broken; exit 1")
    shop.start()
    shop.until(lambda: shop.run(run).is_over)
    assert shop.run(run).state == "failed"
    assert shop.reason().startswith("the tests could not be run on the base")


def test_an_agent_runs_what_setup_made_and_what_it_does_to_it_reaches_no_check(shop: Shop) -> None:
    unit = "#!/bin/sh\\necho 'unit: 1 passed, 0 failed'\\n"
    made = f'mkdir tools && printf "{unit}" > tools/unit && chmod +x tools/unit && pwd > $HOME/at'
    at = "$(cat $(dirname $UV_PROJECT_ENVIRONMENT)/at)"
    run = shop.request(mode="phase", setup=made, tests=f"{STARTS_ALL}; tools/unit && cat $HOME/at")
    shop.turn(
        'phase = "1"\nrole = "implement"',
        '{ write = "greet.py", text = "print(1)  # hello\\n" }',
        f"{{ run = 'tools/unit; cd {at} && pwd && cat greet.py' }}",
        f"{{ run = 'echo no > {at}/plan.md; echo no > {at}/.git; echo mine > {at}/second.txt' }}",
        "{ run = 'rm -r tools; rm $(dirname $UV_PROJECT_ENVIRONMENT)/at; ls tools' }",
    )
    shop.lands("greet.py", "second.txt", "plan.md")
    shop.start()
    shop.until(lambda: shop.run(run).is_over)
    heard = (shop.attempt(run, "1.1") / "events.jsonl").read_text().splitlines()
    said = [json.loads(one)["text"] for one in heard if '"said"' in one]
    assert said[0] == "exit 0: unit: 1 passed, 0 failed\n/run/asbuilt/checkout\nprint(1)  # hello\n"
    assert said[1].count("Read-only file system") == 2
    assert said[2] == "exit 2: ls: cannot access 'tools': No such file or directory\n"
    assert shop.over(run) == ("landed", "")
    assert [one.outcome for one in told(shop, run, ChecksDone)] == ["PASS"]
    tree = shop.git("ls-tree", "-r", "--name-only", "main").splitlines()
    assert tree == ["greet.py", "plan.md", "second.txt"]


def test_a_phase_that_asks_for_another_package_is_prepared_by_a_setup_of_its_own(shop: Shop) -> None:
    (shop.checkout / "requirements.txt").write_text("six\n")
    shop.git("add", "requirements.txt")
    shop.git("commit", "-qm", "start")
    run = shop.request(
        mode="phase",
        setup="cp requirements.txt $HOME/installed",
        tests=f"cat $HOME/installed && {STARTS_ALL} && {COUNTED}",
    )
    shop.turn(
        'phase = "1"\nrole = "implement"',
        '{ write = "greet.py", text = "print(\'hello\')\\n" }',
        '{ write = "requirements.txt", text = "six\\ninflection\\n" }',
    )
    shop.start()
    shop.until(lambda: shop.run(run).state == "waiting")
    (question,) = shop.answer(run, "yes")
    assert "inflection" in question
    shop.lands("greet.py", "requirements.txt", "plan.md")
    assert shop.over(run) == ("landed", "")
    blobs = Blobs(shop.home / "blobs")
    (checked,) = told(shop, run, ChecksDone)
    tests = json.loads(blobs.get(checked.evidence or ""))[0]
    assert blobs.get(tests["output"]) == b"six\ninflection\nunit: 1 passed, 0 failed\n"
    assert "packages were installed for this tree alone" in tests["notes"]
