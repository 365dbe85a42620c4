"""Check environments: real commands on real checkouts, in every ring that works here."""

from __future__ import annotations

import hashlib
import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from asbuilt.agents.sandboxed_commands import SandboxProcesses
from asbuilt.flows.environments.check_environment import CheckEnvironment, CheckEnvironments
from asbuilt.flows.environments.limits_and_variables import Given
from asbuilt.flows.environments.results import lay
from asbuilt.ports import Opened
from asbuilt.proof.counts import Counts
from asbuilt.proof.projects.model import NO_SETUP, Setup
from tests.agents.conftest import level
from tests.git.conftest import shop

if TYPE_CHECKING:
    from asbuilt.policy.sandbox.rules import Level
    from tests.git.shop import Shop

__all__ = ["level", "shop"]

MAKES = Setup("mkdir -p made && echo good > made/part && echo good > $HOME/part && echo x >> file.txt", "d1")
CONNECTS = "import socket,sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5)"


@pytest.fixture
def processes(tmp_path: Path, level: Level) -> SandboxProcesses:
    return SandboxProcesses(
        scratch=tmp_path / "scratch",
        hidden=(tmp_path / "state",),
        homes=(tmp_path / "nobody",),
        level=level,
        grace_s=0.5,
    )


@pytest.fixture
def environments(shop: Shop, tmp_path: Path, processes: SandboxProcesses) -> CheckEnvironments:
    shop.commit("a file", {"file.txt": "as it is\n"})
    return CheckEnvironments(tmp_path / "state" / "setups", shop.repository, processes, limit_s=60)


def tree(shop: Shop) -> str:
    return shop.git("rev-parse", "main^{tree}")


def said(environment: CheckEnvironment, shop: Shop, command: str) -> str:
    ended = environment.run(tree(shop), command).ended
    return f"{ended.exit_code}: {ended.output.decode()}"


def test_a_setup_is_made_once_and_every_check_finds_it_on_an_exact_tree(
    environments: CheckEnvironments, shop: Shop
) -> None:
    look = "cat made/part $HOME/part file.txt"
    for place in range(2):
        with environments.take(MAKES) as environment:
            made = environment.set_up(tree(shop))
            assert (made is None) == bool(place)
            assert said(environment, shop, look) == "0: good\ngood\nas it is\n"


def test_no_check_can_spoil_what_the_next_one_finds(
    environments: CheckEnvironments, shop: Shop, tmp_path: Path, level: Level
) -> None:
    kept = tmp_path / "state" / "setups" / "d1" / "results.1"
    evil = "echo evil > made/part; echo evil > made/more; echo evil > $HOME/part; rm -rf made; chmod 0 $HOME"
    with environments.take(MAKES) as environment:
        environment.set_up(tree(shop))
        if level == "bwrap":
            evil += f"; echo evil > {kept}/checkout/made/part; rm -rf {kept}"
        assert said(environment, shop, evil).startswith("0")
        assert said(environment, shop, "cat made/part $HOME/part && ls made") == "0: good\ngood\npart\n"
    with environments.take(MAKES) as environment:
        assert environment.set_up(tree(shop)) is None
        assert said(environment, shop, "cat made/part") == "0: good\n"


def test_a_setup_that_was_cut_off_counts_for_nothing(
    environments: CheckEnvironments, shop: Shop, tmp_path: Path, level: Level
) -> None:
    folder = tmp_path / "state" / "setups" / "d1"
    results = "results.1" if level == "bwrap" else "0/results.1"
    for half in (f"{results}/checkout/half", f"{results}/home/half", "0/checkout/made", "0/home/half"):
        (folder / half).mkdir(parents=True)
    with environments.take(MAKES) as environment:
        assert environment.set_up(tree(shop)) is not None
        assert said(environment, shop, "ls -d half made; ls $HOME").splitlines()[1:] == ["made", "part"]


def test_a_setup_that_fails_keeps_nothing_and_is_tried_again(
    environments: CheckEnvironments, shop: Shop
) -> None:
    fails = Setup("mkdir made; echo broken; exit 3", "d2")
    for _ in range(2):
        with environments.take(fails) as environment:
            ran = environment.set_up(tree(shop))
            assert ran is not None
            assert (ran.ended.exit_code, ran.ended.output) == (3, b"broken\n")
            assert said(environment, shop, "test -e made") == "1: "


