from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from asbuilt.lifecycle.facts import Landed, Work
from asbuilt.lifecycle.report import Account, AttemptAccount, PhaseAccount, render
from asbuilt.proof.evidence import Evidence
from asbuilt.proof.remarks import Remark
from asbuilt.proof.suites.model import Severity
from asbuilt.proof.verdict import ItemVerdict, Waived

TESTS = Evidence("tests", ("pytest", "-q"), 1, "FAIL", "1 test fails", 12, 1, 1, "sha256:0", 1.0, "7" * 40)
GREP = Evidence(
    "grep", ("/bin/sh", "-c", "grep a x | wc"), 0, "PASS", "", None, None, None, "sha256:1", 1.0, "7" * 40
)
FAILED = Account(
    name="plan.2",
    plan="docs/plan.md",
    slug="plan",
    kind="run",
    target="main",
    branch="cp-plan",
    state="failed",
    reason="phase 2 is not proven\nafter 2 fixes",
    at="2026-11-15T02:03:04.000Z",
    phases=(
        PhaseAccount(
            "2",
            "Part",
            ("`part.py` says goodbye", "it is quick"),
            (
                AttemptAccount(1, "implement", "stalled", "no sign for 900 s", "", None),
                AttemptAccount(
                    2,
                    "implement",
                    "done",
                    "",
                    "all done\n## proven",
                    "refs/asbuilt/attempts/r.2.2",
                    (TESTS, GREP),
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
)
TEXT = """\
# Run plan.2

- Plan: `docs/plan.md`
- State: failed

## Run failed - 2026-11-15 02:03

- Phase: 2
- What: phase 2 is not proven after 2 fixes
- State: 1 phase proven on `cp-plan`. Nothing was thrown away.
- Kept: `/state/workspaces/6f9c/r/main`
- Go on: `asbuilt run plan`
- Go on: `asbuilt land plan`

## Proven on `cp-plan`, not landed

- Phase 1: `aaaaaaaaaa`

## Phase 2: Part

Not proven.

### Promised

- FAIL: `part.py` says goodbye
  > The verifier: it says hello
- NOT_RUN: it is quick

### Checks, run by asbuilt on a clean checkout

| command | outcome | exit | ran | skipped | failed | tree |
|---|---|---|---|---|---|---|
| `pytest -q` | FAIL | 1 | 12 | 1 | 1 | `7777777777` |
| `/bin/sh -c 'grep a x \\| wc'` | PASS | 0 |  |  |  | `7777777777` |

### Attempts

- 1, implement: stalled: no sign for 900 s.
- 2, implement: done. Kept under `refs/asbuilt/attempts/r.2.2`.
  > The agent: all done ## proven

## Phase 1: Greet

Proven, commit `aaaaaaaaaa`.

### Attempts
"""


def test_a_failed_run_tells_what_it_found_and_how_to_go_on() -> None:
    assert render(FAILED) == TEXT


def test_a_landed_run_names_the_landed_hashes_and_those_that_were_proven() -> None:
    landed = FAILED._replace(
        state="landed", reason="", phases=(), pending=(), landed=(Landed("1", "r", "a" * 40, "b" * 40),)
    )
    assert render(landed) == (
        "# Run plan.2\n\n- Plan: `docs/plan.md`\n- State: landed\n\n"
        "## Landed on `main`\n\n- Phase 1: `bbbbbbbbbb` (proven as `aaaaaaaaaa`)\n"
    )


def test_a_waived_item_says_who_accepted_it_and_why_and_what_was_cited_is_named() -> None:
    items = (
        ItemVerdict(1, "it greets", "FAIL", "it does not"),
        ItemVerdict(2, "it is quick", "PASS", "", ("a.py:1", "the check `time ./a`")),
    )
    attempt = AttemptAccount(1, "implement", "done", "", "", None, (GREP,), items)
    waived = Waived(1, "it greets", "not\nthis year", "you", "2026-11-15")
    phase = PhaseAccount("1", "Greet", ("it greets", "it is quick"), (attempt,), "a" * 40, None, (waived,))
    text = render(FAILED._replace(state="held", reason="", phases=(phase,), pending=()))
    assert text.partition("## Phase 1: Greet\n\n")[2].partition("\n### Checks")[0] == (
        "Proven, with 1 item waived, commit `aaaaaaaaaa`.\n\n### Promised\n\n"
        "- FAIL, WAIVED: it greets\n"
        "  Accepted by you on 2026-11-15: not this year\n"
        "  > The verifier: it does not\n"
        "- PASS: it is quick\n"
        "  Cited and found: `a.py:1`, `` the check `time ./a` ``\n"
    )


def test_what_was_noticed_about_a_change_is_told_with_the_plans_line_and_a_persons_word() -> None:
    remarks = (
        Remark("ci-changed", Severity.SIGN_OFF, ".gitlab-ci.yml", now="it is new"),
        Remark("lock-file-changed", Severity.ALLOWED, "uv.lock", cited="line 7: upgrade the library"),
    )
    attempt = AttemptAccount(1, "implement", "done", "", "", None, (GREP,), (), remarks)
    phase = PhaseAccount("1", "Greet", (), (attempt,), "a" * 40, None)
    told = (
        "### Noticed by asbuilt about the changes\n\n"
        "- SIGN-OFF: .gitlab-ci.yml: ci changed: now “it is new”\n"
        "  Signed off: {}\n"
        "- ALLOWED: uv.lock: lock file changed\n"
        "  > The plan, line 7: upgrade the library\n"
    )
    for signed, words in (({}, "not yet"), ({remarks[0].key: "yes by you"}, "yes by you")):
        text = render(FAILED._replace(phases=(phase._replace(signed=signed),)))
        assert told.format(words) in text


@given(st.text())
def test_no_foreign_text_becomes_a_heading_or_a_row_of_ours(text: str) -> None:
    attempt = AttemptAccount(
        1, "implement", "done", text, text, None,
        (TESTS._replace(argv=(text,)),), (ItemVerdict(1, text, "PASS", text),),
    )  # fmt: skip
    phase = PhaseAccount("1", text, (text,), (attempt,), None, None)
    lines = render(FAILED._replace(reason=text, phases=(phase,))).split("\n")
    assert [line for line in lines if line.startswith("#")] == [
        "# Run plan.2",
        "## Run failed - 2026-11-15 02:03",
        "## Proven on `cp-plan`, not landed",
        f"## Phase 1: {' '.join(text.split())}",
        "### Promised",
        "### Checks, run by asbuilt on a clean checkout",
        "### Attempts",
    ]
    assert sum(line.startswith("|") for line in lines) == 3
