"""`config set` changes one value and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

if TYPE_CHECKING:
    from collections.abc import Callable


def _user_file(environ: dict[str, str]) -> Path:
    return Path(environ["HOME"]) / ".config" / "asbuilt" / "config.toml"


def test_set_with_user_writes_the_users_own_file_and_no_other(
    asbuilt: Callable[..., str], environ: dict[str, str], shop: Path
) -> None:
    assert asbuilt("config", "set", "plans.folder", "docs/plans", "--user") == snapshot("""\
exit 0
--- stdout
plans.folder is now docs/plans in ~/.config/asbuilt/config.toml
""")
    file = _user_file(environ)
    assert file.read_text() == snapshot("""\
[plans]
folder = "docs/plans"
""")
    assert [path.name for path in file.parent.iterdir()] == ["config.toml"]
    assert [path.name for path in shop.iterdir()] == [".git"]


def test_only_the_user_reads_their_settings_also_where_they_were_open_before(
    asbuilt: Callable[..., str], environ: dict[str, str], shop: Path
) -> None:
    def modes() -> list[str]:
        return [oct(path.stat().st_mode & 0o777) for path in (file.parent, file)]

    def told() -> list[str]:
        rows = json.loads(asbuilt("doctor", "--json").partition("--- stdout\n")[2])["rows"]
        return [row["next"] for row in rows if row["name"] == "settings"]

    file = _user_file(environ)
    asbuilt("config", "set", "plans.folder", "docs/plans", "--user", cwd=shop)
    assert (modes(), told()) == (["0o700", "0o600"], [])
    file.parent.chmod(0o755)
    file.chmod(0o664)
    assert told() == ["chmod go-rwx [TMP]/home/.config/asbuilt [TMP]/home/.config/asbuilt/config.toml"]
    asbuilt("config", "set", "plans.folder", "plans", "--user", cwd=shop)
    assert (modes(), told()) == (["0o700", "0o600"], [])


def test_the_folder_of_a_settings_file_that_the_user_chose_keeps_its_mode(
    asbuilt: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "dotfiles").mkdir(mode=0o755)
    file = tmp_path / "dotfiles" / "mine.toml"
    asbuilt("config", "set", "plans.folder", "docs/plans", "--user", ASBUILT_USER_FILE=str(file))
    assert [oct(path.stat().st_mode & 0o777) for path in (file.parent, file)] == ["0o755", "0o600"]


def test_set_inside_a_repository_writes_its_file_where_a_repository_may_set_the_key(
    asbuilt: Callable[..., str], environ: dict[str, str], shop: Path, tmp_path: Path
) -> None:
    told = [
        asbuilt("config", "set", *arguments)
        for arguments in (
            ("checks.tests", "uv run pytest -q"),
            ("scope.ci", "block"),
            ("scope.plan", "note"),
            ("limits.usd", "5"),
        )
    ]
    told.append(asbuilt("config", "set", "landing.mode", "pr", cwd=tmp_path))
    assert told == [
        "exit 0\n--- stdout\nchecks.tests is now uv run pytest -q in asbuilt.toml\n",
        "exit 0\n--- stdout\nscope.ci is now block in asbuilt.toml\n",
        # A repository may only tighten it: there it would not hold.
        "exit 0\n--- stdout\nscope.plan is now note in ~/.config/asbuilt/config.toml\n",
        "exit 0\n--- stdout\nlimits.usd is now 5 in ~/.config/asbuilt/config.toml\n",
        "exit 0\n--- stdout\nlanding.mode is now pr in ~/.config/asbuilt/config.toml\n",
    ]
    assert (shop / "asbuilt.toml").read_text() == snapshot("""\
[checks]
tests = "uv run pytest -q"

[scope]
ci = "block"
""")
    assert _user_file(environ).read_text() == snapshot("""\
[scope]
plan = "note"

[limits]
usd = 5.0

[landing]
mode = "pr"
""")


def test_unset_removes_the_value_and_keeps_all_else(
    asbuilt: Callable[..., str], environ: dict[str, str], shop: Path
) -> None:
    file = shop / "asbuilt.toml"
    file.write_text('# ours\n[checks]\ntests = "make test"  # slow\n# lock file\nsetup = "make deps"\n')
    user = _user_file(environ)
    user.parent.mkdir(parents=True)
    user.write_text('[checks]\ntests = "pytest -q"\n')
    told = [
        asbuilt("config", "unset", *arguments)
        for arguments in (("checks.tests",), ("checks.tests", "--user"), ("checks.tests",))
    ]
    assert told == snapshot(
        [
            """\
exit 0
--- stdout
checks.tests is no longer set in asbuilt.toml
--- stderr
! checks.tests is pytest -q, by ~/.config/asbuilt/config.toml:2.
""",
            """\
