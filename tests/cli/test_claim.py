"""The exit codes of `asbuilt claim` are a contract, also where the store does not answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.plans import RATE_LIMIT, put
from tests.cli.test_agents import typed

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "command", [("acquire", "--owner", "me"), ("release", "--owner", "me"), ("break", "--reason", "gone")]
)
def test_a_claim_on_a_store_that_fails_ends_with_11(
    shop: Path, environ: dict[str, str], command: tuple[str, ...]
) -> None:
    put(shop, rate_limit=RATE_LIMIT)
    name, *options = command
    away = {**environ, "ASBUILT_STORE_URL": "postgresql://nobody@127.0.0.1:1/none"}
    code, out, err = typed(shop, away, "claim", name, "rate-limit", *options)
    assert (code, out, err.splitlines()[0].partition(":")[0]) == (11, "", "error")
