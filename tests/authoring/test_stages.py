"""What each stage of an authoring asks for, accepts and refuses, by the hook and the commands of a user."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from asbuilt.agents.attempt_folder import Folder
from asbuilt.lifecycle.authoring.stage_prompts import PERSPECTIVES
from asbuilt.plan.markdown.sections import SECTIONS
from tests.authoring.desk import say, turn
from tests.authoring.outputs import HEY, PROMISE, UNDERSTOOD, WEIGHED, line_of
from tests.authoring.test_conversations import WANTED, Spoken, Study, study
from tests.journeys.test_commands import Office, office

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.ports import Brief

__all__ = ["office", "study"]
pytestmark = pytest.mark.crash
GERMAN = """\
1. Das Problem: niemand ruft, wenn `hey.py` fehlt.
2. Erfolg heißt, dass eine Zeile mit HEY erscheint.
3. Annahme: eine Zeile reicht.

```markdown
## Steps
```
"""
BARE = "mine.md holds one heading and nothing that calls out.\ngreet.md lists greetings of another plan.\n"
FOUND = json.dumps(
    {
        "verdicts": [
            *(
                {"principle": one, "verdict": "PASS", "evidence": [{"line": line_of(words, HEY)}]}
                for one, words in {"P2": "(new)", "P6": "grep -q", "P8": "Other languages"}.items()
            ),
            {
                "principle": "P5",
                "verdict": "FAIL",
                "findings": [
                    {
                        "kind": "missing",
                        "level": "material",
                        "at": {"line": line_of("Nobody listens", HEY)},
                        "text": "Nothing says what a closed output does.",
                        "evidence": [{"line": line_of("Nobody listens", HEY)}],
                    }
                ],
            },
        ]
    }
)
SAID = [HEY.replace("Nobody listens", words) for words in ("No one hears", "Nobody is there", "All left")]
PROSE = """\
1. Risks say nothing about an output that is closed.
2. Verification greps the source and never runs the program.
3. Scope names one file and no way to call it.
"""


def _refused(talk: Spoken, *cases: tuple[str, str]) -> None:
    """Hand each text in: the stage stays, and the refusal names what was found."""
    talk.prompt("go on")
    talk.runs("author", "next")
    told = [talk.stop(text=text).partition(" refusal\n")[2].partition("\n>>>")[0] for text, _ in cases]
    wrong = [(found, seen) for (_, found), seen in zip(cases, told, strict=True) if found not in seen]
    assert wrong == []


def _status(office: Office) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(
        office.asbuilt("author", "status", "--json").partition("--- stdout\n")[2]
    )
    return shown


def _without(plan: str, *sections: str) -> str:
    for name in sections:
        head, _, tail = plan.partition(f"## {name}\n")
        plan = head + tail[tail.index("\n## ") + 1 :]
    return plan


def test_every_stage_of_the_eight_refuses_what_it_does_not_take(study: Study) -> None:
    critics = turn("critique-1", say(FOUND)) + turn("critique-2", say(FOUND))
    study.script.write_text(critics, encoding="utf-8")
    with study.talk() as talk:
        assert "[1/8] understand\n" in talk.author(
            f"{WANTED} --attempts 20 --name hey --script {study.script}"
        )
        names = ["understand", "explore", "alternatives", "draft", *["critique", "revise"] * 2]
        status = _status(study)
        assert {name: status[name] for name in ("phases", "max_phases", "phase", "required_sections")} == {
            "phases": names,
            "max_phases": 10,
            "phase": "understand",
            "required_sections": list(SECTIONS),
        }
        two = "\n".join(UNDERSTOOD.splitlines()[:2])
        one_word = """\
