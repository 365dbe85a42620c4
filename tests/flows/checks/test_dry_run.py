"""A plan's checks are tried for real: in the ring, on a clean checkout of the base, each command once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asbuilt.agents.sandbox.launch import probe
from asbuilt.agents.sandboxed_commands import SandboxProcesses
from asbuilt.errors import GateStopped
from asbuilt.flows.checks.dry_run import Trying
from asbuilt.flows.environments.check_environment import CheckEnvironments
from asbuilt.plan.reader import read
from tests.git.conftest import shop

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.policy.sandbox.rules import Level
    from tests.git.shop import Shop

__all__ = ["shop"]

PLAN = b"""\
# P

## Phase 1 - Made

### Verification

```sh
test -f made.txt
./check.sh
pyest-that-nobody-has -q
test -f file.txt
echo x >> file.txt && test "$(wc -l < file.txt)" -gt 1
test "$(wc -l < file.txt)" -gt 1
if true; then echo
```

## Verification

- `make-nothing || true`
"""


@pytest.fixture
def held() -> Level:
    """Return the ring that holds checks on this machine; there has to be one."""
    found = probe().for_work
    assert found != "none"
    return found


def plan_tried(shop: Shop, folder: Path, level: Level, *, setup: str = "") -> list[tuple[str, str, str]]:
    shop.commit("a file", {"file.txt": "as it is\n"})
    processes = SandboxProcesses(
        scratch=folder / "scratch", hidden=(folder / "state",), homes=(folder / "nobody",), level=level
    )
    environments = CheckEnvironments(folder / "state" / "setups", shop.repository, processes, limit_s=60)
    tree = shop.git("rev-parse", "main^{tree}")
    trying = Trying(shop.repository, environments, tree, level)
    return [(one.phase, one.before, one.why) for one in trying.tried(read(PLAN), setup=setup)]


def test_every_check_is_told_by_what_it_does_before_the_work(shop: Shop, tmp_path: Path, held: Level) -> None:
    found = plan_tried(shop, tmp_path, held)
    assert [(phase, before) for phase, before, _ in found] == [
        ("1", "absent"),
        ("1", "absent"),
        ("1", "no program"),
        ("1", "passes"),
        # Each starts from the tree: what one leaves behind is not there for the next.
        ("1", "passes"),
        ("1", "fails"),
        ("1", "unreadable"),
        ("", "passes"),
    ]
    assert [why for _, _, why in found[:3]] == [
        "made.txt is not there yet",
        "./check.sh is not there yet",
        "pyest-that-nobody-has is not installed",
    ]


def test_where_the_setup_fails_nothing_could_be_tried(shop: Shop, tmp_path: Path, held: Level) -> None:
    found = plan_tried(shop, tmp_path, held, setup="exit 3")
    assert {(before, why) for _, before, why in found} == {("unclear", "setup: exit 3")}


def test_where_no_ring_holds_nothing_runs(shop: Shop, tmp_path: Path) -> None:
    with pytest.raises(GateStopped) as refused:
        plan_tried(shop, tmp_path, "none")
    assert refused.value.what == "Sandbox unavailable here, so no check can run"
    assert not (tmp_path / "state" / "setups").exists()
