"""Each dialect is read back with plain HTTP, whole; steps are taken by main requests only."""

from __future__ import annotations

import http.client
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.model import Call, Hang, Model, Refuse, Say, Think, answer, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Golden

TOOLS = {"tools": [{"name": "Write"}]}
EVERYTHING = answer(
    Think("hm"), Say("I write it, with more than forty letters."), Call("Write", {"path": "a"})
)
PATHS = ("/v1/messages", "/v1/responses", "/v1/chat/completions", "/v1beta/models/m:generateContent")


@pytest.fixture
def model() -> Iterator[Model]:
    with serving() as made:
        yield made


def ask(model: Model, path: str, body: object, *, method: str = "POST") -> tuple[int, str]:
    """Ask the script `impl`; what was cut is given as far as it came."""
    url = urlsplit(model.url("impl"))
    connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=30)
    try:
        connection.request(method, url.path + path, json.dumps(body))
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("anthropic", "/v1/messages?beta=true"),
        ("responses", "/v1/responses"),
        ("chat", "/v1/chat/completions"),
        ("gemini", "/v1beta/models/m:generateContent"),
    ],
)
def test_a_dialect_is_said_to_the_letter_whole_and_streamed(
    model: Model, name: str, path: str, golden: Golden
) -> None:
    model.play("impl", EVERYTHING, EVERYTHING)
    whole = ask(model, path, {**TOOLS, "model": "m"})
    streamed = ask(model, path.replace(":gen", ":streamGen"), {**TOOLS, "model": "m", "stream": True})
    assert [whole[0], streamed[0]] == [200, 200]
    golden(Path(__file__).parent / "golden" / f"{name}.txt", f"{whole[1]}\n\n{streamed[1]}")


def test_tools_of_codex_that_have_a_namespace_or_no_schema(model: Model) -> None:
    model.play("impl", answer(Call("submit", {"a": 1}, "mcp__asbuilt"), Call("apply_patch", "*** Begin")))
    assert json.loads(ask(model, "/v1/responses", TOOLS)[1])["output"] == [
        {
            "type": "function_call",
            "id": "fc_0001_0",
            "call_id": "call_0001_0",
            "name": "submit",
            "namespace": "mcp__asbuilt",
            "arguments": '{"a": 1}',
            "status": "completed",
        },
        {
            "type": "custom_tool_call",
            "id": "ctc_0001_1",
            "call_id": "call_0001_1",
            "name": "apply_patch",
            "input": "*** Begin",
            "status": "completed",
        },
    ]


@pytest.mark.parametrize("path", PATHS)
def test_a_side_call_takes_no_step_and_a_script_tells_what_is_left(model: Model, path: str) -> None:
    model.play("impl", answer(Say("one")), answer(Say("two")))
    assert "Scripted title" in ask(model, path, {})[1]
    assert model.left("impl") == 2
    said = [ask(model, path, TOOLS)[1] for _ in range(3)]
    assert ["one" in said[0], "two" in said[1], "(the script is over)" in said[2]] == [True] * 3
    assert [(one.is_main, one.step) for one in model.requests("impl", main=False)] == [
        (False, None),
        (True, 0),
        (True, 1),
        (True, None),
    ]
    assert (model.left("impl"), len(model.requests("impl"))) == (0, 3)


def test_a_suggestion_is_a_side_call_although_it_offers_tools(model: Model) -> None:
    model.play("impl", answer(Say("one")))
    ask(model, "/v1/messages", {**TOOLS, "messages": [{"content": [{"text": "[SUGGESTION MODE: go]"}]}]})
    assert model.left("impl") == 1


_OPENAI = {"message": "slowly", "type": "rate_limit_exceeded", "param": None, "code": "rate_limit_exceeded"}
_ERRORS = (
    {"type": "error", "error": {"type": "rate_limit_error", "message": "slowly"}},
    {"error": _OPENAI},
    {"error": _OPENAI},
    {"error": {"code": 429, "message": "slowly", "status": "RESOURCE_EXHAUSTED"}},
)


