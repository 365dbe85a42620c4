"""Accounts for pages: one that failed, one that has everything a page can show.

`python -m tests.pages.accounts` writes the kept pages anew; read the difference before you commit it.
"""

from __future__ import annotations

from datetime import UTC
from pathlib import Path
from typing import Final

from asbuilt.lifecycle.delivery.facts import Landed, Work
from asbuilt.lifecycle.run.money import Spent
from asbuilt.lifecycle.status.report import Account, AttemptAccount, Decision, Outlined, PhaseAccount
from asbuilt.lifecycle.status.timeline import Span
from asbuilt.pages.run_report import Page
from asbuilt.proof.drift.measured_numbers import Number
from asbuilt.proof.evidence import Evidence
from asbuilt.proof.failure import failure_of
from asbuilt.proof.opinion import Answer, Entry, Line, Opinion
from asbuilt.proof.pictures import Picture
from asbuilt.proof.remarks import Remark
from asbuilt.proof.suites.model import Severity
from asbuilt.proof.verdict import ItemVerdict, Promise, Waived

KEPT: Final = Path(__file__).parent / "shown"
TREE: Final = "7" * 40
RED: Final = Evidence(
    "tests", ("pytest", "-q"), 1, "FAIL", "1 test fails that did not before", 12, 1, 1, "sha256:0", 1.0, TREE,
    new_failures=("tests.test_app::test_429",),
)  # fmt: skip
GREEN: Final = Evidence(
    "tests", ("pytest", "-q"), 0, "PASS", "14 ran, 0 skipped", 14, 0, 0, "sha256:0", 61.0, "8" * 40,
    canary="z1-a-b", canaries="right", put_back=("conftest.py",),
    proves=("tests.test_app::test_429", "tests.test_app::test_retry_after"),
    idle=("tests.test_app::test_old",),
    notes=("conftest.py is the base's", "canaries (pytest): 1 failed and 1 passed, as they must"),
)  # fmt: skip
PIPE: Final = Evidence(
    "grep a x | wc", ("/bin/sh", "-c", "grep a x | wc"), 0, "PASS", "exit 0", None, None, None, "sha256:1",
    0.2, "8" * 40,
)  # fmt: skip
SKIPPED: Final = Remark(
    "test-skipped",
    Severity.SIGN_OFF,
    "tests/test_app.py",
    "test_slow",
    88,
    "def test_slow():",
    "@skip('slow')",
)
ORDERED: Final = Remark(
    "test-removed", Severity.ALLOWED, "tests/test_old.py", "test_old", 3, "assert old()",
    cited="line 14: remove `tests/test_old.py`",
)  # fmt: skip

_BROKEN: Final = failure_of(RED, b"E   assert 200 == 429\n``` 1 failed, 11 passed, 1 skipped\n")
FAILED: Final = Account(
    name="plan.2",
    plan="docs/plan.md",
    slug="plan",
    kind="run",
    target="main",
    branch="asbuilt/plan",
    state="failed",
    reason="phase 2 is not proven\nafter 2 fixes",
    at="2026-11-15T02:03:04.000Z",
    phases=(
        PhaseAccount(
            "2",
            "Part",
            (Promise("`part.py` says goodbye"), Promise("it is quick", is_criterion=True)),
            (
                AttemptAccount(1, "implement", "stalled", "no sign for 900 s", "", None),
                AttemptAccount(
                    2,
                    "implement",
                    "done",
                    "",
                    "all done\n## proven",
                    "refs/asbuilt/attempts/r.2.2",
                    (RED, PIPE._replace(tree=TREE)),
                    (ItemVerdict(1, "`part.py` says goodbye", "FAIL", "it says hello"),),
                ),
            ),
            None,
            None,
        ),
        PhaseAccount("1", "Greet", (), (), "a" * 40, None),
    ),
    pending=(Work("1", "r", "a" * 40),),
    workspaces=("/state/workspaces/6f9c/r/main",),
    tests="pytest -q",
    failures={"sha256:0": _BROKEN},
    failed=(_BROKEN,),
    next_step="`asbuilt doctor` names what prevents it.",
)

