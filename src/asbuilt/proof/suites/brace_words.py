"""The words by which tests assert in languages with braces, and how much each demands: tables only."""

from __future__ import annotations

import re
from typing import Final

from asbuilt.proof.suites.model import Rank


def _ranked(rank: Rank, words: str) -> dict[str, Rank]:
    return dict.fromkeys(words.casefold().split(), rank)


RANKS: Final = {
    **_ranked(
        Rank.EQUAL,
        "toBe toEqual toStrictEqual equal eql equals strictEqual deepEqual deepStrictEqual is "
        "same toHaveLength lengthOf toHaveBeenCalledWith toHaveBeenCalledTimes "
        "toHaveBeenNthCalledWith toHaveBeenLastCalledWith toBeNull toBeUndefined toBeNaN null "
        "undefined toMatchInlineSnapshot toMatchSnapshot toMatchFileSnapshot calledWith "
        "calledOnceWith equalValues exactly jsonEq len nil noError isEqualTo isSameAs hasSize "
        "isNull containsExactly containsExactlyInAnyOrder assertEquals assertSame assertNull "
        "assertArrayEquals assertIterableEquals assertLinesMatch equalTo assert_eq empty isEmpty "
        "toHaveTextContent toHaveValue toHaveReturnedWith yamlEq zero errorIs equalError errorAs "
        "notThrow doesNotThrow assertDoesNotThrow notPanics hasToString members hasMessage",
    ),
    **_ranked(
        Rank.CLOSE,
        "toBeCloseTo closeTo approximately inDelta inEpsilon isCloseTo assert_relative_eq "
        "assert_abs_diff_eq assert_approx_eq assert_ulps_eq",
    ),
    **_ranked(
        Rank.PARTLY,
        "toContain toContainEqual toMatch toMatchObject toHaveProperty include includes match "
        "contains containsString toBeGreaterThan toBeGreaterThanOrEqual toBeLessThan "
        "toBeLessThanOrEqual above below least most within property greater greaterOrEqual less "
        "lessOrEqual subset elementsMatch regexp notEqual notStrictEqual notDeepEqual "
        "isGreaterThan isLessThan isGreaterThanOrEqualTo isLessThanOrEqualTo isNotEqualTo "
        "startsWith endsWith assertNotEquals assert_ne keys toBeOneOf toSatisfy containsKey "
        "containsEntry errorContains isBetween assertNotSame some every rejects matches "
        "isSubsetOf isIn oneOf greaterThan lessThan toInclude",
    ),
    **_ranked(
        Rank.TRUE,
        "toBeDefined toBeTruthy toBeFalsy ok exist exists toHaveBeenCalled called calledOnce "
        "toBeInstanceOf toBeTypeOf a an instanceOf true false assertTrue assertFalse "
        "assertNotNull notNil notEmpty error isNotNull isTrue isFalse isPresent isNotEmpty "
        "isInstanceOf assertInstanceOf isType implements truthy falsy pass isOk notZero "
        "toHaveReturned isDefined defined assert notNull toBeInTheDocument toBeVisible "
        "fileExists isNotBlank",
    ),
}
RAISING: Final = frozenset(
    word.casefold()
    for word in [
        "toThrow",
        "toThrowError",
        "toThrowErrorMatchingInlineSnapshot",
        "throws",
        "throw",
        "throwsAsync",
        "assertThrows",
        "assertThrowsExactly",
        "rejects",
        "panics",
        "panicsWithError",
        "assertThatThrownBy",
        "isInstanceOfThrown",
        "assertPanics",
        "throwsException",
        "rejected",
        "rejectedWith",
    ]
)
EXPECTED_FIRST: Final = frozenset(
    [
        "assertequals",
        "assertsame",
        "assertarrayequals",
        "assertnotequals",
        "assertiterableequals",
        "assertlinesmatch",
        "assertnotsame",
    ]
)
"""Java and testify say what is expected before what is."""
ROOTS: Final = frozenset(
    [
        "expect",
        "assert",
        "require",
        "should",
        "assertThat",
        "verify",
        "assertEquals",
        "assertTrue",
        "assertFalse",
        "assertNull",
        "assertNotNull",
        "assertSame",
        "assertNotSame",
        "assertArrayEquals",
        "assertThrows",
        "assertThrowsExactly",
        "assertNotEquals",
        "assertIterableEquals",
        "assertInstanceOf",
        "assertDoesNotThrow",
        "assertAll",
        "assertTimeout",
        "assertLinesMatch",
        "fail",
    ]
)
CHECKING: Final = re.compile(r"^_?(?:assert|check|verify|expect|ensure|should|must|require)", re.IGNORECASE)
LITERALS: Final = frozenset(
    [
        "true",
        "false",
        "null",
        "nil",
        "undefined",
        "None",
        "Some",
        "Ok",
        "Err",
        "NaN",
        "Infinity",
        "String",
        "vec",
        "format",
        "int",
        "float64",
        "string",
        "bool",
        "new",
        "typeof",
        "void",
        "not",
        "as",
        "mut",
        "ref",
        "let",
        "const",
        "var",
        "Math",
        "Number",
        "Object",
        "Array",
        "JSON",
        "List",
        "Map",
        "Set",
        "Arrays",
        "Integer",
        "Double",
        "Long",
        "static",
        "final",
        "return",
        "await",
        "async",
        "function",
        "fn",
        "func",
    ]
)
"""Names that hold nothing of a product."""
FAILING: Final = re.compile(
    r"\b(throw|fail|Fail|FailNow|Fatal|Fatalf|Error|Errorf|panic|reject|rethrow|done|expect|assert\w*|exit|process)\b"
)
WIDE: Final = re.compile(
    r"\b(Throwable|Exception|Error|AssertionError|AssertionFailedError|RuntimeException)\b"
)
