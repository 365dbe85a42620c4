"""What a phase did beyond its place, by path and by the plan's words."""

from __future__ import annotations

import pytest

from asbuilt.proof.change.boundaries import USUAL
from asbuilt.proof.change.scope import beyond, covers, plan_changed, stated, strayed
from asbuilt.proof.remarks import Remark, failing, for_a_person, remark_from
from asbuilt.proof.suites.model import Change, Order, Severity

PLAN = b"""\
# Shop

## Phase 1: Greet
### Work Items
- [ ] it greets
### Acceptance Criteria
- [ ] at most 3 lines
"""
SCOPED = """\
## Phase 1: Limits
### Scope
- `src/limits.py`, and `web/**`
- New: src/keys/
**Out of scope:** `legacy/`
### Work Items
- [ ] limits are read by `reader.py`
```
Files: elsewhere.py
```
"""
EDITORS = [
    ".vscode/tasks.json", "web/.vscode/settings.json", ".VSCode/tasks.json",
    ".devcontainer/devcontainer.json",
    ".devcontainer.json", ".idea/workspace.xml", ".run/a.run.xml", ".zed/tasks.json", ".fleet/run.json",
    "shop.code-workspace", "shop.sublime-project", ".vimrc", ".exrc", ".nvim.lua", ".nvimrc", ".lvimrc",
    ".envrc", "api/.dir-locals.el", ".gitpod.yml", ".helix/languages.toml",
]  # fmt: skip
TOOLS = [
    ".npmrc", "web/.npmrc", ".yarnrc", ".yarnrc.yml", ".yarn/releases/yarn-4.cjs", ".pnpmfile.cjs",
    "bunfig.toml",
    ".cargo/config.toml", ".cargo/config", "rust-toolchain.toml", ".mise.toml", "mise.local.toml",
    ".config/mise/config.toml", ".lfsconfig", "pip.conf", "uv.toml", ".bundle/config", "init.gradle.kts",
    "gradle/wrapper/gradle-wrapper.properties", "gradlew", ".mvn/jvm.config", "mvnw", "NuGet.Config",
    ".bazelrc",
]  # fmt: skip
OUT = {
    "an absolute link": Change("src/shared", None, b"x", target="/etc/passwd"),
    "a link above the tree": Change("src/shared", None, b"x", target="../../a"),
    "a link that goes in and out": Change("shared", b"x", b"x", target="src/../../a"),
    "a link into the git folder": Change("src/shared", None, b"x", target="../.GIT/hooks/pre-push"),
    "a link among caches": Change("src/__pycache__/shared", None, b"x", target="/opt/bin"),
    "a link to nothing outside": Change("shared", None, b"../x", target="../x"),
}


def seen(
    path: str, text: str = "", *, after: bytes | None = b"new", **more: str
) -> list[tuple[str, Severity]]:
    """Say what is noticed when a phase with this text changes one file."""
    changes = [Change(path, b"old", after), *(Change(name, b"old", b"new") for name in more.values())]
    return [(one.rule, one.severity) for one in beyond(changes, Order(text), USUAL) if one.path == path]


@pytest.mark.parametrize(
    ("path", "rule", "severity"),
    [
        (".github/workflows/ci.yml", "ci-changed", Severity.SIGN_OFF),
        (".gitlab-ci.yml", "ci-changed", Severity.SIGN_OFF),
        ("deploy/Jenkinsfile", "ci-changed", Severity.SIGN_OFF),
        (".github/CODEOWNERS", "ci-changed", Severity.SIGN_OFF),
        (".husky/pre-commit", "hook-changed", Severity.SIGN_OFF),
        (".pre-commit-config.yaml", "hook-changed", Severity.SIGN_OFF),
        ("web/.gitattributes", "git-setting-changed", Severity.SIGN_OFF),
        (".gitmodules", "git-setting-changed", Severity.SIGN_OFF),
        (".claude/settings.json", "agent-setting-changed", Severity.SIGN_OFF),
        ("web/AGENTS.md", "agent-setting-changed", Severity.SIGN_OFF),
        (".cursor/rules/style.mdc", "agent-setting-changed", Severity.SIGN_OFF),
        *((path, "editor-setting-changed", Severity.SIGN_OFF) for path in EDITORS),
        *((path, "tool-setting-changed", Severity.SIGN_OFF) for path in TOOLS),
        ("asbuilt.toml", "asbuilt-setting-changed", Severity.FAILS),
        ("web/package-lock.json", "lock-file-changed", Severity.SIGN_OFF),
    ],
)
def test_a_file_that_acts_beyond_its_phase_has_a_rule(path: str, rule: str, severity: Severity) -> None:
    assert seen(path) == [(rule, severity)]
    assert seen(path, after=None) == [(rule, severity)]
    assert seen(path, f"- [ ] change `{path}`") == [(rule, Severity.ALLOWED)]
    assert seen(path, f"- [ ] do not touch `{path}`") == [(rule, severity)]


