"""Compare a test command with its previous version: does it still run everything and report failures?

Rule: what a runner is configured to leave out, forgive or rewrite is reported, whatever the runner.
"""

from __future__ import annotations

import re
import shlex
from typing import Final

from asbuilt.proof.suites.model import Kind, Severity, shortened

PartialFinding = tuple[Kind, Severity, str]
RUNNER: Final = re.compile(
    r"\b(pytest|py\.test|unittest|nose2?|tox|nox|jest|vitest|mocha|ava|tap|karma|cypress|playwright|"
    r"node\s+(?:\S+\s+)*--test|deno\s+test|bun\s+test|go\s+(?:\S+\s+)?test|gotestsum|cargo\s+(?:\+\S+\s+)?(?:test|nextest)|"
    r"mvnw?|gradlew?|ctest|rspec|bats|prove|phpunit|dotnet\s+test|npm\s+(?:run\s+)?t(?:est)?|yarn\s+test|pnpm\s+test|"
    r"make\s+\S*(?:test|check)\S*|run[-_]?tests?(?:\.\w+)?|tests?/\S+\.(?:sh|py|js|mjs|bats))(?![\w-])"
)
_PIPE: Final = re.compile(r"(?<![|>&])\|(?![|&])")
_MASKS: Final = (
    (re.compile(r"^\s*-\s*\w"), "its failure is ignored"),
    (
        re.compile(r"\|\|\s*(?!exit\s+[1-9$]|return\s+[1-9$]|false\b|fail|die|abort|\{|\()"),
        "a failure is answered by ||",
    ),
    (re.compile(r"\|\|\s*[({][^)}]*\b(?:exit|return)\s+0"), "a failure ends with 0"),
    (re.compile(r"(?:;|&&)\s*(?:exit\s+0|true|:)\s*;?\s*$"), "it ends with 0 in any case"),
    (_PIPE, "the exit code is that of the pipe's end"),
    (re.compile(r"(?<![&>])&(?![&>\d])\s*(?:$|;|wait\s*$)"), "nobody waits for it"),
    (re.compile(r"^\s*!\s"), "its exit code is turned round"),
    (
        re.compile(r";\s*(?!fi\b|done\b|esac\b|then\b|do\b)\S"),
        "something else runs after it, and that exit code counts",
    ),
    (re.compile(r"\bset \+e\b"), "it goes on after a failure"),
)
_LEFT_OUT: Final = re.compile(
    r"^(-k|-m|--deselect|--ignore|--ignore-glob|-p=?no:.*|--lf|--last-failed|--co|--collect-only|--sw|--stepwise|"
    r"--suppress-no-test-exit-code|--suppress-tests-failed-exit-code|--continue-on-collection-errors|--exclude|"
    r"--passWithNoTests|--pass-with-no-tests|--testPathIgnorePatterns|--testNamePattern|-t|--onlyChanged|--changed|"
    r"--findRelatedTests|--related|--dangerouslyIgnoreUnhandledErrors|--allowOnly|--grep|-g|--fgrep|-f|--invert|"
    r"--test-name-pattern|--test-skip-pattern|--retry|--retries|--reruns|--only-rerun|--shard|--testPathPattern|"
    r"-run|-skip|-short|--short|--skip|--no-run|--ignored|-DskipTests(=true)?|-Dmaven\.test\.skip(=true)?|"
    r"-Dmaven\.test\.failure\.ignore(=true)?|-Dtest|-x|-fn|--fail-never|--exclude-task|--keep-going|-i|--ignore-errors|"
    r"--exit-zero|--no-fail|--force-exit|--exit|--exclude-regex|-E|-LE|--tag|--exclude-tag|--filter|-exec)$"
)
_REWRITES: Final = re.compile(
    r"^(-u|--update|--updateSnapshot|--update-snapshots?|--snapshot-update|--update-goldens?|-update|--accept|"
    r"--inline-snapshot|--force-regen|--regen-all|--record-mode|--vcr-record)$"
)
_ENVIRONMENT: Final = re.compile(
    r"^(UPDATE_\w+|INSTA_UPDATE|PYTEST_ADDOPTS|\w*SNAPSHOT\w*|REGENERATE\w*|SKIP\w*|NODE_OPTIONS)="
)
_OTHER_SETTINGS: Final = re.compile(
    r"^(-c|-o|--override-ini|--config|--config-file|--rootdir|--confcutdir|--noconftest|-p|--require|-r|--import|--loader|"
    r"--setupFiles|--globals|--project|--environment|--pyargs|-W|--pythonwarnings|-f|-C|--directory|--file)$"
)
_STRICT: Final = re.compile(
    r"^(--strict.*|--error-for-skips|--cov-fail-under|--ci|-race|--forbid-only|--forbid-pending|--max-warnings|-Werror|"
    r"--locked|--runxfail|--all-targets|--workspace|--all-features|--check-leaks|--detectOpenHandles|--coverageThreshold)$"
)
_NARROW_TO_X: Final = ("-x",)
"""pytest's `-x` only stops early; gradle's leaves a task out."""


