"""What a scripted model does, in our own words; each dialect says it in its provider's.

The one rule: a step names no provider, only the tools of the agent that is meant to hear it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Say:
    """Say something to the person."""

    text: str


@dataclass(frozen=True, slots=True)
class Think:
    """Think aloud."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """Call one of the agent's tools."""

    tool: str
    input: Mapping[str, Any] | str
    """A text for a tool without a schema, as codex's `apply_patch` is."""
    namespace: str = ""
    """Where the dialect keeps it apart from the name, as codex does with the tools of an MCP server."""


Block = Say | Think | Call


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What an answer says that it took."""

    fresh: int = 10
    written: int = 2_000
    """Put into the provider's cache."""
    cached: int = 30_000
    """Read from it."""
    output: int = 50

    @property
    def prompt(self) -> int:
        """All that came in."""
        return self.fresh + self.written + self.cached


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Some blocks, and how the answer ends."""

    blocks: tuple[Block, ...]
    usage: Usage = Usage()
    ends: Literal["whole", "hanging", "cut"] = "whole"
    """After the blocks: as it should, never, or with the connection closed."""
    wait: str = ""
    """Nothing is answered until the test releases this."""
    when: str = ""
    """A pattern: only for a request in whose text it is found. Empty: for any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuse:
    """An HTTP error."""

    status: int
    kind: str = ""
    """The provider's name for the error; empty: what it says with this status."""
    message: str = "as the script says"
    headers: Mapping[str, str] | None = None
    for_good: bool = True
    """Every later request gets it too: agents try again."""
    when: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hang:
    """Take the request and answer nothing."""

    when: str = ""


Step = Answer | Refuse | Hang


def answer(*blocks: Block, **fields: Any) -> Answer:  # noqa: ANN401  the fields of Answer
    """Make an answer of some blocks."""
    return Answer(blocks=blocks, **fields)


_VALUE = re.compile(r"\{\{re:(.*?)\}\}")


def filled(step: Answer, text: str) -> Answer:
    """Put values of a request in: `{{re:PATTERN}}` is the group of the pattern's last match in its text."""

    def found(match: re.Match[str]) -> str:
        hits = re.findall(match[1], text)
        return str(hits[-1]) if hits else f"NOT FOUND: {match[1]}"

    def fill(value: Any) -> Any:  # noqa: ANN401  JSON in, JSON out
        match value:
            case str():
                return _VALUE.sub(found, value)
            case Mapping():
                return {name: fill(inner) for name, inner in value.items()}
            case list():
                return [fill(inner) for inner in value]
            case _:
                return value

    def filled_block(block: Block) -> Block:
        if isinstance(block, Call):
            return replace(block, input=fill(block.input))
        return replace(block, text=fill(block.text))

    return replace(step, blocks=tuple(filled_block(block) for block in step.blocks))


def words_of(body: object) -> str:
    """All texts of a request, one a line, as the model would read them."""
    match body:
        case str():
            return body
        case Mapping():
            return "\n".join(words_of(inner) for inner in body.values())
        case list():
            return "\n".join(words_of(inner) for inner in body)
        case _:
            return ""
