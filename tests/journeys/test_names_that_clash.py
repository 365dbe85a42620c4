"""A plan's name is never read as a part of another name, or as the number of a question."""

from __future__ import annotations

import pytest

from tests.journeys.shop import PLAN
from tests.journeys.test_commands import Office, office

__all__ = ["office"]
pytestmark = pytest.mark.crash


def test_a_plan_that_has_not_run_is_not_taken_for_one_whose_name_holds_its_own(office: Office) -> None:
    (office.shop / "plans" / "e.md").write_text(PLAN, encoding="utf-8")
    office.git("add", ".")
    office.git("commit", "-qm", "e")
    assert office.run("--finish").startswith("exit 5")
    for words in (("approve", "yes", "e"), ("approve", "show", "e")):
        assert "error: e is not the name of a question" in office.asbuilt(*words)
    for command in (("land", "e"), ("stop", "e"), ("land", "e", "--undo")):
        assert "error: e has not been run here" in office.asbuilt(*command)
    assert 'a1 "continue with phase 2a?"' in office.asbuilt("status", "greet")
    for reading in ("log", "watch", "report"):
        assert "error: e has not been run here" in office.asbuilt(reading, "e")
    assert "asbuilt has not run it yet." in office.asbuilt("status", "e")


def test_a_plan_may_be_called_a_number_and_a_question_is_never_meant_by_it(office: Office) -> None:
    assert office.run("--finish").startswith("exit 5")
    (office.shop / "plans" / "1.md").write_text(PLAN, encoding="utf-8")
    office.git("add", ".")
    office.git("commit", "-qm", "1")
    assert office.asbuilt("run", "1", "--finish", "--script", str(office.script)).startswith("exit 5")
    assert "plans/1.md" in office.asbuilt("approve", "show", "1")
    assert "plans/greet.md" in office.asbuilt("approve", "show", "a1")
    assert office.asbuilt("approve", "yes", "1").startswith("exit 0\n--- stdout\na2: yes.")
    assert office.asbuilt("stop", "1").startswith("exit 0")
    assert office.asbuilt("approve", "no", "1") == (
        "exit 3\n--- stderr\nerror: 1 asks nothing\n"
        "  Why:  No run of this plan waits for an answer.\n"
        "  Next: asbuilt status 1\n"
    )


def test_a_plan_file_that_is_named_like_a_question_is_refused_with_a_name_that_works(
    office: Office,
) -> None:
    office.git("mv", "plans/greet.md", "plans/a1.md")
    refused = office.asbuilt("run", "a1", "--auto", "--script", str(office.script))
    assert refused == (
        'exit 2\n--- stderr\nerror: "a1.md" cannot name a plan\n'
        "  Why:  Questions have such names: asbuilt approve yes a1 answers one.\n"
        "  Next: mv plans/a1.md plans/a1-plan.md\n"
    )
