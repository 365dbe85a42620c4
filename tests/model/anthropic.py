"""Anthropic's Messages, as Claude Code asks for them."""

from __future__ import annotations

import json
from typing import assert_never

from tests.model.dialect import Body, Dialect, Frame, Request, Streamed, asks_for_stream, offers_tools, pieces
from tests.model.steps import Answer, Block, Call, Refuse, Say, Think, words_of

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def _is_main(body: Body) -> bool:
    last = (body.get("messages") or [{}])[-1]
    return offers_tools(body) and "[SUGGESTION MODE" not in words_of(last.get("content"))


def _block(block: Block, key: str) -> Body:
    match block:
        case Say(text):
            return {"type": "text", "text": text}
        case Think(text):
            return {"type": "thinking", "thinking": text, "signature": "sig"}
        case Call(tool, given):
            return {"type": "tool_use", "id": f"toolu_{key}", "name": tool, "input": given}
        case _:
            assert_never(block)


def _content(answer: Answer, request: Request) -> list[Body]:
    return [_block(block, f"{request.number:04d}_{at}") for at, block in enumerate(answer.blocks)]


def _usage(answer: Answer) -> Body:
    return {
        "input_tokens": answer.usage.fresh,
        "cache_creation_input_tokens": answer.usage.written,
        "cache_read_input_tokens": answer.usage.cached,
        "output_tokens": answer.usage.output,
    }


def _stop(answer: Answer) -> str:
    return "tool_use" if any(isinstance(block, Call) for block in answer.blocks) else "end_turn"


def _message(answer: Answer, request: Request) -> Body:
    return {
        "id": f"msg_{request.number:04d}",
        "type": "message",
        "role": "assistant",
        "model": request.body.get("model", "fake-model"),
        "content": _content(answer, request),
        "stop_reason": _stop(answer),
        "stop_sequence": None,
        "usage": _usage(answer),
    }


def _stream(answer: Answer, request: Request) -> Streamed:
    message = _message(answer, request)
    content: list[Body] = message["content"]
    begun = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    frames = [_frame("message_start", message=begun)]
    for at, block in enumerate(content):
        match block["type"]:
            case "text":
                empty = {**block, "text": ""}
                deltas: list[Body] = [{"type": "text_delta", "text": part} for part in pieces(block["text"])]
            case "thinking":
                empty = {**block, "thinking": "", "signature": ""}
                deltas = [
                    {"type": "thinking_delta", "thinking": block["thinking"]},
                    {"type": "signature_delta", "signature": block["signature"]},
                ]
            case _:
                empty = {**block, "input": {}}
                deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
        frames.append(_frame("content_block_start", index=at, content_block=empty))
        frames += [_frame("content_block_delta", index=at, delta=delta) for delta in deltas]
        frames.append(_frame("content_block_stop", index=at))
    stopped = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    end = [_frame("message_delta", delta=stopped, usage=message["usage"]), _frame("message_stop")]
    return Streamed(frames, end)


def _frame(kind: str, **fields: object) -> Frame:
    return Frame(kind, {"type": kind, **fields})


def _error(refusal: Refuse) -> Body:
    kind = refusal.kind or _KINDS.get(refusal.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": refusal.message}}


DIALECT = Dialect(r"/messages$", _is_main, asks_for_stream, _message, _stream, _error)
