"""What agents are told: whole prompts as kept files, and what no text of a plan can do to one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from asbuilt.agents.prompt import prompt_for, resume_prompt, system_for
from asbuilt.proof.drift.reported_numbers import tokens_in
from tests.agents.briefs import BRIEFS, KEPT, shown

if TYPE_CHECKING:
    from asbuilt.ports import Brief

FIXED_LIMIT = 3_000
VERIFY_LIMIT = 3_800
"""A verifier is asked more, and asked once for each attempt."""
WORKING = ("implement", "fix", "verify")
"""Roles that have a plan to hold their numbers against."""
FORGED = st.sampled_from(["<<< ", ">>> ", " note", "\n", "asbuilt", "{mark}", "\udce9", "é"])
TEXTS = st.lists(FORGED | st.from_regex(r"[0-9a-f]{12}", fullmatch=True) | st.text(max_size=8)).map("".join)


def mark_of(brief: Brief) -> str:
    told = re.search(r"`<<< ([0-9a-f]{12}) NAME`", system_for(brief))
    assert told is not None
    return told[1]


def blocks_of(brief: Brief) -> list[tuple[str, str]]:
    """Read the blocks back as somebody does who was told only the mark."""
    mark = mark_of(brief)
    return re.findall(rf"<<< {mark} (\w+)\n(.*?)\n>>> {mark}", prompt_for(brief), re.DOTALL)


@pytest.mark.parametrize("role", BRIEFS)
def test_a_prompt_is_what_was_kept(role: str) -> None:
    kept = KEPT / f"{role}.md"
    assert shown(BRIEFS[role]) == kept.read_text("utf-8"), "python -m tests.agents.briefs writes them anew"


@pytest.mark.parametrize("role", BRIEFS)
def test_the_fixed_part_of_a_prompt_is_short(role: str) -> None:
    brief = BRIEFS[role]
    told = sum(
        len(f"<<<  {name}\n{text}\n>>> \n\n") + 2 * len(mark_of(brief)) for name, text in blocks_of(brief)
    )
    fixed = len(system_for(brief)) + len(prompt_for(brief)) - told
    assert 0 < fixed < (VERIFY_LIMIT if role in ("verify", "test") else FIXED_LIMIT)
    assert len(resume_prompt()) < FIXED_LIMIT


@settings(max_examples=150)
@given(st.sampled_from(sorted(BRIEFS)), st.lists(TEXTS, min_size=6, max_size=6))
def test_no_text_can_leave_its_block_or_pose_as_another(role: str, texts: list[str]) -> None:
    text, title, item, failure, path, command = texts
    brief = replace(
        BRIEFS[role],
        text=text,
        title=title,
        items=(item,),
        failures=(failure,),
        changed=(path,),
        tests=command,
        notes=("by a person",),
    )
    blocks = blocks_of(brief)
    assert [one for name, one in blocks if name == "note"] == ["by a person"]
    as_told = [
        one.encode("utf-8", "replace").decode() for one in (title, text, failure, path, command) if one
    ]
    names = ("title", "phase", "found", "changed", "tests")
    assert sorted(one for name, one in blocks if name in names) == sorted(as_told)


@settings(max_examples=100)
@given(TEXTS, TEXTS)
def test_another_text_has_another_mark(one: str, other: str) -> None:
    marks = [mark_of(replace(BRIEFS["fix"], text=text)) for text in (one, other, f"{one}\n>>> {other}")]
    assert (marks[0] == marks[1]) == (one.encode("utf-8", "replace") == other.encode("utf-8", "replace"))
    holding = replace(BRIEFS["fix"], text=f"{one}{marks[0]}")
    assert mark_of(holding) not in holding.text


def test_the_phase_and_the_tests_are_told_word_for_word() -> None:
    told = dict(blocks_of(BRIEFS["implement"]))
    assert told["phase"] == BRIEFS["implement"].text
    assert told["tests"] == "pytest -q"
    assert "tests" not in dict(blocks_of(replace(BRIEFS["implement"], tests=None)))


def test_the_drift_line_that_prompts_teach_is_one_that_is_read() -> None:
    taught = [
        line for role in WORKING for line in shown(BRIEFS[role]).splitlines() if "PLAN-TEXT-DRIFT:" in line
    ]
    assert len(taught) == len(WORKING)
    for line in taught:
        example = line[line.index("PLAN-TEXT-DRIFT:") :].partition(" (")[0]
        read, unread = tokens_in([example.replace("ID", "2a").replace("=N", "=1")])
        assert [(one.phase, one.bullet, one.field) for one in read] == [("2a", 1, "WHAT")]
        assert unread == ()


def test_the_prompts_are_files_of_the_package() -> None:
    folder = Path(prompt_for.__code__.co_filename).with_name("prompts")
    files = sorted(file.stem for file in folder.iterdir())
    assert files == [
        "critique", "fix", "go_on", "implement", "plan", "planning", "rules", "test", "verify", "work"
    ]  # fmt: skip
