"""What a provider's dialect has to know, and what all of them share.

The one rule: a dialect is pure. The same answer under the same number is the same bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.model.steps import Answer, Refuse

Body = dict[str, Any]
PIECE: Final = 40
MADE_AT: Final = 1_700_000_000


class Frame(NamedTuple):
    """One server-sent event."""

    name: str | None
    data: Body | str


class Streamed(NamedTuple):
    """An answer as events: its blocks, and what ends it."""

    blocks: list[Frame]
    end: list[Frame]


class Request(NamedTuple):
    """What an answer depends on besides its step."""

    body: Body
    number: int
    """Which request of the server it is, from 1; ids are made from it."""


class Dialect(NamedTuple):
    """One provider's way to say it."""

    path: str
    """A pattern for the end of the path of requests."""
    is_main: Callable[[Body], bool]
    """Whether a request is the agent's own work; titles, routers and suggestions are not."""
    is_streamed: Callable[[str, Body], bool]
    whole: Callable[[Answer, Request], Body]
    stream: Callable[[Answer, Request], Streamed]
    error: Callable[[Refuse], Body]


def pieces(text: str) -> Iterator[str]:
    """Cut a text as a model streams it."""
    yield from (text[at : at + PIECE] for at in range(0, len(text), PIECE))


def offers_tools(body: Body) -> bool:
    """Tell a turn of the agent from a side call."""
    return bool(body.get("tools"))


def asks_for_stream(_: str, body: Body) -> bool:
    """Tell whether the body asks for events."""
    return body.get("stream") is True
