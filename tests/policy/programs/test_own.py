"""asbuilt's own commands: what tells passes alone, the rest is a person's."""

from __future__ import annotations

import pytest

from tests.policy.programs.asking import refused

ALLOWED = [
    "asbuilt status",
    "asbuilt status rate-limit",
    "asbuilt plan show rate-limit --json",
    "asbuilt plan check plans/x.md",
    "asbuilt mode show",
    "asbuilt session status",
    "asbuilt gate check ls",
    "asbuilt --version",
]
REFUSED = [
    "asbuilt mode exit",
    "asbuilt mode set x",
    "asbuilt status | tee x",
    "asbuilt run x",
    "asbuilt approve yes 1",
    "asbuilt config set a b",
    "asbuilt plan new x",
    "asbuilt plan mark x",
    "asbuilt report --html x",
]


@pytest.mark.parametrize("text", ALLOWED)
def test_what_only_reads_is_allowed(text: str) -> None:
    assert refused(text) is None


@pytest.mark.parametrize("text", REFUSED)
def test_what_may_do_more_is_refused(text: str) -> None:
    assert refused(text) is not None
