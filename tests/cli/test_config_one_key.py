"""`config show KEY` explains one setting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inline_snapshot import snapshot

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_show_of_one_key_puts_the_value_alone_on_stdout(asbuilt: Callable[..., str], shop: Path) -> None:
    (shop / "asbuilt.toml").write_text('[ui]\npatterns = ["web/**", "*.css"]\n')
    assert asbuilt("config", "show", "ui.patterns") == snapshot("""\
exit 0
--- stdout
web/**
*.css
--- stderr
ui.patterns: globs of files whose changes a person views before their phase
lands; it accepts a list of globs; a repository may set it; read by asbuilt
plan.
""")
    assert asbuilt("config", "show", "sandbox.required", "--origin", "-q") == snapshot("""\
exit 0
--- stdout
true   default
""")


def test_show_of_an_unknown_key_names_the_nearest(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("config", "show", "landing.mod") == snapshot("""\
exit 2
--- stderr
error: no setting "landing.mod". Did you mean landing.mode?
  Why:  An unknown key would have no effect, unnoticed.
  Next: asbuilt config show landing.mode
""")


def test_a_key_in_a_comment_a_text_or_another_table_sets_nothing_and_the_last_is_named(
    asbuilt: Callable[..., str], shop: Path
) -> None:
    (shop / "asbuilt.toml").write_text(
        """# landing.mode = "direct"
[checks]
tests = "echo 'landing.mode = \\"direct\\"'"
landing.mode = "direct"
"""
    )
    shown = asbuilt("config", "show", "landing.mode")
    assert shown == snapshot("""\
exit 2
--- stdout
cherry-pick
--- stderr
landing.mode: how proven commits reach the target branch; it accepts
cherry-pick, pr, direct; a repository may set it; read by asbuilt run.
error: asbuilt.toml:4: no setting "checks.landing.mode". Did you mean
       landing.mode?
  Why:  An unknown key would have no effect, unnoticed.
  Next: ${EDITOR:-vi} +4 asbuilt.toml
""")
    assert "echo 'landing.mode" in asbuilt("config", "show", "checks.tests")
