"""A plan goes to another machine and arrives byte for byte, or not at all."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from tests.cli.plans import PROGRESS, RATE_LIMIT, SECTIONS, put, run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def box(tmp_path: Path) -> Path:
    """Make another machine's repository."""
    root = tmp_path / "box"
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return root


ODD = b"\xef\xbb\xbf# Odd \xff\r\n\r\n## Phase 1: x\r\n\x00 \xe2\x80\xa8 no final newline"


@pytest.mark.parametrize("data", [RATE_LIMIT.encode(), ODD, b"# x\n" + b"y" * 1_999_996])
def test_export_into_import_is_the_same_bytes(
    shop: Path, box: Path, environ: dict[str, str], data: bytes
) -> None:
    (shop / "plans").mkdir()
    (shop / "plans" / "login.md").write_bytes(data)
    sent = run(shop, environ, "plan", "export", "login")
    assert (sent.code, sent.err, sent.out.count(b"\n")) == (0, b"", 1)
    arrived = run(box, environ, "plan", "import", "-", given=sent.out)
    assert (arrived.code, (box / "plans" / "login.md").read_bytes()) == (0, data)


def test_the_progress_document_goes_along(
    asbuilt: Callable[..., str], shop: Path, box: Path, environ: dict[str, str]
) -> None:
    put(shop, importer=SECTIONS, PROGRESS=PROGRESS)
    assert asbuilt("plan", "export", "importer", "-o", "out.json").startswith(
        "exit 0\n--- stdout\nWrote out.json: importer, sha256:"
    )
    assert asbuilt("plan", "import", "../shop-api/out.json", cwd=box) == snapshot("""\
exit 0
--- stdout
Wrote plans/importer.md and plans/PROGRESS.md: sections, 2 phases, no problems.
--- stderr
Next: asbuilt plan show importer
""")
    assert {path.name: path.read_text() for path in (box / "plans").iterdir()} == {
        "importer.md": SECTIONS,
        "PROGRESS.md": PROGRESS,
    }
    (box / "plans" / "importer.md").unlink()
    assert asbuilt("plan", "import", "../shop-api/out.json", cwd=box) == snapshot("""\
exit 0
--- stdout
Wrote plans/importer.md: sections, 2 phases, no problems.
--- stderr
Next: asbuilt plan show importer
""")
    (box / "plans" / "importer.md").unlink()
    (box / "plans" / "PROGRESS.md").write_text("another")
    assert asbuilt("plan", "import", "../shop-api/out.json", cwd=box) == snapshot("""\
exit 1
--- stderr
error: plans/PROGRESS.md exists already, with different text
  Why:  It is the progress document of the plan in the bundle; nothing is ever
        overwritten.
  Next:
        mv [TMP]/box/plans/PROGRESS.md [TMP]/box/plans/PROGRESS.md.old
        # or put the plan elsewhere with --user
""")
    assert [path.name for path in (box / "plans").iterdir()] == ["PROGRESS.md"]
    assert environ["HOME"]


def test_what_arrives_twice_is_written_once(asbuilt: Callable[..., str], shop: Path, box: Path) -> None:
    put(shop, rate_limit=RATE_LIMIT)
    asbuilt("plan", "export", "rate", "-o", "../sent.json")
    assert asbuilt("plan", "import", "../sent.json", cwd=box) == snapshot("""\
exit 0
--- stdout
Wrote plans/rate-limit.md: tracker, 4 phases, no problems.
--- stderr
Next: asbuilt plan show rate-limit
""")
    assert asbuilt("plan", "import", "../sent.json", cwd=box) == snapshot("""\
exit 0
--- stdout
plans/rate-limit.md is this very plan already; nothing was written.
""")
    (box / "plans" / "rate-limit.md").write_text("changed")
    assert asbuilt("plan", "import", "../sent.json", cwd=box) == snapshot("""\
exit 0
--- stdout
Wrote plans/rate-limit-2.md: tracker, 4 phases, no problems.
--- stderr
Next: asbuilt plan show rate-limit-2
""")
    assert asbuilt("plan", "import", "../sent.json", "--name", "rate-limit", cwd=box) == snapshot("""\
exit 1
--- stderr
error: plans/rate-limit.md exists already
  Why:  Nothing is ever overwritten.
  Next:
        ${EDITOR:-vi} [TMP]/box/plans/rate-limit.md
        # or choose another name
""")
    assert sorted(path.name for path in (box / "plans").iterdir()) == ["rate-limit-2.md", "rate-limit.md"]


