"""Entry point of every hook: `python -I -S main.py EVENT`, with the payload on stdin.

Rule: an error before PreToolUse blocks the call (exit 2); at any other event it is silent (exit 0). Python
compiles this file at every start, so keep it tiny.
"""

import sys
from _signal import ITIMER_REAL, SIG_UNBLOCK, SIGALRM, pthread_sigmask, setitimer, signal  # type: ignore[import-not-found]  # signal itself loads enum
from posix import _exit, write

GATE = sys.argv[1:] == ["PreToolUse"]


def leave(*_: object) -> None:
    """Exit at once, without an answer."""
    try:
        if GATE:
            write(2, b"asbuilt: the gate came to no answer, so nothing was done. Try it again.\n")
    finally:
        # Even if stderr is closed: any exit code but 2 would let the call through.
        _exit(2 if GATE else 0)


try:
    signal(SIGALRM, leave)
    pthread_sigmask(SIG_UNBLOCK, (SIGALRM,))
    setitimer(ITIMER_REAL, 2 if GATE else 8)
    # After the standard library, so that no module beside this package shadows one of it.
    sys.path.append(__file__.rpartition("/asbuilt/hook/")[0])
    if GATE:
        from asbuilt.hook import pre_tool_use

        _exit(pre_tool_use.main())
    elif sys.argv[1] == "PermissionRequest":
        from asbuilt.hook import permission_request

        _exit(permission_request.main())
    from asbuilt.hook import conversation

    code = conversation.main(sys.argv[1])
    sys.stdout.flush()
    _exit(code)
except BaseException:  # noqa: BLE001  the door: closed before a call, silent elsewhere
    leave()
