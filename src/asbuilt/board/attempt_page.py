"""The page of an attempt: what its agent does, beside the difference that it has made so far."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.agents import activity
from asbuilt.board.addresses import run_path
from asbuilt.board.now_page import listed
from asbuilt.board.plan_page import MAX_TEXT
from asbuilt.errors import AsbuiltError
from asbuilt.events.attempts import TreeKept
from asbuilt.events.event import Event
from asbuilt.git.refs import PLAIN, patch
from asbuilt.git.repository import checkouts
from asbuilt.journal import runs
from asbuilt.journal.events import keyed
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.runs import Run
from asbuilt.pages import document as doc
from asbuilt.pages.phases import counted

if TYPE_CHECKING:
    from asbuilt.board.reading import Reading

_NEW: Final = 50
"""New files whose contents are shown while the agent works."""
_LAST: Final = 200
"""Events of an agent that are shown, the newest first."""


def attempt_page(reading: Reading, repo: str, name: str) -> doc.Document | None:
    """Make the page of an attempt; None if there is none of that name."""
    run_id, _, rest = name.partition(".")
    phase, _, number = rest.rpartition(".")
    digits = "".join(takewhile(str.isdigit, number))
    with reading.store.read() as session:
        run = runs.find(session, LOCAL, repo, run_id)
        if run is None:
            return None
        kept = keyed(session, run.address, f"{run_id}/{phase}/{digits}/kept")
    folder = reading.folder(name)
    signs = activity.signs_of(folder)
    events = activity.read_events(folder / "events.jsonl", 0)[0][-_LAST:]
    points = [doc.Point(words) for event in reversed(events) if (words := _words(event))]
    left = (doc.Section(("Activity",), (listed(points, "None."),)),)
    right = (doc.Section(("Difference",), difference(reading, run, kept.event if kept else None)),)
    state = doc.Mark("working", "plain") if signs.is_alive else doc.Mark("over", "plain")
    below: doc.Words = (state, f" {counted(signs.tool_calls, 'tool call')}, {counted(signs.starts, 'start')}")
    above: doc.Words = (doc.Link("Now", "/"), " / ", doc.Link(run.name, run_path(run)))
    judge = {"v": ", verifier", "t": ", tester"}.get(number[len(digits) : len(digits) + 1], "")
    title = f"Phase {phase}, attempt {digits}{judge}"
    return doc.Document(title, above, below, (doc.Beside(left, right),), ())


def _words(event: Mapping[str, object]) -> doc.Words:
    deed = activity.deed_of(event)
    if deed is None:
        return ()
    match deed.what:
        case "said":
            return (doc.Said("agent", deed.text),)
        case "noted":
            return (deed.text,)
        case "ran" | "allowed" | "refused":
            return (doc.Mark("tool" if deed.what == "ran" else deed.what, "plain"), " ", doc.Code(deed.text))


def difference(reading: Reading, run: Run, kept: Event | None) -> tuple[doc.Block, ...]:
    """Return the difference of the kept tree, else of the workspace while the agent works."""
    repository = reading.repository(run.repo)
    try:
        if isinstance(kept, TreeKept) and repository is not None:
            text = patch(repository, kept.commit)
        else:
            text = _growing(reading, run)
    except AsbuiltError as error:
        return (doc.Paragraph((f"The difference cannot be read: {error}",)),)
    if not text:
        return (doc.Paragraph(("No change yet.",)),)
    # Cut before it is decoded: a difference may have many megabytes.
    more = f"\n… {len(text) - MAX_TEXT:,} bytes more" if len(text) > MAX_TEXT else ""
    return (doc.Patch(text[:MAX_TEXT].decode("utf-8", "replace") + more),)


def _growing(reading: Reading, run: Run) -> bytes:
    """Return the difference of the run's workspace against its commit. git takes no lock."""
    repository = reading.repository(run.repo)
    folder = reading.home.workspaces / run.repo / run.run
    places = () if repository is None else checkouts(repository)
    for place in (checkout for checkout in places if checkout.path.is_relative_to(folder)):
        git = place.git.with_environment(GIT_OPTIONAL_LOCKS="0")
        new = git.run("ls-files", "-z", "--others", "--exclude-standard").out.split(b"\0")[:-1]
        text = git.run("diff-index", *PLAIN, "--patch", "HEAD").out
        for at, name in enumerate(new):
            if at == _NEW or len(text) > MAX_TEXT:
                return text + b"%d more new files\n" % (len(new) - at)
            text += _added(place.path, name)
        return text
    return b""


def _added(folder: Path, name: bytes) -> bytes:
    """Return a file that git does not know yet as a difference. A link is named, never followed."""
    head = b"diff --git a/%b b/%b\nnew file\n" % (name, name)
    try:
        opened = os.open(os.fsencode(folder) + b"/" + name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return head
    with os.fdopen(opened, "rb") as file:
        text = file.read(MAX_TEXT) if stat.S_ISREG(os.fstat(opened).st_mode) else b""
    if b"\0" in text:
        return head + b"binary\n"
    return head + b"".join(b"+%b\n" % line for line in text.splitlines())
