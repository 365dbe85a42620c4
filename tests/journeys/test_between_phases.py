"""Between phases a run waits for an answer, and lands nothing."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from tests.journeys.test_commands import Office, office, until

__all__ = ["office"]

pytestmark = pytest.mark.crash


def test_between_phases_it_waits_for_an_answer_and_lands_nothing(office: Office) -> None:
    assert office.run("--finish").splitlines()[0] == "exit 5"
    assert office.asbuilt("approve") == snapshot("""\
exit 0
--- stdout
  ID   KIND      ABOUT                                     FROM              AGE
  a1   continue  continue with phase 2a?                   greet.1 [AGE]
--- stderr
Next: asbuilt approve yes a1
  or  decline: asbuilt approve no a1 -m "why"
""")
    assert office.asbuilt("approve", "show", "a1") == snapshot("""\
exit 0
--- stdout
a1   continue   plans/greet.md
  continue with phase 2a?
  asked [AGE] ago; not answered
--- stderr
Next: asbuilt approve yes a1
  or  decline: asbuilt approve no a1 -m "why"
""")
    assert office.asbuilt("approve", "no", "a1", "-m", "not today") == snapshot("""\
exit 0
--- stdout
a1: no. continue with phase 2a?
--- stderr
Next: asbuilt status greet
""")
    assert office.asbuilt("approve", "yes", "a1") == snapshot("""\
exit 4
--- stdout
a1 was already answered: no, by ann.
--- stderr
Next: asbuilt status greet
""")
    until(lambda: "stopped" in office.asbuilt("status", "greet"))
    assert office.git("log", "--format=%s", "main") == "start"
