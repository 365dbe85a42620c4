"""Minimum and requested amounts for each stage. Rule: the requested one is never below the minimum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from asbuilt.plan.lint import Length

if TYPE_CHECKING:
    from collections.abc import Mapping

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


class Demand(NamedTuple):
    """One number of a stage: below `floor` an output is refused, `aim` is what the prompt asks for."""

    floor: int
    aim: int


class Demands(NamedTuple):
    """Amounts for all stages."""

    items: Demand = Demand(3, 5)
    understanding: Demand = Demand(2, 4)
    files: Demand = Demand(2, 5)
    options: Demand = Demand(2, 3)
    principles: Demand = Demand(3, 8)
    """Three verdicts, each with a principle and its evidence, replace the six points of earlier versions.

    The number of FAILs has no minimum: a quota makes critics invent findings.
    """
    length: Length = Length.CONTROL


DEMANDS: Final = Demands()


def demands_of(amounts: Mapping[str, tuple[int, int]], length: Length) -> Demands:
    """Return the demands with the chosen amounts; a prompt never asks for less than is needed."""
    chosen: dict[str, Any] = {name: Demand(floor, max(floor, aim)) for name, (floor, aim) in amounts.items()}
    return DEMANDS._replace(length=length, **chosen)
