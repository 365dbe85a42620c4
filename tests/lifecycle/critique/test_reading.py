from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.lifecycle.authoring.stage_prompts import perspective
from asbuilt.lifecycle.critique.anchors import Anchor
from asbuilt.lifecycle.critique.findings import (
    EXAMPLE,
    Answer,
    Critique,
    FileLine,
    Finding,
    Judgement,
    Kind,
    Level,
    Outcome,
    PlanLine,
    read_critique,
)
from asbuilt.lifecycle.critique.principles import TEMPLATE, Principle, read_principles
from asbuilt.lifecycle.flaws import Flaw

PLAN = """\
# Plan: Retry policy

## Goal

A sync survives a network that comes and goes.

## Phase 1 — Helper

### Work Items

- [ ] Move the request code into `sync/request.py`
- [ ] Cover it with tests

## Phase 2 — Client

### Work Items

- [ ] Client uses RetryPolicy
- [ ] Give-up error names the file

### Verification

- `pytest -q tests/test_client.py`

## Open Questions

None.
"""
LINES = PLAN.split("\n")
FILES = frozenset({"sync/client.py"})


def _line(text: str) -> int:
    return next(number for number, line in enumerate(LINES, 1) if text in line)


def _finding(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON that anybody may have written
    row = {
        "kind": "missing",
        "level": "material",
        "at": {"line": _line("Client uses")},
        "text": "Nothing says what happens at the last attempt.",
        "evidence": [{"line": _line("Client uses")}],
    }
    return {name: value for name, value in {**row, **changes}.items() if value is not ...}


def _fail(**changes: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"verdicts": [{"principle": "P4", "verdict": "FAIL", "findings": [_finding(**changes)]}]}


def _pass(*evidence: dict[str, Any], principle: str = "P6") -> dict[str, Any]:
    return {"principle": principle, "verdict": "PASS", "evidence": list(evidence)}


def _read(plain: object, **settings: Any) -> Critique | tuple[Flaw, ...]:  # noqa: ANN401
    text = plain if isinstance(plain, str) else json.dumps(plain)
    return read_critique(text, plan=PLAN, files=FILES, **settings)


def _one(plain: object) -> Finding:
    critique = _read(plain)
    assert isinstance(critique, Critique), critique
    (finding,) = critique.findings
    return finding


def test_a_critique_is_read_whole() -> None:
    client, verify = _line("Client uses"), _line("pytest -q")
    plain = {
        "verdicts": [
            _fail(check="pytest -q tests/test_give_up.py")["verdicts"][0],
            _pass({"line": verify}, {"file": "./sync/client.py", "line": 4}),
        ],
        "earlier": [{"finding": "F1", "now": "resolved", "evidence": [{"line": client}]}],
    }
    cited = PlanLine(client, "- [ ] Client uses RetryPolicy")
    assert _read(plain, earlier=["F1"]) == Critique(
        (
            Judgement("P4", Outcome.FAIL),
            Judgement(
                "P6",
                Outcome.PASS,
                (PlanLine(verify, "- `pytest -q tests/test_client.py`"), FileLine("sync/client.py", 4)),
            ),
        ),
        (
            Finding(
                "P4",
                Anchor("2", "Client uses RetryPolicy", line=client),
                Kind.MISSING,
                Level.MATERIAL,
                "Nothing says what happens at the last attempt.",
                (cited,),
                "pytest -q tests/test_give_up.py",
            ),
        ),
        (Answer("F1", is_resolved=True, evidence=(cited,)),),
    )


def test_the_example_that_a_refusal_shows_is_a_critique() -> None:
    example = EXAMPLE.replace("31", str(_line("pytest -q"))).replace("24", str(_line("Client uses")))
    assert isinstance(_read(example), Critique)


@pytest.mark.parametrize(
    ("at", "item"),
    [
        ({"line": _line("Client uses")}, "Client uses RetryPolicy"),
        ({"phase": "2", "quote": "client uses retrypolicy"}, "Client uses RetryPolicy"),
        ({"phase": "2", "quote": "error names file"}, "Give-up error names the file"),
        ({"line": _line("## Phase 2")}, ""),
        ({"line": _line("## Phase 2") + 1}, ""),
        ({"phase": "2"}, ""),
    ],
)
def test_a_place_is_kept_by_phase_and_by_what_stands_there(at: dict[str, Any], item: str) -> None:
    anchor = _one(_fail(at=at)).anchor
    assert (anchor.phase, anchor.item) == ("2", item)


def test_a_quote_is_found_in_a_script_without_spaces() -> None:
    plan = "# 計画\n\n## Phase 1: 準備\n\n- [ ] 設定を読み込む\n- [ ] 再試行を追加する\n"
    row = {**_fail(at={"phase": "1", "quote": "再試行を追加"}, evidence=[{"line": 6}])}
    critique = read_critique(json.dumps(row), plan=plan, files=FILES)
    assert isinstance(critique, Critique)
    assert [one.anchor.item for one in critique.findings] == ["再試行を追加する"]


def test_words_that_name_an_item_say_more_than_the_heading_that_was_pointed_at() -> None:
    said = "The give-up error does not say how many attempts were made."
    assert _one(_fail(at={"phase": "2"}, text=said)).anchor.item == "Give-up error names the file"


def test_a_file_of_the_repository_is_a_place_too() -> None:
    assert _one(_fail(at={"file": "./sync/client.py"})).anchor == Anchor(file="sync/client.py")


REFUSED = {
    "words": ("P1 PASS, P2 PASS, all good", "the critique"),
    "nothing": ("", "the critique"),
    "a list": ([], "the critique"),
    "two blocks": ("```json\n{}\n```\n```json\n{}\n```", "the critique"),
    "no verdicts": ({}, '"verdicts"'),
    "verdicts in words": ({"verdicts": ["P1 PASS"]}, '"verdicts"'),
    "an unknown key": ({"verdicts": [], "problems": ["no tests"]}, '"problems" in the critique'),
    "an unknown principle": ({"verdicts": [_pass(principle="P13")]}, "a principle"),
    "a principle twice": ({"verdicts": [_pass(), _pass()]}, "the verdict on P6"),
    "a third verdict": ({"verdicts": [{"principle": "P1", "verdict": "OK"}]}, "the verdict on P1"),
    "a FAIL without a finding": ({"verdicts": [{"principle": "P1", "verdict": "FAIL"}]}, "the verdict on P1"),
    "a PASS with a material finding": (
        {"verdicts": [{**_pass({"line": 5}, principle="P4"), "findings": [_finding()]}]},
        "the verdict on P4",
    ),
    "an unknown kind": (_fail(kind="ugly"), "the kind of a finding of P4"),
    "no kind": (_fail(kind=...), "the kind of a finding of P4"),
    "an unknown level": (_fail(level="huge"), "the level of a finding of P4"),
    "a level by number": (_fail(level=3), "the level of a finding of P4"),
    "no words": (_fail(text="Vague."), "the text of a finding of P4"),
    "too many words": (_fail(text="so many words " * 200), "the text of a finding of P4"),
    "no evidence": (_fail(evidence=[]), "a finding of P4"),
    "a line that is not there": (_fail(evidence=[{"line": 400}]), "the evidence of a finding of P4"),
    "line 0": (_fail(evidence=[{"line": 0}]), "the evidence of a finding of P4"),
    "a blank line": (_fail(evidence=[{"line": 2}]), "the evidence of a finding of P4"),
    "true for a line": (_fail(evidence=[{"line": True}]), "the evidence of a finding of P4"),
    "a phantom file": (_fail(evidence=[{"file": "sync/ghost.py"}]), "the evidence of a finding of P4"),
    "evidence in words": (_fail(evidence="see above"), "the evidence of a finding of P4"),
    "no place": (_fail(at=...), "the place of a finding of P4"),
    "a place that is not there": (_fail(at={"line": 999}), "the place of a finding of P4"),
    "an unknown phase": (_fail(at={"phase": "9"}), "the phase of a finding of P4"),
    "a quote of something else": (
        _fail(at={"phase": "2", "quote": "Rewrite everything in Rust"}),
        "the quote of a finding of P4",
    ),
    "a check of two lines": (_fail(check="pytest\nrm -rf ."), "the check of a finding of P4"),
    "an answer on nothing": (
        {"verdicts": [], "earlier": [{"finding": "F9", "now": "resolved"}]},
        "an answer on an earlier finding",
    ),
}


@pytest.mark.parametrize(("plain", "what"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_read_is_refused_with_found_needed_and_an_example(plain: object, what: str) -> None:
    flaws = _read(plain, earlier=["F1"])
    assert not isinstance(flaws, Critique)
    assert [flaw.what for flaw in flaws] == [what]
    assert all(all(flaw) for flaw in flaws)


def test_everything_that_is_wrong_is_said_at_once() -> None:
    flaws = _read(_fail(kind="ugly", level="huge", evidence=[{"line": 0}]))
    assert not isinstance(flaws, Critique)
    assert [flaw.what.split(" of ")[0] for flaw in flaws] == ["the kind", "the level", "the evidence"]


@pytest.mark.parametrize(
    "evidence",
    [[], [{"line": _line("## Phase 2")}]],
    ids=["nothing", "a heading"],
)
def test_a_pass_without_evidence_is_not_judged(evidence: list[dict[str, Any]]) -> None:
    critique = _read({"verdicts": [_pass(*evidence)]})
    assert critique == Critique((Judgement("P6", Outcome.NOT_JUDGED),))
    assert isinstance(critique, Critique)
    assert critique.judged == frozenset()


def test_twelve_passes_on_one_line_are_two() -> None:
    rows = [_pass({"line": _line("pytest -q")}, principle=f"P{number}") for number in range(1, 13)]
    critique = _read({"verdicts": rows})
    assert isinstance(critique, Critique)
    assert critique.judged == {"P1", "P2"}


def test_a_critique_that_finds_nothing_is_a_critique() -> None:
    rows = [
        _pass({"line": line}, principle=f"P{number}")
        for number, line in enumerate((5, 11, 12, 18, 19, 23), 1)
    ]
    critique = _read({"verdicts": rows})
    assert isinstance(critique, Critique)
    assert (len(critique.judged), critique.findings) == (6, ())


_LEAF: st.SearchStrategy[object] = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just([]) | st.just([{"line": []}])
)


def _damaged(plain: object, place: list[int], leaf: object) -> object:
    """Put something else at a place of a critique: how deep it is, and the how-manieth there."""
    if not place or not isinstance(plain, (dict, list)) or not plain:
        return leaf
    step, *rest = place
    if isinstance(plain, list):
        at = step % len(plain)
        return [_damaged(one, rest, leaf) if number == at else one for number, one in enumerate(plain)]
    name = sorted(plain)[step % len(plain)]
    return {**plain, name: _damaged(plain[name], rest, leaf)}


@given(st.lists(st.integers(0, 9), max_size=7), _LEAF)
def test_whatever_is_handed_in_is_read_or_refused(place: list[int], leaf: object) -> None:
    whole = {
        **_fail(check="pytest -q"),
        "earlier": [{"finding": "F1", "now": "open", "evidence": [{"line": 5}]}],
    }
    found = _read(_damaged(whole, place, leaf), earlier=["F1"])
    assert isinstance(found, Critique) or (found and all(isinstance(flaw, Flaw) for flaw in found))


def test_the_principles_ship_as_a_text_that_people_edit() -> None:
    shipped = read_principles(TEMPLATE)
    assert [one.id for one in shipped if isinstance(one, Principle)] == [
        f"P{number}" for number in range(1, 13)
    ]
    ours = TEMPLATE.replace("- P5 edges", "- P20 our edges")
    assert Principle("P20", "our edges", "each component has at least three edge cases.") in read_principles(
        ours
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "none"),
        ("- P1 order: one\n- P1 files: two", "a second P1"),
        ("- errors are handled", "- errors are handled"),
    ],
)
def test_principles_that_cannot_be_read_are_refused(text: str, found: str) -> None:
    flaws = read_principles(text)
    assert found in [flaw.found for flaw in flaws if isinstance(flaw, Flaw)]


def test_perspectives_rotate_and_the_last_one_stays() -> None:
    told = [perspective(number).split(":")[0] for number in range(1, 6)]
    assert told == ["technical", "user and maintainer", *["devil's advocate"] * 3]
