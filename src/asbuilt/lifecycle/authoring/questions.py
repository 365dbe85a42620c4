"""Questions that an agent submits in place of a plan: parsed strictly, limited in number, with options.

A question that the code could answer is not allowed: each question names what the agent read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from string import ascii_lowercase
from typing import Any, Final, Literal, NamedTuple, assert_never

from asbuilt.lifecycle.flaws import Flaw
from asbuilt.lifecycle.replies import Answered, Chosen, InOwnWords, No, Reply, Yes, reply_in
from asbuilt.lifecycle.similarity import alike

EXAMPLE: Final = (
    '{"questions": [{"ask": "Count requests per what?", "options": ["API key; every route has one", '
    '"client address"], "why": "src/api/app.py knows both and prefers none"}]}'
)
_BLOCK: Final = f"```json\n{EXAMPLE}\n```"
_OPTIONS: Final = range(2, 6)
_LONG: Final = 300
_SAME: Final = 0.8
_OPTION: Final = re.compile(r"^([a-z])  (.*)$", re.MULTILINE)


class Question(NamedTuple):
    """A question to the user. The first option is the agent's suggestion."""

    ask: str
    options: tuple[str, ...]
    why: str
    """What the agent read that did not answer it."""

    @property
    def words(self) -> str:
        """Format the question for the user: the question, the reason, then one line per option."""
        listed = (
            f"{letter}  {option}" for letter, option in zip(ascii_lowercase, self.options, strict=False)
        )
        return "\n".join([self.ask, f"({self.why})", *listed])


def asking(most: int, *, is_interview: bool = False) -> str:
    """Return the prompt text that explains how to ask questions. An interview asks beside the plan so far."""
    hand_in = (
        "First scan a few files and write the plan as far as it is known, if only its headings; each time you"
        " ask, hand in the plan as it is now, and behind it one block of JSON"
        if is_interview
        else "Then hand in one object of JSON and nothing else"
    )
    return (
        f"Where only a person can decide, you may ask instead of writing: at most {most} questions together,"
        " none that the code answers, each with two to five options, the one that you suggest first, and why"
        f" the code does not tell. {hand_in}, like this:\n{_BLOCK if is_interview else EXAMPLE}"
    )


def sketch_in(output: str) -> str:
    """Return the plan so far that an output has before its questions; empty if it has none."""
    return "" if _question_rows(output) is None else _parted(output)[0]


def questions_in(
    output: str, *, most: int, before: Collection[str] = (), is_interview: bool = False
) -> tuple[Question, ...] | tuple[Flaw, ...] | None:
    """Parse the questions of an output; None if it asks none. A question in `before` is a flaw.

    An interview grows its plan, so questions without the plan so far are a flaw, too.
    """
    rows = _question_rows(output)
    if rows is None:
        return None
    if not most:
        return (Flaw("questions", "questions", "what the stage asks for: nobody is asked now", "a plan"),)
    flaws: list[Flaw] = []
    if is_interview and not sketch_in(output):
        needed = "the plan as far as it is known, before them"
        flaws.append(Flaw("plan so far", "questions alone", needed, _BLOCK))
    if not 1 <= len(rows) <= most:
        flaws.append(Flaw("questions", f"{len(rows)} questions", f"one to {most}", EXAMPLE))
    read = [_question(row) for row in rows]
    if None in read:
        needed = f"ask, why, and {_OPTIONS.start} to {_OPTIONS.stop - 1} options that differ"
        flaws.append(Flaw("questions", "a question that is not whole", needed, EXAMPLE))
    whole = [question for question in read if question is not None]
    flaws += _repeated(whole, before)
    return tuple(flaws) or tuple(whole)


def options_of(question: str) -> dict[str, str]:
    """Parse the options of a formatted question, by letter."""
    return dict(_OPTION.findall(question))


def reply_to(kind: str, question: str, words: str) -> Reply:
    """Read what the user typed in answer to a question of this kind."""
    return reply_in(words, options_of(question) if kind == "question" else None)


def recorded(reply: Answered) -> tuple[Literal["yes", "no"], str | None]:
    """Return the answer and the note by which the journal stores a reply. `answer_to` reads them."""
    match reply:
        case Yes(note):
            return "yes", note or None
        case No(note):
            return "no", note or None
        case Chosen(option, note):
            return "yes", f"{option}, {note}" if note else option
        case InOwnWords(text):
            return "yes", text
        case _:
            assert_never(reply)


def answer_to(question: str, answer: str, note: str) -> str:
    """Return the user's decision: the option of a letter, the user's own words, or the suggestion."""
    ask, named = question.partition("\n")[0], options_of(question)
    if answer == "no" and note:
        return f"{ask}\nThe user says no: {note}\nName under Open Questions what stays open."
    if answer == "no":
        return f"{ask}\nLeave it open: name it under Open Questions."
    reply = reply_in(note, named)
    chosen = note.strip() or next(iter(named.values()), "yes")
    if isinstance(reply, Chosen):
        chosen = f"{named[reply.option]} ({reply.note})" if reply.note else named[reply.option]
    return f"{ask}\n{chosen}"


def _question_rows(output: str) -> list[Any] | None:
    try:
        value = json.loads(_parted(output)[1])
    except (ValueError, RecursionError):
        return None
    asked = value.get("questions") if isinstance(value, dict) else None
    return asked if isinstance(asked, list) else None


def _parted(output: str) -> tuple[str, str]:
    """Split an output that ends with a code block into the text before and the block; else all is block."""
    text = output.strip()
    before, fence, block = f"\n{text.removesuffix('```')}".rpartition("\n```")
    language, _, inside = block.partition("\n")
    is_block = text.endswith("```") and fence and language.strip() in ("", "json")
    return (before.strip(), inside) if is_block else ("", text)


def _question(value: object) -> Question | None:
    if not isinstance(value, dict):
        return None
    ask, why, options = value.get("ask"), value.get("why"), value.get("options")
    if not (_is_line(ask) and _is_line(why) and isinstance(options, list) and all(map(_is_line, options))):
        return None
    listed = tuple(_line(option) for option in options)
    is_whole = len(listed) in _OPTIONS and len({option.casefold() for option in listed}) == len(listed)
    return Question(_line(ask), listed, _line(why)) if is_whole else None


def _is_line(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and len(value) <= _LONG


def _line(value: object) -> str:
    return " ".join(str(value).split())


def _repeated(asked: Sequence[Question], before: Collection[str]) -> Iterator[Flaw]:
    known = [question.partition("\n")[0] for question in before]
    for question in asked:
        if any(
            question.ask.casefold() == other.casefold() or alike(question.ask, other) > _SAME
            for other in known
        ):
            found = f'"{question.ask}" was asked before'
            yield Flaw("questions", found, "the answer that was given, in the plan", "## Open Questions")
        known.append(question.ask)
