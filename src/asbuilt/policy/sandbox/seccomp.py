"""The system calls that no process in a sandbox may make, as a filter for the kernel (seccomp). Pure data.

Mounts and namespaces do not stop these calls: they read other processes or the keys of the login session,
load programs into the kernel, or open sockets that a network namespace does not hold (AF_VSOCK reaches the
hypervisor).

Rule: a refused call fails with an error number, and the process continues. EPERM where a program reports the
error; ENOSYS where programs then fall back on another call.
"""

from __future__ import annotations

MACHINES = ("x86_64", "aarch64", "arm64")
"""Processors whose system call numbers are known; others have no filter."""
EPERM, ENOSYS, EAFNOSUPPORT = 1, 38, 97
# Per call: its number on x86_64 and on aarch64, and the error.
REFUSED = {
    "add_key": (248, 217, EPERM),
    "request_key": (249, 218, EPERM),
    "keyctl": (250, 219, EPERM),
    "ptrace": (101, 117, EPERM),
    "process_vm_readv": (310, 270, EPERM),
    "process_vm_writev": (311, 271, EPERM),
    "pidfd_getfd": (438, 438, EPERM),
    "kcmp": (312, 272, EPERM),
    "perf_event_open": (298, 241, EPERM),
    "bpf": (321, 280, EPERM),
    "userfaultfd": (323, 282, EPERM),
    "syslog": (103, 116, EPERM),
    "open_by_handle_at": (304, 265, EPERM),
    "kexec_load": (246, 104, EPERM),
    "kexec_file_load": (320, 294, EPERM),
    "init_module": (175, 105, EPERM),
    "finit_module": (313, 273, EPERM),
    "io_uring_setup": (425, 425, ENOSYS),
    "io_uring_enter": (426, 426, ENOSYS),
    "io_uring_register": (427, 427, ENOSYS),
}
FAMILIES = {"unix": 1, "inet": 2, "inet6": 10, "netlink": 16}
"""Socket families that may be created."""
# TIOCSTI and TIOCLINUX put characters into a terminal's input, which the user's shell then reads.
_TYPING = (0x5412, 0x541C)
# Per processor: its audit value, the column above, `socket`, `ioctl`, the first number of x32, if any.
_X86_64 = (0xC000003E, 0, 41, 16, 0x40000000)
_AARCH64 = (0xC00000B7, 1, 198, 29, None)
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
# Offsets in `struct seccomp_data`; the low half of an argument comes first.
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24


def seccomp_filter() -> bytes:
    """Return the filter in the kernel's format, 8 bytes per instruction. Calls of other processors fail."""
    program = [(_LOAD, 0, 0, _ARCHITECTURE)]
    for architecture, column, socket, ioctl, x32 in (_X86_64, _AARCH64):
        block = [(_LOAD, 0, 0, _NUMBER)]
        if x32:
            block += [(_AT_LEAST, 0, 1, x32), (_RETURN, 0, 0, _FAIL | ENOSYS)]
        for row in REFUSED.values():
            block += [(_EQUAL, 0, 1, row[column]), (_RETURN, 0, 0, _FAIL | row[2])]
        block += _where(socket, _FIRST, tuple(FAMILIES.values()), listed=_ALLOW, other=_FAIL | EAFNOSUPPORT)
        block += _where(ioctl, _SECOND, _TYPING, listed=_FAIL | EPERM, other=_ALLOW)
        block.append((_RETURN, 0, 0, _ALLOW))
        program += [(_EQUAL, 0, len(block), architecture), *block]
    program.append((_RETURN, 0, 0, _FAIL | ENOSYS))
    return b"".join(
        code.to_bytes(2, "little") + bytes((yes, no)) + value.to_bytes(4, "little")
        for code, yes, no, value in program
    )


def _where(
    call: int, argument: int, values: tuple[int, ...], *, listed: int, other: int
) -> list[tuple[int, int, int, int]]:
    """Decide one call by the value of an argument."""
    asked = [
        (_LOAD, 0, 0, argument),
        *((_EQUAL, len(values) - at, 0, value) for at, value in enumerate(values)),
        (_RETURN, 0, 0, other),
        (_RETURN, 0, 0, listed),
    ]
    return [(_EQUAL, 0, len(asked), call), *asked]