def test_two_at_once_have_a_checkout_each_and_with_mounts_one_setup(
    environments: CheckEnvironments, shop: Shop, level: Level
) -> None:
    with environments.take(MAKES) as one, environments.take(MAKES) as other:
        assert one.set_up(tree(shop)) is not None
        assert (other.set_up(tree(shop)) is None) == (level == "bwrap")
        places = [said(environment, shop, "pwd && cat made/part") for environment in (one, other)]
    assert len(set(places)) == (1 if level == "bwrap" else 2)
    with environments.take(MAKES) as again:
        assert said(again, shop, "pwd && cat made/part") == places[0]


def test_a_setup_that_is_forgotten_is_made_anew(environments: CheckEnvironments, shop: Shop) -> None:
    with environments.take(MAKES) as environment:
        environment.set_up(tree(shop))
        environment.forget()
        assert environment.set_up(tree(shop)) is not None


def test_a_check_has_no_network_and_setup_has_a_list(
    environments: CheckEnvironments, shop: Shop, tmp_path: Path, processes: SandboxProcesses, level: Level
) -> None:
    if level == "none":
        pytest.skip("without a ring nothing is held")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        connect = f'{sys.executable} -I -S -c "{CONNECTS}" {port}'
        given = Given(opened=Opened(hosts=(f"127.0.0.1:{port}",)))
        with environments.take(Setup(connect, "d2")) as environment:
            ran = environment.set_up(tree(shop))
            assert ran is not None
            assert ran.ended.exit_code == 1
        listing = CheckEnvironments(
            tmp_path / "state" / "setups", shop.repository, processes, limit_s=60, given=given
        )
        with listing.take(Setup(connect, "d3")) as environment:
            ran = environment.set_up(tree(shop))
            assert ran is not None
            assert ran.ended.exit_code == 0, ran.ended.output
            assert said(environment, shop, connect).startswith("1: ")


def test_what_the_tree_has_is_never_covered_by_what_setup_made(
    environments: CheckEnvironments, shop: Shop, tmp_path: Path
) -> None:
    with environments.take(MAKES) as environment:
        environment.set_up(tree(shop))
        shop.commit("mine now", {"made/part": "tracked\n"})
        assert said(environment, shop, "cat made/part") == "0: tracked\n"
        outside = tmp_path / "outside"
        outside.mkdir()
        shop.git("rm", "-qr", "made")
        (shop.root / "made").symlink_to(outside)
        shop.commit("a trap")
        assert said(environment, shop, "readlink made") == f"0: {outside}\n"
    assert list(outside.iterdir()) == []


def test_a_command_over_its_limit_is_ended(processes: SandboxProcesses, shop: Shop, tmp_path: Path) -> None:
    hasty = CheckEnvironments(tmp_path / "hasty", shop.repository, processes, limit_s=1)
    with hasty.take(NO_SETUP) as environment:
        assert said(environment, shop, "echo begun; sleep 300") == "None: begun\n"


@pytest.mark.crash  # a pytest of its own takes seconds to start on a busy machine
def test_a_pytest_is_counted_by_its_report_and_leaves_nothing_in_the_checkout(
    environments: CheckEnvironments, shop: Shop
) -> None:
    names = sorted({*shop.git("ls-tree", "--name-only", "main").splitlines(), "test_a.py"})
    shop.commit(
        "a test",
        {"test_a.py": f"import os\ndef test_a(): assert sorted({{*os.listdir()}} - {{'.git'}}) == {names}\n"},
    )
    with environments.take(NO_SETUP) as environment:
        ran = environment.run(tree(shop), f"{sys.executable} -B -m pytest -q -p no:cacheprovider")
    assert ran.ended.exit_code == 0, ran.ended.output
    assert ran.report is not None
    assert b'tests="1"' in ran.report


class Copying(SandboxProcesses):
    """A machine whose kernel makes no overlays."""

    def can_overlay(self, folder: Path) -> bool:
        """Report that it cannot, wherever that is."""
        return folder.name == "nowhere"