@pytest.mark.parametrize("change", OUT.values(), ids=OUT.keys())
def test_a_link_out_of_the_tree_is_asked_about_also_where_the_phase_names_its_path(change: Change) -> None:
    def severity(text: str) -> list[tuple[str, Severity]]:
        return [(one.rule, one.severity) for one in beyond([change], Order(text), USUAL)]

    asked, allowed = ([("link-leaves-the-tree", one)] for one in (Severity.SIGN_OFF, Severity.ALLOWED))
    assert severity("- [ ] it greets") == severity(f"- [ ] write `{change.path}`") == asked
    assert severity("- [ ] a symbolic link `other`") == severity("**Allows:** links other") == asked
    assert severity(f"- [ ] a symbolic link `{change.path}`") == allowed
    assert severity(f"**Allows:** links `{change.path}`") == allowed


@pytest.mark.parametrize(
    "change",
    [
        Change("src/a", None, b"x", target="../b"),
        Change("a", None, b"x", target="src/./b/../c"),
        Change("a", None, b"x", target="..b"),
        Change("src/\u00fcber \U0001f469\u200d\U0001f680.py", None, b"x"),
        Change("old\u202e", b"x", None),
    ],
)
def test_a_link_within_the_tree_and_a_name_that_reads_as_it_is_are_ordinary(change: Change) -> None:
    assert beyond([change], Order("- [ ] it greets"), USUAL) == ()


@pytest.mark.parametrize(
    "name", ["a\x1b[2J.py", "a\n.py", "a\x85.py", "gpj.\u202esj.a", "a\u2066b", "a\u200bb"]
)
def test_a_name_with_control_characters_or_marks_of_direction_is_asked_about(name: str) -> None:
    (remark,) = beyond([Change(name, None, b"x")], Order(""), USUAL)
    assert (remark.rule, remark.severity) == ("name-hides-characters", Severity.SIGN_OFF)
    assert remark.now == f"it is new; its name is {name!a}; the phase does not order it"


def test_another_commit_of_a_submodule_is_asked_about_though_no_content_differs() -> None:
    change = Change("vendor/parser", None, None, submodule="1a" * 20)
    (remark,) = beyond([change], Order(""), USUAL)
    assert (remark.rule, remark.severity) == ("submodule-changed", Severity.SIGN_OFF)
    (remark,) = beyond([change], Order("- [ ] bump the submodule vendor/parser"), USUAL)
    assert remark.severity == Severity.ALLOWED


def test_of_two_boundaries_the_stricter_one_counts_and_one_thing_is_asked() -> None:
    assert seen(".cursor/mcp.json") == [("agent-setting-changed", Severity.SIGN_OFF)]
    strict = {**USUAL, "editors": "block"}
    (remark,) = beyond([Change(".cursor/mcp.json", None, b"x")], Order(""), strict)
    assert (remark.rule, remark.severity) == ("editor-setting-changed", Severity.FAILS)
    hidden = Change(".npmrc", None, b"x", target="/home/me/.npmrc")
    (remark,) = beyond([hidden], Order("- [ ] write `.npmrc`"), USUAL)
    assert (remark.rule, remark.severity) == ("link-leaves-the-tree", Severity.SIGN_OFF)


