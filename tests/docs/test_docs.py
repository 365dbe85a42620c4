from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from asbuilt import errors
from asbuilt.cli.shell import app
from asbuilt.plan.problems import Rule
from asbuilt.settings import NAMED, SETTINGS

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXTS = [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", ROOT / "AGENTS.md"]
NOT_RUN = 3
PLAYED_FROM_A_WHEEL = ROOT / "docs/tutorial"
CONSOLE = re.compile(r"(?<!^<!-- played -->\n)^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
"""But for what an agent had a part in, which tests/live/test_readme.py plays."""


def _transcripts(page: Path) -> list[str]:
    return CONSOLE.findall(page.read_text(encoding="utf-8"))


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository with the example plan committed, and nothing of the developer's own settings."""
    repository = tmp_path / "shop-api"
    (repository / "plans").mkdir(parents=True)
    shutil.copy(ROOT / "docs/examples/rate-limit.md", repository / "plans")
    for arguments in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "plan"]):
        subprocess.run(["git", *arguments], cwd=repository, check=True, env=_environment(tmp_path))  # noqa: S607
    return repository


def _environment(home: Path) -> dict[str, str]:
    return {
        "HOME": str(home),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "LANG": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@example.com",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@example.com",
    }


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if _transcripts(page) and page.parent != PLAYED_FROM_A_WHEEL],
    ids=lambda page: page.name,
)
def test_every_transcript_in_the_docs_is_what_the_commands_print(page: Path, shop: Path) -> None:
    for transcript in _transcripts(page):
        assert _played(transcript, shop) == transcript


@pytest.mark.crash
@pytest.mark.parametrize(
    "script",
    [
        pytest.param("first_plan.py", id="the first five minutes, from a built wheel in an empty home"),
        pytest.param("pictures.py", id="the pictures of the demo, in a real terminal"),
    ],
)
def test_what_the_docs_show_of_whole_runs_is_what_is_seen_now(script: str) -> None:
    ended = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / script), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode == NOT_RUN:
        pytest.skip(ended.stdout)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def _played(transcript: str, repository: Path) -> str:
    """Type the transcript's commands and write down what comes, digests shortened."""
    played = ""
    for line in transcript.splitlines():
        if not line.startswith("$ "):
            continue
        ended = subprocess.run(
            ["/bin/sh", "-c", line[2:]],
            cwd=repository,
            env=_environment(repository.parent),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            text=True,
        )
        played += f"{line}\n" + re.sub(r"sha256:[0-9a-f]{64}", "sha256:…", ended.stdout)
    return played


def test_generated_docs_say_what_the_code_says() -> None:
    ended = subprocess.run(
        [sys.executable, str(ROOT / "scripts/docs.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_every_rule_of_plan_check_is_explained() -> None:
    explained = re.findall(
        r"^\| `([a-z0-9-]+)` \|", (ROOT / "docs/reference/plans.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(explained) == sorted(Rule)


def test_every_setting_has_a_heading() -> None:
    headings = re.findall(
        r"^## (\S+)$", (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert headings == [*SETTINGS, *NAMED]


def test_every_kind_of_error_is_explained() -> None:
    headings = re.findall(
        r"^## (\S+)$", (ROOT / "docs/reference/troubleshooting.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    kinds = [kind for kind in vars(errors).values() if inspect.isclass(kind)]
    named = [kind.__name__ for kind in kinds if issubclass(kind, errors.AsbuiltError)]
    assert headings == [name for name in named if name != "AsbuiltError"]


def test_every_command_has_a_man_page_that_a_reader_takes_without_warnings() -> None:
    pages = sorted((ROOT / "share/man/man1").glob("*.1"))
    assert {page.stem for page in pages} == {"asbuilt", *(f"asbuilt-{name}" for name in app.COMMANDS)}
    if shutil.which("groff") is None:
        pytest.skip("groff is not here to read them")
    for page in pages:
        read = subprocess.run(
            ["groff", "-man", "-Tutf8", "-ww", page],  # noqa: S607
            capture_output=True,
            text=True,
            check=True,
        )
        assert (page.name, read.stderr) == (page.name, "")


def test_the_advice_for_agents_fits_on_a_page() -> None:
    assert len((ROOT / "AGENTS.md").read_text(encoding="utf-8").splitlines()) <= 120


def test_the_architecture_fits_on_a_page() -> None:
    lines = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 120
    assert len([line for line in lines if line.startswith("| ")]) - 1 <= 30


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    links = re.findall(r"(?:\]\(|\bsrc(?:set)?=\")([^)#\s\"]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not link.startswith("http") and not (page.parent / link).exists()] == []


def test_every_decision_is_listed() -> None:
    listed = re.findall(r"\]\((\d{4}-[^)]+\.md)\)", (ROOT / "docs/adr/README.md").read_text(encoding="utf-8"))
    assert listed == sorted(file.name for file in (ROOT / "docs/adr").glob("0*.md"))


def test_every_package_has_a_sentence_and_the_architecture_names_every_floor() -> None:
    packages = [path.parent for path in (ROOT / "src/asbuilt").rglob("__init__.py")]
    firsts = {
        package: (package / "__init__.py").read_text(encoding="utf-8").splitlines()[0] for package in packages
    }
    assert [package for package, first in firsts.items() if not first.startswith('"""')] == []
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    drawn = text.partition("```mermaid")[2].partition("```")[0]
    floors = {package.name for package in packages if package.parent.name == "asbuilt"}
    assert {floor for floor in floors if not re.search(rf"\b{floor}\b", drawn)} == set()
    named = re.findall(r"`([a-z_]+/[a-z_/]*(?:\.py)?)`", text)
    assert [
        name for name in named if not ((ROOT / "src/asbuilt" / name).exists() or (ROOT / name).exists())
    ] == []


def test_the_readme_is_read_in_one_sitting() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 120
    assert text.count("](docs/") < 30


KINDS_OF_PAGES = ("tutorial", "how-to", "reference", "explanation")


def test_every_page_belongs_to_a_kind_and_is_in_the_navigation() -> None:
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    loose = {page for page in pages if page.partition("/")[0] not in {*KINDS_OF_PAGES, "adr", "examples"}}
    assert loose == {"index.md", "requirements.md"}
    navigation = re.findall(
        r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    )
    assert sorted(navigation) == sorted(
        {"index.md", "adr/README.md", *(page for page in pages if page.startswith(KINDS_OF_PAGES))}
    )


@pytest.mark.parametrize("kind", ["how-to", "explanation"])
def test_a_page_that_is_no_reference_has_at_most_200_lines(kind: str) -> None:
    lengths = {
        page.name: len(page.read_text(encoding="utf-8").splitlines())
        for page in (ROOT / "docs" / kind).glob("*.md")
    }
    assert {name: lines for name, lines in lengths.items() if lines > 200} == {}
