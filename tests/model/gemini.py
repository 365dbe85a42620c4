"""Google's generateContent, as gemini asks for it, streamed and whole."""

from __future__ import annotations

from typing import assert_never

from tests.model.dialect import Body, Dialect, Frame, Request, Streamed, offers_tools
from tests.model.steps import Answer, Block, Call, Refuse, Say, Think

_KINDS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    429: "RESOURCE_EXHAUSTED",
}


def _part(block: Block) -> Body:
    match block:
        case Say(text):
            return {"text": text}
        case Think(text):
            return {"text": text, "thought": True}
        case Call(tool, given):
            return {"functionCall": {"name": tool, "args": given}}
        case _:
            assert_never(block)


def _content(answer: Answer, request: Request, parts: list[Body], *, last: bool) -> Body:
    usage = answer.usage
    candidate: Body = {"index": 0, "content": {"role": "model", "parts": parts}}
    if last:
        candidate["finishReason"] = "STOP"
    return {
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": usage.prompt,
            "candidatesTokenCount": usage.output,
            "totalTokenCount": usage.prompt + usage.output,
            "cachedContentTokenCount": usage.cached,
        },
        "modelVersion": "fake-model",
        "responseId": f"resp_{request.number:04d}",
    }


def _whole(answer: Answer, request: Request) -> Body:
    return _content(answer, request, [_part(block) for block in answer.blocks], last=True)


def _stream(answer: Answer, request: Request) -> Streamed:
    frames = [Frame(None, _content(answer, request, [_part(block)], last=False)) for block in answer.blocks]
    return Streamed(frames, [Frame(None, _content(answer, request, [], last=True))])


def _is_streamed(path: str, _: Body) -> bool:
    return path.endswith(":streamGenerateContent")


def _error(refusal: Refuse) -> Body:
    kind = refusal.kind or _KINDS.get(refusal.status, "UNAVAILABLE")
    return {"error": {"code": refusal.status, "message": refusal.message, "status": kind}}


DIALECT = Dialect(r":(streamG|g)enerateContent$", offers_tools, _is_streamed, _whole, _stream, _error)