_OPINION: Final = Opinion(
    "sha256:9c41",
    (
        Entry(1, "PASS", "the handler answers 429", (Line("app.py", 12),)),
        Entry(2, "FAIL", "no header is set"),
    ),
    answers=(
        Answer("flag", found=True, why="LIMITS_ON is set nowhere", place=Line("app.py", 9)),
        Answer("copy", found=False, why=""),
    ),
)
RICH: Final = Account(
    name="rate-limit.1",
    plan="plans/rate-limit.md",
    slug="rate-limit",
    kind="run",
    target="main",
    branch="asbuilt/rate-limit",
    state="landed",
    reason="",
    at="2026-11-15T00:20:00.000Z",
    phases=(
        PhaseAccount(
            "2",
            "Middleware and 429",
            (
                Promise("Answer `429` beyond the limit"),
                Promise("Set `Retry-After`"),
                Promise("No request is slower by more than 2 ms", is_criterion=True),
            ),
            (
                AttemptAccount(
                    1, "implement", "done", "", "All tests pass.", "refs/asbuilt/attempts/r.2.1", (RED,), (),
                    agent="claude", began_at="2026-11-14T22:05:00.000Z", ended_at="2026-11-14T22:55:00.000Z",
                    spent=Spent(1.25),
                ),
                AttemptAccount(
                    2, "fix", "done", "", "Fixed.", "refs/asbuilt/attempts/r.2.2", (GREEN, PIPE),
                    (
                        ItemVerdict(
                            1, "Answer `429` beyond the limit", "PASS", "the handler answers 429",
                            ("app.py:12", "the test tests.test_app::test_429"),
                        ),
                        ItemVerdict(2, "Set `Retry-After`", "FAIL", "no header is set", waived="later (you)"),
                        ItemVerdict(
                            3, "No request is slower by more than 2 ms", "PASS", "",
                            ("the check `grep a x | wc`",),
                        ),
                    ),
                    _OPINION, (), (SKIPPED, ORDERED),
                    (
                        Number(3, 1, "at_most", None, 2, "2 ms", 1, "bench", text="Slower by at most 2 ms"),
                        Number(4, 2, "about", 38, 42, "about 40", 44, "wc -l app.py", text="about 40 lines"),
                    ),
                    agent="claude", began_at="2026-11-14T23:00:00.000Z", ended_at="2026-11-14T23:40:00.000Z",
                    spent=Spent(0.5, usd_unreported=1), notes=("Redis 6 is what we run; *no* functions",),
                ),
            ),
            "b" * 40,
            "d" * 40,
            (Waived(2, "Set `Retry-After`", "clients do not read it", "you", "2026-11-15"),),
            "sha256:9c41aaaaaaaaaaaa",
        ),
        PhaseAccount(
            "1",
            "Token bucket",
            (Promise("A bucket refills"),),
            (
                AttemptAccount(
                    1, "implement", "done", "", "Done.", "refs/asbuilt/attempts/r.1.1", (GREEN._replace(
                        put_back=(), notes=(), reused=True),),
                    (ItemVerdict(1, "A bucket refills", "PASS", "seen", ("limits.py:3",)),),
                    agent="claude", began_at="2026-11-14T21:49:00.000Z", ended_at="2026-11-14T22:00:00.000Z",
                ),
            ),
            "a" * 40,
            "c" * 40,
        ),
    ),
    landed=(Landed("1", "r", "a" * 40, "c" * 40), Landed("2", "r", "b" * 40, "d" * 40)),
    whole=AttemptAccount(
        0, "verify", "PASS", "", "", None, (GREEN._replace(reused=True), PIPE._replace(reused=True)),
        (
            ItemVerdict(1, "phase 1, Token bucket: still does what it promised", "PASS", "", ("app.py:1",)),
            ItemVerdict(2, "phase 2, Limits: still does what it promised", "PASS", "", ("limits.py:3",)),
        ),
    ),
    title="Rate limiting for the public API",
    began_at="2026-11-14T21:48:00.000Z",
    ended_at="2026-11-15T00:18:00.000Z",
    worked_s=8_400.0,
    spent=Spent(1.75),
    sandbox_level="bwrap",
    tests="pytest -q",
    setup="uv sync --frozen",
    baseline="12 ran, 0 failed",
    outline=(Outlined("1", "Token bucket", ()), Outlined("2", "Middleware and 429", ("1",))),
    spans=(
        Span("prepare", "", "2026-11-14T21:48:00.000Z", "2026-11-14T21:49:00.000Z", "setup and baseline"),
        Span("work", "1", "2026-11-14T21:49:00.000Z", "2026-11-14T22:00:00.000Z", "attempt 1, implement"),
        Span("work", "2", "2026-11-14T22:05:00.000Z", "2026-11-14T22:55:00.000Z", "attempt 1, implement"),
        Span("wait", "", "2026-11-15T00:00:00.000Z", "2026-11-15T00:15:00.000Z", "approval waiver"),
    ),
    pictures=(Picture("toolbar.png", "image/png", b"\x89PNG\r\n\x1a\n"),),
    pictured="not shown: notes.txt",
    decisions=(
        Decision("a8", "sign-off", "a person looks at tests/test_app.py:88", "", "", "", ""),
        Decision(
            "a7", "waiver", "accept phase 2 without this item? Give a reason. item 2", "yes", "you",
            "2026-11-15T00:15:00.000Z", "clients do not read it",
        ),
    ),
)  # fmt: skip
PAGES: Final = {"failed": FAILED, "landed": RICH}


def main() -> None:
    """Write every kept page anew."""
    KEPT.mkdir(exist_ok=True)
    for name, account in PAGES.items():
        (KEPT / f"{name}.md").write_text(Page(account, UTC).markdown, encoding="utf-8")


if __name__ == "__main__":
    main()
