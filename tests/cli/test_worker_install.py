"""`worker install` writes one file, whole and once, and tells the system only after a yes."""

from __future__ import annotations

import json
import plistlib
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from asbuilt.cli.commands.worker import units
from asbuilt.cli.commands.worker.units import Unit
from tests.cli.plans import on_terminal

if TYPE_CHECKING:
    from collections.abc import Callable

ARGV = ("/home/ada/.local/bin/asbuilt",)
GIVEN = {"ASBUILT_HOME": "/data/as built", "PATH": "/home/ada/bin:/usr/bin"}
# Any character that can stand in a path.
PATHS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).map(
    lambda text: f"/{text}"
)


def _unit_file(environ: dict[str, str]) -> Path:
    return Path(environ["HOME"]) / ".config/systemd/user/asbuilt-worker.service"


@pytest.fixture
def bus(tmp_path: Path, environ: dict[str, str]) -> Path:
    """Give a user's bus and a systemctl that writes down what it is asked."""
    runtime, programs = tmp_path / "runtime", tmp_path / "programs"
    (runtime / "systemd" / "private").mkdir(parents=True)
    programs.mkdir()
    (programs / "systemctl").write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n')
    (programs / "systemctl").chmod(0o755)
    environ |= {"XDG_RUNTIME_DIR": str(runtime), "PATH": f"{programs}:/usr/bin:/bin"}
    return tmp_path / "asked"


@pytest.fixture
def no_bus(environ: dict[str, str]) -> None:
    environ["PATH"] = "/usr/bin:/bin"


def test_the_systemd_unit_whole() -> None:
    unit = units.systemd(Path("/home/ada/.config"), Path("/home/ada"), ARGV, GIVEN)
    assert unit == snapshot(
        Unit(
            file=Path("/home/ada/.config/systemd/user/asbuilt-worker.service"),
            name="~/.config/systemd/user/asbuilt-worker.service",
            text="""\
# Written by `asbuilt worker install`; `asbuilt worker uninstall` removes it.
[Unit]
Description=asbuilt worker

[Service]
ExecStart=/home/ada/.local/bin/asbuilt worker --foreground
Environment="ASBUILT_HOME=/data/as built"
Environment=PATH=/home/ada/bin:/usr/bin
# A worker that finds another one there ends; this one is back before an attempt gives up waiting.
Restart=always
RestartSec=15
# An attempt's own process outlives the worker and is found again by the next one.
KillMode=process

[Install]
WantedBy=default.target
""",
            mark="# Written by `asbuilt worker install`; `asbuilt worker uninstall` removes it.",
            link=Path("/home/ada/.config/systemd/user/default.target.wants/asbuilt-worker.service"),
            enable=(
                ("systemctl", "--user", "daemon-reload"),
                ("systemctl", "--user", "enable", "--now", "asbuilt-worker.service"),
            ),
            disable=(("systemctl", "--user", "disable", "--now", "asbuilt-worker.service"),),
            stop=("systemctl", "--user", "stop", "asbuilt-worker.service"),
        )
    )


def test_the_launchd_agent_whole() -> None:
    unit = units.launchd(Path("/Users/ada"), ARGV, GIVEN)
    assert unit == snapshot(
        Unit(
            file=Path("/Users/ada/Library/LaunchAgents/asbuilt.worker.plist"),
            name="~/Library/LaunchAgents/asbuilt.worker.plist",
            text="""\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>asbuilt.worker</string>
	<key>ProgramArguments</key>
	<array>
		<string>/home/ada/.local/bin/asbuilt</string>
		<string>worker</string>
		<string>--foreground</string>
	</array>
	<key>EnvironmentVariables</key>
	<dict>
		<key>ASBUILT_HOME</key>
		<string>/data/as built</string>
		<key>PATH</key>
		<string>/home/ada/bin:/usr/bin</string>
	</dict>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<true/>
	<key>ThrottleInterval</key>
	<integer>15</integer>
	<key>AbandonProcessGroup</key>
	<true/>
</dict>
</plist>
""",
            mark="<string>asbuilt.worker</string>",
            link=None,
            enable=(("launchctl", "load", "-w", "/Users/ada/Library/LaunchAgents/asbuilt.worker.plist"),),
            disable=(("launchctl", "unload", "-w", "/Users/ada/Library/LaunchAgents/asbuilt.worker.plist"),),
            stop=("launchctl", "remove", "asbuilt.worker"),
        )
    )


@given(PATHS, PATHS)
def test_systemd_reads_back_every_path_as_it_was(program: str, path: str) -> None:
    text = units.systemd(Path("/c"), Path("/h"), (program,), {"PATH": path}).text
    lines = [line for line in text.split("\n") if line.startswith(("ExecStart=", "Environment="))]
    command, variable = (line.partition("=")[2] for line in lines)
    assert _as_systemd_reads(command, dollars=True) == [program, "worker", "--foreground"]
    assert _as_systemd_reads(variable, dollars=False) == [f"PATH={path}"]


