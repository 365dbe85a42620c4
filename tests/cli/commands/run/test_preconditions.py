"""What whoever types `asbuilt run` is told and asked before anything begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inline_snapshot import snapshot

from tests.cli.plans import RATE_LIMIT, on_terminal, put

if TYPE_CHECKING:
    from collections.abc import Callable
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
Phase 2a changes what people see: landing waits until you have looked at it.
2a  Redis store   after 1
  - Store a bucket under its key
  - Refill in one round trip
  - A button that clears it
  1 check of its own
Run it? [Y/n] n
Nothing was started.
Next: \x1b[1masbuilt run rate-limit\x1b[0m
  or  read the plan: \x1b[1masbuilt plan show rate-limit\x1b[0m
""",
        )
    )
    assert "Nothing has run here." in on_terminal(shop, environ, "status")[1]


def test_a_phase_that_is_named_too_early_is_refused_with_the_phases_that_it_waits_for(
    shop: Path, environ: dict[str, str], asbuilt: Callable[..., str]
) -> None:
    put(shop, rate_limit=RATE_LIMIT)
    (shop / "script.toml").touch()
    environ["ASBUILT_AGENTS_IMPLEMENT"] = "scripted"
    assert asbuilt("run", "rate-limit", "3", "--auto", "--script", "script.toml") == snapshot("""\
exit 4
--- stderr
error: phase 3 of rate-limit waits for phase 2a, 2b
  Why:  It needs phases that are not done; nothing was started.
  Next: asbuilt run rate-limit 2a
    or  all in order: asbuilt run rate-limit --finish
""")
    assert "Nothing has run here." in asbuilt("status")


def test_phases_that_wait_for_each_other_are_named(
    shop: Path, environ: dict[str, str], asbuilt: Callable[..., str]
) -> None:
    put(shop, rate_limit=RATE_LIMIT.replace("Phase 1.", "Phase 3.", 1))
    (shop / "script.toml").touch()
    environ["ASBUILT_AGENTS_IMPLEMENT"] = "scripted"
    assert asbuilt("run", "rate-limit", "--script", "script.toml") == snapshot("""\
exit 4
--- stderr
error: rate-limit has 1 error: phases wait for each other: 2a -> 3 -> 2a
  Why:  Phases 2a and 3 wait for each other, so none can start.
  Next: asbuilt plan check rate-limit
""")
