"""A plan that is authored as a pull request: its reviewers send it back, and then bind it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.authoring.desk import say, turn
from tests.authoring.outputs import HEY, PROMISE
from tests.journeys.test_commands import until

if TYPE_CHECKING:
    from tests.forge.hub import Hub
    from tests.journeys.test_commands import Office

pytestmark = pytest.mark.crash
BETTER = HEY.replace("it prints all the same", "it prints all the same, once")


def test_reviewers_send_a_plan_back_and_bind_the_text_that_they_approve(
    at_the_forge: tuple[Office, Hub],
) -> None:
    office, hub = at_the_forge
    office.script.write_text(
        turn("draft", say(HEY)) + turn("revise-1", say(BETTER + PROMISE)), encoding="utf-8"
    )
    typed = ("author", "call out", "--name", "hey", "--pr", "--script", str(office.script))
    said = office.asbuilt(*typed)
    assert "exit 5" in said
    assert "a1 waits for a review: http://github.localhost/ada/shop/pull/1" in said
    first = hub.pulls[1]
    assert (first.title, first.branch, first.base) == ("[hey] Plan: Call out", "plan/hey", "main")
    assert hub.show(first.head, "plans/hey.md").endswith(HEY.strip())
    assert not (office.shop / "plans" / "hey.md").exists()

    hub.review(1, "APPROVED", by="eve")
    assert office.asbuilt("approve", "pr", "a1").startswith("exit 5")
    hub.review(1, "CHANGES_REQUESTED", by="lead", body="One more thing.", at_lines={21: "how often?"})
    assert "a1 is answered no, by github:lead" in office.asbuilt("approve", "pr", "a1")
    until(lambda: "a2" in office.asbuilt("approve"))

    assert office.asbuilt("approve", "pr", "a2").startswith("exit 5")
    assert "a1 is answered no, by github:lead" in office.asbuilt("approve", "pr", "a1")
    hub.look()
    assert "once" in hub.show(first.head, "plans/hey.md")
    assert office.asbuilt("approve", "pr", "a2").startswith("exit 5"), (
        "what was said of another text binds none"
    )
    hub.review(1, "APPROVED", by="lead")
    out = office.asbuilt("approve", "pr", "a2", "--json")
    told = json.loads(out.partition("--- stdout\n")[2].splitlines()[0])
    assert (told["answer"], told["answered_by"], told["exit"]) == ("yes", "github:lead", 0)
    until((office.shop / "plans" / "hey.md").exists)
    assert len(hub.pulls) == 1
    assert office.git("status", "--porcelain") == "?? plans/hey.md"


def test_a_star_lets_only_those_approve_who_may_write_to_the_repository(
    at_the_forge: tuple[Office, Hub],
) -> None:
    office, hub = at_the_forge
    (office.shop.parent / "home" / ".config" / "asbuilt" / "config.toml").write_text(
        '[approvals]\nplan = ["*"]\n'
    )
    office.script.write_text(turn("draft", say(HEY)), encoding="utf-8")
    office.asbuilt("author", "call out", "--name", "hey", "--pr", "--script", str(office.script))
    hub.review(1, "APPROVED", by="eve")
    said = office.asbuilt("approve", "pr", "a1")
    assert said.startswith("exit 5")
    why = "no user in approvals.plan has reviewed it; github:eve has, and may not write to the repository"
    assert why in " ".join(said.split())
    hub.review(1, "APPROVED", by="lead")
    assert "a1 is answered yes, by github:lead" in office.asbuilt("approve", "pr", "a1")
