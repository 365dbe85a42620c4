"""`plan list` shows every plan and how far it is, and what cannot be read it says."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from tests.cli.plans import CHECKLIST, HEADINGS, NARRATIVE, RATE_LIMIT, SECTIONS, on_terminal, put

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_THEN = 1_767_323_045  # 2 January 2026, 03:04:05 UTC


@pytest.fixture
def filled(shop: Path) -> Path:
    put(shop, rate_limit=RATE_LIMIT, importer=SECTIONS, chores=HEADINGS, story=NARRATIVE, nothing="")
    for path in (shop / "plans").iterdir():
        os.utime(path, (_THEN, _THEN))
    return shop


def test_without_plans_the_way_to_the_first_is_shown(asbuilt: Callable[..., str], tmp_path: Path) -> None:
    assert asbuilt("plan", "list") == snapshot("""\
exit 0
--- stdout
No plans here yet.
--- stderr
Next: asbuilt plan new "what you want"
""")
    assert asbuilt("plan", "list", "-q") == snapshot("""\
exit 0
--- stdout
No plans here yet.
""")
    assert asbuilt("plan", "list", "--json") == snapshot("""\
exit 0
--- stdout
{"schema":"asbuilt.plans/1","plans":[]}
""")
    assert asbuilt("plan", "list", cwd=tmp_path) == snapshot("""\
exit 0
--- stdout
No plans here yet.
--- stderr
Next: asbuilt plan new "what you want" --user
""")


@pytest.mark.usefixtures("filled")
def test_each_plan_is_a_row(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("plan", "list", TZ="UTC") == snapshot("""\
exit 0
--- stdout
PLAN        MARKED  NEXT     CHANGED      TITLE
chores      2 of 4  publish  02 Jan 2026  Release chores
importer    1 of 2  2        02 Jan 2026  Importer rewrite
nothing     -       -        02 Jan 2026
rate-limit  1 of 4  2a       02 Jan 2026  Rate limiting for the public API
story       0 of 2  1        02 Jan 2026  Moving settings to TOML
""")


@pytest.mark.usefixtures("filled")
def test_times_are_in_the_zone_of_the_settings(asbuilt: Callable[..., str], filled: Path) -> None:
    late = 1_767_394_800  # 2 January 2026, 23:00 UTC: the 3rd in Tokyo
    os.utime(filled / "plans" / "chores.md", (late, late))
    assert " 02 Jan 2026 " in asbuilt("plan", "list", TZ="UTC").splitlines()[3]
    assert (
        " 03 Jan 2026 " in asbuilt("plan", "list", TZ="UTC", ASBUILT_TIME_ZONE="Asia/Tokyo").splitlines()[3]
    )


@pytest.mark.usefixtures("filled")
def test_as_json_it_is_one_line_with_a_schema(asbuilt: Callable[..., str]) -> None:
    shown = asbuilt("plan", "list", "--json").removeprefix("exit 0\n--- stdout\n")
    assert shown.count("\n") == 1
    told = json.loads(re.sub(r"sha256:[0-9a-f]{64}", "sha256:[64]", shown))
    assert (told["schema"], [list(plan) for plan in told["plans"]][:1], told["plans"][3]) == snapshot(
        (
            "asbuilt.plans/1",
            [
                [
                    "path",
                    "slug",
                    "title",
                    "format",
                    "status",
                    "digest",
                    "intent",
                    "next",
                    "progress",
                    "changed_at",
                ]
            ],
            {
                "path": "plans/rate-limit.md",
                "slug": "rate-limit",
                "title": "Rate limiting for the public API",
                "format": "tracker",
                "status": "approved",
                "digest": "sha256:[64]",
                "intent": "sha256:[64]",
                "next": "2a",
                "progress": {"done": 1, "total": 4},
                "changed_at": "2026-01-02T03:04:05Z",
            },
        )
    )


def test_a_plan_of_today_shows_the_hour(asbuilt: Callable[..., str], shop: Path) -> None:
    put(shop, chores=CHECKLIST)
    assert re.search(r"  \d\d:\d\d    Release chores\n", asbuilt("plan", "list"))


def test_two_plans_of_one_name_are_shown_by_their_paths(asbuilt: Callable[..., str], filled: Path) -> None:
    (filled / "docs" / "plans").mkdir(parents=True)
    for name in ("story.md", "My Plan.md"):
        (filled / "docs" / "plans" / name).write_text(NARRATIVE)
        os.utime(filled / "docs" / "plans" / name, (_THEN, _THEN))
    assert asbuilt("plan", "list", TZ="UTC") == snapshot("""\
exit 0
--- stdout
PLAN                   MARKED  NEXT     CHANGED      TITLE
chores                 2 of 4  publish  02 Jan 2026  Release chores
importer               1 of 2  2        02 Jan 2026  Importer rewrite
nothing                -       -        02 Jan 2026
rate-limit             1 of 4  2a       02 Jan 2026  Rate limiting for the publ…
plans/story.md         0 of 2  1        02 Jan 2026  Moving settings to TOML
docs/plans/My Plan.md  0 of 2  1        02 Jan 2026  Moving settings to TOML
docs/plans/story.md    0 of 2  1        02 Jan 2026  Moving settings to TOML
--- stderr
! docs/plans/My Plan.md cannot be typed as a name; rename it: a-z, digits,
  hyphens; not a1.
