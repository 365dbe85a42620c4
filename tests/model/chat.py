"""OpenAI's Chat Completions, as opencode asks for them."""

from __future__ import annotations

import json

from tests.model.dialect import (
    MADE_AT,
    Body,
    Dialect,
    Frame,
    Request,
    Streamed,
    asks_for_stream,
    offers_tools,
    pieces,
)
from tests.model.responses import error
from tests.model.steps import Answer, Call, Say, Think


def _calls(answer: Answer, request: Request) -> list[Body]:
    calls = [block for block in answer.blocks if isinstance(block, Call)]
    return [
        {
            "index": at,
            "id": f"call_{request.number:04d}_{at}",
            "type": "function",
            "function": {"name": call.tool, "arguments": json.dumps(call.input)},
        }
        for at, call in enumerate(calls)
    ]


def _said(answer: Answer, kind: type[Say | Think]) -> str:
    return "".join(
        block.text for block in answer.blocks if isinstance(block, Say | Think) and type(block) is kind
    )


def _finish(answer: Answer) -> str:
    return "tool_calls" if any(isinstance(block, Call) for block in answer.blocks) else "stop"


def _usage(answer: Answer) -> Body:
    usage = answer.usage
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.output,
        "total_tokens": usage.prompt + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
    }


def _head(request: Request, kind: str) -> Body:
    return {
        "id": f"chatcmpl-{request.number:04d}",
        "object": kind,
        "created": MADE_AT,
        "model": request.body.get("model", "fake-model"),
    }


def _completion(answer: Answer, request: Request) -> Body:
    message: Body = {"role": "assistant", "content": _said(answer, Say) or None}
    if thought := _said(answer, Think):
        message["reasoning_content"] = thought
    if calls := _calls(answer, request):
        message["tool_calls"] = calls
    choice = {"index": 0, "finish_reason": _finish(answer), "message": message}
    return {**_head(request, "chat.completion"), "choices": [choice], "usage": _usage(answer)}


def _stream(answer: Answer, request: Request) -> Streamed:
    def chunk(delta: Body, finish: str | None = None, **more: object) -> Frame:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return Frame(None, {**_head(request, "chat.completion.chunk"), "choices": [choice], **more})

    frames = [chunk({"role": "assistant", "content": ""})]
    frames += [chunk({"reasoning_content": piece}) for piece in pieces(_said(answer, Think))]
    frames += [chunk({"content": piece}) for piece in pieces(_said(answer, Say))]
    if calls := _calls(answer, request):
        frames.append(chunk({"tool_calls": calls}))
    return Streamed(frames, [chunk({}, _finish(answer), usage=_usage(answer)), Frame(None, "[DONE]")])


DIALECT = Dialect(r"/chat/completions$", offers_tools, asks_for_stream, _completion, _stream, error)
