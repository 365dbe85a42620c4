"""What a phase silences or loosens, and what of its own checks it changes, by the plan's words."""

from __future__ import annotations

import pytest

from asbuilt.proof.change.boundaries import USUAL
from asbuilt.proof.change.scope import beyond
from asbuilt.proof.suites.model import Change, Order, Severity


@pytest.mark.parametrize(
    "line",
    [
        "x = 1  # noqa: E501",
        "x = f()  # type: ignore[arg-type]",
        "x = f()  # pylint: disable=broad-except",
        "if y:  # pragma: no cover",
        "// eslint-disable-next-line no-console",
        "/* eslint-disable */",
        "// @ts-ignore",
        "// @ts-nocheck",
        "// @ts-expect-error later",
        "x := f() //nolint:errcheck",
        "#[allow(dead_code)]",
        '@SuppressWarnings("unchecked")',
        "/* istanbul ignore next */",
    ],
)
def test_a_comment_that_silences_a_warning_is_put_to_a_person(line: str) -> None:
    said = line[min(at for at in (line.find(one) for one in ("#", "//", "/*", "@")) if at >= 0) :]
    (remark,) = beyond([Change("src/a.x", b"a\nb\n", f"a\n  {line}\nb\n".encode())], Order(""), USUAL)
    assert remark[:7] == ("suppression-added", Severity.SIGN_OFF, "src/a.x", "", 2, "", said)
    (in_a_test,) = beyond([Change("tests/a.x", b"", line.encode())], Order(""), USUAL)
    assert in_a_test.severity is Severity.NOTE


def silenced(before: str, after: str, text: str = "", *more: Change) -> list[tuple[str, Severity]]:
    changes = [Change("src/a.py", before.encode(), after.encode()), *more]
    return [(one.now, one.severity) for one in beyond(changes, Order(text), USUAL)]


def test_a_suppression_that_moves_or_is_narrowed_is_not_new() -> None:
    assert silenced("a  # noqa: E1\nb\n", "b\nc\na  # noqa: E1\n") == []
    assert silenced("a  # noqa: E1\n", "a  # noqa: E2\n") == []
    assert silenced("a  # noqa\n", "a  # noqa: E2\n") == []
    assert silenced("", "a  # noqa: E1\n", "", Change("src/b.py", b"a  # noqa: E1\n", None)) == []
    assert silenced("a  # noqa: E1\n", "a  # noqa\n") == [("# noqa", Severity.SIGN_OFF)]
    other = Change("src/b.py", b"a  # noqa: E1 why\n", b"a  # noqa: E1 how\n")
    assert silenced("", "a  # noqa: E1\n", "", other) == [("# noqa: E1", Severity.SIGN_OFF)]
    twice = "a  # noqa: E1\nb  # noqa: E1\nc  # noqa: E1\n"
    assert silenced("a  # noqa: E1\n", twice) == [("# noqa: E1 and 1 more", Severity.SIGN_OFF)]


def test_a_suppression_that_the_plan_orders_or_allows_is_cited() -> None:
    for text, severity in (
        ("- [ ] `a.py` has the totals", Severity.SIGN_OFF),
        ("- [ ] suppress the false warning in `a.py`", Severity.ALLOWED),
        ("- [ ] the totals\n**Allows:** suppression `src/a.py`", Severity.ALLOWED),
        ("- [ ] the totals\n**Allows:** suppression `src/b.py`", Severity.SIGN_OFF),
        ("- [ ] no suppressions are added, never silence a linter", Severity.SIGN_OFF),
    ):
        assert silenced("", "a  # noqa: E1\n", text) == [("# noqa: E1", severity)]


