"""`asbuilt notify test`, and what settings and the doctor say of the ways to a person."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot
from msgspec.structs import replace

from asbuilt.cli.commands.doctor.page import State
from asbuilt.cli.commands.doctor.rows import judge
from asbuilt.journal.notifications import Undelivered
from tests.cli.machines import READY
from tests.notify.receiving import receiving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.notify.receiving import Receiver


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as lent:
        yield lent


@pytest.fixture
def typed(receiver: Receiver, environ: dict[str, str], asbuilt: Callable[..., str]) -> Callable[..., str]:
    """Give a function that types a command where some ways are chosen."""
    config = Path(environ["HOME"], ".config", "asbuilt")
    host = receiver.url.removeprefix("http://")
    environ["HOOK_SECRET"] = "s3cret"  # noqa: S105 - of nobody

    def typed(*arguments: str, chosen: str) -> str:
        config.mkdir(parents=True, exist_ok=True)
        (config / "config.toml").write_text(chosen.replace("URL", receiver.url), encoding="utf-8")
        return asbuilt(*arguments).replace(host, "[HOST]")

    return typed


WAYS = """\
[notify]
webhook = "URL/hook"
secret = "env:HOOK_SECRET"
slack = "URL/T0/private"
quiet = "22:00-07:00"
urgent = ["failed"]
"""


def test_every_way_says_what_it_answered(receiver: Receiver, typed: Callable[..., str]) -> None:
    assert typed("doctor", "notify", chosen=WAYS) == snapshot("""\
exit 0
--- stdout
✓ webhook  sent
✓ slack    sent
! quiet    22:00-07:00: notifications of these hours are sent afterwards
""")
    assert sorted(got.path for got in receiver.got) == ["/T0/private", "/hook"]


def test_a_way_that_is_not_heard_fails_the_test_and_its_path_is_not_said(
    receiver: Receiver, typed: Callable[..., str]
) -> None:
    receiver.answer = 410
    assert typed("doctor", "notify", "slack", chosen=WAYS) == snapshot("""\
exit 1
--- stdout
✗ slack    [HOST] answered 410
! quiet    22:00-07:00: notifications of these hours are sent afterwards
""")
    told = typed("doctor", "notify", "--json", chosen=WAYS)
    assert "private" not in told
    assert json.loads(told.partition("--- stdout\n")[2])["ways"][0] == snapshot(
        {"way": "webhook", "taken": False, "said": "[HOST] answered 410"}
    )


def test_without_a_way_it_says_how_to_choose_one(typed: Callable[..., str]) -> None:
    assert typed("doctor", "notify", chosen="") == snapshot("""\
exit 0
--- stdout
No notification channel: no desktop was found, and none is configured.
--- stderr
Next: asbuilt config set notify.ntfy https://ntfy.sh/TOPIC
""")


@pytest.mark.parametrize("line", ['webhook = "http://x"', 'slack = "http://x"', 'quiet = "22:00-07:00"'])
def test_a_repository_may_not_say_where_notices_go(
    shop: Path, asbuilt: Callable[..., str], line: str
) -> None:
    (shop / "asbuilt.toml").write_text(f"[notify]\n{line}\n", encoding="utf-8")
    said = asbuilt("config", "show")
    assert f"a repository may not set notify.{line.split(maxsplit=1)[0]}" in said


def test_hours_and_urgent_kinds_are_read_when_they_are_chosen(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("config", "set", "notify.quiet", "22-7") == snapshot("""\
exit 2
--- stderr
error: notify.quiet "22-7" is not hours, as in 22:00-07:00
  Why:  Your notifications would go to another address, or come at the wrong
        time.
  Next: asbuilt config show notify.quiet
        # lists the values that it accepts
""")
    assert asbuilt("config", "set", "notify.urgent", "failed, lost") == snapshot("""\
exit 2
--- stderr
error: notify.urgent ["failed", "lost"] is not a list of needs, parked, failed,
       landed, proven
  Why:  Your notifications would go to another address, or come at the wrong
        time.
  Next: asbuilt config show notify.urgent
        # lists the values that it accepts
""")


def test_the_doctor_says_which_way_was_not_heard() -> None:
    row = next(
        row
        for row in judge(
            replace(READY, undelivered=(Undelivered("slack", "x answered 500", "2026-11-15T01:10:00Z"),))
        )
        if row.name == "notify"
    )
    assert (row.state, row.text, row.next_step) == snapshot(
        (
            State.NOTE,
            "the last notification by slack was not received: x answered 500",
            "`asbuilt doctor notify slack` sends a test notification.",
        )
    )
