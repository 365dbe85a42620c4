"""`asbuilt doctor` as a process: it looks, says what it found, and changes nothing without a yes."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from asbuilt.agents.sandbox.launch import probe
from asbuilt.agents.sandbox.unavailable import Knobs, why_bubblewrap, why_landlock
from asbuilt.cli.commands.doctor.fixes import explained, remedy_for
from asbuilt.cli.ui.screen import Pen
from asbuilt.cli.ui.symbols import ASCII
from tests.cli.plans import on_terminal, tree
from tests.git.shop import make_shop

if TYPE_CHECKING:
    from collections.abc import Callable

    from asbuilt.agents.sandbox.unavailable import Refusal

needs_ring = pytest.mark.skipif(
    probe().for_work == "none", reason="no ring holds a command on this machine: asbuilt doctor says why"
)
LEAKY = """\
#!/bin/sh
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
"""
"""A program that calls itself bwrap and holds nothing."""


@pytest.fixture
def shop(tmp_path: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a real repository, in the home of nobody."""
    monkeypatch.setenv("HOME", environ["HOME"])
    (tmp_path / "work").mkdir()
    made = make_shop(tmp_path / "work")
    made.git("config", "user.name", "Ada")
    made.git("config", "user.email", "ada@example.com")
    return made.root


@pytest.fixture
def without_agents(environ: dict[str, str]) -> None:
    environ["PATH"] = "/usr/bin:/bin"


@pytest.fixture
def leaky(tmp_path: Path, environ: dict[str, str]) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "bwrap").write_text(LEAKY)
    (programs / "bwrap").chmod(0o755)
    environ["PATH"] = f"{programs}:/usr/bin:/bin"


def _stable(text: str) -> str:
    """Leave out what differs from machine to machine."""
    text = re.sub(r"^! (?:power|clock) .*\n(?: {12}.*\n)*", "", text, flags=re.MULTILINE)
    text = re.sub(r"(git +|bubblewrap )\d[\w.]*", r"\1[VERSION]", text)
    text = re.sub(r"\d+ [GM]B free", "[FREE] free", text)
    return re.sub(
        r"Landlock (is off|does not hold here: .*|ABI \d+\s+holds planning commands only)", "[LANDLOCK]", text
    )


@needs_ring
@pytest.mark.usefixtures("without_agents")
def test_doctor_looks_and_writes_nothing(asbuilt: Callable[..., str], shop: Path, tmp_path: Path) -> None:
    (shop / "asbuilt.toml").write_text('[checks]\ntests = "cat summary"\n')
    before = tree(tmp_path)
    assert _stable(asbuilt("doctor", "--plain")) == snapshot("""\
exit 0
--- stdout
+ git       [VERSION]   shop-api, main, 1 file changed (yours; never touched)
! agents    none of claude, codex, gemini, opencode, claude-acp found; only the
            scripted agent works here
+ sandbox   bubblewrap [VERSION]   a write and a connection were refused just now
+ reach     no logins in your home; a host that is not listed was refused just
            now
+ tests     cat summary   from asbuilt.toml:2 (--tests also runs it)
+ store     SQLite, [FREE] free
. worker    starts with the first run
Ready, with the scripted agent.
--- stderr
Next: asbuilt doctor agents
  or  see a small plan run: asbuilt demo
""")
    assert tree(tmp_path) == before


@needs_ring
@pytest.mark.usefixtures("without_agents")
def test_doctor_runs_the_tests_when_asked(asbuilt: Callable[..., str], shop: Path) -> None:
    (shop / "asbuilt.toml").write_text('[checks]\ntests = "cat summary"\n')
    (shop / "summary").write_text("===== 3 passed in 0.01s =====\n")
    shown = asbuilt("doctor", "--tests").splitlines()
    assert [line for line in shown if "tests" in line] == snapshot(
        [
            "✗ tests     cat summary   FAIL on a clean checkout: exit 1, and no summary of",
            "            the tests",
            "            Why:  A run is measured against what the tests show before it; these",
            '            Fix:  asbuilt config set checks.tests "<command>"',
            'Next: asbuilt config set checks.tests "<command>"',
        ]
    )