1. One file is not there yet and nobody hears it.
2. A constraint is that nothing else changes.
3. The line goes to the standard output.
"""
        _refused(
            talk,
            (two, "found 2 numbered items"),
            (one_word, "found 1 sentence about problem, why"),
            (f"{UNDERSTOOD}\n## Steps\nfirst\n", "plan heading: found Steps"),
            (f"{UNDERSTOOD}\nSteps\n-----\nfirst\n", "plan heading: found Steps"),
        )
        assert "/8] explore\n" in talk.stop(active=True, text=GERMAN)
        _refused(
            talk,
            ("`mine.md` holds one heading and nothing else.", "found 1 file of the repository"),
            (BARE.replace("greet.md", "src/hey.ts"), "phantom files: found src/hey.ts"),
            (BARE.replace("greet.md", "../elsewhere.md"), "phantom files: found ../elsewhere.md"),
            (f"{BARE}\n## Steps\nfirst\n", "plan heading: found Steps"),
        )
        assert "/8] alternatives\n" in talk.stop(active=True, text=BARE)
        one, _, rest = WEIGHED.partition("### Option B")
        twin = one.replace("Option A", "Option B") + rest[rest.index("Recommendation") :]
        plain = "\n".join(line for line in WEIGHED.splitlines() if not line.startswith("Pros"))
        plain = plain.replace("by hand", "by hand\nThree lines read the words.")
        plain = plain.replace("argparse\n", "argparse\nThe parser of the library reads them.\n")
        _refused(
            talk,
            (one + rest[rest.index("Recommendation") :], "found 1 option"),
            (one + twin, "twin options: found"),
        )
        _refused(
            talk,
            (WEIGHED.partition("Recommendation")[0], "found no recommendation"),
            (plain, "found no pros or cons"),
            (WEIGHED + PROMISE, "promise: found a promise tag"),
            (f"{WEIGHED}\n## Steps\nfirst\n", "plan heading: found Steps"),
        )
        asked = talk.stop(active=True, text=WEIGHED)
        assert "/8] draft\n" in asked
        words = " ".join(asked.split())
        assert "from least to most: the simplest and most independent first" in words
        assert "Each step names the steps that it depends on" in words
        assert "steps that can be done side by side say so" in words
        _refused(
            talk,
            (_without(HEY, "Non-Scope", "Risks"), "found no Non-Scope, Risks; needed: a heading for each"),
            (HEY + PROMISE, "promise"),
        )
        variants = HEY.replace("## Non-Scope", "## Out of scope").replace("## Risks", "## Risk")
        assert "critique-1 is next" in talk.stop(active=True, text=variants)
        due = talk.runs("author", "next")
        assert "[6/8] revise\n" in due
        _refused(talk, (SAID[0] + PROMISE, "promise"))
        assert "critique-2 is next" in talk.stop(active=True, text=SAID[0])
        assert "[8/8] revise\n" in talk.runs("author", "next")
        assert "/9] iterate\n" in talk.stop(text=SAID[1])
        _refused(
            talk,
            (SAID[2], "promise"),
            (PROMISE, "section"),
            (_without(SAID[2], "Non-Scope") + PROMISE, "found no Non-Scope; needed"),
        )
        spaced = SAID[2] + "\n<promise>\n  PLAN_OK\t</promise>\n"
        assert "the draft is next, by another process" in talk.stop(active=True, text=spaced)
        assert "approval as a1" in talk.runs("author", "next")
    _look_from(study, PERSPECTIVES[:2])
    assert dict(_brief(study, "critique-1").told)["plan"] == variants


def _brief(office: Office, stage: str) -> Brief:
    """Read what the first attempt at a stage was told."""
    (folder,) = office.state.glob(f"runs/*/attempts/*.{stage}.1")
    return Folder(folder).brief()[0]


def _look_from(office: Office, perspectives: Sequence[str]) -> None:
    """Check that each round of critique was asked to look from its own side, and from no other."""
    for number, side in enumerate(perspectives, 1):
        asked = _brief(office, f"critique-{number}").ask
        assert [one for one in PERSPECTIVES if one in asked] == [side]


def test_stages_that_are_named_take_the_place_of_the_eight_and_what_is_wrong_starts_nothing(
    office: Office,
) -> None:
    for wrong, found in (
        (("--phases", "draft,dream"), "'dream'"),
        (("--phases", ""), "found '', needed any of"),
        (("--phases", "explore", "--skip-explore"), "no stage"),
    ):
        told = office.asbuilt("author", "call out", *wrong, "--script", str(office.script))
        assert told.startswith("exit 2")
        assert found in told
    assert not list(office.state.glob("runs/*"))
    office.script.write_text(turn("draft", say(HEY)), encoding="utf-8")
    named = ("--phases", "understand,draft", "--skip-understand", "--refine-iterations", "4")
    limited = ("--max-phases", "1", "--required-sections", "Goal,Risks", "--attempts", "3", "--no-memory")
    begun = office.asbuilt("author", "call out", *named, *limited, "--script", str(office.script))
    assert begun.startswith("exit 5")
    status = _status(office)
    shown = ("phases", "max_phases", "required_sections", "attempt_limit", "use_memory", "critique_mode")
    assert [status[name] for name in shown] == [["draft"], 1, ["Goal", "Risks"], 3, False, "principles"]
    assert (status["prompt"], status["completion_promise"]) == ("call out", "PLAN_OK")
    assert office.asbuilt("approve", "yes", "a1").startswith("exit 0")
    office.asbuilt("watch", "call-out")
    assert "exit_reason: max_phases_reached" in (office.shop / "plans/call-out.md").read_text("utf-8")


def test_an_open_critique_looks_from_three_sides_and_the_promise_is_a_word_of_the_user(
    office: Office,
) -> None:
    odd = 'it is: "done"'
    turns = [
        turn("draft", say(HEY)),
        turn("critique-1", say("\n".join(PROSE.splitlines()[:2])), attempt=1),
        turn("critique-1", say(PROSE + PROMISE), attempt=2),
        turn("critique-1", say(PROSE), attempt=3),
        *(turn(f"critique-{one}", say(PROSE)) for one in (2, 3)),
        *(turn(f"revise-{one}", say(SAID[one - 1])) for one in (1, 2)),
        turn("revise-3", say(SAID[2] + PROMISE)),
        turn("iterate-1", say(f"{SAID[2]}\n<promise>\n {odd} </promise>\n")),
    ]
    office.script.write_text("".join(turns), encoding="utf-8")
    chosen = ("--phases", "draft,critique,revise,critique,revise,critique,revise", "--max-phases", "0")
    own = ("--open-critique", "--completion-promise", odd, "--name", "hey", "--script", str(office.script))
    assert office.asbuilt("author", "call out", *chosen, *own).startswith("exit 5")
    _look_from(office, PERSPECTIVES)
    records = [text.partition("\n\n") for name, text in _brief(office, "revise-3").told if name == "record"]
    assert [(name, text) for name, _, text in records] == [
        ("draft-1", HEY),
        ("critique-1", PROSE),
        ("revise-1", SAID[0]),
        ("critique-2", PROSE),
        ("revise-2", SAID[1]),
        ("critique-3", PROSE),
    ]
    attempts = sorted(one.name.partition(".")[2] for one in office.state.glob("runs/*/attempts/*"))
    assert attempts == [
        *(f"critique-{one}" for one in ("1.1", "1.2", "1.3", "2.1", "3.1")),
        "draft.1",
        "iterate-1.1",
        *(f"revise-{one}.1" for one in (1, 2, 3)),
    ]
    shown = _status(office)
    assert (shown["critique_mode"], shown["max_phases"], shown["completion_promise"]) == ("open", 0, odd)