LOOSENED = [
    (
        "pyproject.toml",
        "[tool.coverage.report]\nfail_under = 90\n",
        "[tool.coverage.report]\nfail_under = 60\n",
        "tool.coverage.report.fail_under 90",
        "tool.coverage.report.fail_under 60",
    ),
    (
        ".coveragerc",
        "[report]\nfail_under = 90\nx = 1\n",
        "[report]\nx = 1\n",
        "report.fail_under 90",
        "report.fail_under is gone",
    ),
    (
        ".coveragerc",
        "[report]\nx = 1\n",
        "[report]\nx = 1\nomit =\n    src/new.py\n",
        "",
        "report.omit src/new.py",
    ),
    (
        "pyproject.toml",
        '[tool.ruff.lint]\nignore = ["E501"]\n',
        '[tool.ruff.lint]\nignore = [\n  "E501",\n  "F401",  # unused\n]\n',
        "",
        "tool.ruff.lint.ignore F401",
    ),
    (
        "pyproject.toml",
        '[tool.ruff.lint]\nselect = ["E", "F"]\n',
        '[tool.ruff.lint]\nselect = ["E"]\n',
        "tool.ruff.lint.select E F",
        "tool.ruff.lint.select E",
    ),
    (
        "pyproject.toml",
        "[tool.ruff]\nfix = true\n",
        '[tool.ruff]\nfix = true\n[tool.ruff.lint.per-file-ignores]\n"src/*.py" = ["F401"]\n',
        "",
        "tool.ruff.lint.per-file-ignores.src/*.py F401",
    ),
    (
        "mypy.ini",
        "[mypy]\nstrict = True\n",
        "[mypy]\nstrict = False\n",
        "mypy.strict True",
        "mypy.strict False",
    ),
    (
        "mypy.ini",
        "[mypy]\nstrict = True\n",
        "[mypy]\nstrict = True\n[mypy-shop.*]\nignore_errors = True\n",
        "",
        "mypy-shop.*.ignore_errors True",
    ),
    (
        "jest.config.js",
        "module.exports = { coverageThreshold: { global: { lines: 90, branches: 80 } } };\n",
        "module.exports = { coverageThreshold: { global: { lines: 90, branches: 8 } } };\n",
        "module.exports.coverageThreshold.global.branches 80",
        "module.exports.coverageThreshold.global.branches 8",
    ),
    (
        ".eslintrc.json",
        '{\n  "rules": {\n    "no-eval": "error",\n    "complexity": ["error", 10]\n  }\n}\n',
        '{\n  "rules": {\n    "no-eval": "off",\n    "complexity": ["error", 30]\n  }\n}\n',
        "rules.complexity error 10, rules.no-eval error",
        "rules.complexity error 30, rules.no-eval off",
    ),
    (
        "eslint.config.js",
        "[\n  { ignores: ['dist/'] },\n]",
        "[\n  { ignores: ['dist/', 'src/pay.js'] },\n]",
        "",
        "ignores src/pay.js",
    ),
    (
        "package.json",
        '{"scripts": {"lint": "eslint --max-warnings 0 ."}}',
        '{"scripts": {"lint": "eslint --max-warnings 50 ."}}',
        "--max-warnings 0",
        "--max-warnings 50",
    ),
    (
        "Makefile",
        "t:\n\tpytest --cov-fail-under=90\n",
        "t:\n\tpytest\n",
        "--cov-fail-under 90",
        "--cov-fail-under is gone",
    ),
    ("Makefile", "lint:\n\truff check .\n", "lint:\n\truff check . || true\n", "", "|| true"),
    (
        ".golangci.yml",
        "linters:\n  enable:\n    - errcheck\n    - gosec\n",
        "linters:\n  enable:\n    - errcheck\n",
        "linters.enable errcheck gosec",
        "linters.enable errcheck",
    ),
    (
        "tsconfig.json",
        '{"compilerOptions": {"strict": true}}',
        '{"compilerOptions": {"strict": false}}',
        "compilerOptions.strict true",
        "compilerOptions.strict false",
    ),
    (
        "Cargo.toml",
        '[lints.rust]\nunsafe_code = "forbid"\n',
        '[lints.rust]\nunsafe_code = "allow"\n',
        "lints.rust.unsafe_code forbid",
        "lints.rust.unsafe_code allow",
    ),
    (".flake8", "[flake8]\nmax-complexity = 8\n", None, "", "the settings are gone"),
]


