"""Services beside checks: real programs in the sandbox of a check environment, and what is masked there."""

from __future__ import annotations

import shutil
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from asbuilt.agents.processes import RingProcesses
from asbuilt.agents.ring import probe
from asbuilt.errors import GateStopped
from asbuilt.flows.checks.terms import Given
from asbuilt.flows.rigs import Rigs
from asbuilt.policy.services import TABLE, Service, chosen_services
from asbuilt.proof.projects.model import NO_SETUP, Setup
from tests.git.conftest import shop

if TYPE_CHECKING:
    from collections.abc import Callable

    from asbuilt.flows.checks.ran import Ran
    from tests.git.shop import Shop

__all__ = ["shop"]

POSTGRES = Path("/").glob("usr/lib/postgresql/*/bin/initdb")
needs_bubblewrap = pytest.mark.skipif(probe().level != "bwrap", reason="no bubblewrap works here")
needs_postgres = pytest.mark.skipif(not any(POSTGRES), reason="Debian's postgresql is not installed")
needs_redis = pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")

Runs = "Callable[[Given, str], Ran]"
ECHO = "import socket; s = socket.create_server(('127.0.0.1', 7007)); s.accept()[0].close(); s.accept()"
ASKS_REDIS = """python3 -c "
import socket
s = socket.create_connection(('localhost', 6379)); s.sendall(b'SET a 1\\r\\nGET a\\r\\n')
print(s.recv(100), flush=True)" && echo $REDIS_URL"""


@pytest.fixture
def run(shop: Shop, tmp_path: Path) -> Callable[[Given, str], Ran]:
    shop.commit("a file", {"file.txt": "as it is\n"})
    tree = shop.git("rev-parse", "main^{tree}")
    processes = RingProcesses(scratch=tmp_path / "scratch", homes=(tmp_path / "nobody",), level="bwrap")

    def run(given: Given, command: str) -> Ran:
        rigs = Rigs(tmp_path / "setups", shop.repository, processes, limit_s=120, given=given)
        with rigs.take(NO_SETUP) as rig:
            return rig.run(tree, command)

    return run


def said(ran: Ran) -> tuple[int | None, str]:
    return ran.ended.exit_code, ran.ended.output.decode()


@needs_bubblewrap
@needs_postgres
def test_each_check_has_a_postgres_of_its_own_that_no_other_one_has_written_to(
    run: Callable[[Given, str], Ran],
) -> None:
    given = Given(services=(TABLE["postgres"],))
    writes = 'psql -qAtc "create table t (n int); insert into t values (7); select n from t" && echo $DATABASE_URL'

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
    given = Given(services=chosen_services(own))

    assert [run(given, word).ended.exit_code for word in ("exit 0", "exit 3", "kill -TERM $$", "nowhere")] == [
        0, 3, 143, 127,
    ]  # fmt: skip


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
            "asbuilt: the service theirs did not start: no program theirsd is installed;"
            " Debian's package theirs has it",
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
    processes = RingProcesses(scratch=tmp_path / "scratch", homes=(tmp_path / "nobody",), level="none")

    with pytest.raises(GateStopped) as stopped:
        Rigs(tmp_path / "setups", shop.repository, processes, given=Given(services=(TABLE["redis"],)))

    assert stopped.value.what == "checks.services (redis) needs the sandbox of bubblewrap, and here is none"