@pytest.mark.parametrize(
    "path",
    [
        "src/app.py", ".gitignore", "docs/github/workflows/x.md", "src/locks.py", "ci.py", ".editorconfig",
        "src/vscode/a.ts", "docs/npmrc.md", "src/mise.py", ".env.example", "tests/run/a.py", ".nvmrc",
    ],
)  # fmt: skip
def test_an_ordinary_file_has_none_where_no_scope_is_stated(path: str) -> None:
    assert seen(path, "### Dependencies\nNone.\n### Work Items\n- [ ] it greets") == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (".github/workflows/ci.yml", "- [ ] the CI runs the new tests"),
        (".github/workflows/ci.yml", "- [ ] all of `.github/` is tidied"),
        (".husky/pre-commit", "- [ ] a git hook that formats"),
        ("uv.lock", "- [ ] upgrade the parsing library"),
        (".vscode/tasks.json", "- [ ] VS Code starts the tests"),
        (".npmrc", "- [ ] packages come from the private registry"),
    ],
)
def test_what_the_plan_orders_in_other_words_is_allowed_and_cited(path: str, text: str) -> None:
    (remark,) = beyond([Change(path, None, b"x")], Order(f"## Phase 1\n{text}\n", first_line=7), USUAL)
    assert (remark.severity, remark.cited) == (Severity.ALLOWED, f"line 8: {text}")


def test_a_lock_file_that_changes_with_its_manifest_is_worth_a_line() -> None:
    assert seen("web/yarn.lock", manifest="web/package.json") == [("lock-file-changed", Severity.NOTE)]
    assert seen("web/yarn.lock", other="api/package.json") == [("lock-file-changed", Severity.SIGN_OFF)]
    assert seen("uv.lock", "- [ ] users see their packages") == [("lock-file-changed", Severity.SIGN_OFF)]


@pytest.mark.parametrize(
    ("items", "severity"),
    [("- [ ] it greets\n", Severity.SIGN_OFF), ("- [ ] `scripts/check.sh` checks more\n", Severity.ALLOWED)],
)
def test_to_be_named_by_a_criterion_lets_no_script_change_that_checks_it(
    items: str, severity: Severity
) -> None:
    text = f"### Work Items\n{items}### Acceptance Criteria\n- [ ] `scripts/check.sh` finds nothing\n"
    order = Order(text, checks=("sh scripts/check.sh",))
    (told,) = beyond([Change("scripts/check.sh", b"old", b"new")], order, USUAL)
    assert (told.rule, told.severity) == ("check-input-changed", severity)


def test_the_users_word_on_a_boundary_counts() -> None:
    change = Change(".gitlab-ci.yml", b"old", b"new")
    strict, loose = {**USUAL, "ci": "block"}, {**USUAL, "ci": "note"}
    assert len(failing(beyond([change], Order(""), strict))) == 1
    assert for_a_person(beyond([change], Order(""), loose)) == []


def test_our_own_table_of_a_shared_file_is_ours_and_the_rest_is_not() -> None:
    before = b"[tool.asbuilt.checks]\ntests = 'pytest'\n"
    other = Change("pyproject.toml", before, before + b"[tool.ruff]\nline-length = 100\n")
    ours = Change("pyproject.toml", before, b"[tool.asbuilt.checks]\ntests = 'true'\n")
    assert beyond([other], Order(""), USUAL) == ()
    assert [one.rule for one in beyond([ours], Order(""), USUAL)] == ["asbuilt-setting-changed"]


def test_a_phase_states_its_scope_under_a_title_or_behind_a_label() -> None:
    assert stated(SCOPED) == ("src/limits.py", "web/**", "src/keys/")
    assert stated("**Files:** `a.py`, b/c.py (new), and more") == ("a.py", "b/c.py")
    assert stated("- Files to change: `a.py`\n- Note: b.py\n") == ("a.py", "b.py")
    assert stated("### Scope\nLimits for keys, and their panel.\n### Work Items\n- `a.py`\n") == ()
    assert stated("The scope: is told elsewhere in a.py") == ()


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("src/limits.py", []),
        ("web/deep/page.ts", []),
        ("src/keys/new.py", []),
        ("src/reader.py", []),
        ("tests/test_limits.py", []),
        ("src/other.py", [("outside-the-scope", Severity.SIGN_OFF)]),
        ("src/test_other.py", [("outside-the-scope", Severity.NOTE)]),
        ("docs/other.md", [("outside-the-scope", Severity.NOTE)]),
        ("legacy/old.py", [("out-of-scope", Severity.SIGN_OFF)]),
        ("legacy/reader.py", []),
        (".gitlab-ci.yml", [("ci-changed", Severity.SIGN_OFF)]),
    ],
)
def test_a_file_outside_a_stated_scope_is_told(path: str, found: list[tuple[str, Severity]]) -> None:
    assert seen(path, SCOPED) == found


