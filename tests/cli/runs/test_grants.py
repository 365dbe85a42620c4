"""Variables of checks: a repository names them, the user grants them, and no screen shows a value."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from tests.cli.test_plan_try import git

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SECRET = "s3cret-value"  # noqa: S105  of no service


def test_a_value_goes_to_the_users_own_file_and_is_shown_nowhere(
    asbuilt: Callable[..., str], shop: Path
) -> None:
    told = asbuilt("config", "set", "checks.env.API_TOKEN", SECRET)
    shown = [asbuilt("config", "show", *words) for words in ((), ("checks.env.API_TOKEN",), ("--json",))]

    assert (
        told == "exit 0\n--- stdout\nchecks.env.API_TOKEN is now [secret] in ~/.config/asbuilt/config.toml\n"
    )
    assert not any(SECRET in one for one in shown)
    assert re.search(r"^checks\.env\.API_TOKEN +\[secret\]$", shown[0], re.MULTILINE)
    rows = json.loads(shown[2].partition("--- stdout\n")[2])["settings"]
    assert [row["value"] for row in rows if row["key"] == "checks.env.API_TOKEN"] == ["[secret]"]
    assert not (shop / "asbuilt.toml").exists()


def test_a_plus_adds_to_a_list(asbuilt: Callable[..., str], shop: Path) -> None:
    for name in ("API_TOKEN", "+STAGE", "+STAGE"):
        asbuilt("config", "set", "checks.env", name)
    asbuilt("config", "set", "checks.services", "postgres, redis")
    assert (shop / "asbuilt.toml").read_text() == (
        '[checks]\nenv = ["API_TOKEN", "STAGE"]\nservices = ["postgres", "redis"]\n'
    )


def test_unattended_a_variable_without_a_grant_or_a_value_stops_before_anything_runs(
    asbuilt: Callable[..., str], shop: Path
) -> None:
    (shop / "test_a.py").write_text("def test_a(): pass\n")
    git(shop, "add", "-A")
    git(shop, "commit", "-qm", "a test")
    asbuilt("config", "set", "checks.env", "API_TOKEN")

    ungranted = asbuilt("doctor", "--tests")
    grants = re.search(r"Next: asbuilt (config set checks\.granted \+[0-9a-f]{12})\n", ungranted)
    assert grants, ungranted
    assert "error: this repository asks for the variable API_TOKEN, which you have not" in ungranted
    asbuilt(*grants[1].split())

    assert asbuilt("doctor", "--tests") == (
        "exit 4\n--- stderr\nerror: the variable API_TOKEN has no value\n"
        "  Why:  checks.env names it, and neither your settings nor the environment of\n"
        "        this command have it.\n"
        '  Next: asbuilt config set checks.env.API_TOKEN "<value>"\n'
    )
