"""awk: what prints passes; programs that write, run or read elsewhere do not."""

from __future__ import annotations

import pytest

from tests.policy.programs.asking import refused

ALLOWED = [
    "awk '{print}' README.md",
    "awk -F, '{print $2}' data.csv",
    "awk 'NR==1' README.md",
    "awk 'NR>=2 && NR<=4' README.md",
    "awk '/foo/ {print $0}' README.md",
    "awk -F: '{ print $1 \" \" $2 }' README.md",
    "awk '{s+=$1} END {print s}' data.csv",
    "awk 'length > 80' README.md",
    "awk '{count[$1]++} END {for (k in count) print k, count[k]}' README.md",
    "awk 'BEGIN{FS=\",\"} {print $1}' data.csv",
    "awk '{printf \"%s\\n\", $1}' README.md",
    "awk '!seen[$0]++' requirements.txt",
    "awk '{print NF}' README.md",
    "awk 'NR % 2 == 0' README.md",
    "awk '{print $NF}' README.md",
    "awk '$3 > 10' data.csv",
    "awk '{ if ($1 > 5) print $1 }' data.csv",
]
REFUSED = [
    "awk '{print > \"out\"}' x",
    "awk '{print $1 >> \"out\"}' x",
    "awk '{print | \"sh\"}' x",
    "awk '{system(\"ls\")}' x",
    "awk 'BEGIN{while((\"ls\"|getline l)>0)print l}'",
    "awk 'BEGIN{getline l < \".env\"; print l}'",
    "awk '{print ENVIRON[\"X\"]}' x",
    "awk -f x y",
    "awk -v 'x=1' -f y z",
    "awk '@load \"x\"' y",
    "awk '@include \"x\"' y",
    'awk \'BEGIN{f="sys" "tem"; @f("ls")}\'',
    'awk \'BEGIN{printf "x" > "/dev/tcp/1/2"}\'',
    "awk --exec x",
    "awk -E x",
    "awk -i inplace '{print}' x",
    "awk '{print}' .env",
    "awk 'BEGIN{ARGV[1]=\".env\";ARGC=2}{print}' x",
    "awk '{ (print) > \"x\" }' y",
    "awk '/x/ { print /a/ > \"out\" }' y",
    'awk \'1 { x = 1 / 2; print "/" > "out" }\' z',
    "gawk -p x",
    "gawk -o out '{print}' x",
    "gawk --dump-variables=out '{}' x",
    "gawk -d '{}' x",
    "awk 1 .env",
]


@pytest.mark.parametrize("text", ALLOWED)
def test_what_only_reads_is_allowed(text: str) -> None:
    assert refused(text) is None


@pytest.mark.parametrize("text", REFUSED)
def test_what_may_do_more_is_refused(text: str) -> None:
    assert refused(text) is not None