@pytest.mark.parametrize(("path", "before", "after", "was", "now"), LOOSENED)
def test_a_setting_that_demands_less_is_put_to_a_person(
    path: str, before: str, after: str | None, was: str, now: str
) -> None:
    change = Change(path, before.encode(), None if after is None else after.encode())
    (remark,) = beyond([change], Order("- [ ] raise an error beyond the limit of a key"), USUAL)
    assert remark[:7] == ("setting-loosened", Severity.SIGN_OFF, path, "", None, was, now)
    (told,) = beyond([change], Order("- [ ] lower the coverage, and relax the linters"), USUAL)
    assert (told.severity, told.cited) == (
        Severity.ALLOWED,
        "line 1: - [ ] lower the coverage, and relax the linters",
    )
    (allowed,) = beyond([change], Order(f"**Allows:** limits {path}"), USUAL)
    assert allowed.severity is Severity.ALLOWED


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        *(
            (path, after, before)
            for path, before, after, _, now in LOOSENED
            if after and "ignore_errors" not in now
        ),
        (
            "pyproject.toml",
            "[project]\nname = 'a'\n",
            "[project]\nname = 'a'\n[tool.ruff]\nignore = ['E501']\n",
        ),
        (
            "pyproject.toml",
            "[project]\ndependencies = ['a>=2']\n",
            "[project]\ndependencies = ['a>=1', 'b']\n",
        ),
        ("pyproject.toml", "[tool.setuptools]\nx = 1\n", "[tool.setuptools]\nx = 1\nexclude = ['tests']\n"),
        ("pyproject.toml", "[tool.ruff]\nselect = ['E', 'F']\n", "[tool.ruff]\nselect = ['ALL']\n"),
        ("package.json", '{"version": "2.0.0"}', '{"version": "1.0.0", "scripts": {"start": "x --port 80"}}'),
        ("jest.config.js", "module.exports = { maxWorkers: 2 };", "module.exports = { maxWorkers: 4 };"),
        (
            "tsconfig.json",
            '{"compilerOptions": {"target": "es2022"}}',
            '{"compilerOptions": {"target": "es2020"}}',
        ),
        ("src/limits.json", '{"threshold": 9}', '{"threshold": 1}'),
        ("tests/run.sh", "run a\n", "run a || true\n"),
        (".gitignore", "a\n", "a\nb\n"),
    ],
)
def test_a_setting_that_demands_more_or_something_else_is_silent(path: str, before: str, after: str) -> None:
    assert beyond([Change(path, before.encode(), after.encode())], Order(""), USUAL) == ()


def test_settings_that_move_to_another_file_are_not_loosened() -> None:
    old = Change(".coveragerc", b"[report]\nfail_under = 90\n", None)
    kept = Change("pyproject.toml", b"", b"[tool.coverage.report]\nfail_under = 90\n")
    less = Change("pyproject.toml", b"", b"[tool.coverage.report]\nfail_under = 9\n")
    assert beyond([old, kept], Order(""), USUAL) == ()
    assert [one.rule for one in beyond([old, less], Order(""), USUAL)] == ["setting-loosened"]


@pytest.mark.parametrize(
    ("path", "check", "text", "severity"),
    [
        ("data/prices.csv", "python -m shop data/prices.csv", "", Severity.SIGN_OFF),
        ("out.txt", "./shop | diff - out.txt", "", Severity.SIGN_OFF),
        ("scripts/check.sh", "sh ./scripts/check.sh", "", Severity.SIGN_OFF),
        ("tests/data/a.json", "node cli.js < tests/data/a.json", "", Severity.SIGN_OFF),
        (
            "data/prices.csv",
            "python -m shop data/prices.csv",
            "- [ ] new prices in `data/prices.csv`",
            Severity.ALLOWED,
        ),
        ("data/prices.csv", "wc -l < data/prices.csv", "", None),
        ("data/prices.csv", "python -m shop data/other.csv", "", None),
        ("docs/api.md", "python links.py docs/api.md", "", None),
        ("app.py", "python app.py --version", "", None),
        ("tests/test_app.py", "pytest tests/test_app.py", "", None),
    ],
)
def test_a_file_that_a_check_of_the_phase_reads_is_not_changed_unseen(
    path: str, check: str, text: str, severity: Severity | None
) -> None:
    order = Order(f"{text}\n### Verification\n- `{check}`\n", checks=(check,))
    found = beyond([Change(path, b"1", b"2")], order, USUAL)
    assert [(one.rule, one.severity) for one in found] == (
        [("check-input-changed", severity)] if severity else []
    )
    assert beyond([Change(path, None, b"2")], order, USUAL) == ()
