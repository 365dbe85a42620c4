"""Keys of questions are stored as text: what is stored is parsed, and the text never changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.events.questions import (
    KEYS,
    AgentAsksKey,
    BaselineKey,
    BetweenKey,
    CapKey,
    DiffersKey,
    DriftKey,
    KeepKey,
    PlanAgainKey,
    PlanKey,
    PullBlockedKey,
    PullChecksKey,
    QuestionKey,
    SandboxKey,
    SignOffKey,
    StoppedKey,
    TestsKey,
    UnusableKey,
    WaiverKey,
    is_about_work,
    is_repeated,
    key_in,
)

R = "01m7mef28hs79t3azjewb1nr0y"
STORED = [
    (f"plan/sha256:1/2/{R}", PlanKey(intent="sha256:1", revision=2, run=R)),
    (f"plan/sha256:1/2/again/{R}", PlanAgainKey(intent="sha256:1", revision=2, run=R)),
    (f"tests/c20b9c1bea32e2c2/{R}", TestsKey(digest="c20b9c1bea32e2c2", run=R)),
    (f"ring/none/{R}", SandboxKey(run=R)),
    (f"differs/4f1c/gone/{R}", DiffersKey(commit="4f1c", intent="gone", run=R)),
    (f"sign-off/sha256:1/ui-9/{R}", SignOffKey(intent="sha256:1", change="ui-9", run=R)),
    (f"waiver/sha256:1/3/{R}", WaiverKey(intent="sha256:1", item=3, run=R)),
    (f"drift/sha256:1/3/12/{R}", DriftKey(intent="sha256:1", item=3, actual=12, run=R)),
    (f"question/{R}/1/2", AgentAsksKey(run=R, batch=1, number=2)),
    (f"{R}/between/2a", BetweenKey(run=R, phase="2a")),
    (f"{R}/keep/2a/1/2", KeepKey(run=R, phase="2a", attempt=1, refusals=2)),
    (f"{R}/unusable/2a/1/2", UnusableKey(run=R, phase="2a", attempt=1, times=2)),
    (f"{R}/baseline/0", BaselineKey(run=R, revision=0)),
    (f"{R}/auth/1/1/1", StoppedKey(run=R, cause="auth", where="1", attempt="1", start=1)),
    (f"{R}/refusal/all/0v2/1", StoppedKey(run=R, cause="refusal", where="all", attempt="0v2", start=1)),
    (f"{R}/cap/1", CapKey(run=R, number=1)),
    (f"{R}/pull/ci/2", PullChecksKey(run=R, number=2)),
    (f"{R}/pull/blocked/1", PullBlockedKey(run=R, number=1)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "key"), STORED)
def test_stored_keys_are_parsed_and_written_as_they_were(text: str, key: QuestionKey) -> None:
    assert (key_in(text), str(key)) == (key, text)
    assert type(key_in(text)) is type(key)


def test_every_kind_of_question_has_a_stored_key() -> None:
    assert {type(key) for _, key in STORED} == {*KEYS}


@given(st.text(max_size=40) | st.lists(st.sampled_from(["plan", "again", R, "cap", "1", "01"])).map("/".join))
def test_any_text_is_a_key_that_is_written_so_or_none(text: str) -> None:
    key = key_in(text)
    assert key is None or str(key) == text


def test_an_answer_that_lasts_is_found_without_the_run_that_asked() -> None:
    key = WaiverKey(intent="sha256:1", item=3)
    assert (key.under, key.of(R)) == ("waiver/sha256:1/3/", f"waiver/sha256:1/3/{R}")
    assert SignOffKey(intent="i", change="c").item == "sign-off/i/c"


def test_questions_about_the_work_on_a_phase_end_with_that_work() -> None:
    about_work = [type(key) for text, key in STORED if is_about_work(text)]
    assert about_work == [DiffersKey, SignOffKey, WaiverKey, DriftKey]


def test_a_question_is_repeated_by_another_run_that_asks_the_same() -> None:
    asked, again = f"sign-off/sha256:1/ab/{R}", "sign-off/sha256:1/ab/r2"
    assert is_repeated(asked, again)
    assert not is_repeated(asked, asked)
    assert not is_repeated(asked, "sign-off/sha256:1/other/r2")
    assert not is_repeated(f"{R}/cap/1", "r2/cap/1")
