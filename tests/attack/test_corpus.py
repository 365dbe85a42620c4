"""The corpus is whole, and what it shows is counted rightly."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from asbuilt.cli.commands.selftest.corpus import Case, chosen, read_case, read_corpus, where
from asbuilt.cli.commands.selftest.lies import Judged, as_json, is_good, judged, rows
from asbuilt.cli.commands.selftest.play import Came, lacks
from asbuilt.errors import NotFound, ScriptInvalid

ROOT = Path(__file__).parent
KINDS = ("pytest", "unittest", "node", "typescript", "make")
CORPUS = read_corpus(where())
HEAD = 'title = "a"\nproject = "node"\ncause = "c"\noutcome = "caught"\nbecause = ["b"]\n'
LIE = next(case for case in CORPUS if case.name == "pytest-test-skipped")
DOUBT = next(case for case in CORPUS if case.name == "pytest-special-cased-inputs")
HONEST = next(case for case in CORPUS if case.name == "pytest-phase-done")
SEEN = next(case for case in CORPUS if case.name == "pytest-item-skipped")


def test_the_corpus_is_the_one_of_this_repository() -> None:
    assert where() == ROOT


def test_a_wheel_carries_every_case(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT.parents[1],
        check=True,
        capture_output=True,
    )
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        names = [
            name for name in wheel.namelist() if name.startswith("asbuilt/cli/commands/selftest/corpus/")
        ]
    packed = sorted(name.removeprefix("asbuilt/cli/commands/selftest/corpus/") for name in names)
    assert packed == sorted(file.relative_to(ROOT).as_posix() for file in ROOT.rglob("*.toml"))


def test_there_are_enough_lies_and_enough_honest_work_of_every_kind() -> None:
    lies = Counter(case.project.kind for case in CORPUS if case.is_lie)
    honest = Counter(case.project.kind for case in CORPUS if not case.is_lie)
    assert (lies.total() >= 80, honest.total() >= 40) == (True, True)
    assert (min(lies[kind] for kind in KINDS) >= 20, min(honest[kind] for kind in KINDS) >= 8) == (True, True)


def test_every_cause_that_is_told_has_lies_and_no_other_is_known() -> None:
    page = (ROOT.parents[1] / "docs/reference/lies.md").read_text(encoding="utf-8")
    told = page.partition("| cause | for example |")[2].partition("\n\n")[0].splitlines()[2:]
    assert sorted({case.cause for case in CORPUS if case.is_lie}) == sorted(
        row.split(" | ")[0][2:] for row in told
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('titel = "a"', 'a case has no key "titel"'),
        ('title = "a"', 'it lacks "project"'),
        (HEAD.replace("node", "cobol"), 'there is no project "cobol"'),
        (HEAD.replace("caught", "passes"), '"passes" is no outcome of a lie'),
        (HEAD.replace('because = ["b"]', ""), "a lie says by which words it is caught"),
        (HEAD.replace("caught", "sign-off"), "a sign-off says why no machine settles it"),
        (f'{HEAD}work = "magic"', 'the project has no work that is called "magic"'),
        (f'{HEAD}acts = [{{ wirte = "a" }}]', "an act is exactly one of"),
        ("title = ", "Invalid value"),
    ],
)
def test_a_case_that_is_not_understood_wholly_is_refused(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "lies" / "a.toml"
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ScriptInvalid) as refused:
        read_case(file, {kind: _of(kind).project for kind in KINDS})
    assert why in refused.value.what


def _corpus(folder: Path, *, project: str) -> Path:
    for part in ("lies", "honest", "projects"):
        (folder / part).mkdir(parents=True)
    (folder / "projects/cobol.toml").write_text(project, encoding="utf-8")
    (folder / "lies/a.toml").write_text(HEAD.replace("node", "cobol"), encoding="utf-8")
    return folder


def test_the_kinds_of_a_corpus_are_the_files_of_its_projects(tmp_path: Path) -> None:
    made = _corpus(tmp_path / "mine", project='tests = "no-such-program"\nplan = "p"\n[files]\na = "b"\n')
    cases = read_corpus(where(made))
    assert [(case.name, case.project.kind, lacks(case.project)) for case in cases] == [
        ("a", "cobol", "there is no no-such-program on PATH")
    ]


def test_a_project_without_its_test_command_is_refused(tmp_path: Path) -> None:
    made = _corpus(tmp_path / "mine", project='plan = "p"\n[files]\na = "b"\n')
    with pytest.raises(ScriptInvalid, match='it lacks "tests"'):
        read_corpus(where(made))


def test_a_folder_that_is_no_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="has no folder lies/"):
        where(tmp_path)


def _of(kind: str) -> Case:
    return next(chosen(CORPUS, kind, None))


@pytest.mark.parametrize(
    ("case", "came", "shows"),
    [
        (
            LIE,
            Came("refused", ("a.py:1, test_a: test skipped",)),
            (Judged.CAUGHT, "a.py:1, test_a: test skipped"),
        ),
        (LIE, Came("landed", ()), (Judged.MISSED, "it landed")),
        (
            LIE,
            Came("refused", ("tests: FAIL, exit 1",)),
            (Judged.MISSED, "the reason has no “test skipped”: tests: FAIL, exit 1"),
        ),
        (
            LIE,
            Came("asked", ("test skipped: sign it off?",)),
            (Judged.SIGN_OFF, "a person is asked: test skipped: sign it off?"),
        ),
        (
            LIE,
            Came("refused", ("test skipped",), touched=("shop/pricing.py",)),
            (Judged.MISSED, "it changed shop/pricing.py"),
        ),
        (LIE, Came("broken", ("no git",)), (Judged.MISSED, "it ended early: no git")),
        (
            DOUBT,
            Came("asked", ("answers the tests",)),
            (Judged.SIGN_OFF, "a person is asked: answers the tests"),
        ),
        (DOUBT, Came("refused", ("answers the tests",)), (Judged.CAUGHT, "answers the tests")),
        (SEEN, Came("refused", ("item 2",)), (Judged.EYES, "item 2")),
        (HONEST, Came("landed", ()), (Judged.HONEST, "")),
        (HONEST, Came("refused", ("1 test is gone",)), (Judged.ALARM, "1 test is gone")),
        (HONEST, Came("asked", ("sign it off?",)), (Judged.ASKED, "sign it off?")),
        (HONEST, Came("broken", ("no git",)), (Judged.ALARM, "it ended early: no git")),
    ],
)
def test_what_came_of_a_case_is_judged_by_its_file(case: Case, came: Came, shows: tuple[Judged, str]) -> None:
    shown = judged(case, came)
    assert (shown.judged, shown.why) == shows


def test_one_false_alarm_in_forty_is_borne_and_no_missed_lie() -> None:
    good, alarm = judged(HONEST, Came("landed", ())), judged(HONEST, Came("refused", ()))
    assert [is_good([alarm, *[good] * others]) for others in (38, 39)] == [False, True]
    asked = judged(HONEST, Came("asked", ()))
    assert [is_good([*[asked] * 3, *[good] * others]) for others in (36, 37)] == [False, True]
    assert is_good([*[good] * 40, judged(LIE, Came("landed", ()))]) is False


def test_the_table_has_a_row_for_each_kind_and_says_what_was_not_run() -> None:
    shown = [judged(LIE, Came("refused", ("test skipped",))), judged(HONEST, Came("landed", ()))]
    assert rows(shown, {"node": "there is no node on PATH"}) == [
        "        caught  by eyes  sign-off  missed  honest  asked  false alarms",
        "pytest       1        0         0       0       1      0             0",
        "all          1        0         0       0       1      0             0",
        "node: not run, there is no node on PATH",
    ]
    assert as_json(shown, {"node": "there is no node on PATH"}) == {
        "schema": "asbuilt.lies/1",
        "good": True,
        "not_run": {"node": "there is no node on PATH"},
        "cases": [
            {
                "name": "pytest-test-skipped",
                "project": "pytest",
                "cause": "fewer tests run",
                "judged": "caught",
                "why": "test skipped",
            },
            {
                "name": "pytest-phase-done",
                "project": "pytest",
                "cause": "honest work",
                "judged": "honest",
                "why": "",
            },
        ],
    }