def compared(before: str, after: str) -> list[PartialFinding]:
    """List how a command is worse than before."""
    if before.split() == after.split():
        return []
    findings = [
        (Kind.EXIT_FORCED, Severity.FAILS, f"{why}: {shortened(after, 60)}")
        for why in masks(after)
        if why not in masks(before)
    ][:1]
    runner = RUNNER.search(before)
    if runner is not None and RUNNER.search(after) is None:
        words = f"{runner[1]} is not run: {shortened(after, 60)}"
        return findings or [(Kind.RUNNER_REPLACED, Severity.FAILS, words)]
    findings += options_compared(_words(before), _words(after))
    if not findings and runner is not None and _name(runner) != _name(RUNNER.search(after)):
        findings.append((Kind.RUNNER_CHANGED, Severity.SIGN_OFF, f"another runner: {shortened(after, 60)}"))
    return findings


def masks(command: str) -> list[str]:
    """List why the exit code of a command would not show a failure."""
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "''", command)
    forgiven = _PIPE if "pipefail" in command else None
    return [why for pattern, why in _MASKS if pattern is not forgiven and pattern.search(bare)]


def options_compared(before: list[str], after: list[str]) -> list[PartialFinding]:
    """List new options that leave out, forgive or rewrite, and strict options that are gone."""
    old, new = _options(before), _options(after)
    findings: list[PartialFinding] = []
    is_pytest = any("pytest" in word for word in after) or not any(RUNNER.search(word) for word in after)
    for name, value in new:
        if (name, value) in old:
            continue
        option = f"{name} {value}".strip()
        if _REWRITES.match(name) or (_ENVIRONMENT.match(option) and "SKIP" not in option):
            findings.append(
                (Kind.RUNNER_CHANGED, Severity.FAILS, f"expected values are made by the product: {option}")
            )
        elif (_LEFT_OUT.match(name) and not (name in _NARROW_TO_X and is_pytest)) or _ENVIRONMENT.match(
            option
        ):
            findings.append((Kind.NOT_COLLECTED, Severity.FAILS, f"not everything is run: {option}"))
        elif name == "-p" and value.startswith("no:"):
            findings.append((Kind.NOT_COLLECTED, Severity.FAILS, f"a plugin is switched off: {option}"))
        elif _OTHER_SETTINGS.match(name):
            findings.append((Kind.RUNNER_CHANGED, Severity.SIGN_OFF, f"the runner is told: {option}"))
    names = {name for name, _ in new}
    for name, value in old:
        if _STRICT.match(name) and name not in names:
            findings.append((Kind.RUNNER_CHANGED, Severity.FAILS, f"the runner is less strict: no {name}"))
        elif _STRICT.match(name) and _is_less(value, dict(new).get(name, "")):
            findings.append((Kind.TOLERANCE_LOOSENED, Severity.FAILS, f"{name} {value} is {dict(new)[name]}"))
    findings += _paths(before, after)
    return findings


def _paths(before: list[str], after: list[str]) -> list[PartialFinding]:
    old, new = ({word for word in words if "/" in word or word.endswith(".py")} for words in (before, after))
    if old and old - new and not new - old:
        what = f"not everything is run: {', '.join(sorted(old - new))} is gone"
        return [(Kind.NOT_COLLECTED, Severity.FAILS, what)]
    narrower = {word for word in new - old if "test" in word}
    if narrower and not any(word.startswith("-") for word in narrower) and RUNNER.search(" ".join(before)):
        return [(Kind.NOT_COLLECTED, Severity.SIGN_OFF, f"only {', '.join(sorted(narrower))}")]
    return []


def _is_less(before: str, after: str) -> bool:
    try:
        return float(after) < float(before)
    except ValueError:
        return False


def _name(found: re.Match[str] | None) -> str:
    return "" if found is None else found[1].split()[0].rpartition("/")[2].rstrip("w")


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command, comments=True)
    except ValueError:
        return command.split()


def _options(words: list[str]) -> list[tuple[str, str]]:
    """Return every option with its value, written together or apart."""
    found: list[tuple[str, str]] = []
    for at, word in enumerate(words):
        name, _, value = word.partition("=")
        if word.startswith("-D"):
            found.append((word, ""))
        elif re.match(r"^[A-Z_]+=", word):
            found.append((f"{name}=", value))
        elif re.match(r"^-[km].", word):
            found.append((word[:2], word[2:].lstrip("=")))
        elif word == "-m" and at and "python" in words[at - 1]:
            continue
        elif word.startswith("-"):
            after = words[at + 1] if at + 1 < len(words) else ""
            found.append((name, value or ("" if after.startswith("-") else after)))
    return found