@needs_ring
@pytest.mark.usefixtures("without_agents", "named")
def test_doctor_outside_a_repository(asbuilt: Callable[..., str], tmp_path: Path) -> None:
    assert _stable(asbuilt("doctor", cwd=tmp_path)) == snapshot("""\
exit 0
--- stdout
! git       [VERSION]   not in a repository; a run needs one
! agents    none of claude, codex, gemini, opencode, claude-acp found; only the
            scripted agent works here
✓ sandbox   bubblewrap [VERSION]   a write and a connection were refused just now
✓ reach     no logins in your home; a host that is not listed was refused just
            now
! tests     no command is set; a run looks for one, and asks
✓ store     SQLite, [FREE] free
○ worker    starts with the first run
Ready, with the scripted agent.
--- stderr
Next: git init && git add -A && git commit -m "First commit"
  or  see a small plan run: asbuilt demo
""")


@needs_ring
@pytest.mark.usefixtures("without_agents", "shop")
def test_doctor_for_a_script_has_a_schema_and_every_row(asbuilt: Callable[..., str]) -> None:
    shown = json.loads(asbuilt("doctor", "--json").removeprefix("exit 0\n--- stdout\n"))
    assert (shown["schema"], shown["ready"]) == ("asbuilt.doctor/1", True)
    named = [row["name"] for row in shown["rows"] if row["name"] not in ("power", "clock")]
    assert named == ["git", "agents", "sandbox", "reach", "tests", "store", "worker"]


@needs_ring
@pytest.mark.usefixtures("without_agents")
def test_a_narrow_terminal_is_not_overrun(shop: Path, environ: dict[str, str]) -> None:
    code, shown = on_terminal(shop, environ, "doctor", columns=40)
    assert (code, shown.startswith("\x1b[32m✓\x1b[0m \x1b[1mgit\x1b[0m       ")) == (0, True)
    rows = re.sub(r"\x1b\[\d+m", "", shown).split("\n")
    assert [row for row in rows if len(row) > 40] == []


@pytest.mark.usefixtures("leaky")
def test_a_problem_ends_with_1(asbuilt: Callable[..., str]) -> None:
    shown = _stable(asbuilt("doctor"))
    assert shown.startswith("exit 1\n")
    assert shown.partition("1 problem. ")[2] == snapshot("""\
A run asks you first; --auto stops.
--- stderr
Next: command -v bwrap
      # names the program; it should be the distribution's own
  or  asbuilt config set sandbox.required false
      # reports then say so
""")


@pytest.mark.usefixtures("leaky")
def test_a_fix_without_a_terminal_only_shows_and_ends_with_4(
    asbuilt: Callable[..., str], environ: dict[str, str]
) -> None:
    assert asbuilt("doctor", "--fix", "sandbox") == snapshot("""\
exit 4
--- stdout
sandbox: bubblewrap does not work here: it ran, and let a write or a connection
         through
No change is known that helps. command -v bwrap names the program; it should be
the distribution's own.
Or, without root, continue without a sandbox: sandbox.required = false.
--- stderr
Next: asbuilt doctor --fix sandbox --yes
      # to continue without a sandbox
""")
    assert list(Path(environ["HOME"]).glob(".config/asbuilt/*")) == []


@pytest.mark.usefixtures("leaky")
def test_a_fix_with_yes_does_what_needs_no_root(asbuilt: Callable[..., str], environ: dict[str, str]) -> None:
    assert asbuilt("doctor", "--fix", "sandbox", "--yes").splitlines()[-1] == snapshot(
        "sandbox.required is now false in ~/.config/asbuilt/config.toml"
    )
    assert (Path(environ["HOME"]) / ".config/asbuilt/config.toml").read_text() == snapshot("""\
[sandbox]
required = false
""")


@pytest.mark.usefixtures("leaky")
@pytest.mark.parametrize(
    ("typed", "code", "written"), [(b"y\n", 0, True), (b"no\n", 4, False), (b"\n", 4, False)]
)
def test_a_fix_asks_on_a_terminal(
    shop: Path,
    environ: dict[str, str],
    typed: bytes,
    code: int,
    written: bool,  # noqa: FBT001 - a case
) -> None:
    ended, shown = on_terminal(shop, environ, "doctor", "--fix", "sandbox", typed=typed)
    assert (ended, "Set sandbox.required to false? [y/N]" in shown) == (code, True)
    assert (Path(environ["HOME"]) / ".config/asbuilt/config.toml").exists() is written


