"""The words by which Python's test libraries assert, and how much each demands: tables only."""

from __future__ import annotations

import ast
import re
from typing import Final

NEGATED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
}
SIGNS: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "==",
    ast.IsNot: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Lt: "<",
    ast.GtE: ">=",
    ast.Gt: ">",
    ast.LtE: "<=",
}
MIRRORED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
UNITTEST: Final[dict[str, type[ast.cmpop]]] = {
    "assertEqual": ast.Eq,
    "assertEquals": ast.Eq,
    "assertDictEqual": ast.Eq,
    "assertListEqual": ast.Eq,
    "assertTupleEqual": ast.Eq,
    "assertSetEqual": ast.Eq,
    "assertSequenceEqual": ast.Eq,
    "assertMultiLineEqual": ast.Eq,
    "assertIs": ast.Is,
    "assertNotEqual": ast.NotEq,
    "assertIsNot": ast.IsNot,
    "assertIn": ast.In,
    "assertNotIn": ast.NotIn,
    "assertLess": ast.Lt,
    "assertLessEqual": ast.LtE,
    "assertGreater": ast.Gt,
    "assertGreaterEqual": ast.GtE,
    "assert_array_equal": ast.Eq,
    "assert_equal": ast.Eq,
    "assert_string_equal": ast.Eq,
    "eq_": ast.Eq,
}
CLOSE: Final = {
    "assertAlmostEqual": ("places", 7),
    "assertAlmostEquals": ("places", 7),
    "assert_almost_equal": ("decimal", 7),
    "assert_array_almost_equal": ("decimal", 6),
    "assert_approx_equal": ("significant", 7),
    "assert_allclose": ("rtol", None),
    "isclose": ("rel_tol", None),
    "allclose": ("rtol", None),
}
PARTLY: Final = frozenset(
    [
        "startswith",
        "endswith",
        "match",
        "search",
        "fullmatch",
        "issubset",
        "issuperset",
        "isdisjoint",
        "any",
        "all",
        "assertRegex",
        "assertNotRegex",
        "assertCountEqual",
        "assertDictContainsSubset",
        "assert_any_call",
        "assert_has_calls",
        "assert_any_await",
        "assert_array_less",
        "assertNotAlmostEqual",
        "assertStartsWith",
        "assertEndsWith",
    ]
)
TRUE: Final = frozenset(
    [
        "isinstance",
        "hasattr",
        "callable",
        "assertIsInstance",
        "assertNotIsInstance",
        "assertIsNotNone",
        "assert_called",
        "assert_awaited",
        "issubclass",
        "assertIsSubclass",
        "assertHasAttr",
    ]
)
RAISING: Final = frozenset(
    [
        "raises",
        "warns",
        "deprecated_call",
        "assertRaises",
        "assertRaisesRegex",
        "assertWarns",
        "assertWarnsRegex",
        "assertLogs",
        "assertNoLogs",
        "RaisesGroup",
        "assert_raises",
        "assert_warns",
        "assertRaisesMessage",
    ]
)
ASSERTING: Final = re.compile(
    r"^_?(?:assert|check|verify|expect|ensure|should|must|require|fail_?(?:if|unless))", re.IGNORECASE
)
