"""What agents have written is found, shown and brought back; nothing else moves."""

from __future__ import annotations

import json
import re

import pytest
from inline_snapshot import snapshot

from tests.journeys.test_commands import Office, office
from tests.journeys.untouched import Before

__all__ = ["office"]
pytestmark = pytest.mark.crash


def _shown(office: Office, *arguments: str) -> str:
    return re.sub(r"\b[0-9a-hjkmnp-tv-z]{26}\.", "[RUN].", office.asbuilt("log", *arguments))


def test_every_attempt_is_listed_shown_and_brought_back_to_a_branch(office: Office) -> None:
    assert _shown(office, "--attempts") == snapshot("""\
exit 0
--- stdout
No agent has worked here.
--- stderr
Next: asbuilt plan list
""")
    assert office.run("--auto").splitlines()[0] == "exit 0"
    assert office.run("2a", "--auto").splitlines()[0] == "exit 0"
    before = Before(office.shop)
    assert _shown(office, "greet", "--attempts") == snapshot("""\
exit 0
--- stdout
✓ greet.2.2a.2  fix, proven [HH:MM], 1 file changed
  refs/asbuilt/attempts/[RUN].2a.2
✗ greet.2.2a.1  implement, says done, not proven [HH:MM], 1 file changed
  refs/asbuilt/attempts/[RUN].2a.1
✓ greet.1.1.1  implement, proven [HH:MM], 1 file changed
  refs/asbuilt/attempts/[RUN].1.1
--- stderr
Next: asbuilt log greet.2.2a.2 --patch
""")
    assert _shown(office, "--attempts", "greet.2.2a.1") == snapshot("""\
exit 0
--- stdout
greet.2.2a.1   1 file changed against [HASH]
  part.py  +1 -0
--- stderr
Next: asbuilt log greet.2.2a.1 --patch
""")
    assert _shown(office, "--attempts", "greet.2.2a.1", "--patch") == snapshot("""\
exit 0
--- stdout
greet.2.2a.1   1 file changed against [HASH]
  part.py  +1 -0

diff --git a/part.py b/part.py
new file mode 100644
index [HASH]..[HASH]
--- /dev/null
+++ b/part.py
@@ -0,0 +1 @@
+print('wrong')
""")
    assert _shown(office, "--attempts", "greet.2.2a.3") == snapshot("""\
exit 3
--- stderr
error: no attempt "greet.2.2a.3". Did you mean greet.2.2a.2?
  Why:  An attempt's address is plan, run, phase and number, with dots.
  Next: asbuilt log --attempts greet.2.2a.2
""")
    assert _shown(office, "--attempts", "greet.7777.8888.9999") == snapshot("""\
exit 3
--- stderr
error: no attempt "greet.7777.8888.9999"
  Why:  An attempt's address is plan, run, phase and number, with dots.
  Next: asbuilt log --attempts
        # lists every attempt
""")
    before.same_except(set())
    assert _shown(office, "greet.2.2a.1", "--restore", "look") == snapshot("""\
exit 0
--- stdout
look is at [HASH]: the files of greet.2.2a.1.
--- stderr
Next: git switch look
""")
    assert _shown(office, "greet.2.2a.2", "--restore", "look") == snapshot("""\
exit 1
--- stderr
error: a branch look exists already
  Why:  Moving an existing branch could lose its commits.
  Next: git branch --list
        # shows the names that are taken
""")
    assert _shown(office, "greet.2.2a.1", "--restore", "-f").splitlines()[0] == "exit 2"
    assert office.git("show", "look:part.py") == "print('wrong')"
    office.git("branch", "-D", "look")
    before.same_except(set())
    listed = json.loads(_shown(office, "--attempts", "--json").split("--- stdout\n")[1])
    assert [(one["attempt"], one["proven"], one["files"]) for one in listed["attempts"]] == snapshot(
        [("greet.2.2a.2", True, 1), ("greet.2.2a.1", False, 1), ("greet.1.1.1", True, 1)]
    )


def test_no_program_that_the_repository_names_is_started_to_show_a_difference(office: Office) -> None:
    (office.shop / ".git/info").mkdir(exist_ok=True)
    (office.shop / ".git/info/attributes").write_text("*.py diff=evil\n", encoding="utf-8")
    trap = office.shop.parent / "trap"
    for setting in ("diff.evil.command", "diff.evil.textconv", "diff.external"):
        office.git("config", setting, f"touch {trap} #")
    office.git("config", "core.pager", f"touch {trap} #")
    agreed = re.search(r"config set landing\.programs \S+", office.run("--auto"))
    assert agreed
    office.asbuilt(*agreed[0].split())
    assert office.run("--auto").splitlines()[0] == "exit 0"
    assert "+print('hello')" in _shown(office, "--attempts", "greet.1.1.1", "--patch")
    assert not trap.exists()
