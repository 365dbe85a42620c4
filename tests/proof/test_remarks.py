"""What a person signs off: a change is a question, and many of a kind are one."""

from __future__ import annotations

from asbuilt.proof.remarks import Remark, asked_about, key_of, remark_from, words_of
from asbuilt.proof.suites.model import Severity


def golden(number: int) -> Remark:
    return Remark(
        "expected-value-regenerated", Severity.SIGN_OFF, f"golden/{number}.txt", content=str(number)
    )


CI = Remark("ci-changed", Severity.SIGN_OFF, ".gitlab-ci.yml")
NOTE = Remark("lock-changed", Severity.NOTE, "uv.lock")


def test_few_changes_of_a_kind_are_a_question_each_and_many_are_one() -> None:
    few, many = [golden(number) for number in range(3)], [golden(number) for number in range(60)]
    assert asked_about([*few, CI, NOTE]) == [*((one,) for one in few), (CI,)]
    assert asked_about([*many, CI, NOTE]) == [tuple(many), (CI,)]


def test_a_question_about_many_names_the_first_and_where_the_rest_is() -> None:
    assert words_of([golden(number) for number in range(60)]) == (
        "60 times expected value regenerated: golden/0.txt, golden/1.txt, golden/2.txt and 57 more; "
        "`asbuilt report` has them all"
    )
    assert words_of([CI]) == CI.words == ".gitlab-ci.yml: ci changed"


def test_a_yes_to_many_is_to_these_in_whatever_order_and_to_no_others() -> None:
    many = [golden(number) for number in range(5)]
    assert key_of(many) == key_of(many[::-1])
    others = (many[:4], [*many, golden(5)], [*many[:4], many[4]._replace(content="other")])
    assert key_of(many) not in {key_of(other) for other in others}
    assert key_of([CI]) == CI.key


def test_a_better_sentence_keeps_the_key_and_a_remark_of_an_older_version_keeps_its_own() -> None:
    told = Remark("flaky-test", Severity.SIGN_OFF, "test_a", now="it failed once", identity="1/2")
    assert told._replace(now="it failed, then passed").key == told.key
    assert told._replace(identity="2/2").key != told.key
    older = remark_from(
        {"rule": "flaky-test", "severity": "sign_off", "path": "test_a", "now": "it failed once"}
    )
    assert (older.identity, older.key) == (None, "cd9f5e3072d4c8f1")