exit 0
--- stdout
checks.tests is no longer set in ~/.config/asbuilt/config.toml
""",
            """\
exit 0
--- stdout
checks.tests was not set in asbuilt.toml
""",
        ]
    )
    assert file.read_text() == '# ours\n[checks]\n# lock file\nsetup = "make deps"\n'
    assert user.read_text() == "[checks]\n"


def test_set_keeps_comments_order_and_mode(asbuilt: Callable[..., str], shop: Path) -> None:
    file = shop / "asbuilt.toml"
    file.write_text('# ours\n[landing]\nmode = "pr"  # agreed in March\n\n[plans]\nfolder = "a" # here\n')
    file.chmod(0o640)
    assert asbuilt("config", "set", "plans.folder", "b") == snapshot("""\
exit 0
--- stdout
plans.folder is now b in asbuilt.toml
""")
    assert file.read_text() == (
        '# ours\n[landing]\nmode = "pr"  # agreed in March\n\n[plans]\nfolder = "b" # here\n'
    )
    assert oct(file.stat().st_mode & 0o777) == "0o640"
    assert sorted(path.name for path in shop.iterdir()) == [".git", "asbuilt.toml"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[tool.asbuilt]\n", '[tool.asbuilt]\n[tool.asbuilt.plans]\nfolder = "b"\n'),
        ('[tool.asbuilt]\nplansDirectory = "a"\n', '[tool.asbuilt]\nplansDirectory = "b"\n'),
        (
            '[tool.asbuilt]\nplans.folder = "a" # x\n\n[tool.ruff]\nselect = []\n',
            '[tool.asbuilt]\nplans.folder = "b" # x\n\n[tool.ruff]\nselect = []\n',
        ),
        ('[tool.asbuilt.plans]\r\nfolder = "a"\r\n', '[tool.asbuilt.plans]\r\nfolder = "b"\r\n'),
        (
            'tool = { asbuilt = { plans = { folder = "a" } } }',
            'tool = { asbuilt = { plans = { folder = "b" } } }',
        ),
    ],
)
def test_set_edits_the_table_in_pyproject_where_the_repository_uses_it(
    asbuilt: Callable[..., str], shop: Path, before: str, after: str
) -> None:
    file = shop / "pyproject.toml"
    file.write_bytes(before.encode())
    told = asbuilt("config", "set", "plans.folder", "b")
    assert told == "exit 0\n--- stdout\nplans.folder is now b in pyproject.toml\n"
    assert file.read_bytes().decode() == after


def test_set_of_the_same_value_writes_nothing(asbuilt: Callable[..., str], shop: Path) -> None:
    file = shop / "asbuilt.toml"
    file.write_text('plans = { folder = "b" }\n')
    before = file.stat()
    assert asbuilt("config", "set", "plans.folder", "b") == snapshot("""\
exit 0
--- stdout
plans.folder was already b in asbuilt.toml
""")
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_set_says_when_something_stands_above_it(asbuilt: Callable[..., str]) -> None:
    told = asbuilt("config", "set", "landing.mode", "direct", ASBUILT_LANDING_MODE="pr")
    assert told == snapshot("""\
exit 0
--- stdout
landing.mode is now direct in asbuilt.toml
--- stderr
! landing.mode stays pr here, by ASBUILT_LANDING_MODE.
""")


def test_set_follows_a_link_to_where_the_settings_are_kept(
    asbuilt: Callable[..., str], environ: dict[str, str], tmp_path: Path
) -> None:
    kept = tmp_path / "dotfiles.toml"
    kept.write_text("# kept\n")
    link = _user_file(environ)
    link.parent.mkdir(parents=True)
    link.symlink_to(kept)
    assert asbuilt("config", "set", "sandbox.required", "no") == snapshot("""\
exit 0
--- stdout
sandbox.required is now false in ~/.config/asbuilt/config.toml
""")
    assert (link.is_symlink(), kept.read_text()) == snapshot(
        (
            True,
            """\
# kept

[sandbox]
required = false
""",
        )
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ("landing.mode", "merge"),
            snapshot("""\
exit 2
--- stderr
error: landing.mode "merge" is not cherry-pick, pr, direct
  Why:  A guessed landing could move the wrong branch.
  Next: asbuilt config show landing.mode
        # lists the values that it accepts
"""),
        ),
        (
            ("sandbox.required", "perhaps"),
            snapshot("""\
exit 2
--- stderr
error: sandbox.required "perhaps" is not true or false
  Why:  An agent could run without the protection you count on.
  Next: asbuilt config show sandbox.required
        # lists the values that it accepts
"""),
        ),
        (
            ("plans.folder", "../elsewhere"),
            snapshot("""\
