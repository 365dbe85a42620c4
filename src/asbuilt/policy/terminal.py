"""Keep a process in the ring from typing into the terminal that it shares with a person. Pure data.

Whoever has a terminal may put characters into its input (TIOCSTI, TIOCLINUX), which the person's shell then
reads as typed. A session of its own would stop that and take the terminal away; this is a filter for the
kernel (seccomp) that refuses the two calls.

The one rule: a processor that the filter does not know runs nothing.
"""

from __future__ import annotations

MACHINES = ("x86_64", "aarch64", "arm64")
"""Where the filter knows the numbers of calls."""
_REFUSED = (0x5412, 0x541C)
# Per architecture, as the kernel names it: what `ioctl` is called there; x32 is x86_64 with one bit more.
_IOCTL = (
    (0xC000003E, (16, 0x40000000 | 514, 0x40000000 | 16)),
    (0x40000003, (54,)),
    (0xC00000B7, (29,)),
    (0x40000028, (54,)),
)
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _NOT_PERMITTED, _KILL = 0x7FFF0000, 0x00050001, 0x80000000
_NUMBER, _ARCHITECTURE, _REQUEST = 0, 4, 24


def terminal_filter() -> bytes:
    """Give the filter as the kernel reads it: eight bytes an instruction."""
    asked = [
        (_LOAD, 0, 0, _REQUEST),
        *((_EQUAL, len(_REFUSED) - at, 0, one) for at, one in enumerate(_REFUSED)),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _NOT_PERMITTED),
    ]
    program: list[tuple[int, int, int, int]] = [(_LOAD, 0, 0, _ARCHITECTURE)]
    for architecture, numbers in _IOCTL:
        block = [
            (_LOAD, 0, 0, _NUMBER),
            *((_EQUAL, len(numbers) - at, 0, one) for at, one in enumerate(numbers)),
            (_RETURN, 0, 0, _ALLOW),
            *asked,
        ]
        program += [(_EQUAL, 0, len(block), architecture), *block]
    program.append((_RETURN, 0, 0, _KILL))
    return b"".join(
        code.to_bytes(2, "little") + bytes((yes, no)) + value.to_bytes(4, "little")
        for code, yes, no, value in program
    )
