"""Services that run beside checks: a database, a cache, or a command of the project's own. Pure.

Each listens on the loopback of the sandbox, at its usual port. A new built-in service is a row of `TABLE`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from asbuilt.events.options import RunOptions

NOT_STARTED: Final = 125
"""Exit code of a command that was not started because a service failed to start."""
REFUSAL: Final = "asbuilt: the service {name} did not start: {why}"
"""The first line of such a command's output; the last lines of the service's log follow."""
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


class Service(NamedTuple):
    """A program that runs as long as one command does."""

    name: str
    argv: tuple[str, ...]
    """Its command line; `{data}` is the folder with its data."""
    port: int
    make: tuple[str, ...] = ()
    """Command that creates its data, once; each command gets a view of it. Empty: it needs none."""
    sends: str = ""
    """Text that is sent once it listens; empty: none."""
    expects: str = ""
    """Start of its answer; empty: it is ready once it listens."""
    variables: Mapping[str, str] = _NOTHING
    """Variables by which programs find it."""
    folders: tuple[str, ...] = ()
    """Folders of its programs besides PATH: globs from the root; the highest version counts."""
    package: str = ""
    """Its Debian package; empty: it is no program of the system."""


_POSTGRES_HELLO: Final = "\0\3\0\0user\0postgres\0database\0postgres\0\0"
_QUICK: Final = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
_ROWS: Final = (
    Service(
        name="postgres",
        make=(
            *("initdb", "-D", "{data}", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8"),
            *("--no-sync", "--no-instructions"),
        ),
        argv=(
            *("postgres", "-D", "{data}", "-p", "5432", "-c", "listen_addresses=127.0.0.1,::1"),
            *("-c", "unix_socket_directories=/tmp"),
            *(word for setting in _QUICK for word in ("-c", setting)),
        ),
        port=5432,
        # Listening is not enough: postgres refuses connections while it recovers.
        sends=f"\0\0\0{chr(len(_POSTGRES_HELLO) + 4)}{_POSTGRES_HELLO}",
        expects="R",
        variables=MappingProxyType(
            {
                "PGHOST": "127.0.0.1",
                "PGPORT": "5432",
                "PGUSER": "postgres",
                "PGDATABASE": "postgres",
                "DATABASE_URL": "postgresql://postgres@127.0.0.1:5432/postgres",
            }
        ),
        folders=("usr/lib/postgresql/*/bin", "usr/pgsql-*/bin"),
        package="postgresql",
    ),
    Service(
        name="redis",
        argv=(
            *("redis-server", "--port", "6379", "--bind", "127.0.0.1", "-::1", "--dir", "/tmp"),  # noqa: S108  private
            *("--save", "", "--appendonly", "no"),
        ),
        port=6379,
        sends="PING\r\n",
        expects="+PONG",
        variables=MappingProxyType({"REDIS_URL": "redis://127.0.0.1:6379/0"}),
        package="redis-server",
    ),
)
TABLE: Final[Mapping[str, Service]] = MappingProxyType({service.name: service for service in _ROWS})


def chosen_services(options: RunOptions) -> tuple[Service, ...]:
    """Return the services that a run's options name; older runs name none."""
    return tuple(
        Service(service.name, ("/bin/sh", "-c", service.command), service.ready)
        if service.command
        else TABLE[service.name]
        for service in options.services or ()
    )


def variables_of(services: Iterable[Service]) -> dict[str, str]:
    """Return the variables by which programs find services."""
    return {name: value for service in services for name, value in service.variables.items()}
