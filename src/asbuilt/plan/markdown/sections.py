"""Names of a plan's sections, in several languages. Rule: a name means one section."""

from __future__ import annotations

import re
from typing import Final

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
_TAIL: Final = re.compile(r"\s*(?:[:：(–—]|\s-\s).*", re.DOTALL)
_LEAD: Final = re.compile(r"^[\d\W_]+")


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