@needs_ring
def test_what_holds_needs_no_fix(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("doctor", "--fix", "sandbox") == snapshot("""\
exit 0
--- stdout
The sandbox works: a write and a connection were refused just now.
--- stderr
Next: asbuilt doctor
""")


def test_a_fix_is_not_for_scripts_that_read(asbuilt: Callable[..., str]) -> None:
    code, _, told = asbuilt("doctor", "--fix", "sandbox", "--json").partition("\n--- stdout\n")
    document, _, words = told.partition("--- stderr\n")
    assert (code, json.loads(document)["what"]) == ("exit 2", "asbuilt doctor --fix has no --json")
    assert words == snapshot("""\
error: asbuilt doctor --fix has no --json
  Why:  It shows a change and asks the user to confirm it.
  Next: asbuilt doctor --json
        # has the facts
""")


@pytest.mark.parametrize(
    ("refusal", "shown"),
    [
        (
            why_bubblewrap("", Knobs(), there=False),
            snapshot("""\
sandbox: bubblewrap is not installed
Install bubblewrap, with the package manager that you have:

sudo apt-get install bubblewrap
sudo dnf install bubblewrap
sudo pacman -S bubblewrap
sudo zypper install bubblewrap

asbuilt runs none of this; you do, and then asbuilt doctor.
"""),
        ),
        (
            why_bubblewrap("bwrap: no", Knobs(apparmor=True), there=True),
            snapshot("""\
sandbox: AppArmor refuses bubblewrap a user namespace
Let bubblewrap, and no other program, make user namespaces. Whoever may start
/usr/bin/bwrap on this machine may then use it:

sudo tee /etc/apparmor.d/bwrap <<'END'
abi <abi/4.0>,
include <tunables/global>

profile bwrap /usr/bin/bwrap flags=(unconfined) {
  userns,
  include if exists <local/bwrap>
}
END
sudo apparmor_parser --replace /etc/apparmor.d/bwrap

asbuilt runs none of this; you do, and then asbuilt doctor.
"""),
        ),
        (
            why_bubblewrap("bwrap: no", Knobs(namespaces_off=True), there=True),
            snapshot("""\
sandbox: this system has user namespaces switched off
Switch user namespaces on, now and after a restart, for everybody on this
machine:

sudo tee /etc/sysctl.d/60-user-namespaces.conf <<'END'
user.max_user_namespaces = 10000
-kernel.unprivileged_userns_clone = 1
END
sudo sysctl --load /etc/sysctl.d/60-user-namespaces.conf

asbuilt runs none of this; you do, and then asbuilt doctor.
"""),
        ),
        (
            why_bubblewrap("bwrap: no", Knobs(in_container=True), there=True),
            snapshot("""\
sandbox: this container may not make namespaces of its own
Start the container with these options, so that asbuilt can create its sandbox:

--security-opt seccomp=unconfined
--security-opt systempaths=unconfined

asbuilt runs none of this; you do, and then asbuilt doctor.
"""),
        ),
        (
            why_bubblewrap("bwrap: odd", Knobs(), there=True),
            snapshot("""\
sandbox: bubblewrap does not start: bwrap: odd
No change is known that helps. bwrap --ro-bind / / --unshare-all true, then look
into the kernel's log.
"""),
        ),
        (
            why_landlock(""),
            snapshot("""\
sandbox: Landlock is off
No change is known that helps. A kernel from 5.13 on with landlock in lsm= has
it; bubblewrap is better than both.
"""),
        ),
    ],
    ids=["missing", "apparmor", "namespaces", "container", "unknown", "landlock"],
)
def test_every_remedy_is_shown_line_by_line(refusal: Refusal, shown: str) -> None:
    pen = Pen(stream=None, styled=False, symbols=ASCII, utf8=False)
    assert "\n".join(explained(pen, refusal)) + "\n" == shown


@pytest.mark.parametrize("knobs", [Knobs(apparmor=True), Knobs(namespaces_off=True)])
def test_a_shell_takes_the_lines_of_a_remedy_as_they_are(tmp_path: Path, knobs: Knobs) -> None:
    remedy = remedy_for(why_bubblewrap("bwrap: no", knobs, there=True))
    assert remedy is not None
    (tmp_path / "sudo").write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n[ "$1" != tee ] || cat >> {tmp_path}/given\n'
    )
    (tmp_path / "sudo").chmod(0o755)
    subprocess.run(
        ["/bin/sh", "-eu"],
        input="\n".join(remedy.lines).encode(),
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        check=True,
    )
    tee, load = [line for line in remedy.lines if line.startswith("sudo")]
    asked = [tee.removeprefix("sudo ").partition(" <<")[0], load.removeprefix("sudo ")]
    assert (tmp_path / "asked").read_text().splitlines() == asked
    assert (tmp_path / "given").read_text().splitlines() == list(remedy.lines[1:-2])
