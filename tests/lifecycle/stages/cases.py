"""Case files: an output of a stage and what is said of it. A bug report is one more file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from asbuilt.lifecycle.authoring.options import Options, choose
from asbuilt.lifecycle.authoring.stage_prompts import instruction
from asbuilt.lifecycle.authoring.stages import Stage
from asbuilt.lifecycle.authoring.validators.stage_validators import Setting
from asbuilt.lifecycle.flaws import Flaw

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER: Final = Path(__file__).parent / "cases"
FILES: Final = (
    "Makefile", "README.md", "docs/index.md", "package.json", "pyproject.toml", "src/api/app.py",
    "src/api/keys.py", "src/api/routes/v1.py", "src/api/settings.py", "src/store/memory.py",
    "src/store/redis.py", "tests/test_app.py", "tests/test_keys.py", "web/src/panel.tsx",
)  # fmt: skip
"""The repository that every case is about, unless it names another."""
PROMPT: Final = "Add rate limiting to the public API so that one API key cannot slow down the others."
_FENCE: Final = re.compile(r"^(`{5})markdown (\w+)\n(.*?)^\1$|^```json\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Case(NamedTuple):
    """One output, what it is judged against, and every flaw that it has."""

    name: str
    kind: Literal["rule", "game", "honest"]
    """A rule of a stage; an output that games the counting of words; a short one by a good engineer."""
    stage: Stage
    output: str
    setting: Setting
    flaws: tuple[Flaw, ...]


def load_all() -> list[Case]:
    """Read every case file."""
    return [_load(file) for file in sorted(FOLDER.glob("*.md"))]


def chosen(choices: Mapping[str, Any]) -> Options:
    """Choose what nobody would refuse."""
    options = choose(**choices)
    assert isinstance(options, Options), options
    return options


def _load(file: Path) -> Case:
    texts: dict[str, str] = {}
    expected: dict[str, Any] = {}
    for fence in _FENCE.finditer(file.read_text(encoding="utf-8")):
        if fence[4] is not None:
            expected = json.loads(fence[4])
        else:
            texts[fence[2]] = fence[3]
    stage = Stage(expected["stage"])
    options = chosen(expected.get("options", {}))
    is_final = expected.get("final", False)
    ask = instruction(stage, options, is_final=is_final)
    setting = Setting(
        options=options,
        prompt=texts.get("prompt", PROMPT),
        ask=ask,
        files=expected.get("files", FILES),
        plan=texts.get("plan", ""),
        is_final=is_final,
        wants_change=expected.get("wants_change", False),
    )
    output = texts["output"].replace("{{INSTRUCTION}}", ask)
    flaws = tuple(Flaw(**flaw) for flaw in expected["flaws"])
    return Case(file.stem, expected["kind"], stage, output, setting, flaws)