def test_what_the_whole_plan_leaves_out_is_left_out_of_every_phase() -> None:
    around = "# Shop\n## Non-Scope\n- `vendor/` stays\n## Risks\n"
    found = beyond([Change("vendor/a.js", b"1", b"2")], Order("## Phase 1\n"), USUAL, around=around)
    assert [(one.rule, one.severity) for one in found] == [("out-of-scope", Severity.SIGN_OFF)]


def test_what_programs_leave_behind_is_one_line_however_many_files_it_has() -> None:
    left = [Change(f"src/__pycache__/{name}.pyc", None, b"x") for name in "abc"]
    (remark,) = beyond(left, Order(SCOPED), USUAL)
    assert (remark.rule, remark.severity, remark.path) == ("cache-kept", "note", "src/__pycache__/a.pyc")


def test_to_be_left_out_is_no_order() -> None:
    text = "## Phase 1\n### Out of scope\n- the CI: `.github/workflows/`\n### Work Items\n- [ ] it greets\n"
    assert seen(".github/workflows/ci.yml", text) == [("ci-changed", Severity.SIGN_OFF)]


def test_a_pattern_covers_a_file_a_folder_a_name_or_a_glob() -> None:
    assert covers(["a/b.py"], "a/b.py")
    assert covers(["a"], "a/b/c.py")
    assert covers(["b.py"], "a/b.py")
    assert covers(["a/**/*.py"], "a/x/b.py")
    assert not covers(["a/b"], "a/bc.py")


def test_an_agents_mark_in_the_plan_is_worth_a_line_and_another_wish_fails() -> None:
    assert plan_changed("plan.md", PLAN, PLAN, USUAL) is None
    marked = plan_changed("plan.md", PLAN, PLAN.replace(b"- [ ] it greets", b"- [x] it greets"), USUAL)
    lowered = plan_changed("plan.md", PLAN, PLAN.replace(b"at most 3", b"at most 30"), USUAL)
    gone = plan_changed("plan.md", PLAN, None, USUAL)
    assert [(one.rule, one.severity) for one in (marked, lowered, gone) if one] == [
        ("plan-marked", Severity.NOTE),
        ("plan-changed", Severity.FAILS),
        ("plan-changed", Severity.FAILS),
    ]


def test_what_changed_outside_fails_and_what_is_shared_is_asked() -> None:
    before, after = (
        {"git config core.editor": "vi", "same": "1"},
        {"git config core.hookspath": "/x", "same": "1"},
    )
    assert [(one.words, one.severity) for one in strayed(before, after, is_shared=False)] == [
        ("git config core.editor: changed outside the workspace: was “vi”, now “gone; put it back”", "fails"),
        ("git config core.hookspath: changed outside the workspace: /x; put it back", "fails"),
    ]
    assert [one.severity for one in strayed({}, {"a.py": "1"}, is_shared=True)] == [Severity.SIGN_OFF]


def test_a_remark_is_known_by_the_change_it_is_about_and_not_by_its_line() -> None:
    first = Remark("test-removed", Severity.SIGN_OFF, "a.py", "test_a", 3, "assert x", "", content="1")
    assert first.key == first._replace(line=9).key
    assert first.key != first._replace(content="2").key
    assert remark_from(first._asdict()) == first
    assert first.words == "a.py:3, test_a: test removed: was “assert x”"


@pytest.mark.parametrize(
    ("path", "is_ordered"),
    [
        ("api/package.json", True),
        ("web/package.json", False),
        ("deep/api/package.json", True),
        ("web/reader.py", True),
        ("any/where/setup.cfg", True),
        ("web/api/package.json5", False),
    ],
)
def test_a_file_of_the_same_name_in_another_folder_is_not_ordered(path: str, *, is_ordered: bool) -> None:
    text = "### Scope\n- `api/package.json`\n### Work Items\n- [ ] `reader.py` and **/setup.cfg change\n"
    assert (seen(path, text) == []) is is_ordered