def _as_systemd_reads(text: str, *, dollars: bool) -> list[str]:
    """Split and unescape as systemd.syntax(7) and systemd.unit(5) say."""
    text = text.replace("%%", "%")
    text = text.replace("$$", "$") if dollars else text
    words: list[str] = []
    word, quoted, at = "", False, 0
    while at < len(text):
        char = text[at]
        if char == "\\" and text[at + 1] == "x":
            word, at = word + chr(int(text[at + 2 : at + 4], 16)), at + 4
            continue
        if char == "\\":
            word, at = word + text[at + 1], at + 2
            continue
        if char == '"':
            quoted = not quoted
        elif char == " " and not quoted:
            words, word = [*words, word], ""
        else:
            word += char
        at += 1
    return [*words, word]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here to read it")
def test_systemd_itself_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    unit = units.systemd(tmp_path, tmp_path, ("/bin/true",), GIVEN | {"XDG_STATE_HOME": "/100% \\ $odd"})
    unit.file.parent.mkdir(parents=True)
    unit.file.write_text(unit.text)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--user", str(unit.file)],  # noqa: S607
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert [line for line in (done.stdout + done.stderr).splitlines() if units.UNIT in line] == []


@given(st.dictionaries(st.sampled_from(units.KEPT), st.text(st.characters(codec="utf-8", min_codepoint=32))))
def test_launchd_reads_back_every_variable_as_it_was(given_: dict[str, str]) -> None:
    text = units.launchd(Path("/Users/ada"), ARGV, given_).text
    assert plistlib.loads(text.encode())["EnvironmentVariables"] == given_


@pytest.mark.parametrize(
    ("argv0", "found", "program"),
    [
        ("asbuilt", "/home/ada/.local/bin/asbuilt", ("/home/ada/.local/bin/asbuilt",)),
        ("/opt/asbuilt/bin/asbuilt", None, ("/opt/asbuilt/bin/asbuilt",)),
        ("/lib/python3/asbuilt/__main__.py", None, ("/usr/bin/python3", "-m", "asbuilt")),
    ],
)
def test_the_program_is_named_from_the_root(argv0: str, found: str | None, program: tuple[str, ...]) -> None:
    assert units.program(argv0, found=found, python="/usr/bin/python3") == program


def test_only_what_the_worker_needs_is_kept_of_the_environment() -> None:
    assert units.environment({"PATH": "/bin", "ANTHROPIC_API_KEY": "x", "ASBUILT_HOME": ""}) == {
        "PATH": "/bin"
    }


@pytest.mark.usefixtures("no_bus")
def test_install_writes_the_unit_shows_it_and_says_how_to_enable_it(
    asbuilt: Callable[..., str], environ: dict[str, str]
) -> None:
    shown = asbuilt("worker", "install", "--yes").replace(shutil.which("python3") or "", "[PYTHON]")
    assert shown.split("ExecStart=")[0] + "..." + shown.partition("WantedBy")[2] == snapshot("""\
exit 0
--- stdout
Wrote ~/.config/systemd/user/asbuilt-worker.service:
  # Written by `asbuilt worker install`; `asbuilt worker uninstall` removes it.
  [Unit]
  Description=asbuilt worker

  [Service]
  ...=default.target
Not enabled. To enable and start it:
  systemctl --user daemon-reload
  systemctl --user enable --now asbuilt-worker.service
""")
    assert _unit_file(environ).read_text().count("worker --foreground\n") == 1
    before = _unit_file(environ).stat()
    again = asbuilt("worker", "install").splitlines()[2]
    assert again == snapshot("~/.config/systemd/user/asbuilt-worker.service exists already, unchanged:")
    after = _unit_file(environ).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.usefixtures("no_bus")
def test_install_follows_the_users_configuration_folder(asbuilt: Callable[..., str], tmp_path: Path) -> None:
    asbuilt("worker", "install", XDG_CONFIG_HOME=str(tmp_path / "elsewhere"))
    text = (tmp_path / "elsewhere/systemd/user/asbuilt-worker.service").read_text()
    assert f"Environment=XDG_CONFIG_HOME={tmp_path}/elsewhere\n" in text


@pytest.mark.usefixtures("no_bus")
def test_a_databases_address_is_not_written_into_the_unit(
    asbuilt: Callable[..., str], environ: dict[str, str]
) -> None:
    shown = asbuilt("worker", "install", ASBUILT_STORE_URL="postgresql://keeper:hunter22@db/asbuilt")
    assert shown.partition("--- stderr\n")[2] == snapshot("""\
! ASBUILT_STORE_URL is not in it: it may hold a password.
  asbuilt config set store.url URL keeps it.
""")
    assert "hunter22" not in _unit_file(environ).read_text()


