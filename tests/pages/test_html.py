from __future__ import annotations

from datetime import UTC
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from asbuilt.lifecycle.status.report import Account, AttemptAccount, Decision, Outlined, PhaseAccount
from asbuilt.lifecycle.status.timeline import Span
from asbuilt.pages.document import one_line
from asbuilt.pages.html import text as escaped
from asbuilt.pages.run_report import Page
from asbuilt.proof.pictures import Picture
from asbuilt.proof.verdict import ItemVerdict, Promise, Waived
from tests.pages.accounts import FAILED, GREEN, RED, RICH, SKIPPED

HOSTILE = st.text(alphabet=st.sampled_from("ab<>&\"'/=;!-- \n\x00\u202escriptonx")) | st.text()
VOID = {"meta", "rect", "line", "img"}


class Reading(HTMLParser):
    """Every element of a page, with its attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[tuple[str, str | None], ...]]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(attrs)))
        if tag not in VOID or tag == "rect":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def said_by(text: str) -> Account:
    """Make an account in which everything that others write is one text."""
    attempt = AttemptAccount(
        1, "implement", "done", text, text, "refs/x", (GREEN._replace(argv=(text,), notes=(text,)),),
        (ItemVerdict(1, text, "FAIL", text, (text,)),), agent=text,
        remarks=(SKIPPED._replace(path=text, test=text, was=text, now=text),),
    )  # fmt: skip
    waived = Waived(1, text, text, text, "2026-11-15")
    phase = PhaseAccount("1", text, (Promise(text),), (attempt,), "a" * 40, None, (waived,))
    return FAILED._replace(
        name=text, plan=text, reason=text, title=text, setup=text, baseline=text, phases=(phase,),
        outline=(Outlined("1", text, ()), Outlined("2", text, ("1",))),
        spans=(Span("work", "1", "2026-11-15T00:00:00Z", "2026-11-15T00:00:09Z", text),),
        decisions=(Decision("a1", "waiver", text, "yes", text, "2026-11-15T00:00:00Z", text),),
        pictures=(Picture(text, "image/png", b""),), pictured=text,
    )  # fmt: skip


TAME = set(Reading(Page(said_by("a `word` of ours"), UTC).html).elements)


@given(HOSTILE)
def test_no_foreign_text_becomes_an_element_or_an_attribute(text: str) -> None:
    page = Reading(Page(said_by(text), UTC).html)
    assert (set(page.elements) - TAME, page.open) == (set(), [])


@given(HOSTILE)
def test_a_text_reads_as_itself(text: str) -> None:
    assert "".join(Reading(f"<p>{escaped(text)}</p>").text) == one_line(text)


def test_a_page_needs_nothing_and_asks_for_nothing() -> None:
    page = Reading(Page(RICH, UTC).html)
    assert {tag for tag, _ in page.elements} & {
        "script",
        "link",
        "iframe",
        "object",
        "a",
        "form",
    } == set()
    named = {name for _, attributes in page.elements for name, _ in attributes}
    assert not {name for name in named if name.startswith("on") or name in ("href", "style")}
    sources = {value for _, attributes in page.elements for name, value in attributes if name == "src"}
    assert sources == {"data:image/png;base64,iVBORw0KGgo="}
    assert page.open == []


def test_all_phases_together_are_green_only_when_every_part_of_it_is() -> None:
    whole = RICH.whole
    assert whole is not None
    red = whole._replace(ending="FAIL", evidence=(RED,), items=())
    unmet = whole._replace(items=(*whole.items[:1], whole.items[1]._replace(outcome="FAIL")))
    unjudged = whole._replace(items=(), opinion=None)
    told = [
        Page(RICH._replace(whole=one), UTC).html.partition("All phases together ")[2].partition("</b>")[0]
        for one in (whole, red, unmet, unjudged)
    ]
    assert told == [
        '<b class="mark proven">proven',
        '<b class="mark failed">not proven',
        '<b class="mark failed">not proven',
        '<b class="mark proven">checks pass',
    ]


def test_green_is_only_what_asbuilt_has_shown_itself() -> None:
    said_only = ItemVerdict(1, "A bucket refills", "PASS", "trust me")
    attempt = (
        RICH.phases[1].attempts[0]._replace(items=(said_only,), evidence=(GREEN._replace(outcome="FAIL"),))
    )
    phase = RICH.phases[1]._replace(attempts=(attempt,), proven=None, landed=None)
    page = Page(RICH._replace(phases=(phase,), whole=None, landed=(), state="failed"), UTC).html
    body = page.partition("<body>")[2]
    assert "proven" not in {
        word for part in body.split('class="')[1:] for word in part.partition('"')[0].split()
    }
