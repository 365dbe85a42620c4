"""Words by which a validator recognises what a stage was asked for, in several languages."""

from __future__ import annotations

from typing import Final

UNDERSTANDING: Final = (
    "problem", "why", "purpose", "success", "constraint", "assumption", "impact", "requirement",
    "warum", "zweck", "erfolg", "einschränkung", "annahme", "auswirkung", "anforderung",
    "problème", "pourquoi", "succès", "contrainte", "hypothèse", "exigence",
    "propósito", "éxito", "restricción", "suposición", "requisito",
    "문제", "이유", "목적", "성공", "제약", "가정", "영향", "요구",
    "問題", "理由", "目的", "成功", "制約", "前提", "影響", "要件",
    "问题", "为什么", "约束", "假设", "影响", "需求",
)  # fmt: skip
RECOMMENDATION: Final = (
    "recommend", "i choose", "we choose", "i chose", "chosen", "i prefer", "preferred", "go with",
    "best choice", "empfehl", "empfohlen", "recommand", "recomend", "aanbevol", "추천", "권장", "推奨",
    "お勧め", "推荐", "推薦",
)  # fmt: skip
TRADE_OFFS: Final = (
    "pro", "pros", "con", "cons", "advantage", "disadvantage", "benefit", "drawback", "downside", "upside",
    "trade-off", "tradeoff", "vorteil", "nachteil", "avantage", "inconvénient", "ventaja", "desventaja",
    "장점", "단점", "利点", "欠点", "长处", "优点", "缺点",
)  # fmt: skip
