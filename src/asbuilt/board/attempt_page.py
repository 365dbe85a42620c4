"""The page of an attempt: what its agent does, beside the difference that it has made so far."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Final

from asbuilt.agents import activity
from asbuilt.board.addresses import run_path
from asbuilt.board.plan_page import MAX_TEXT
from asbuilt.errors import AsbuiltError
from asbuilt.events.attempts import TreeKept
from asbuilt.git.refs import PLAIN, patch
from asbuilt.git.repository import checkouts
from asbuilt.journal import runs
from asbuilt.journal.events import keyed
from asbuilt.journal.ids import LOCAL
from asbuilt.pages.document import (
    Beside,
    Code,
    Document,
    Link,
    Mark,
    Paragraph,
    Patch,
    Point,
    Points,
    Said,
    Section,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from asbuilt.board.reading import Reading
    from asbuilt.events.event import Event
    from asbuilt.journal.runs import Run
    from asbuilt.pages.document import Block, Words

_LAST: Final = 200
"""Events of an agent that are shown, the newest first."""


def attempt_page(reading: Reading, repo: str, name: str) -> Document | None:
    """Make the page of an attempt; None if there is none of that name."""
    run_id, _, rest = name.partition(".")
    phase, _, number = rest.rpartition(".")
    digits = "".join(takewhile(str.isdigit, number))
    with reading.journal.store.read() as session:
        run = runs.find(session, LOCAL, repo, run_id)
        if run is None:
            return None
        kept = keyed(session, run.address, f"{run_id}/{phase}/{digits}/kept")
    folder = reading.folder(name)
    signs = activity.signs_of(folder)
    events = activity.read_events(folder / "events.jsonl", 0)[0][-_LAST:]
    points = tuple(Point(words) for event in reversed(events) if (words := _words(event)))
    left: tuple[Block, ...] = (
        Section(("Activity",), (Points(points),) if points else (Paragraph(("None.",)),)),
    )
    right = (Section(("Difference",), _difference(reading, run, kept.event if kept else None)),)
    state = Mark("working", "plain") if signs.is_alive else Mark("over", "plain")
    below: Words = (state, f" {signs.tool_calls} tool calls, {signs.starts} starts")
    above: Words = (Link("Now", "/"), " / ", Link(run.name, run_path(run)))
    judge = {"v": ", verifier", "t": ", tester"}.get(number[len(digits) : len(digits) + 1], "")
    title = f"Phase {phase}, attempt {digits}{judge}"
    return Document(title, above, below, (Beside(left, right),), ())


def _words(event: Mapping[str, object]) -> Words:
    deed = activity.deed_of(event)
    if deed is None:
        return ()
    match deed.what:
        case "said":
            return (Said("agent", deed.text),)
        case "noted":
            return (deed.text,)
        case "ran" | "allowed" | "refused":
            return (Mark(deed.what, "plain"), " ", Code(deed.text))


def _difference(reading: Reading, run: Run, kept: Event | None) -> tuple[Block, ...]:
    """Return the difference of the kept tree, else of the workspace while the agent works."""
    repository = reading.repository(run.repo)
    try:
        if isinstance(kept, TreeKept) and repository is not None:
            text = patch(repository, kept.commit)
        else:
            text = _growing(reading, run)
    except AsbuiltError as error:
        return (Paragraph((f"The difference cannot be read: {error}",)),)
    if not text:
        return (Paragraph(("No change yet.",)),)
    # Cut before it is decoded: a difference may have many megabytes.
    more = f"\n… {len(text) - MAX_TEXT:,} bytes more" if len(text) > MAX_TEXT else ""
    return (Patch(text[:MAX_TEXT].decode("utf-8", "replace") + more),)


def _growing(reading: Reading, run: Run) -> bytes:
    """Return the difference of the run's workspace against its commit. git takes no lock."""
    repository = reading.repository(run.repo)
    folder = reading.journal.home.workspaces / run.repo / run.run
    places = () if repository is None else checkouts(repository)
    for place in (one for one in places if one.path.is_relative_to(folder)):
        git = place.git.with_environment(GIT_OPTIONAL_LOCKS="0")
        new = git.said("ls-files", "--others", "--exclude-standard").out
        return git.said("diff-index", *PLAIN, "--patch", "HEAD").out + (
            b"\nnew files:\n" + new if new else b""
        )
    return b""
