"""jq and yq: filters pass; the environment, modules and edits do not."""

from __future__ import annotations

import pytest

from tests.policy.programs.asking import refused

ALLOWED = [
    "jq . package.json",
    "jq '.name' package.json",
    "jq -r '.scripts | to_entries[] | \"\\(.key): \\(.value)\"' package.json",
    "jq 'keys' package.json",
    "jq -c '.dependencies' package.json",
    "jq '.dependencies | length' package.json",
    "jq --arg x a '.[$x]' package.json",
    "jq -n '1+1'",
    "jq -e .name package.json",
    "jq '.env' package.json",
    "jq 'has(\"name\")' package.json",
    "jq '[.[] | select(.a > 1)]' package.json",
    "yq '.name' package.yaml",
    "jq --version",
]
REFUSED = [
    "jq -n '$ ENV'",
    "jq -n env",
    "jq -n '$ENV'",
    "jq 'env.HOME' x",
    "jq -n '[env]'",
    "jq -n 'env|keys'",
    "jq '\"\\(env)\"' x",
    "jq '..env' x",
    "jq -f x y",
    "jq -L . x",
    "jq 'import \"x\" as x; .' y",
    "jq 'include \"x\"; .' y",
    "jq --from-file x",
    "jq --rawfile a .env -n '$a'",
    "jq --slurpfile a .env '$a' x",
    "jq . .env",
    "jq -n 'input' .env",
    "jq -rf x",
    "jq --args x",
    "yq -i '.a=1' x",
    "yq '.a = 1' -i x",
    "yq 'load(\".env\")' x",
    "yq 'env(HOME)' x",
    "yq -s '.a' x",
    "yq eval -i '.a' x",
    "yq -o=shell . x",
    "jq -R . .env",
]


@pytest.mark.parametrize("text", ALLOWED)
def test_what_only_reads_is_allowed(text: str) -> None:
    assert refused(text) is None


@pytest.mark.parametrize("text", REFUSED)
def test_what_may_do_more_is_refused(text: str) -> None:
    assert refused(text) is not None
