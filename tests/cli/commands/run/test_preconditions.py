"""What `asbuilt run` refuses before anything starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inline_snapshot import snapshot

from tests.cli.plans import RATE_LIMIT, put

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


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