def test_a_markdown_file_is_taken_in_under_its_name(
    asbuilt: Callable[..., str], box: Path, tmp_path: Path
) -> None:
    (tmp_path / "FEATURE_PLAN.md").write_text(RATE_LIMIT)
    assert asbuilt("plan", "import", "../FEATURE_PLAN.md", cwd=box) == snapshot("""\
exit 0
--- stdout
Wrote plans/feature-plan.md: tracker, 4 phases, no problems.
--- stderr
Next: asbuilt plan show feature-plan
""")
    assert asbuilt("plan", "import", "../FEATURE_PLAN.md", "--name", "Login", cwd=box) == snapshot("""\
exit 0
--- stdout
Wrote plans/login.md: tracker, 4 phases, no problems.
--- stderr
Next: asbuilt plan show login
""")
    assert asbuilt("plan", "import", "FEATURE_PLAN.md", "--user", cwd=tmp_path) == snapshot("""\
exit 0
--- stdout
Wrote ~/.claude/plans/feature-plan.md: tracker, 4 phases, no problems.
--- stderr
Next: asbuilt plan show feature-plan
""")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        pytest.param(
            {"content": base64.b64encode(b"# Evil\n").decode()},
            snapshot("""\
exit 1
--- stderr
error: the bundle cannot be imported: its plan does not have the digest that it
       was sent with
  Why:  asbuilt imports only a bundle that is unchanged since its export.
  Next: asbuilt plan export PLAN
        # where the plan is, with the same version
"""),
            id="tampered",
        ),
        pytest.param(
            {"schema": "asbuilt.bundle/9"},
            snapshot("""\
exit 1
--- stderr
error: the bundle cannot be imported: its format is asbuilt.bundle/9; this
       version reads asbuilt.bundle/1
  Why:  asbuilt imports only a bundle that is unchanged since its export.
  Next: asbuilt plan export PLAN
        # where the plan is, with the same version
"""),
            id="of another kind",
        ),
        pytest.param(
            {
                "companion": {
                    "file": "../../.bashrc",
                    "content": "",
                    "digest": "sha256:" + "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                }
            },
            snapshot("""\
exit 1
--- stderr
error: the bundle cannot be imported: its progress document is called
       ../../.bashrc
  Why:  That leads out of the folder where plans are kept.
  Next: Copy the plan and its progress document by hand.
"""),
            id="a document that leads elsewhere",
        ),
    ],
)
def test_a_bundle_that_cannot_be_trusted_is_refused(
    asbuilt: Callable[..., str], shop: Path, box: Path, change: dict[str, object], told: str
) -> None:
    put(shop, rate_limit=RATE_LIMIT)
    bundle = json.loads(asbuilt("plan", "export", "rate").removeprefix("exit 0\n--- stdout\n"))
    (box / "sent.json").write_text(json.dumps(bundle | change))
    assert asbuilt("plan", "import", "sent.json", cwd=box) == told
    assert not (box / "plans").exists()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        pytest.param(
            b"",
            snapshot("""\
exit 1
error: stdin holds nothing
  Why:  The input is empty; the command that writes it may have failed.
  Next: asbuilt plan import FILE
        # or correct the command before the pipe
"""),
            id="nothing",
        ),
        pytest.param(
            b'{"schema":"asbuilt.bundle/1","slug":"x","digest":"sha',
            snapshot("""\
exit 1
error: the bundle cannot be imported: it is incomplete or not valid JSON
  Why:  asbuilt imports only a bundle that is unchanged since its export.
  Next: asbuilt plan export PLAN
        # where the plan is, with the same version
"""),
            id="cut off",
        ),
        pytest.param(
            b"# x\n" + b"y" * 2_000_000,
            snapshot("""\
exit 1
error: the plan has 2,000,004 bytes; at most 2,000,000 are read
  Why:  No agent can follow a plan of that size, and no user can review it.
  Next: asbuilt plan new "the second part"
        # to split it into several plans
"""),
            id="too large",
        ),
        pytest.param(
            b"y" * 9_000_000,
            snapshot("""\
exit 1
error: stdin has more than 6,000,000 bytes
  Why:  A plan of that size can be neither followed nor approved.
  Next: asbuilt plan new "the second part"
        # to split it into several plans
"""),
            id="far too large",
        ),
    ],
)
def test_what_holds_no_plan_is_refused(box: Path, environ: dict[str, str], given: bytes, told: str) -> None:
    done = run(box, environ, "plan", "import", "-", given=given)
    assert f"exit {done.code}\n{done.out.decode()}{done.err.decode()}" == told
    assert not (box / "plans").exists()


def test_a_name_from_elsewhere_leads_nowhere_else(asbuilt: Callable[..., str], shop: Path, box: Path) -> None:
    put(shop, rate_limit=RATE_LIMIT)
    bundle = json.loads(asbuilt("plan", "export", "rate").removeprefix("exit 0\n--- stdout\n"))
    (box / "sent.json").write_text(json.dumps(bundle | {"slug": "../../../etc/cron.d/x"}))
    asbuilt("plan", "import", "sent.json", cwd=box)
    assert [path.name for path in (box / "plans").iterdir()] == ["etc-cron-d-x.md"]


def test_export_never_overwrites(asbuilt: Callable[..., str], shop: Path) -> None:
    put(shop, rate_limit=RATE_LIMIT)
    (shop / "out.json").write_text("mine")
    assert asbuilt("plan", "export", "rate", "-o", "out.json") == snapshot("""\
exit 1
--- stderr
error: out.json exists already
  Why:  Nothing is ever overwritten.
  Next:
        ${EDITOR:-vi} [TMP]/shop-api/out.json
        # or choose another name
""")
    assert (shop / "out.json").read_text() == "mine"


def test_a_file_that_is_not_there(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("plan", "import", "nowhere.md") == snapshot("""\
exit 3
--- stderr
error: there is no file nowhere.md
  Why:  asbuilt uses a path exactly as written.
  Next: asbuilt plan list
        # shows the plans that are here
""")
    assert asbuilt("plan", "import", "~nobody/x.md").split("\n")[0] == "exit 3"
