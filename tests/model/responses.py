"""OpenAI's Responses, as codex asks for them."""

from __future__ import annotations

import itertools
import json
from typing import assert_never

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
from tests.model.steps import Answer, Block, Call, Refuse, Say, Think

_KINDS = {400: "invalid_request_error", 401: "invalid_api_key", 429: "rate_limit_exceeded"}


def _item(block: Block, key: str) -> Body:
    match block:
        case Say(text):
            return {
                "type": "message",
                "id": f"msg_{key}",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": text, "annotations": []}],
            }
        case Think(text):
            return {
                "type": "reasoning",
                "id": f"rs_{key}",
                "summary": [{"type": "summary_text", "text": text}],
            }
        case Call(tool, str(given)):
            named = {"type": "custom_tool_call", "id": f"ctc_{key}", "call_id": f"call_{key}", "name": tool}
            return {**named, "input": given, "status": "completed"}
        case Call(tool, given, namespace):
            named = {"type": "function_call", "id": f"fc_{key}", "call_id": f"call_{key}", "name": tool}
            placed = {"namespace": namespace} if namespace else {}
            return {**named, **placed, "arguments": json.dumps(given), "status": "completed"}
        case _:
            assert_never(block)


def _response(answer: Answer, request: Request) -> Body:
    usage = answer.usage
    return {
        "id": f"resp_{request.number:04d}",
        "object": "response",
        "created_at": MADE_AT,
        "model": request.body.get("model", "fake-model"),
        "parallel_tool_calls": True,
        "status": "completed",
        "output": [_item(block, f"{request.number:04d}_{at}") for at, block in enumerate(answer.blocks)],
        "usage": {
            "input_tokens": usage.prompt,
            "input_tokens_details": {"cached_tokens": usage.cached},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage.prompt + usage.output,
        },
    }


def _stream(answer: Answer, request: Request) -> Streamed:
    response = _response(answer, request)
    count = itertools.count()

    def frame(kind: str, **fields: object) -> Frame:
        return Frame(kind, {"type": kind, "sequence_number": next(count), **fields})

    begun = {**response, "status": "in_progress", "output": [], "usage": None}
    frames = [frame("response.created", response=begun)]
    items: list[Body] = response["output"]
    for at, item in enumerate(items):
        place = {"item_id": item["id"], "output_index": at}
        match item["type"]:
            case "message":
                part = item["content"][0]
                text = {**place, "content_index": 0}
                added = {**item, "status": "in_progress", "content": []}
                frames.append(frame("response.output_item.added", output_index=at, item=added))
                frames.append(frame("response.content_part.added", **text, part={**part, "text": ""}))
                frames += [
                    frame("response.output_text.delta", **text, delta=piece) for piece in pieces(part["text"])
                ]
                frames.append(frame("response.output_text.done", **text, text=part["text"]))
                frames.append(frame("response.content_part.done", **text, part=part))
            case "function_call":
                given = item["arguments"]
                added = {**item, "status": "in_progress", "arguments": ""}
                frames.append(frame("response.output_item.added", output_index=at, item=added))
                frames.append(frame("response.function_call_arguments.delta", **place, delta=given))
                frames.append(frame("response.function_call_arguments.done", **place, arguments=given))
            case "custom_tool_call":
                added = {**item, "status": "in_progress", "input": ""}
                frames.append(frame("response.output_item.added", output_index=at, item=added))
            case _:
                added = {**item, "summary": []}
                frames.append(frame("response.output_item.added", output_index=at, item=added))
        frames.append(frame("response.output_item.done", output_index=at, item=item))
    return Streamed(frames, [frame("response.completed", response=response)])


def error(refusal: Refuse) -> Body:
    """Say an error as OpenAI does, whatever was asked."""
    kind = refusal.kind or _KINDS.get(refusal.status, "server_error")
    return {"error": {"message": refusal.message, "type": kind, "param": None, "code": kind}}


DIALECT = Dialect(r"/responses$", offers_tools, asks_for_stream, _response, _stream, error)
