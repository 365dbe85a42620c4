"""The only way out of a sandbox whose network is a list: a forward proxy in the process that starts it.

The sandbox has its own network namespace. On its loopback are the proxy's port and the listed ports of this
machine; connections to both are accepted here, outside (`entry`).

Rules: a name is resolved once, here. All of its addresses must be public, and the connection goes to one of
these addresses. A refusal is answered at once and reported.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
import threading
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.policy.sandbox.hosts import (
    HEAD_BYTES,
    HELLO_BYTES,
    Host,
    Refused,
    hosts_named,
    is_public,
    listed,
    request_in,
    server_name,
    upstream_in,
)

if TYPE_CHECKING:
    from asbuilt.events.options import Network
    from asbuilt.policy.sandbox.rules import Level

_PORT: Final = 3128
CONNECTIONS: Final = 256
_HEAD_S: Final = 10.0
_CONNECT_S: Final = 20.0
_IDLE_S: Final = 900.0
_TRIED: Final = 4
"""Maximum number of addresses to try per name."""
_CHUNK: Final = 1 << 18
_ENTRY: Final = Path(__file__).resolve().parent / "entry.py"
_HERE: Final = "localhost,127.0.0.1,::1"


class Egress:
    """A sandboxed command's way out: its command line and variables, and the proxy that serves it."""

    def __init__(
        self,
        hosts: tuple[Host, ...],
        refused: Callable[[str, str], None],
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Let `hosts` through; calls `refused` with the host and the reason of every other request.

        `environment` may name the user's own proxy, through which hosts outside are reached.
        """
        self._hosts = hosts
        self._refused = refused
        self._upstream = upstream_in(environment or {})
        self._busy: set[asyncio.Task[None]] = set()
        self._servers: list[asyncio.Server] = []
        self._ours, self._theirs = socket.socketpair()
        here = tuple(dict.fromkeys(host.port for host in hosts if host.is_here))
        # The ports for `entry` to listen on: the proxy's port, then the listed ones of this machine.
        self._ports = (next(port for port in count(_PORT) if port not in here), *here)

    @property
    def descriptor(self) -> int:
        """The socket that the command must inherit."""
        return self._theirs.fileno()

    @property
    def environment(self) -> dict[str, str]:
        """The proxy variables. Some programs read only HTTPS_PROXY; node needs NODE_USE_ENV_PROXY."""
        address = f"http://127.0.0.1:{self._ports[0]}"
        names = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")
        both = {cased: address for name in names for cased in (name, name.lower())}
        return {**both, "NO_PROXY": _HERE, "no_proxy": _HERE, "NODE_USE_ENV_PROXY": "1"}

    def argv(self, argv: Sequence[str]) -> tuple[str, ...]:
        """Prefix a command with `entry.py`, which creates the listeners."""
        ports = map(str, self._ports)
        return (sys.executable, "-I", "-S", str(_ENTRY), str(self.descriptor), *ports, "--", *argv)

    async def open(self) -> None:
        """Receive and serve the listeners of a started command; one that already ended has none."""
        self._theirs.close()
        with self._ours as channel:
            count = len(self._ports)
            _, given, _, _ = await asyncio.to_thread(socket.recv_fds, channel, 1, count)
            if len(given) != count:
                return
            for port, descriptor in zip(self._ports, given, strict=True):
                take = self._take if port == self._ports[0] else self._forwarding(port)
                listener = socket.socket(fileno=descriptor)
                self._servers.append(
                    await asyncio.start_server(self._counted(take), sock=listener, limit=HEAD_BYTES)
                )
            channel.send(b"k")

    async def close(self) -> None:
        """Close every connection and the listeners, which keep the network namespace alive."""
        for server in self._servers:
            server.close()
        for task in tuple(self._busy):
            task.cancel()
        if self._busy:
            await asyncio.wait(self._busy, timeout=1)

    def _counted(
        self, take: Callable[[StreamReader, StreamWriter], Awaitable[None]]
    ) -> Callable[[StreamReader, StreamWriter], Awaitable[None]]:
        async def counted(reader: StreamReader, writer: StreamWriter) -> None:
            task = asyncio.current_task()
            if task is None:
                raise TypeError("a connection is taken outside of a task")
            self._busy.add(task)
            try:
                if len(self._busy) <= CONNECTIONS:
                    await take(reader, writer)
            except (OSError, TimeoutError, asyncio.IncompleteReadError):
                pass  # one side has closed, which ends the connection
            finally:
                self._busy.discard(task)
                writer.close()

        return counted

    async def _take(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Read one request, and forward or refuse it."""
        asked = "a request"
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _HEAD_S)
            asked = head.partition(b"\r\n")[0].decode("ascii", "backslashreplace")[:300]
            request = request_in(head[:-4])
            asked = f"{request.host}:{request.port}"
            entry = listed(self._hosts, request.host, request.port)
            if self._upstream is None or entry.is_private:
                there, back = await _connected(request.host, entry)
            else:
                there, back = await _by_upstream(self._upstream, request.host, entry.port)
        except asyncio.LimitOverrunError:
            await self._refuse(writer, asked, "a head of more than 16 KB")
            return
        except Refused as error:
            await self._refuse(writer, asked, str(error))
            return
        try:
            if not request.head:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            back.write(request.head or await self._hello(reader, request.host, back))
            await _both(reader, writer, there, back)
        finally:
            back.close()

    def _forwarding(self, port: int) -> Callable[[StreamReader, StreamWriter], Awaitable[None]]:
        async def forward(reader: StreamReader, writer: StreamWriter) -> None:
            there, back = await asyncio.open_connection("127.0.0.1", port, limit=_CHUNK)
            try:
                await _both(reader, writer, there, back)
            finally:
                back.close()

        return forward

    async def _refuse(self, writer: StreamWriter, asked: str, why: str) -> None:
        self._refused(asked, why)
        text = (
            f"asbuilt's sandbox refuses {asked}: {why}. The user can allow a host: sandbox.hosts\n".encode()
        )
        head = f"HTTP/1.1 403 Forbidden\r\nContent-Length: {len(text)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + text)
        await asyncio.wait_for(writer.drain(), _HEAD_S)

    async def _hello(self, reader: StreamReader, host: str, back: StreamWriter) -> bytes:
        """Read the TLS ClientHello; except for private hosts, its server name must match the request."""
        if self._upstream is None and not is_public(back.get_extra_info("peername")[0]):
            return b""
        try:
            return await asyncio.wait_for(_named(reader, host), _HEAD_S)
        except Refused as error:
            # Inside a tunnel there is no way to send an HTTP error.
            self._refused(host, str(error))
            raise ConnectionError from error


