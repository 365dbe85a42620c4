"""Functions are found by tokens: what only looks like one in a text or a call is none."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.proof.suites.functions import braced_functions, functions_of
from asbuilt.proof.suites.parsing import BRACED, lexed

GO = """package shop

// func Gone() {}
var text = "func Quoted() {"

func Discounted(cents, percent int) (int, error) {
	if cents < 0 {
		return 0, errors.New("no")
	}
	t.Run("x", func(t *testing.T) { helper(t) })
	return cents, nil
}

func Map[T any](rows []T) []T {
	each(rows)
	for {
	}
}

func (b *Basket) Add(cents int) {}
"""
SCRIPT = """export function total<T>(prices: T[]): number {
  return prices.map((price) => { return price; });
}
const shown = async (cents) => {
  report(cents)
  if (cents) { return 1 }
}
class Basket {
  add(cents) { this.cents = cents; }
  later(cents)
  {
  }
}
"""


@pytest.mark.parametrize(
    ("language", "text", "names"),
    [
        ("go", GO, ["Discounted", "Map", "Add"]),
        ("javascript", SCRIPT, ["total", "shown", "add", "later"]),
        ("rust", "fn map<T: Into<u8>>(x: T) -> Vec<u8> {\n    call(x)\n}\n", ["map"]),
        ("java", "class A {\n  int add(int a) throws E { return go(a); }\n}\n", ["add"]),
    ],
)
def test_the_functions_of_languages_with_braces(language: str, text: str, names: list[str]) -> None:
    code = lexed(text, language)
    found = [*braced_functions(code)]
    assert [function.name for function in found] == names
    assert [text[code.tokens[function.begin].end - 1] for function in found] == ["{"] * len(names)


def test_the_functions_of_python_but_those_for_a_subclass_to_write() -> None:
    tree = ast.parse(
        "class A:\n    def b(self):\n        def c(): pass\n    @abstractmethod\n    def d(self): ...\n"
        "class E(Protocol):\n    def f(self): ...\nif True:\n    async def g(): pass\n"
    )
    assert [name for name, _ in functions_of(tree)] == ["A.b", "A.b.c", "g"]


@given(st.sampled_from(BRACED), st.text(st.sampled_from("fn a(){}[]<>=>:;,\n\"'`/*"), max_size=60))
def test_any_text_has_functions_or_none(language: str, text: str) -> None:
    code = lexed(text, language)
    for function in braced_functions(code):
        assert (code.word(function.at), code.word(function.begin)) == (function.name, "{")
