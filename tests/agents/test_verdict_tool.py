"""The tool by which any agent leaves its verdict: spoken to in JSON-RPC, and read as the host reads it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.agents import verdict_tool
from asbuilt.agents.attempt_folder import verdict_in
from asbuilt.agents.verdict_tool import TOOL, why_refused
from asbuilt.proof.opinion import Answer, Entry, Line, Opinion, PassedTest, RanCheck, Removal, opinion_from

if TYPE_CHECKING:
    from pathlib import Path

INTENT = "sha256:0"
LINE = {"file": "made.txt", "line": 3}
PASSED = {"item": 1, "outcome": "PASS", "why": "it is there", "evidence": [LINE]}
FAILED = {"item": 2, "outcome": "FAIL", "why": "no test"}


def spoken(out: Path, *messages: object) -> list[Any]:
    """Start it as agents do, say all of this, and give what it answers."""
    lines = (one if isinstance(one, str) else json.dumps(one) for one in messages)
    done = subprocess.run(
        [sys.executable, "-I", "-S", verdict_tool.__file__, str(out), INTENT, "2"],
        input="".join(f"{line}\n" for line in lines),
        env={},
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def called(rows: object, *, number: int = 1, name: str = TOOL) -> dict[str, Any]:
    params = {"name": name, "arguments": {"items": rows}}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def test_it_introduces_itself_and_offers_one_tool(tmp_path: Path) -> None:
    version = {"protocolVersion": "2024-11-05", "capabilities": {}}
    first, second, third, fourth = spoken(
        tmp_path,
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": version},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": "a", "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 2, "method": "resources/list"},
        "no json",
    )
    assert first["result"]["protocolVersion"] == "2024-11-05"
    assert [tool["name"] for tool in second["result"]["tools"]] == [TOOL]
    assert (second["id"], third["error"]["code"], fourth["error"]["code"]) == ("a", -32601, -32700)


def test_a_verdict_is_left_for_the_host_and_the_last_one_counts(tmp_path: Path) -> None:
    failed = {**PASSED, "outcome": "FAIL", "evidence": []}
    answers = spoken(tmp_path, called([failed, FAILED]), called([PASSED, FAILED], number=2))
    assert [answer["result"] for answer in answers] == [
        {"content": [{"type": "text", "text": "Recorded: 2 items."}]}
    ] * 2
    assert verdict_in(tmp_path) == Opinion(
        INTENT, (Entry(1, "PASS", "it is there", (Line("made.txt", 3),)), Entry(2, "FAIL", "no test"))
    )
    assert [file.name for file in tmp_path.iterdir()] == ["verdict.json"]


def test_answers_to_the_questions_come_with_the_verdict(tmp_path: Path) -> None:
    call = called([PASSED, FAILED])
    flag = {"question": "flag", "found": True, "why": "SALE is set nowhere", **LINE}
    call["params"]["arguments"]["answers"] = [flag, {"question": "copy", "found": False, "why": "none"}]
    spoken(tmp_path, call)
    left = verdict_in(tmp_path)
    assert left is not None
    assert left.problems == ()
    assert left.answers == (
        Answer("flag", found=True, why="SALE is set nowhere", place=Line("made.txt", 3)),
        Answer("copy", found=False, why="none"),
    )


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (None, "`items` is not a list"),
        ([PASSED], "nothing is said of item 2"),
        ([], "nothing is said of item 1, 2"),
        ([PASSED, PASSED], "item 1 has two rows"),
        ([PASSED, {**FAILED, "item": 3}], "row 2 names item 3, and there are 2"),
        ([PASSED, {**FAILED, "item": True}], "row 2 names item True, and there are 2"),
        ([PASSED, {**FAILED, "outcome": "pass"}], "row 2 is not an object with item"),
        ([PASSED, "FAIL"], "row 2 is not an object with item"),
        ([PASSED, {**FAILED, "why": "  "}], "item 2 has no reason"),
        ([{**PASSED, "evidence": []}, FAILED], "item 1 is called PASS without evidence"),
        ([{**PASSED, "evidence": ["made.txt:3"]}, FAILED], "item 1 cites what cannot be looked up"),
        ([{**PASSED, "evidence": [LINE] * 51}, FAILED], "item 1 cites what cannot be looked up"),
        ([{**PASSED, "why": "x" * 2_000_000}, FAILED], "it is longer than 1048576 bytes"),
    ],
)
def test_what_is_no_verdict_is_refused_with_words_and_leaves_nothing(
    tmp_path: Path, rows: object, words: str
) -> None:
    (answer,) = spoken(tmp_path, called(rows))
    text = answer["result"]["content"][0]["text"]
    assert answer["result"]["isError"] is True
    assert text.startswith(f"Not taken: {words}")
    assert text.endswith(f"Nothing was recorded; call {TOOL} again with every item.")
    assert list(tmp_path.iterdir()) == []


def test_another_tool_and_a_full_disk_are_told(tmp_path: Path) -> None:
    (other,) = spoken(tmp_path, called([PASSED, FAILED], name="rm"))
    (nowhere,) = spoken(tmp_path / "gone", called([PASSED, FAILED]))
    assert "there is no tool 'rm', only submit_verdict" in other["result"]["content"][0]["text"]
    assert "it cannot be written: No such file or directory" in nowhere["result"]["content"][0]["text"]


CITATION = st.fixed_dictionaries(
    {},
    optional={
        "check": st.text(max_size=5) | st.integers(),
        "file": st.text(max_size=5) | st.none(),
        "line": st.integers() | st.none() | st.booleans() | st.just("3"),
        "removed": st.text(max_size=5),
        "test": st.text(max_size=5),
    },
)


def rows_of(item: int) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"item": st.just(item), "outcome": st.sampled_from(["PASS", "FAIL"]), "why": st.text(max_size=3)},
        optional={"evidence": st.lists(CITATION, max_size=2)},
    )


@given(st.tuples(rows_of(1), rows_of(2)))
def test_what_it_takes_the_host_can_read_without_a_trouble(rows: tuple[dict[str, Any], ...]) -> None:
    if why_refused(list(rows), 2) is None:
        read = opinion_from({"intent": INTENT, "items": list(rows)})
        assert (read.problems, [entry.item for entry in read.entries]) == ((), [1, 2])


def test_every_kind_of_citation_is_taken() -> None:
    cited = [{"check": "make"}, LINE, {"file": "a.png"}, {"removed": "b"}, {"test": "t"}]
    row = {**PASSED, "evidence": cited}
    assert why_refused([row], 1) is None
    assert opinion_from([row]).entries[0].evidence == (
        RanCheck("make"), Line("made.txt", 3), Line("a.png", None), Removal("b"), PassedTest("t"),
    )  # fmt: skip
