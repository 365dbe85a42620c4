"""A release that lacks something is refused; `just release --smoke` in CI builds a real one."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest

from tests.docs.scripts import script

if TYPE_CHECKING:
    from pathlib import Path

release = script("release")
SHARE = "asbuilt-1.data/data/share"
WHOLE = {
    "asbuilt/py.typed": "",
    "asbuilt/cli/commands/init/plugin/plugin.json": "{}",
    "asbuilt/cli/commands/selftest/corpus/lies/a.toml": "",
    f"{SHARE}/man/man1/asbuilt.1": "",
    f"{SHARE}/man/man1/asbuilt-run.1": "",
    f"{SHARE}/bash-completion/completions/asbuilt": "",
    f"{SHARE}/zsh/site-functions/_asbuilt": "",
    f"{SHARE}/fish/vendor_completions.d/asbuilt.fish": "",
    "asbuilt-1.dist-info/licenses/LICENSE": "",
}


def _wheel(folder: Path, files: dict[str, str]) -> Path:
    wheel = folder / "asbuilt-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as packed:
        for name, text in files.items():
            packed.writestr(name, text)
    return wheel


def test_a_wheel_that_has_everything_passes(tmp_path: Path) -> None:
    assert release.check_contents(_wheel(tmp_path, WHOLE)).startswith("contents 9 files")


@pytest.mark.parametrize("missing", WHOLE)
def test_a_wheel_that_lacks_a_file_is_refused(missing: str, tmp_path: Path) -> None:
    wheel = _wheel(tmp_path, {name: text for name, text in WHOLE.items() if name != missing})
    with pytest.raises(release.ReleaseFailed, match="the wheel has no"):
        release.check_contents(wheel)


def test_a_wheel_that_names_a_path_of_the_machine_is_refused(tmp_path: Path) -> None:
    wheel = _wheel(tmp_path, WHOLE | {"asbuilt/built.py": f"HERE = '{release.ROOT}/src'"})
    with pytest.raises(release.ReleaseFailed, match=r"asbuilt/built\.py"):
        release.check_contents(wheel)


def test_a_change_that_is_not_in_the_changelog_stops_a_release(tmp_path: Path) -> None:
    assert release.check_fragments(tmp_path).startswith("changes")
    (tmp_path / "faster.changed.md").write_text("It is faster.\n", encoding="utf-8")
    with pytest.raises(release.ReleaseFailed, match=r"faster\.changed\.md"):
        release.check_fragments(tmp_path)
