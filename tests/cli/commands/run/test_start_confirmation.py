"""What `asbuilt run` shows and asks at a terminal before anything starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inline_snapshot import snapshot

from tests.cli.plans import RATE_LIMIT, on_terminal, put

if TYPE_CHECKING:
    from pathlib import Path

TYPED = ("run", "rate-limit", "2a", "--script", "script.toml")
STALE = RATE_LIMIT.replace("Phase 1.", "Phase 1. This may need refresh.", 1)


def test_a_person_is_asked_about_a_stale_text_and_told_how_to_refine_it(
    shop: Path, environ: dict[str, str]
) -> None:
    put(shop, rate_limit=STALE)
    (shop / "script.toml").touch()
    code, said = on_terminal(shop, environ, *TYPED, typed=b"n\n", ASBUILT_AGENTS_IMPLEMENT="scripted")
    assert (code, said) == snapshot(
        (
            0,
            """\
! phase 2a, line 64: says "may need refresh"
Run it all the same? [y/N] n
Nothing was started.
Next: \x1b[1masbuilt plan refine rate-limit "what changes"\x1b[0m
""",
        )
    )
    assert "Nothing has run here." in on_terminal(shop, environ, "status")[1]


def test_a_person_sees_what_a_phase_promises_and_that_it_waits_for_their_eyes_and_is_asked(
    shop: Path, environ: dict[str, str]
) -> None:
    put(shop, rate_limit=RATE_LIMIT.replace("Let keys expire", "A button that clears it"))
    (shop / "script.toml").touch()
    code, said = on_terminal(shop, environ, *TYPED, typed=b"n\n", ASBUILT_AGENTS_IMPLEMENT="scripted")
    assert (code, said) == snapshot(
        (
            0,
            """\
Agents   scripted implements and verifies, in separate processes
Cost     Estimate: none yet. Limit: $15.00 (API prices) a run
Lands    on main, when you confirm
Base     main has no files; not committed, so no agent sees them: script.toml
Phase 2a changes what people see: landing waits until you have looked at it.
2a  Redis store   after 1
  - Store a bucket under its key
  - Refill in one round trip
  - A button that clears it
  1 check of its own
Run it? [Y/n] n
Nothing was started.
Next: \x1b[1masbuilt run rate-limit 2a --script script.toml\x1b[0m
  or  read the plan: \x1b[1masbuilt plan show rate-limit\x1b[0m
""",
        )
    )
    assert "Nothing has run here." in on_terminal(shop, environ, "status")[1]
