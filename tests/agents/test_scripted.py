"""The scripted agent's acts, its document, and what its host does with a bad one."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from asbuilt.agents.attempt_folder import Folder
from asbuilt.agents.scripted.adapter import ACTS, parsed
from asbuilt.errors import ScriptInvalid
from asbuilt.events.options import AgentProgram
from asbuilt.proof.opinion import Entry, Line, Opinion
from tests.agents.conftest import Machine
from tests.contracts.attempts import ended, has_said, host_pid, marked, started_with, until

if TYPE_CHECKING:
    from asbuilt.ports import Brief, Result

DOCUMENT = Path(__file__).parents[2] / "docs" / "reference" / "scripted-agent.md"
GIGABYTE = 1_000_000_000
OUT = "../../../../runs/01J/attempts/01J.1.1/out"


@pytest.fixture
def one(tmp_path: Path) -> Machine:
    """Make a machine with the best ring here: what is tested does not depend on it."""
    return Machine(root=tmp_path / "m", level="none")


def played(machine: Machine, script: str, **changes: object) -> Result:
    return ended(machine, started_with(machine, machine.playing(script, **changes)))


def texts(machine: Machine, brief: Brief, kind: str) -> list[str]:
    return [
        str(event["text"]) for event in machine.attempts.events(brief.attempt)[0] if event["kind"] == kind
    ]


def test_the_documents_example_does_what_the_document_says(one: Machine) -> None:
    example = re.findall(r"```toml\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)[0]
    implement = played(one, example, attempt="01J.1.1")
    assert (implement.ending, implement.says, implement.tool_calls) == ("done", "Added the greeting.", 2)
    assert (one.workspace / "greeting.py").read_text() == 'def greet(name):\n    return f"Hello {name}"\n'
    verify = played(one, example, attempt="01J.1.1v", role="verify", changed=("greeting.py",))
    evidence = (Line("greeting.py", 1),)
    assert verify.verdict == Opinion(
        "sha256:0",
        (
            Entry(1, "PASS", "as the script says", evidence),
            Entry(2, "FAIL", "The greeting lacks its comma.", evidence),
            Entry(3, "PASS", "as the script says", evidence),
        ),
    )
    fix = played(one, example, attempt="01J.1.2", role="fix")
    assert (one.workspace / "greeting.py").read_text() == 'def greet(name):\n    return f"Hello, {name}"\n'
    assert (fix.cost_usd, fix.drift) == (
        0.02,
        ("PLAN-TEXT-DRIFT: phase=1 bullet=2 field=lines plan=40 actual=44",),
    )
    again = played(one, example, attempt="01J.1.2v", role="verify")
    assert again.verdict is not None
    assert [entry.outcome for entry in again.verdict.entries] == ["PASS", "PASS", "PASS"]
    other = played(one, example, attempt="01J.2.1", phase="2")
    assert (other.ending, other.says) == ("done", "The script has nothing for this; nothing was changed.")


def test_every_act_stands_in_the_document() -> None:
    told = set(re.findall(r"^\| `(\w+)", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE))
    assert told == set(ACTS)


def test_files_are_written_appended_replaced_moved_and_deleted(one: Machine) -> None:
    result = played(
        one,
        """
        [[turn]]
        acts = [
          { write = "a/b.txt", text = "one\\n", mode = "755" },
          { append = "a/b.txt", text = "two\\n" },
          { replace = "a/b.txt", old = "one", new = "1" },
          { move = "a/b.txt", to = "c.txt" },
          { write = "gone.txt", text = "" },
          { delete = "gone.txt" },
          { delete = "a" },
          { run = ["cat", "c.txt"] },
        ]
        """,
    )
    assert (result.says, result.tool_calls) == ("exit 0: 1\ntwo\n", 8)
    assert (one.workspace / "c.txt").stat().st_mode & 0o777 == 0o755
    assert sorted(path.name for path in one.workspace.iterdir()) == [".git", "c.txt", "plans"]


def test_an_act_that_fails_is_told_and_passed_over(one: Machine) -> None:
    brief = one.playing(
        '[[turn]]\nacts = [{ read = "nowhere" }, { replace = "plans/login.md", old = "x", new = "y" }]'
    )
    assert ended(one, started_with(one, brief)).ending == "done"
    assert texts(one, brief, "noted") == [
        "read nowhere: No such file or directory",
        "replace plans/login.md: the text is not there",
    ]


def test_a_lie_is_told_as_it_is(one: Machine) -> None:
    result = played(one, '[[turn]]\nacts = [{ say = "All tests pass." }]')
    assert (result.ending, result.says, result.tool_calls) == ("done", "All tests pass.", 0)


@pytest.mark.parametrize(
    ("act", "ending", "reason"),
    [
        ("exit = 3", "crashed", "The agent ended with exit code 3."),
        ('signal = "KILL"', "crashed", "The agent was ended by signal 9."),
        ('fail = "I cannot."', "failed", "I cannot."),
    ],
)
def test_an_agent_can_end_badly(machine: Machine, act: str, ending: str, reason: str) -> None:
    result = played(machine, f"[[turn]]\nacts = [{{ {act} }}]")
    assert (result.ending, result.reason) == (ending, reason)


def test_a_limit_can_be_told_in_seconds(one: Machine) -> None:
    result = played(one, "[[turn]]\nacts = [{ limit = 3600 }, { say = 'never' }]")
    assert (result.ending, result.says) == ("limited", "")
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", result.resets_at or "")


def test_what_an_agent_cost_before_its_host_was_killed_is_not_forgotten(one: Machine) -> None:
    spends = '{ usage = 10, output = 5, cost_usd = 0.25 }, { run = "true" }, { session = "s-1" }'
    brief = one.playing(
        f"[[turn]]\nstart = 1\nacts = [{spends}, {{ kill_host = true }}]\n[[turn]]\nacts = [{spends}]\n"
    )
    one.attempts.start(brief)
    until(lambda: not one.attempts.alive(brief.attempt))
    until(lambda: marked(one.mark) == [], seconds=5)
    one.attempts.start(brief)
    result = ended(one, brief)
    assert (result.starts, result.cost_usd, result.tool_calls, result.session) == (2, 0.5, 2, "s-1")


@pytest.mark.parametrize("flood", ["", ", lines = true", ', stream = "stderr"'])
def test_a_gigabyte_from_an_agent_costs_its_host_little(tmp_path: Path, flood: str) -> None:
    machine = Machine(root=tmp_path / "m", level="none", abandon_s=60)
    brief = machine.playing(
        f"[[turn]]\nacts = [{{ flood = {GIGABYTE}{flood} }}, {{ run = ['true'] }}, {{ hang = true }}]"
    )
    machine.attempts.start(brief)
    # What comes directly behind a flood without a line's end is lost with it: the line after it is awaited.
    until(lambda: _peak_kb(host_pid(machine, brief)) > 0 and _has_run(machine, brief), seconds=60)
    assert _peak_kb(host_pid(machine, brief)) < 200_000
    assert (
        sum(
            path.stat().st_size for path in machine.attempts.folder(brief.attempt).glob("*") if path.is_file()
        )
        < 2e7
    )
    machine.attempts.cancel(brief.attempt)
    assert ended(machine, brief).ending == "cancelled"


def _has_run(machine: Machine, brief: Brief) -> bool:
    return texts(machine, brief, "said")[-1:] == ["exit 0: "]


def _peak_kb(pid: int) -> int:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) if found else 0


def test_events_are_capped_and_the_sums_go_on(one: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    many = ", ".join(['{ run = ["true"] }'] * 40)
    brief = one.playing(f"[[turn]]\nacts = [{many}]")
    folder = Folder(one.attempts.folder(brief.attempt))
    folder.path.mkdir(parents=True)
    terms = one.attempts.terms()
    small = type(terms)(level=terms.level, hidden=terms.hidden, homes=terms.homes, events_cap=2_000)
    folder.write_brief(brief, small)
    monkeypatch.chdir("/")
    result = ended(one, started_with(one, brief))
    assert result.tool_calls == 40
    assert (folder.path / "events.jsonl").stat().st_size < 2_300
    assert one.attempts.events(brief.attempt)[0][-1]["kind"] == "full"


def test_a_torn_last_event_harms_no_other(one: Machine) -> None:
    brief = one.brief("hangs in its first start")
    one.attempts.start(brief)
    until(has_said(one, brief))
    os.kill(host_pid(one, brief), signal.SIGKILL)
    until(lambda: not one.attempts.alive(brief.attempt))
    with (one.attempts.folder(brief.attempt) / "events.jsonl").open("ab") as file:
        file.write(b'{"kind": "sa')
    one.attempts.start(brief)
    ended(one, brief)
    kinds = [event["kind"] for event in one.attempts.events(brief.attempt)[0]]
    assert kinds == ["started", "said", "started", "called", "said", "ended"]


def test_a_bad_script_fails_the_attempt_with_its_line(one: Machine) -> None:
    result = played(one, '[[turn]]\nacts = [\n  { say = "x" },\n  { sing = "y" },\n]\n')
    assert result.ending == "failed"
    assert result.reason.startswith("script.toml:4: an act is exactly one of write, append,")


def test_an_unknown_agent_and_a_missing_workspace_are_told(one: Machine) -> None:
    nobody = AgentProgram(kind="nobody")
    assert played(one, "", attempt="01J.1.1", program=nobody).reason == "No adapter drives nobody."
    gone = one.root / "gone"
    assert played(one, "", attempt="01J.1.2", workspace=gone).reason == f"The workspace {gone} is not there."


def test_a_link_in_place_of_a_verdict_is_not_followed(one: Machine) -> None:
    (one.root / "foreign.json").write_text('[[1, "PASS", "read from outside"]]')
    brief = one.playing(f'[[turn]]\nacts = [{{ run = "ln -s {one.root}/foreign.json {OUT}/verdict.json" }}]')
    result = ended(one, started_with(one, brief))
    trouble = "the verdict cannot be read: verdict.json: Too many levels of symbolic links"
    assert (result.ending, result.verdict) == ("done", Opinion(None, (), (trouble,)))
    assert texts(one, brief, "noted") == [trouble]


def test_a_folder_that_is_taken_away_ends_its_host(one: Machine) -> None:
    brief = one.brief("hangs")
    one.attempts.start(brief)
    until(has_said(one, brief))
    folder = one.attempts.folder(brief.attempt)
    host = host_pid(one, brief)
    folder.rename(folder.with_name("away"))
    until(lambda: marked(one.mark) == [], seconds=10)
    until(lambda: not Path(f"/proc/{host}").exists(), seconds=10)


def test_the_stall_comes_on_time(one: Machine) -> None:
    brief = one.playing("[[turn]]\nacts = [{ say = 'here I am' }, { hang = true }]", stall_s=3)
    one.attempts.start(brief)
    until(has_said(one, brief))
    began = time.monotonic()
    result = ended(one, brief)
    assert result.ending == "stalled"
    assert time.monotonic() - began > 2.5


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[[turn]]\nacts = [\n", "script:3: not TOML: Invalid value"),
        ("speed = 1\n", 'script:1: "speed" is not known here; a script consists of [[turn]] tables'),
        ("turn = 1\n", "script:1: turns are written as [[turn]] tables"),
        (
            "\n[[turn]]\nphases = '1'\n",
            'script:2: a turn has no key "phases"; it has phase, role, attempt, start and acts',
        ),
        ("[[turn]]\nrole = 'critic'\n", 'script:1: "role" is one of implement, fix, verify'),
        ("[[turn]]\nattempt = 'x'\n", 'script:1: "attempt" takes a whole number'),
        ("[[turn]]\nacts = 1\n", "script:1: acts is a list of tables"),
        ("[[turn]]\nacts = ['x']\n", 'script:1: an act is a table, as in { say = "done" }'),
        ("[[turn]]\nacts = [{ write = 'a' }]\n", 'script:2: "write" also needs "text"'),
        ("[[turn]]\nacts = [\n { say = '''a\n{''' },\n { say = 1 },\n]\n", 'script:5: "say" takes text'),
        ("[[turn]]\nacts = [{ hang = 1 }]\n", 'script:2: "hang" takes true'),
        ("[[turn]]\nacts = [{ sleep = true }]\n", 'script:2: "sleep" takes a whole number or a number'),
        ("[[turn]]\nacts = [{ run = ['a', 1] }]\n", 'script:2: "run" takes a list of texts'),
        ("[[turn]]\nacts = [{ say = 'a', loud = true }]\n", 'script:2: "say" has no key "loud"'),
        (
            "[[turn]]\nacts = [{ limit = 'soon' }]\n",
            'script:2: "limit" takes seconds from now, or a time in ISO 8601',
        ),
        (
            "[[turn]]\nacts = [{ verdict = 'fail', items = ['2'] }]\n",
            'script:2: "items" takes a list of item numbers',
        ),
    ],
)
def test_a_script_is_refused_with_its_line(text: str, what: str) -> None:
    with pytest.raises(ScriptInvalid, match=re.escape(what)):
        parsed(text)


def test_the_first_turn_that_fits_is_played() -> None:
    script = parsed(
        """
        [[turn]]
        phase = 2
        role = "fix"
        acts = [{ say = "a" }]
        [[turn]]
        start = 2
        acts = [{ say = "b" }]
        [[turn]]
        attempt = 1
        acts = []
        """
    )

    def chosen(phase: str, role: str, attempt: int, start: int) -> object:
        return script.acts_for(phase=phase, role=role, attempt=attempt, start=start)

    assert chosen("2", "fix", 2, 2) == ({"say": "a"},)
    assert chosen("2", "implement", 2, 2) == ({"say": "b"},)
    assert chosen("1", "implement", 1, 1) == ()
    assert chosen("1", "implement", 2, 1) is None
