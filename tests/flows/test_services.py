"""Services beside checks: real programs in the sandbox of a check environment, and what is masked there."""

from __future__ import annotations

import shutil
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from asbuilt.agents.sandbox.launch import probe
from asbuilt.agents.sandboxed_commands import SandboxProcesses
from asbuilt.errors import GateStopped
from asbuilt.events.options_json import read_options
from asbuilt.flows.environments.check_environment import CheckEnvironments
from asbuilt.flows.environments.limits_and_variables import Given
from asbuilt.policy.sandbox.services import TABLE, Service, chosen_services
from asbuilt.proof.projects.model import NO_SETUP, Setup
from tests.git.conftest import shop

if TYPE_CHECKING:
    from collections.abc import Callable

    from asbuilt.flows.environments.results import Ran
    from tests.git.shop import Shop

__all__ = ["shop"]

POSTGRES = Path("/").glob("usr/lib/postgresql/*/bin/initdb")
needs_bubblewrap = pytest.mark.skipif(probe().level != "bwrap", reason="no bubblewrap works here")
needs_postgres = pytest.mark.skipif(not any(POSTGRES), reason="Debian's postgresql is not installed")
needs_redis = pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")

ECHO = "import socket; s = socket.create_server(('127.0.0.1', 7007)); s.accept()[0].close(); s.accept()"
ASKS_REDIS = """python3 -c "
import socket
s = socket.create_connection(('localhost', 6379)); s.sendall(b'SET a 1\\r\\nGET a\\r\\n')
print(s.recv(100), flush=True)" && echo $REDIS_URL"""


@pytest.fixture
def run(shop: Shop, tmp_path: Path) -> Callable[[Given, str], Ran]:
    shop.commit("a file", {"file.txt": "as it is\n"})
    tree = shop.git("rev-parse", "main^{tree}")
    processes = SandboxProcesses(scratch=tmp_path / "scratch", homes=(tmp_path / "nobody",), level="bwrap")

    def run(given: Given, command: str) -> Ran:
        environments = CheckEnvironments(
            tmp_path / "setups", shop.repository, processes, limit_s=120, given=given
        )
        with environments.take(NO_SETUP) as environment:
            return environment.run(tree, command)

    return run


def said(ran: Ran) -> tuple[int | None, str]:
    return ran.ended.exit_code, ran.ended.output.decode()


@needs_bubblewrap
@needs_postgres
def test_each_check_has_a_postgres_of_its_own_that_no_other_one_has_written_to(
    run: Callable[[Given, str], Ran],
) -> None:
    given = Given(services=(TABLE["postgres"],))
    writes = (
        'psql -qAtc "create table t (n int); insert into t values (7); select n from t" && echo $DATABASE_URL'
    )

    first, second = run(given, writes), run(given, writes)

    told = (0, "7\npostgresql://postgres@127.0.0.1:5432/postgres\n")
    assert [said(first), said(second)] == [told, told]


@needs_bubblewrap
@needs_redis
def test_redis_answers_on_the_sandbox_s_loopback_and_nothing_of_it_stays(
    run: Callable[[Given, str], Ran],
) -> None:
    ran = run(Given(services=(TABLE["redis"],)), ASKS_REDIS)

    assert said(ran) == (0, "b'+OK\\r\\n$1\\r\\n1\\r\\n'\nredis://127.0.0.1:6379/0\n")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", 6379), 1)


@needs_bubblewrap
def test_the_exit_code_of_a_command_beside_a_service_is_its_own(run: Callable[[Given, str], Ran]) -> None:
    own = {"services": [{"name": "echo", "command": f'{sys.executable} -c "{ECHO}"', "ready": 7007}]}
    given = Given(services=chosen_services(read_options(own)))

    commands = ("exit 0", "exit 3", "kill -TERM $$", "nowhere")

    assert [run(given, one).ended.exit_code for one in commands] == [0, 3, 143, 127]


@needs_bubblewrap
@pytest.mark.parametrize(
    ("service", "output"),
    [
        (
            Service("mine", ("/bin/sh", "-c", "echo no licence; exit 4"), 7007),
            "asbuilt: the service mine did not start: it ended with exit code 4\nno licence\n",
        ),
        (
            Service("theirs", ("theirsd",), 7007, package="theirs"),
            (
                "asbuilt: the service theirs did not start: no program theirsd is installed;"
                " Debian's package theirs has it"
            ),
        ),
        (
            Service("made", ("/bin/true",), 7007, make=("/bin/sh", "-c", "echo no room; exit 2")),
            "asbuilt: the service made did not start: its data could not be made\nno room\n",
        ),
    ],
    ids=["ends", "missing", "data"],
)
def test_a_service_that_does_not_come_up_says_why_and_the_command_is_not_started(
    run: Callable[[Given, str], Ran], service: Service, output: str
) -> None:
    ran = run(Given(services=(service,)), "echo started")

    assert said(ran) == (125, output)
    assert ran.cut_off == f"not started, because the service {service.name} did not come up"