def egress_for(
    level: Level,
    network: Network,
    hosts: Iterable[str],
    refused: Callable[[str, str], None],
    environment: Mapping[str, str],
) -> Egress | None:
    """Return the way out if the network is a list; only bubblewrap has a network namespace for it."""
    is_held = network == "list" and level == "bwrap"
    return Egress(hosts_named(hosts), refused, environment) if is_held else None


@contextmanager
def served(egress: Egress | None) -> Iterator[None]:
    """Serve a started command from a thread, for callers without an event loop."""
    if egress is None:
        yield
        return
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="egress", daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(egress.open(), loop)
    try:
        yield
    finally:
        asyncio.run_coroutine_threadsafe(egress.close(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _named(reader: StreamReader, host: str) -> bytes:
    data = b""
    while (name := server_name(data)) is None:
        more = await reader.read(HELLO_BYTES)
        data += more
        if not more or len(data) > HELLO_BYTES:
            raise Refused("no ClientHello")
    if name != host:
        raise Refused(f"the server name of its TLS is {name!r}")
    return data


async def _connected(host: str, entry: Host) -> tuple[StreamReader, StreamWriter]:
    loop = asyncio.get_running_loop()
    try:
        look_up = loop.getaddrinfo(host.strip("[]"), entry.port, type=socket.SOCK_STREAM)
        found = await asyncio.wait_for(look_up, _CONNECT_S)
    except OSError as error:
        raise Refused("the name was not found") from error
    addresses = list(dict.fromkeys(str(row[4][0]) for row in found))
    if not entry.is_private and not all(map(is_public, addresses)):
        raise Refused("the name leads to this machine or its network")
    for address in addresses[:_TRIED]:
        with contextlib.suppress(OSError, TimeoutError):
            opened = asyncio.open_connection(address, entry.port, limit=_CHUNK)
            return await asyncio.wait_for(opened, _CONNECT_S / _TRIED)
    raise Refused("no answer from the host")


async def _by_upstream(upstream: tuple[str, int], host: str, port: int) -> tuple[StreamReader, StreamWriter]:
    """Connect through the user's own proxy, which resolves the name and decides about its addresses."""
    try:
        opened = asyncio.open_connection(*upstream, limit=_CHUNK)
        there, back = await asyncio.wait_for(opened, _CONNECT_S)
        back.write(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        answer = await asyncio.wait_for(there.readuntil(b"\r\n\r\n"), _CONNECT_S)
    except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise Refused("no answer from your proxy") from error
    if answer.split()[1:2] != [b"200"]:
        back.close()
        status = answer.partition(b"\r\n")[0].decode("ascii", "replace")[:100]
        raise Refused(f"your proxy says {status}")
    return there, back


async def _both(reader: StreamReader, writer: StreamWriter, there: StreamReader, back: StreamWriter) -> None:
    """Copy in both directions until both have ended."""
    ways = (asyncio.create_task(_copy(reader, back)), asyncio.create_task(_copy(there, writer)))
    try:
        await asyncio.wait(ways)
    finally:
        for way in ways:
            way.cancel()


async def _copy(reader: StreamReader, writer: StreamWriter) -> None:
    with contextlib.suppress(OSError, TimeoutError):
        while data := await asyncio.wait_for(reader.read(_CHUNK), _IDLE_S):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
        return
    writer.close()