""")


def test_what_cannot_be_read_is_told_and_the_rest_is_shown(asbuilt: Callable[..., str], filled: Path) -> None:
    for name in ("importer", "chores", "nothing"):
        (filled / "plans" / f"{name}.md").unlink()
    (filled / "plans" / "big.md").write_bytes(b"x" * 2_000_001)
    shown = asbuilt("plan", "list", TZ="UTC")
    assert shown == snapshot("""\
exit 0
--- stdout
PLAN        MARKED  NEXT  CHANGED      TITLE
rate-limit  1 of 4  2a    02 Jan 2026  Rate limiting for the public API
story       0 of 2  1     02 Jan 2026  Moving settings to TOML
! plans/big.md has more than 2,000,000 bytes
""")
    told = json.loads(asbuilt("plan", "list", "--json").removeprefix("exit 0\n--- stdout\n"))
    assert told["plans"][0] == snapshot(
        {
            "path": "plans/big.md",
            "slug": "big",
            "trouble": "has more than 2,000,000 bytes",
        }
    )


def test_long_and_wide_names_stay_in_eighty_columns(asbuilt: Callable[..., str], shop: Path) -> None:
    put(shop, **{"x" * 60: "# " + "long " * 40, "wide": "# 速率限制与退避重试策略" * 3})
    for path in (shop / "plans").iterdir():
        os.utime(path, (_THEN, _THEN))
    assert asbuilt("plan", "list", TZ="UTC") == snapshot("""\
exit 0
--- stdout
PLAN                            MARKED  NEXT  CHANGED      TITLE
wide                            -       -     02 Jan 2026  速率限制与退避重试策…
xxxxxxxxxxxxxx…xxxxxxxxxxxxxxx  -       -     02 Jan 2026  long long long long…
""")


@pytest.mark.parametrize(
    "how",
    [{"flag": "--plain"}, {"TERM": "dumb"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}],
)
def test_without_unicode_symbols_are_ascii(
    asbuilt: Callable[..., str], shop: Path, how: dict[str, str]
) -> None:
    put(shop, long="# " + "word " * 20)
    os.utime(shop / "plans" / "long.md", (_THEN, _THEN))
    flags = [how.pop("flag")] if "flag" in how else []
    assert asbuilt("plan", "list", *flags, TZ="UTC", **how) == snapshot("""\
exit 0
--- stdout
PLAN  MARKED  NEXT  CHANGED      TITLE
long  -       -     02 Jan 2026  word word word word word word word word word...
""")


def test_the_users_own_plans_are_listed_too(
    asbuilt: Callable[..., str], environ: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "home" / ".claude" / "plans"
    folder.mkdir(parents=True)
    (folder / "brave-fox.md").write_text(CHECKLIST)
    os.utime(folder / "brave-fox.md", (_THEN, _THEN))
    assert environ["HOME"] == str(tmp_path / "home")
    assert asbuilt("plan", "list", cwd=tmp_path, TZ="UTC") == snapshot("""\
exit 0
--- stdout
PLAN       MARKED  NEXT      CHANGED      TITLE
brave-fox  1 of 3  tag-the…  02 Jan 2026  Release chores
""")


def test_a_plans_folder_that_leads_out_is_told_and_not_used(
    asbuilt: Callable[..., str], shop: Path, tmp_path: Path
) -> None:
    (tmp_path / "shop-api-evil").mkdir()
    (tmp_path / "shop-api-evil" / "x.md").write_text(CHECKLIST)
    (shop / "out").symlink_to("../shop-api-evil")
    (shop / "asbuilt.toml").write_text('[plans]\nfolder = "out"\n')
    assert asbuilt("plan", "list") == snapshot("""\
exit 0
--- stdout
No plans here yet.
--- stderr
! plans.folder out leads out of the repository; plans/ is used instead.
Next: asbuilt plan new "what you want"
""")


def test_a_hostile_title_never_steers_the_terminal(shop: Path, environ: dict[str, str]) -> None:
    put(shop, evil="# \x1b[31mred\x1b]0;owned\x07 \x9b2J \u202etxet\n\n## Phase \x1b[2J1: x\n")
    code, received = on_terminal(shop, environ, "plan", "list")
    assert (code, "\x1b" in received, "\x07" in received, "\u202e" in received) == (0, False, False, False)
    assert "\\x1b[31mred\\x1b]0;owned\\x07" in received


def test_another_repository_is_named_by_repo(
    asbuilt: Callable[..., str], filled: Path, tmp_path: Path
) -> None:
    here = asbuilt("plan", "list", TZ="UTC")
    assert asbuilt("plan", "list", "--repo", str(filled / "plans"), cwd=tmp_path, TZ="UTC") == here
    assert asbuilt("plan", "list", "--repo", "nowhere") == snapshot("""\
exit 3
--- stderr
error: --repo nowhere: no such folder
  Why:  The repository is looked for from that folder upwards.
  Next: ls .
        # shows what exists
""")


def test_an_unknown_option_is_an_error(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("plan", "list", "--jsn") == snapshot("""\
exit 2
--- stderr
error: asbuilt plan list has no option --jsn. Did you mean --json?
  Next: asbuilt plan list --json
""")
