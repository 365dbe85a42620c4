"""The pages of a run and of a phase show a window of a long run, and all of a short one."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING

import pytest

from asbuilt.board.addresses import phase_path
from asbuilt.board.reading import Reading
from asbuilt.board.run_page import phase_page, run_page
from asbuilt.flows.report import account_of
from asbuilt.flows.run.record import Record
from asbuilt.journal import runs
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.queries.facts_cache import Folds
from asbuilt.journal.queries.overview import events_of, facts_from
from asbuilt.lifecycle.run.proving import ProvingFacts
from asbuilt.pages.document import Figures, Link, Section, Table
from asbuilt.pages.phases import phase_section
from asbuilt.pages.run_report import report_document
from asbuilt.settings import load
from asbuilt.wiring import open_journal
from tests.board.large_run import PLAN, RUN, make, note

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.lifecycle.status.report import Account
    from asbuilt.pages.document import Block, Document
    from asbuilt.wiring import Journal


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    environ = {"HOME": str(tmp_path), "ASBUILT_HOME": str(tmp_path / "state")}
    return open_journal(load(repository=None, environ=environ), environ)


def page_of(journal: Journal, repo: str) -> Document:
    page = run_page(Reading(*journal, UTC, Folds(journal.blobs)), repo, RUN)
    assert page is not None
    return page


def whole(journal: Journal, repo: str) -> Account:
    """Gather the account of the whole run, as its report does."""
    with journal.store.read() as session:
        run = runs.find(session, LOCAL, repo, RUN)
        assert run is not None
        events, now = events_of(session, journal.blobs, run.address), session.now
    facts = facts_from(run, events)
    assert isinstance(facts, ProvingFacts)
    record = Record(run=run, store=journal.store, blobs=journal.blobs)
    account = account_of(record, facts, events, journal.home.workspaces, now)
    return account._replace(state=run.state)


def parts(blocks: tuple[Block, ...]) -> list[tuple[str, Block]]:
    """Return the sections with their titles, but for those whose times are those of the page."""
    found = [(str(block.words[0]), block) for block in blocks if isinstance(block, Section)]
    return [(title, block) for title, block in found if title not in ("Time", "Attempts", "Now")]


def counts(blocks: tuple[Block, ...]) -> list[str]:
    """Return the shares of the summary."""
    (figures,) = [block.figures for block in blocks if isinstance(block, Figures)]
    return [f"{one.value} {one.label}" for one in figures if " of " in one.value]


def test_a_short_run_is_shown_like_its_report(journal: Journal, tmp_path: Path) -> None:
    large = make(journal, tmp_path / "shop", phases=6, events=150, diff_bytes=1_000)
    page, report = page_of(journal, large.repo), report_document(whole(journal, large.repo), UTC)
    # Phase 6 is open: how long it took depends on the moment.
    for one, other in zip(parts(page.blocks), parts(report.blocks), strict=True):
        assert one == other or one[0] == other[0] == "Phase 6: "
    assert len([title for title, _ in parts(page.blocks) if title.startswith("Phase ")]) == 6


def test_a_long_run_shows_the_last_phases_and_links_to_the_others_and_counts_all(
    journal: Journal, tmp_path: Path
) -> None:
    large = make(journal, tmp_path / "shop", phases=40, events=1_200, diff_bytes=1_000)
    page, report = page_of(journal, large.repo), report_document(whole(journal, large.repo), UTC)
    assert counts(page.blocks) == counts(report.blocks)
    named = [title for title, _ in parts(page.blocks)]
    assert [title for title in named if title.startswith("Phase ")] == [
        f"Phase {n}: " for n in range(40, 28, -1)
    ]
    (others,) = [block for title, block in parts(page.blocks) if title == "28 earlier phases"]
    assert isinstance(others, Section)
    (table,) = others.blocks
    assert isinstance(table, Table)
    links = [word for row in table.rows for word in row[0] if isinstance(word, Link)]
    assert [link.href for link in links] == [phase_path(large.repo, PLAN, f"{n}") for n in range(28, 0, -1)]
    assert table.rows[0][2] == (str(large.attempts),)


def test_the_page_of_a_phase_is_its_section_of_the_report_also_after_more_events(
    journal: Journal, tmp_path: Path
) -> None:
    large = make(journal, tmp_path / "shop", phases=20, events=600, diff_bytes=1_000)
    reading = Reading(*journal, UTC, Folds(journal.blobs))
    for number in range(2):
        account = whole(journal, large.repo)
        (phase,) = [one for one in account.phases if one.id == "3"]
        page = phase_page(reading, large.repo, PLAN, "3")
        assert page is not None
        section = phase_section(account, phase, is_folded=False)
        assert page.below == section.words[1:]
        assert page.blocks[:-1] == section.blocks
        note(journal, large, number)
    assert phase_page(reading, large.repo, PLAN, "21") is None
