"""Sections of a plan, in several languages, and the parts of a phase.

Rules: a name means one section; `### Tasks`, `**Tasks:**` and a line `Tasks:` are equivalent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from asbuilt.plan.markdown.blocks import Block, Fence, Heading, Item, Paragraph

SECTIONS: Final = ("Goal", "Scope", "Non-Scope", "Steps", "Verification", "Risks", "Open Questions")

TRANSLATIONS: Final[dict[str, tuple[str, ...]]] = {
    "Goal": (
        "ziel", "ziele", "objectif", "objectifs", "objetivo", "objetivos", "obiettivo", "doel", "цель",
        "목표", "目標", "目标",
    ),
    "Scope": (
        "umfang", "périmètre", "portée", "alcance", "escopo", "ambito", "объём",
        "범위", "範囲", "范围", "範圍",
    ),
    "Non-Scope": (
        "nicht im umfang", "nicht-umfang", "abgrenzung", "hors périmètre", "hors-périmètre", "hors de portée",
        "fuera de alcance", "fuera del alcance", "fora do escopo", "fuori ambito",
        "범위 외", "범위 제외", "비범위", "範囲外", "対象外", "范围外", "非范围", "不在范围内",
    ),
    "Steps": (
        "schritte", "étapes", "pasos", "passos", "etapas", "passi", "stappen", "шаги",
        "단계", "手順", "ステップ", "步骤", "步驟",
    ),
    "Verification": (
        "verifikation", "überprüfung", "prüfung", "nachweis", "vérification", "verificación", "verificação",
        "verifica", "verificatie", "проверка", "검증", "検証", "验证", "驗證",
    ),
    "Risks": (
        "risiken", "risiko", "risques", "risque", "riesgos", "riscos", "rischi", "risico's", "риски", "위험",
        "리스크", "リスク", "风险", "風險",
    ),
    "Open Questions": (
        "offene fragen", "offene punkte", "questions ouvertes", "preguntas abiertas", "questões em aberto",
        "perguntas em aberto", "domande aperte", "open vragen", "открытые вопросы",
        "미해결 질문", "열린 질문", "未解決の質問", "未解決事項", "未解决问题", "开放问题",
    ),
}  # fmt: skip
_NAMES: Final = {
    **{name.casefold(): name for name in SECTIONS},
    **{name: section for section, names in TRANSLATIONS.items() for name in names},
    "goals": "Goal",
    "non scope": "Non-Scope",
    "risk": "Risks",
    "open question": "Open Questions",
}
_VARIANTS: Final = {
    **_NAMES,
    **dict.fromkeys(("objective", "objectives", "overview"), "Goal"),
    **dict.fromkeys(("out of scope", "non-goals", "not in scope"), "Non-Scope"),
    **dict.fromkeys(("risks & mitigations", "risks and mitigations"), "Risks"),
    "questions": "Open Questions",
    **dict.fromkeys(("implementation phases", "implementation steps", "implementation plan"), "Steps"),
}
_TAIL: Final = re.compile(r"(?s)\s*(?:[:：(–—]|\s-\s).*")
_LEAD: Final = re.compile(r"^[\d\W_]+")
Part = Literal[
    "work", "criteria", "design", "verify", "commands", "dependencies", "execution", "log", "status"
]

_PARTS: Final[dict[str, Part]] = {
    **dict.fromkeys(("work items", "tasks", "steps", "todo", "to do", "task list", "implementation steps"),
    "work"),
    **dict.fromkeys(TRANSLATIONS["Steps"], "work"),
    **dict.fromkeys(
        ("acceptance criteria", "success criteria", "done when", "definition of done", "acceptance",
        "exit criteria"),
        "criteria",
    ),
    **dict.fromkeys(("design & constraints", "design and constraints", "design", "constraints"), "design"),
    **dict.fromkeys(
        (
            "verification", "validation", "testing", "testing & validation", "testing and validation",
            "verify", "test plan", "checks",
        ),
        "verify",
    ),
    **dict.fromkeys(TRANSLATIONS["Verification"], "verify"),
    "validation commands": "commands",
    "verification commands": "commands",
    **dict.fromkeys(("dependencies", "depends on", "dependency", "prerequisites", "blocked by"),
    "dependencies"),
    "execution": "execution",
    "status": "status",
    **dict.fromkeys(("progress log", "log", "changelog", "history", "notes", "risks", "open questions"),
    "log"),
}  # fmt: skip
_ONE_LINE: Final = frozenset({"dependencies", "execution"})
_NAME: Final = re.compile(r"(?s)[^\W\d](?:.*\w)?")
_LABEL: Final = re.compile(
    r"(?s)(?:\*\*|__)\s*+([^*_\n]{1,60}?)\s*+(?::\s*(?:\*\*|__)|(?:\*\*|__)\s*:)\s*(.*)"
)
_PLAIN_LABEL: Final = re.compile(r"(?is)(depends on|dependencies|execution|status)\s*:\s*(.*)")


class Piece(NamedTuple):
    """A paragraph line, a list item, a fence or a heading, and its part of the section."""

    part: Part | None
    line: int
    text: str
    """Text without the label that names the part."""
    block: Block


def sections_in(heading: str) -> frozenset[str]:
    """Return the sections that a heading opens: `Risks & Open Questions` opens two."""
    name = heading.strip(" :*_#").casefold()
    parts = (name, *re.split(r"&|\band\b", name))
    return frozenset(_VARIANTS[part.strip()] for part in parts if part.strip() in _VARIANTS)


def plainly_named(heading: str) -> str | None:
    """Return the section of a heading that is only its name, decorated or not.

    `Scope of the problem` names no section.
    """
    name = _TAIL.sub("", _LEAD.sub("", heading.casefold()))
    return _NAMES.get(" ".join(name.strip(" *_#").split()))


@lru_cache(maxsize=256)
def part_of(name: str) -> Part | None:
    """Return the part of a phase that a subsection's name announces; cached, because names repeat."""
    found = _NAME.search(name)
    return None if found is None else _PARTS.get(" ".join(found.group().casefold().split()))