def test_without_overlays_a_check_finds_the_same_by_copies(shop: Shop, tmp_path: Path) -> None:
    shop.commit("a file", {"file.txt": "as it is\n"})
    look = "pwd; cat made/part $HOME/part file.txt; git status --porcelain; echo evil > made/part; ls -A"
    shown = []
    for kind in (SandboxProcesses, Copying):
        processes = kind(
            scratch=tmp_path / "scratch", homes=(tmp_path / "nobody",), level="bwrap", grace_s=0.5
        )
        environments = CheckEnvironments(tmp_path / kind.__name__, shop.repository, processes, limit_s=60)
        with environments.take(MAKES) as environment:
            environment.set_up(tree(shop))
            shown.append([said(environment, shop, look) for _ in range(2)])
    assert shown[0] == shown[1]
    assert shown[0][0] == shown[0][1]
    assert shown[0][0].startswith("0: /run/asbuilt/checkout\ngood\ngood\nas it is\n?? made/\n.git\n")


def test_a_check_asks_git_for_history_and_tags_and_changes_none_of_it(shop: Shop, tmp_path: Path) -> None:
    shop.commit("the first", {"file.txt": "one\n"})
    shop.git("tag", "-m", "a release", "v1.2")
    base = shop.commit("the second", {"file.txt": "two\n"})
    shop.git("checkout", "-q", "-b", "work")
    shop.commit("an attempt", {"file.txt": "three\n"})
    tried = shop.git("rev-parse", "work^{tree}")
    processes = SandboxProcesses(scratch=tmp_path / "scratch", homes=(tmp_path / "nobody",), level="bwrap")
    environments = CheckEnvironments(
        tmp_path / "setups", shop.repository, processes, limit_s=60, history=base
    )
    with environments.take(NO_SETUP) as environment:
        asked = (
            "git describe --tags --dirty | sed s/-g.*-dirty/-DIRTY/ | sed s/-g.*//; git status --porcelain"
        )
        told = [environment.run(one, asked).ended.output.decode() for one in (tree(shop), tried)]
        held = environment.run(tried, "git tag evil; git commit -qam evil; echo x > .git/HEAD").ended
    assert told == ["v1.2-1\n", "v1.2-2\n"]
    assert held.exit_code != 0
    assert shop.git("tag") == "v1.2"


@pytest.mark.parametrize("kind", [SandboxProcesses, Copying])
def test_a_check_finds_submodules_and_large_files_that_the_clone_has(
    shop: Shop, tmp_path: Path, kind: type[SandboxProcesses]
) -> None:
    content = b"a large file\n"
    name = hashlib.sha256(content).hexdigest()
    inner = tmp_path / "inner"
    shop.git("init", "-q", "-b", "main", str(inner))
    (inner / "part.txt").write_text("of a submodule\n")
    shop.git("add", "-A", at=inner)
    shop.git("commit", "-qm", "a part", at=inner)
    shop.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "deps/inner")
    shop.git("config", "-f", ".gitmodules", "submodule.gone.path", "deps/gone")
    shop.git("update-index", "--add", "--cacheinfo", f"160000,{shop.tip()},deps/gone")
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{name}\nsize {len(content)}\n"
    shop.commit("all", {".gitattributes": "*.bin filter=lfs\n", "large.bin": pointer})
    shop.git("update-index", "--add", "--cacheinfo", f"160000,{shop.tip()},deps/gone")
    shop.git("commit", "-qm", "a submodule that is nowhere")
    kept = shop.root / ".git" / "lfs" / "objects" / name[:2] / name[2:4] / name
    kept.parent.mkdir(parents=True)
    kept.write_bytes(content)
    processes = kind(scratch=tmp_path / "scratch", homes=(tmp_path / "nobody",), level="bwrap", grace_s=0.5)
    environments = CheckEnvironments(tmp_path / "setups", shop.repository, processes, limit_s=60)
    with environments.take(NO_SETUP) as environment:
        shown = said(environment, shop, "cat deps/inner/part.txt large.bin; ls deps/gone")
        lacks = environment.lacks
    assert shown == "0: of a submodule\na large file\n"
    assert lacks == (
        "submodule deps/gone is empty, because your clone lacks it: git submodule update --init deps/gone",
    )


