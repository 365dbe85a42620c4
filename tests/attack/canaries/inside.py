"""Inside a sandbox: list which canaries can be found. `python inside.py SPEC.json` prints a list as JSON."""

import ctypes
import json
import os
import platform
import socket
import sys

with open(sys.argv[1]) as opened:
    spec = json.load(opened)
word = spec["word"].encode()
own = os.path.dirname(os.path.realpath(sys.argv[1]))
found = []


def holds(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return word in file.read(65_536)
    except OSError:
        return False


for top in spec["walk"]:
    for folder, _, names in os.walk(top):
        if not folder.startswith(("/proc", "/sys", "/dev", "/usr", own)):
            found += [path for path in (os.path.join(folder, name) for name in names) if holds(path)]
found += [path for path in spec["files"] if holds(path)]
for address in [*spec["sockets"], *("\0" + name for name in spec["abstract"])]:
    with socket.socket(socket.AF_UNIX) as one:
        try:
            one.connect(address)
        except OSError:
            continue
        found.append(f"socket {address}")
for host, port in spec["tcp"]:
    try:
        socket.create_connection((host, port), 2).close()
        found.append(f"tcp {host}:{port}")
    except OSError:
        pass
try:
    socket.socket(40, socket.SOCK_STREAM).close()
    found.append("AF_VSOCK")
except OSError:
    pass
number = {"x86_64": 250, "aarch64": 219}[platform.machine()]
libc, buffer = ctypes.CDLL(None), ctypes.create_string_buffer(200)
key = libc.syscall(number, 10, -3, b"user", spec["key"].encode(), 0)
if key > 0 and libc.syscall(number, 11, key, buffer, 200) > 0 and word in buffer.value:
    found.append("session keyring")
for pid in filter(str.isdigit, os.listdir("/proc")):
    for name in ("environ", "cmdline"):
        if int(pid) != os.getpid() and holds(f"/proc/{pid}/{name}"):
            found.append(f"/proc/{pid}/{name}")
found += [f"variable {name}" for name, value in os.environ.items() if word.decode() in value]
print("FOUND " + json.dumps(sorted(set(found))))