@pytest.mark.parametrize(("path", "body"), list(zip(PATHS, _ERRORS, strict=True)))
def test_a_refusal_is_said_in_each_dialect_and_stays_unless_it_is_for_once(
    model: Model, path: str, body: object
) -> None:
    model.play("impl", Refuse(status=429, message="slowly", for_good=False), Refuse(status=401))
    answers = [ask(model, path, TOOLS) for _ in range(3)]
    assert [status for status, _ in answers] == [429, 401, 401]
    assert json.loads(answers[0][1]) == body


def test_a_refusal_has_its_headers(model: Model) -> None:
    model.play("impl", Refuse(status=429, headers={"retry-after": "7"}))
    url = urlsplit(model.url("impl"))
    connection = http.client.HTTPConnection(url.hostname or "", url.port)
    connection.request("POST", f"{url.path}/v1/messages", json.dumps(TOOLS))
    response = connection.getresponse()
    response.read()
    connection.close()
    assert (response.status, response.headers["retry-after"]) == (429, "7")


def test_a_step_waits_until_it_is_released(model: Model) -> None:
    model.play("impl", answer(Say("at last"), wait="go"))
    url = urlsplit(model.url("impl"))
    connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=30)
    connection.request("POST", f"{url.path}/v1/messages", json.dumps(TOOLS))
    assert [one.step for one in model.await_requests("impl", 1)] == [0]
    model.release("go")
    assert "at last" in connection.getresponse().read().decode()
    connection.close()


@pytest.mark.parametrize("step", [Hang(), answer(Say("half"), ends="hanging")])
def test_whoever_hangs_answers_no_more_and_notices_that_it_was_left(model: Model, step: Hang) -> None:
    model.play("impl", step)
    url = urlsplit(model.url("impl"))
    connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=30)
    connection.request("POST", f"{url.path}/v1/messages", json.dumps({**TOOLS, "stream": True}))
    (received,) = model.await_requests("impl", 1)
    assert not received.gone
    connection.close()
    model.await_gone(received)


def test_what_is_cut_has_its_blocks_and_no_end(model: Model) -> None:
    model.play("impl", answer(Say("half"), ends="cut"))
    _, text = ask(model, "/v1/messages", {**TOOLS, "stream": True})
    assert re.findall(r"^event: (\w+)$", text, re.MULTILINE) == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
    ]


def test_values_of_the_request_get_into_an_answer_and_a_step_can_be_for_some_requests_only(
    model: Model,
) -> None:
    model.play(
        "impl",
        answer(Say("two"), when="Phase 2"),
        answer(Call("Write", {"paths": ["{{re:plan at (\\S+)}}"]}), when="Phase 1"),
    )
    body = {**TOOLS, "messages": [{"content": "Phase 1: your plan at /a/b.md"}]}
    assert json.loads(ask(model, "/v1/messages", body)[1])["content"][0]["input"] == {"paths": ["/a/b.md"]}
    assert model.left("impl") == 1


def test_scripts_are_kept_apart_and_requests_are_recorded_as_they_came(model: Model) -> None:
    model.play("other", answer(Say("other")))
    model.play("impl", answer(Say("mine")))
    assert "mine" in ask(model, "/v1/messages?beta=true", TOOLS)[1]
    assert (model.left("other"), model.left("impl")) == (1, 0)
    (received,) = model.requests("impl")
    assert (received.method, received.path, received.body) == (
        "POST",
        "/s/impl/v1/messages?beta=true",
        TOOLS,
    )
    assert received.headers["accept-encoding"] == "identity"


@pytest.mark.parametrize(
    ("method", "path", "answered"),
    [
        ("POST", "/v1/messages/count_tokens", (200, {"input_tokens": 1000})),
        ("POST", "/v1beta/models/m:countTokens", (200, {"totalTokens": 1000})),
        ("POST", "/v1/elsewhere", (404, {})),
        ("GET", "/elsewhere", (404, {"error": {"type": "not_found_error", "message": "not here"}})),
    ],
)
def test_what_is_no_models_gets_fixed_words(
    model: Model, method: str, path: str, answered: tuple[int, object]
) -> None:
    model.play("impl", answer(Say("one")))
    status, text = ask(model, path, TOOLS, method=method)
    assert (status, json.loads(text), model.left("impl")) == (*answered, 1)