exit 2
--- stderr
error: plans.folder "../elsewhere" is not a path inside the repository
  Why:  Plans would be searched and written in another folder.
  Next: asbuilt config show plans.folder
        # lists the values that it accepts
"""),
        ),
        (
            ("agents.command", "rm"),
            snapshot("""\
exit 2
--- stderr
error: no setting "agents.command". Did you mean agents.NAME.command?
  Why:  An unknown key would have no effect, unnoticed.
  Next: asbuilt config show
        # lists every key
"""),
        ),
    ],
)
def test_set_refuses_before_it_writes(
    asbuilt: Callable[..., str], shop: Path, environ: dict[str, str], arguments: tuple[str, ...], told: str
) -> None:
    assert asbuilt("config", "set", *arguments) == told
    assert not _user_file(environ).exists()
    assert [path.name for path in shop.iterdir()] == [".git"]


def test_set_refuses_what_the_organisation_locks(asbuilt: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "organisation.toml").write_text('locked = ["landing.mode"]\nlanding.mode = "pr"\n')
    assert asbuilt("config", "set", "landing.mode", "direct") == snapshot("""\
exit 2
--- stderr
error: landing.mode is locked to pr by ../organisation.toml:2
  Why:  The administrator of this machine locked it.
  Next: asbuilt config show landing.mode
""")


def test_set_leaves_a_file_alone_that_is_not_toml(asbuilt: Callable[..., str], shop: Path) -> None:
    (shop / "asbuilt.toml").write_text("plans folder\n")
    assert asbuilt("config", "set", "landing.mode", "pr") == snapshot("""\
exit 2
--- stderr
error: asbuilt.toml:1: not TOML: Expected '=' after a key in a key/value pair
  Why:  asbuilt does not use a settings file that it can parse only in part. The
        line is: plans folder
  Next: ${EDITOR:-vi} +1 asbuilt.toml
""")
    assert (shop / "asbuilt.toml").read_text() == "plans folder\n"


def test_set_never_follows_a_link_out_of_the_repository(
    asbuilt: Callable[..., str], shop: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.toml"
    outside.write_text("")
    (shop / "asbuilt.toml").symlink_to(outside)
    assert asbuilt("config", "set", "landing.mode", "pr") == snapshot("""\
exit 1
--- stderr
error: asbuilt.toml is a link to a file outside the repository
  Why:  The link could point to any of your files.
  Next: cp asbuilt.toml asbuilt.toml.new && mv asbuilt.toml.new asbuilt.toml
        # replaces the link by a file
""")
    assert outside.read_text() == ""


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("checks.tests", "<COMMAND>"), ("checks.tests", "<command without Docker>"), ("checks.tests", "..."),
        ("checks.setup", "uv run ..."), ("checks.setup", "COMMAND"), ("agents.claude.model", "MODEL"),
        ("notify.ntfy", "https://ntfy.sh/TOPIC"),
    ],
)  # fmt: skip
def test_a_placeholder_of_a_hint_is_refused_and_nothing_is_written(
    asbuilt: Callable[..., str], shop: Path, key: str, value: str
) -> None:
    told = asbuilt("config", "set", key, value)
    assert told.startswith('exit 2\n--- stderr\nerror: "')
    assert f"is a placeholder, not a value of {key}" in " ".join(told.split())
    assert not (shop / "asbuilt.toml").exists()


@pytest.mark.parametrize(
    "value", ["go test ./...", "sort <in.txt >out.txt", "make NAME=x", "pytest -k 'a<b'"]
)
def test_a_command_that_only_looks_like_a_placeholder_is_taken(
    asbuilt: Callable[..., str], value: str
) -> None:
    assert asbuilt("config", "set", "checks.tests", value).startswith("exit 0")


def test_an_agent_that_no_run_could_use_is_refused_as_on_the_command_line(
    asbuilt: Callable[..., str], environ: dict[str, str]
) -> None:
    for key in ("agents.implement", "roles.verify"):
        refused = asbuilt("config", "set", key, "banana")
        assert refused == snapshot("""\
exit 3
--- stderr
error: no agent of kind "banana"
  Why:  asbuilt drives scripted, claude, codex, gemini, opencode, claude-acp, or
        an agent that you defined under [agents.NAME].
  Next: asbuilt doctor agents
        # lists the installed agents
""")
        assert not _user_file(environ).exists()
    assert asbuilt("config", "set", "agents.implement", "codex").startswith("exit 0\n")


def test_a_setting_of_the_worker_says_that_a_running_one_reads_it_later(
    asbuilt: Callable[..., str], shop: Path
) -> None:
    assert asbuilt("config", "set", "agents.slots", "4", cwd=shop) == snapshot("""\
exit 0
--- stdout
agents.slots is now 4 in ~/.config/asbuilt/config.toml
--- stderr
! A worker that is running reads agents.slots when it starts the next time.
""")
