"""`asbuilt selftest agent` as a person sees it, with the scripted agent in place of a model."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from asbuilt.cli.commands.selftest.exercises import NAMES

SCRIPTS = Path(__file__).parent / "selftest"
"""Honest work for every plan but `bug`, whose order of shares is wrong."""


class Owner:
    """A person with settings of their own, and a journal that must not be touched."""

    def __init__(self, folder: Path) -> None:
        self.home, self.tmp, self.bin = folder / "home", folder / "tmp", folder / "bin"
        for made in (self.home, self.tmp, self.bin):
            made.mkdir()
        settings = self.home / ".config" / "asbuilt" / "config.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text(
            '[agents]\nimplement = "mine"\n[agents.mine]\nkind = "scripted"\nmodel = "toy-1"\n'
            '[limits]\nusd = 0.05\n[landing]\nmode = "pr"\n[store]\nurl = "postgresql://nowhere.invalid/x"\n',
            encoding="utf-8",
        )
        self.path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        self.before = self.files()

    def types(self, *arguments: str) -> tuple[int, str, str]:
        ended = subprocess.run(
            [sys.executable, "-m", "asbuilt", "selftest", "agent", "--scripts", str(SCRIPTS), *arguments],
            cwd=self.tmp,
            env={
                "PATH": self.path, "HOME": str(self.home), "TMPDIR": str(self.tmp), "LC_ALL": "C.UTF-8",
                "ASBUILT_STORE_URL": "", "ASBUILT_PLANS_FOLDER": "elsewhere", "USER": "ada",
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
        return ended.returncode, ended.stdout, ended.stderr

    def has_only(self, *programs: str) -> None:
        """Leave nothing on the PATH but these programs."""
        for program in programs:
            found = shutil.which(program)
            assert found is not None
            (self.bin / program).symlink_to(found)
        self.path = str(self.bin)

    def files(self) -> dict[str, bytes]:
        return {str(file): file.read_bytes() for file in self.home.rglob("*") if file.is_file()}


@pytest.fixture
def owner(tmp_path: Path) -> Owner:
    return Owner(tmp_path)


def stable(text: str) -> str:
    """Replace what differs from run to run."""
    for pattern, word in (
        (r"(?m) +\d+[sm]$", " [TIME]"),
        (r" +\d+[sm]\b *", " [TIME] "),
        (r"asbuilt \S+, \d{4}-\d\d-\d\d, sandbox: \w+", "asbuilt [VERSION], [DAY], sandbox: [LEVEL]"),
    ):
        text = re.sub(pattern, word, text)
    return text


def test_what_lands_right_is_proven_what_lands_wrong_is_shown_and_the_limit_holds_for_all(
    owner: Owner,
) -> None:
    code, out, err = owner.types("--yes", "--markdown", "table.md", "--only", "python", "--only", "bug",
                                 "--only", "dependency")  # fmt: skip
    assert (code, stable(out)) == (
        1,
        snapshot("""\
asbuilt [VERSION], [DAY], sandbox: [LEVEL]. Implements: scripted (toy-1). Verifies: scripted (toy-1).
plan        outcome           cost   time  reason
python      proven            $0.02 [TIME]
bug         landed and wrong  $0.03 [TIME] python3 hidden_test.py: exit 1: AssertionError: (1, 2, [0, 1])
dependency  not run                        $0.05 of $0.05 are spent (limits.usd)
1 proven, 1 landed and wrong, 1 not run; $0.05, [TIME] .
"""),
    )
    assert stable((owner.tmp / "table.md").read_text(encoding="utf-8")) == snapshot("""\
## asbuilt selftest agent

asbuilt [VERSION], [DAY], sandbox: [LEVEL]. Implements: scripted (toy-1). Verifies: scripted (toy-1).

| plan | outcome | cost | time | reason |
| --- | --- | --- | --- | --- |
| python | proven | $0.02 | [TIME] |  |
| bug | landed and wrong | $0.03 | [TIME] | python3 hidden_test.py: exit 1: AssertionError: (1, 2, [0, 1]) |
| dependency | not run |  |  | $0.05 of $0.05 are spent (limits.usd) |

1 proven, 1 landed and wrong, 1 not run; $0.05, [TIME] .
""")
    cost = "Cost $0.30 to $3.00, assumed without past runs; limit $0.05 for all of them"
    assert cost in " ".join(err.split())
    assert "Limit: $0.03 (API prices) a run" in err, "the second plan gets what the first has left"
    assert [file.name for file in owner.tmp.iterdir()] == ["table.md"]
    assert owner.files() == owner.before


def test_nothing_runs_unless_somebody_says_yes(owner: Owner) -> None:
    code, out, err = owner.types("--only", "go")
    assert (code, out, err.partition("error:")[2]) == snapshot(
        (
            2,
            "",
            """\
 selftest agent costs money, and there is no terminal to confirm it
  Why:  The plans run with your own agent and login.
  Next: asbuilt selftest agent --yes
""",
        )
    )


def test_a_table_that_is_there_stops_it_before_money_is_spent(owner: Owner) -> None:
    (owner.tmp / "table.md").write_text("mine", encoding="utf-8")
    code, out, err = owner.types("--yes", "--markdown", "table.md")
    assert (code, out, err.splitlines()[0]) == (1, "", "error: table.md exists already")


def test_a_plan_whose_toolchain_is_missing_is_listed_as_not_run(owner: Owner) -> None:
    owner.has_only("git", "python3")
    code, out, err = owner.types("--json", "--yes", "--only", "go", "--only", "node")
    told = json.loads(out)
    assert (code, [(one["name"], one["outcome"], one["why"]) for one in told["plans"]]) == (
        1,
        [("node", "not run", "node is not installed"), ("go", "not run", "go is not installed")],
    )
    assert (told["schema"], told["good"], told["implements"]) == (
        "asbuilt.selftest.agent/1", False, "scripted (toy-1)",
    )  # fmt: skip
    assert "Plans    none; not run: node (node is not installed), go (go is not installed)\n" in err


PLAYED = {
    "python": "proven", "node": "proven", "go": "proven", "bug": "landed and wrong", "dependency": "proven",
}  # fmt: skip


@pytest.mark.crash
@pytest.mark.parametrize("name", NAMES)
def test_every_plan_has_work_that_is_proven_and_work_that_lands_wrong_is_told(
    owner: Owner, name: str
) -> None:
    owner.before = {}
    (owner.home / ".config" / "asbuilt" / "config.toml").unlink()
    code, out, _ = owner.types("--yes", "--json", "--agent", "scripted", "--only", name)
    (played,) = json.loads(out)["plans"]
    assert (played["name"], played["outcome"]) == (name, PLAYED[name])
    assert code == (PLAYED[name] != "proven")