def label_of(text: str) -> tuple[str, str] | None:
    """Split `**Label:** rest`; without emphasis a few labels, and any name of a part that is alone."""
    found = _LABEL.match(text) or _PLAIN_LABEL.match(text)
    if found is not None:
        return found.group(1), found.group(2)
    name, colon, rest = text.rstrip().partition(":")
    return (name, "") if colon and not rest and part_of(name) is not None else None


def pieces(blocks: Sequence[Block]) -> Iterator[Piece]:
    """Yield a section's pieces in order. A heading's part applies to the deeper headings under it."""
    stack: list[tuple[int, Part | None]] = []
    labelled: Part | None = None
    for block in blocks:
        if isinstance(block, Heading):
            while stack and stack[-1][0] >= block.level:
                stack.pop()
            name, _, rest = block.text.partition(":")
            part = part_of(name) or (stack[-1][1] if stack else None)
            stack.append((block.level, part))
            labelled = None
            yield Piece(part, block.line, rest.strip(), block)
            continue
        here = labelled or (stack[-1][1] if stack else None)
        if isinstance(block, Paragraph):
            for offset, line in enumerate(block.text.split("\n")):
                label = label_of(line)
                if label is None:
                    yield Piece(labelled or here, block.line + offset, line, block)
                    continue
                part = part_of(label[0])
                # `Depends on: 1` ends with its line; so does a status, even an empty one.
                if part != "status" and (part not in _ONE_LINE or not label[1].strip()):
                    labelled = part
                    here = labelled or (stack[-1][1] if stack else None)
                yield Piece(part or here, block.line + offset, label[1], block)
        elif isinstance(block, Item):
            label = label_of(block.text) if block.box is None else None
            part = part_of(label[0]) if label is not None else None
            if label is not None and part is not None:
                yield Piece(part, block.line, label[1], block)
            else:
                yield Piece(here, block.line, block.text, block)
        elif isinstance(block, Fence):
            yield Piece(here, block.line, block.content, block)