def test_without_a_loopback_of_their_own_checks_get_no_services(shop: Shop, tmp_path: Path) -> None:
    processes = SandboxProcesses(scratch=tmp_path / "scratch", homes=(tmp_path / "nobody",), level="none")

    with pytest.raises(GateStopped) as stopped:
        CheckEnvironments(
            tmp_path / "setups", shop.repository, processes, given=Given(services=(TABLE["redis"],))
        )

    assert stopped.value.what == "checks.services needs the sandbox of bubblewrap, which does not work here"


WRITES_REPORT = """python3 -c "
import os
open(os.environ['OUT'] + '/report.xml', 'w').write('<x>' + os.environ.get('API_TOKEN', 'none') + '</x>')
print('token', os.environ.get('API_TOKEN'), 'setup', os.environ.get('BUILD_TOKEN'))
" """


@needs_bubblewrap
def test_variables_reach_checks_or_the_setup_alone_and_are_masked_in_all_that_is_kept(
    shop: Shop, tmp_path: Path
) -> None:
    shop.commit("a file", {"file.txt": "as it is\n"})
    tree = shop.git("rev-parse", "main^{tree}")
    processes = SandboxProcesses(scratch=tmp_path / "scratch", homes=(tmp_path / "nobody",), level="bwrap")
    given = Given(checks={"API_TOKEN": "s3cret/&value"}, setup={"BUILD_TOKEN": "t0psecret"})
    environments = CheckEnvironments(tmp_path / "setups", shop.repository, processes, limit_s=60, given=given)
    seen = 'echo "token $API_TOKEN setup $BUILD_TOKEN"'

    with environments.take(Setup(seen, "d1")) as environment:
        made = environment.set_up(tree)
        ran = environment.run(tree, WRITES_REPORT.replace("os.environ['OUT']", repr("/run/asbuilt/out")))

    assert made is not None
    assert said(made) == (0, "token  setup [secret]\n")
    assert said(ran) == (0, "token [secret] setup None\n")
    assert ran.report == b"<x>[secret]</x>"


NPMRC = "registry=https://npm.example/\n//npm.example/:_authToken=npm_t0psecret\n@own:registry=https://me:pw@own/\n"
PIP_CONF = (
    "[global]\nindex-url = https://me:pw@pip.example/simple\nextra-index-url =\n    https://other.example\n"
)
SHOWS = "cd ~ && cat .npmrc .netrc .config/pip/pip.conf; ls -A . .config"


@needs_bubblewrap
@pytest.mark.parametrize("credentials", [(), ("npm", "netrc")])
def test_a_setup_knows_the_user_s_registries_and_signs_in_only_by_a_setting(
    shop: Shop, tmp_path: Path, credentials: tuple[str, ...]
) -> None:
    shop.commit("a file", {"file.txt": "as it is\n"})
    tree = shop.git("rev-parse", "main^{tree}")
    home = tmp_path / "person"
    (home / ".config/pip").mkdir(parents=True)
    (home / ".config/pip/pip.conf").write_text(PIP_CONF)
    (home / ".npmrc").write_text(NPMRC)
    (home / ".netrc").write_text("machine npm.example login me password t0psecret-too\n")
    processes = SandboxProcesses(scratch=tmp_path / "scratch", homes=(home,), level="bwrap")
    given = Given(home=home, credentials=credentials)
    environments = CheckEnvironments(tmp_path / "setups", shop.repository, processes, limit_s=60, given=given)

    with environments.take(Setup(SHOWS, "d1")) as environment:
        made = environment.set_up(tree)
        ran = environment.run(tree, SHOWS)

    pip = "[global]\nextra-index-url =\n    https://other.example\n"
    plain = f"registry=https://npm.example/\ncat: .netrc: No such file or directory\n{pip}"
    masked = "//npm.example/:_authToken=[secret]\n@own:registry=https://me:pw@own/\n"
    whole = f"registry=https://npm.example/\n{masked}machine npm.example login me password [secret]\n{pip}"
    assert made is not None
    assert made.ended.output.decode().startswith(whole if credentials else plain)
    assert ran.ended.output.decode() == f"{plain}.:\n.config\n.npmrc\n\n.config:\npip\n"
    kept = [file.read_bytes() for file in (tmp_path / "setups").rglob("*") if file.is_file()]
    assert not any(b"secret" in content or b"me:pw" in content for content in kept)


def test_a_setup_of_packages_that_an_agent_chose_gets_neither_variables_nor_credentials() -> None:
    given = Given(setup={"BUILD_TOKEN": "t0psecret"}, credentials=("npm",), home=Path("/home/ann"))
    granted = given._replace(credentials=("npm", "phases"))

    assert given.for_setup(is_trusted=True) == given
    assert given.for_setup(is_trusted=False) == Given(home=Path("/home/ann"))
    assert granted.for_setup(is_trusted=False) == granted