@pytest.mark.usefixtures("no_bus")
def test_install_for_a_script(asbuilt: Callable[..., str], environ: dict[str, str], tmp_path: Path) -> None:
    shown = json.loads(asbuilt("worker", "install", "--json").removeprefix("exit 0\n--- stdout\n"))
    text = shown.pop("text").replace("[TMP]", str(tmp_path))
    assert text == _unit_file(environ).read_text()
    assert shown == snapshot(
        {
            "schema": "asbuilt.worker-install/1",
            "file": "[TMP]/home/.config/systemd/user/asbuilt-worker.service",
            "written": True,
            "enabled": False,
            "next": [
                "systemctl --user daemon-reload",
                "systemctl --user enable --now asbuilt-worker.service",
            ],
        }
    )


def test_install_tells_systemd_only_after_a_yes(asbuilt: Callable[..., str], bus: Path) -> None:
    asbuilt("worker", "install")
    assert not bus.exists()
    assert asbuilt("worker", "install", "--yes").splitlines()[-1] == "Enabled and started."
    assert bus.read_text() == snapshot("""\
--user daemon-reload
--user enable --now asbuilt-worker.service
""")


@pytest.mark.parametrize(
    ("typed", "asked"),
    [(b"yes\n", "--user daemon-reload\n--user enable --now asbuilt-worker.service\n"), (b"n\n", "")],
)
def test_install_asks_on_a_terminal(
    shop: Path, environ: dict[str, str], bus: Path, typed: bytes, asked: str
) -> None:
    code, shown = on_terminal(shop, environ, "worker", "install", typed=typed)
    assert (code, "Enable and start it now? [y/N]" in shown) == (0, True)
    assert (bus.read_text() if bus.exists() else "") == asked


def test_a_systemd_that_refuses_is_told_in_its_words(
    asbuilt: Callable[..., str], bus: Path, tmp_path: Path
) -> None:
    (tmp_path / "programs/systemctl").write_text("#!/bin/sh\necho 'Access denied' >&2\nexit 1\n")
    shown = asbuilt("worker", "install", "--yes")
    assert shown.startswith("exit 1\n")
    assert shown.partition("--- stderr\n")[2] == snapshot("✗ systemctl --user daemon-reload: Access denied\n")
    assert not bus.exists()


@pytest.mark.usefixtures("no_bus")
def test_a_unit_of_somebody_elses_is_never_touched(
    asbuilt: Callable[..., str], environ: dict[str, str]
) -> None:
    file = _unit_file(environ)
    file.parent.mkdir(parents=True)
    file.write_text("[Service]\nExecStart=/bin/mine\n")
    assert (
        asbuilt("worker", "install")
        == asbuilt("worker", "uninstall")
        == snapshot("""\
exit 1
--- stderr
error: ~/.config/systemd/user/asbuilt-worker.service exists, and asbuilt did not
       write it
  Why:  Nothing of yours is ever overwritten or removed.
  Next:
        mv ~/.config/systemd/user/asbuilt-worker.service ~/.config/systemd/user/asbuilt-worker.service.old
        # then repeat the command
""")
    )
    assert file.read_text() == "[Service]\nExecStart=/bin/mine\n"


@pytest.mark.usefixtures("no_bus")
def test_a_unit_of_ours_that_is_out_of_date_is_written_anew(
    asbuilt: Callable[..., str], environ: dict[str, str]
) -> None:
    asbuilt("worker", "install")
    asbuilt("worker", "install", ASBUILT_HOME="/data/asbuilt")
    assert "Environment=ASBUILT_HOME=/data/asbuilt\n" in _unit_file(environ).read_text()


@pytest.mark.usefixtures("no_bus")
def test_uninstall_takes_the_unit_and_its_link_away(
    asbuilt: Callable[..., str], environ: dict[str, str]
) -> None:
    asbuilt("worker", "install")
    file = _unit_file(environ)
    link = file.parent / "default.target.wants" / file.name
    link.parent.mkdir()
    link.symlink_to(file)
    assert asbuilt("worker", "uninstall") == snapshot("""\
exit 0
--- stdout
Removed ~/.config/systemd/user/asbuilt-worker.service.
If it is running, stop it:
  systemctl --user stop asbuilt-worker.service
""")
    assert (file.exists(), link.is_symlink()) == (False, False)
    assert asbuilt("worker", "uninstall") == snapshot("""\
exit 0
--- stdout
~/.config/systemd/user/asbuilt-worker.service does not exist; nothing to remove.
""")


def test_uninstall_with_yes_stops_it_before_the_unit_is_gone(asbuilt: Callable[..., str], bus: Path) -> None:
    asbuilt("worker", "install")
    assert asbuilt("worker", "uninstall", "--yes") == snapshot("""\
exit 0
--- stdout
Removed ~/.config/systemd/user/asbuilt-worker.service.
""")
    assert bus.read_text() == snapshot("--user disable --now asbuilt-worker.service\n")