@pytest.mark.parametrize("trick", ["mkfifo $F", "ln -s /etc/passwd $F", "mkdir $F"])
def test_a_report_that_is_no_file_is_none(environments: CheckEnvironments, shop: Shop, trick: str) -> None:
    shop.commit("a pytest that is none", {"pytest": f"#!/bin/sh\nF=${{1#--junitxml=}}\n{trick}\n"})
    (shop.root / "pytest").chmod(0o755)
    shop.commit("executable")
    with environments.take(NO_SETUP) as environment:
        ran = environment.run(tree(shop), "./pytest")
    assert (ran.ended.exit_code, ran.report) == (0, None)


def test_laying_keeps_modes_and_links_and_skips_what_is_no_content(tmp_path: Path) -> None:
    kept, place = tmp_path / "kept", tmp_path / "place"
    (kept / "deep").mkdir(parents=True)
    place.mkdir()
    (kept / "deep" / "tool").write_text("#!/bin/sh\n")
    (kept / "deep" / "tool").chmod(0o755)
    (kept / "deep").chmod(0o555)
    (kept / "link").symlink_to("nowhere")
    os.mkfifo(kept / "pipe")
    lay(kept, place)
    assert sorted(path.name for path in place.iterdir()) == ["deep", "link"]
    assert (place / "deep").stat().st_mode & 0o777 == 0o555
    assert (place / "deep" / "tool").stat().st_mode & 0o777 == 0o755
    assert (place / "link").readlink() == Path("nowhere")


def test_a_check_sees_the_environment_that_its_run_was_asked_from(
    processes: SandboxProcesses, shop: Shop, tmp_path: Path
) -> None:
    shop.commit("a file", {"file.txt": "as it is\n"})
    asked_from = {"LC_TIME": "C", "PATH": f"/somewhere/bin:{os.defpath}"}
    environments = CheckEnvironments(tmp_path / "setups", shop.repository, processes, environment=asked_from)
    with environments.take(NO_SETUP) as environment:
        assert said(environment, shop, "echo $LC_TIME $PATH") == f"0: C {asked_from['PATH']}\n"


MAVEN = """#!/bin/sh
mkdir -p core/target/surefire-reports web/target/surefire-reports
echo '<?xml version="1.0"?><testsuite><testcase classname="x.A" name="a"/></testsuite>' \\
    > core/target/surefire-reports/TEST-x.A.xml
echo '<testsuite><testcase classname="x.B" name="b"><failure/></testcase></testsuite>' \\
    > web/target/surefire-reports/TEST-x.B.xml
"""


def test_reports_that_a_runner_leaves_in_its_checkout_are_counted_and_none_that_was_there_before(
    environments: CheckEnvironments, shop: Shop
) -> None:
    stale = '<testsuite><testcase classname="x.Old" name="never_ran"/></testsuite>'
    shop.commit("a Maven", {"mvnw": MAVEN, "core/target/surefire-reports/TEST-x.Old.xml": stale})
    (shop.root / "mvnw").chmod(0o755)
    shop.commit("executable")
    with environments.take(NO_SETUP) as environment:
        ran = environment.run(tree(shop), "./mvnw -B test")
    assert ran.counts == Counts(2, 1, 0, ("x.B::b",), ("x.A::a",))


def test_no_report_is_deleted_or_read_through_a_link(
    environments: CheckEnvironments, shop: Shop, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere" / "surefire-reports" / "TEST-x.A.xml"
    elsewhere.parent.mkdir(parents=True)
    elsewhere.write_text('<testsuite><testcase classname="x.A" name="a"/></testsuite>')
    shop.commit("a Maven that does nothing", {"mvnw": "#!/bin/sh\n"})
    (shop.root / "mvnw").chmod(0o755)
    (shop.root / "target").symlink_to(elsewhere.parent.parent)
    shop.commit("executable")
    with environments.take(NO_SETUP) as environment:
        ran = environment.run(tree(shop), "./mvnw test")
    assert (ran.ended.exit_code, ran.report, elsewhere.exists()) == (0, None, True)
