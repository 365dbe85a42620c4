"""A tester drives what people see; asbuilt repeats its tries, and a control that does nothing is caught."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from asbuilt.agents.sandbox.launch import probe
from asbuilt.events.attempts import VerdictGiven
from asbuilt.events.phases import PicturesTaken
from asbuilt.events.runs import ReportWritten
from asbuilt.flows.run.briefs import drive_command
from asbuilt.journal.blobs import Blobs
from tests.journeys.shop import one_store

if TYPE_CHECKING:
    from tests.journeys.shop import Shop

pytestmark = [
    pytest.mark.crash,
    one_store,
    pytest.mark.skipif(probe().level != "bwrap", reason="no bubblewrap works here"),
]
PAGE = '<input id=name><button onclick="{does}">Save</button><p id=said></p>'
WORKS = "document.getElementById('said').textContent = 'Saved ' + document.getElementById('name').value"
PROGRAM = 'print("1) save  2) quit")\nif input() == "1":\n    {does}\ninput()\n'
PLAN = """\
# Shop

## Phase 1 — Save
### Work Items
- [ ] `{file}` has a way to save, and says so
### Verification
- `grep -q ave {file}`
"""
SCRIPT = """\
[[turn]]
role = "implement"
acts = [{{ write = "{file}", text = '''{lie}''' }}, {{ say = "saving works" }}]
[[turn]]
role = "fix"
acts = [{{ write = "{file}", text = '''{truth}''' }}, {{ say = "now it works" }}]
[[turn]]
role = "verify"
acts = [{{ verdict = "pass" }}]
[[turn]]
role = "test"
acts = [{{ run = '''{drive}''' }}, {{ verdict = "pass", evidence = [{{ check = "try 1" }}] }}]
"""
PAGE_TRY = "page http://127.0.0.1:8000/index.html 'click #name' 'type Ann' 'click Save' 'see Saved Ann'"
PROGRAM_TRY = "terminal 'python3 menu.py' 'see save' 'type 1' 'key Enter' 'see saved'"


def _drive(
    shop: Shop, *, file: str, lie: str, truth: str, tried: str, **options: object
) -> list[VerdictGiven]:
    """Run a plan whose first work is a lie, to its end; return what testers judged."""
    shop.commit("plan.md", PLAN.format(file=file), "plan")
    drive = f"{drive_command()} {tried}"
    script = SCRIPT.format(file=file, lie=lie, truth=truth, drive=drive)
    shop.script.write_text(script, encoding="utf-8")
    shop.lands(file, "plan.md")
    run = shop.request(mode="finish", ui=[file], **options)
    shop.start()
    shop.until(lambda: shop.run(run).state == "waiting" or shop.run(run).is_over)
    assert not shop.run(run).is_over, shop.reason()
    shop.answer(run, "yes")
    assert shop.over(run) == ("landed", "")
    said = (shop.attempt(run, "1.2t") / "events.jsonl").read_text(encoding="utf-8")
    assert "FAILED" not in said
    assert "ok      see " in said
    return [one for one in shop.events(VerdictGiven) if one.role == "test"]


@pytest.mark.skipif(shutil.which("chromium") is None, reason="Debian's chromium is not installed")
def test_a_button_that_does_nothing_is_caught_on_the_page_and_pictured(shop: Shop) -> None:
    lie, truth = (PAGE.format(does=does) for does in ("", WORKS))
    server = {"name": "site", "command": "python3 -m http.server 8000 --bind 127.0.0.1", "ready": 8000}
    judged = _drive(
        shop, file="index.html", lie=lie, truth=truth, tried=PAGE_TRY, tester="page", services=[server]
    )
    assert [one.outcome for one in judged] == ["FAIL", "PASS"]
    assert "it cites the check `try 1`, which is FAIL" in str(judged[0].failures[0])
    blobs = Blobs(shop.home / "blobs")
    pictures = [json.loads(blobs.get(one.pictures)) for one in shop.events(PicturesTaken)]
    assert all(blobs.get(digest).startswith(b"\x89PNG") for _, digest in [*pictures[0], *pictures[1]])
    assert [len(one) > 1 for one in pictures] == [True, True]
    kept = json.loads(blobs.get(judged[0].evidence or ""))
    assert b"FAILED  see Saved Ann: not visible within 5 s" in blobs.get(kept[0]["output"])
    report = blobs.get(shop.events(ReportWritten)[-1].report).decode()
    assert "try 1" in report
    assert "try-1-01.png" in report


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_a_choice_that_does_nothing_is_caught_in_the_terminal(shop: Shop) -> None:
    lie, truth = (PROGRAM.format(does=does) for does in ("pass", 'print("saved")'))
    judged = _drive(shop, file="menu.py", lie=lie, truth=truth, tried=PROGRAM_TRY, tester="terminal")
    assert [one.outcome for one in judged] == ["FAIL", "PASS"]


def test_a_tester_that_drives_nothing_has_judged_nothing(shop: Shop) -> None:
    shop.turn('role = "test"', '{ verdict = "pass" }')
    run = shop.request(mode="phase", ui=["greet.py"], tester="terminal")
    shop.start()
    state, reason = shop.over(run)
    assert (state, reason) == (
        "failed", "phase 1: the verifier failed 3 times; last: The tester did not drive the interface.",
    )  # fmt: skip
