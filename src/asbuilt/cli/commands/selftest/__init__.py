"""`asbuilt selftest`: test this installation in temporary repositories."""

from __future__ import annotations

from asbuilt.cli.shell.lazy import Lazy, LazyGroup

group = LazyGroup(
    "selftest",
    commands={
        "agent": Lazy("selftest.agent:command", "five small plans with your own agent, measured"),
        "lies": Lazy("selftest.lies:command", "measure which lies are caught and whether honest work passes"),
    },
    examples=[
        ("asbuilt selftest lies", "the whole corpus against this installation; no model"),
        ("asbuilt selftest agent", "five small plans with your own agent and login; asks first"),
    ],
    help="Test this installation end to end, in temporary folders.",
)
