"""What a person sees after a power cut: what is kept, what is lost, and the command that continues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inline_snapshot import snapshot

from tests.cli.nights import Night
from tests.cli.screens import NO_PROGRAMS, shown

if TYPE_CHECKING:
    from pathlib import Path


def test_a_run_that_was_cut_off_says_what_is_kept_and_how_it_goes_on(tmp_path: Path, shop: Path) -> None:
    night = Night(tmp_path, shop)
    story = night.plan("importer", "01:00:00")
    story.prove("02:00:00", "1", "4f1c9a2", cost_usd=2.4)
    story.begin("02:10:00", "2a")
    story.heard("02:12:00", "2a.1")
    assert shown(night, (), "plain", 80, PATH=NO_PROGRAMS) == snapshot("""\
exit 0
--- stdout
shop-api   on main
  agent    none found: install claude, codex, gemini or opencode
  tests    not set yet; asbuilt doctor --tests finds the command
  sandbox  see asbuilt doctor
  plans    none yet

importer.1   was cut off at 03:12 in phase 2a, implementing.
  kept   phase 1, the files of attempt 2a.1, $2.40 spent
  lost   nothing; it continues where it was
--- stderr
Next: asbuilt run importer
""")
    assert shown(night, ("status",), "plain", 80) == snapshot("""\
exit 0
--- stdout
  PLAN          STATE                      PHASES  WAITS FOR               COST
◇ importer      2a: implementing           1 of 4  a worker, 19h 25m      $2.40
--- stderr
Next: asbuilt run importer
""")
    night.plan("other", "03:00:00").over("03:01:00", "stopped", "")
    assert shown(night, (), "plain", 80, PATH=NO_PROGRAMS) == snapshot("""\
exit 0
--- stdout
shop-api   on main
  agent    none found: install claude, codex, gemini or opencode
  tests    not set yet; asbuilt doctor --tests finds the command
  sandbox  see asbuilt doctor
  plans    none yet

importer.1   was cut off at 03:12 in phase 2a, implementing.
  kept   phase 1, the files of attempt 2a.1, $2.40 spent
  lost   nothing; it continues where it was

  PLAN          STATE                      PHASES  WAITS FOR               COST
– other         stopped 04:01              0 of 4
◇ importer      2a: implementing           1 of 4  a worker, 19h 25m      $2.40
--- stderr
Next: asbuilt run importer
""")
    night.close()
