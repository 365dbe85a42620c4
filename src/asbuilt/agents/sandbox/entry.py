"""The first process in a sandbox that has a list of hosts: `entry.py FD PORT... -- ARGV`.

It listens on the sandbox's own loopback, passes the listeners to the proxy outside through FD (an inherited
socket), and execs the command. A socket stays in the network namespace where it was created, whichever
process holds it: the proxy accepts on it, and no process of ours stays inside. Standard library only, run by
its path.

Rule: the command starts only when the proxy has the listeners.
"""

import os
import socket
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Listen, pass the listeners on, exec the command."""
    at = sys.argv.index("--")
    ports, argv = [int(port) for port in sys.argv[2:at]], sys.argv[at + 1 :]
    with socket.socket(fileno=int(sys.argv[1])) as channel:
        servers = [_listener(port) for port in ports]
        socket.send_fds(channel, [b"x"], [server.fileno() for server in servers])
        if channel.recv(1) != b"k":
            sys.exit("the proxy of this sandbox is not there")
        for server in servers:
            server.close()
    os.execvp(argv[0], argv)  # noqa: S606  becoming the command is what this is for


def _listener(port: int) -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", port), backlog=64)
    except OSError as error:
        low = " A port below 1024 needs privileges that a sandbox has not." if port < 1024 else ""
        sys.exit(f"this sandbox cannot listen on 127.0.0.1:{port}: {os.strerror(error.errno or 0)}.{low}")


if __name__ == "__main__":
    main()
