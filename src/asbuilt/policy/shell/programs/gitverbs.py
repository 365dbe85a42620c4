"""git's reading verbs and their options, from git's manual pages.

Rule: options that write a file, start a program (a diff driver, a pager, gpg) or read more words from
standard input are left out. Programs in a config are left to the sandbox, which runs git with its own
settings.
"""

from __future__ import annotations

# fmt: off
_DIFF = (
    " -p -u --patch -s --no-patch -U=N --unified=N --raw --patch-with-raw --indent-heuristic"
    " --no-indent-heuristic --minimal --patience --histogram --anchored=T --diff-algorithm=T --stat[=T]"
    " --stat-width=N --stat-name-width=N --stat-count=N --stat-graph-width=N --compact-summary --numstat"
    " --shortstat --dirstat[=T] --cumulative -X[=T] --summary --patch-with-stat -z --name-only"
    " --name-status --submodule[=T] --color[=T] --no-color --color-moved[=T] --no-color-moved"
    " --color-moved-ws=T --no-color-moved-ws --word-diff[=T] --word-diff-regex=T --color-words[=T]"
    " --no-renames --rename-empty --no-rename-empty --check --ws-error-highlight=T --full-index --binary"
    " --abbrev[=N] --no-abbrev -B[=T] --break-rewrites[=T] -M[=T] --find-renames[=T] -C[=T]"
    " --find-copies[=T] --find-copies-harder -D --irreversible-delete -l=N --diff-filter=T -S=T -G=T"
    " --find-object=T --pickaxe-all --pickaxe-regex --skip-to=T --rotate-to=T -R --relative[=T]"
    " --no-relative -a --text --ignore-cr-at-eol --ignore-space-at-eol -b --ignore-space-change -w"
    " --ignore-all-space --ignore-blank-lines -I=T --ignore-matching-lines=T --inter-hunk-context=N -W"
    " --function-context --exit-code --quiet --no-ext-diff --no-textconv --ignore-submodules[=T]"
    " --src-prefix=T --dst-prefix=T --no-prefix --default-prefix --line-prefix=T --ita-invisible-in-index"
    " -c --cc -m --combined-all-paths -t -r --merge-base --diff-merges=T --no-diff-merges --dd"
    ""
)
_WALK = (
    " -# -n=N --max-count=N --skip=N --since=T --after=T --until=T --before=T --since-as-filter=T"
    " --author=T --committer=T --grep-reflog=T --grep=T --all-match --invert-grep -i --regexp-ignore-case"
    " --basic-regexp -E --extended-regexp -F --fixed-strings -P --perl-regexp --remove-empty --merges"
    " --no-merges --min-parents=N --max-parents=N --no-min-parents --no-max-parents --first-parent"
    " --exclude-first-parent-only --not --all --branches[=T] --tags[=T] --remotes[=T] --glob=T --exclude=T"
    " --exclude-hidden=T --reflog --alternate-refs --single-worktree --ignore-missing --cherry-mark"
    " --cherry-pick --left-only --right-only --cherry -g --walk-reflogs --merge --boundary"
    " --simplify-by-decoration --show-pulls --full-history --dense --sparse --simplify-merges"
    " --ancestry-path[=T] --date-order --author-date-order --topo-order --reverse --no-walk[=T] --do-walk"
    " --pretty[=T] --format=T --abbrev-commit --no-abbrev-commit --oneline --encoding=T --expand-tabs[=N]"
    " --no-expand-tabs --notes[=T] --no-notes --show-notes-by-default --relative-date --date=T --parents"
    " --children --left-right --graph --no-graph --show-linear-break[=T] --end-of-options"
)
_LOG = _DIFF + _WALK + (
    " -q --follow --no-decorate --decorate[=T] --decorate-refs=T --decorate-refs-exclude=T"
    " --clear-decorations --source --mailmap --no-mailmap --use-mailmap --no-use-mailmap --full-diff"
    " --log-size -L=T --root"
)
_REFS = (
    " --contains[=T] --no-contains[=T] --merged[=T] --no-merged[=T] --points-at=T --sort=T --format=T"
    " --color[=T] --no-color --column[=T] --no-column -i --ignore-case"
)

CONTENT = {
    "log": _LOG,
    "show": _LOG,
    "whatchanged": _LOG,
    "diff": _DIFF + " --cached --staged --no-index --base --ours --theirs -0 --end-of-options -1 -2 -3",
    "diff-tree": _DIFF + " --no-commit-id --root -v --pretty[=T] --format=T --always",
    "diff-index": _DIFF + " --cached",
    "diff-files": _DIFF + " -0 -1 -2 -3 -q --base --ours --theirs",
    "range-diff": _DIFF + " --creation-factor=N --no-dual-color --left-only --right-only --notes[=T]"
        " --no-notes",
    "blame": (
        "-b -c -l -t -e -f -n -s -w -p -M[=N] -C[=N] -L=T --root --show-stats --reverse=T --first-parent"
        " --porcelain --line-porcelain --incremental --encoding=T --date=T --progress --no-progress"
        " --ignore-rev=T --ignore-revs-file=F --color-lines --color-by-age --contents=F --show-name"
        " --show-number --show-email --abbrev=N --since=T --minimal"
    ),
    "cat-file": "-t -s -e -p --batch-check[=T] --batch-all-objects --unordered --use-mailmap --mailmap",
    "grep": (
        "-n -i -v -w -a -I -l -L -c -o -h -H -E -G -P -F -e=T -f=F -A=N -B=N -C=N -W -p -q -m=N -z -r -#"
        " --cached --untracked --no-index --no-exclude-standard --exclude-standard --recurse-submodules"
        " --max-depth=N --threads=N --heading --break --column --all-match --and --or --not --full-name"
        " --color[=T] --no-color --line-number --count --text --ignore-case --invert-match --word-regexp"
        " --only-matching --files-with-matches --name-only --files-without-match --null --quiet"
        " --show-function --function-context --context=N --after-context=N --before-context=N --max-count=N"
        " --extended-regexp --basic-regexp --perl-regexp --fixed-strings --recursive --no-recursive"
        " --no-textconv"
    ),
    "apply": "--stat --numstat --summary --check",
    "hash-object": "-t=T --no-filters --literally",
    "verify-pack": "-v -s --verbose --stat-only",
}
"""Verbs that show the contents of files."""

NAMES = {
    "status": (
        "-s -b -v -z -u[=T] --short --branch --show-stash --porcelain[=T] --long --verbose"
        " --untracked-files[=T] --ignored[=T] --ignore-submodules[=T] --column[=T] --no-column"
        " --ahead-behind --no-ahead-behind --renames --no-renames --find-renames[=T]"
    ),
    "ls-files": (
        "-c -d -m -o -i -s -u -k -t -v -f -z -x=T --exclude=T --exclude-per-directory=T --exclude-standard"
        " --error-unmatch --full-name --recurse-submodules --abbrev[=N] --directory --no-empty-directory"
        " --eol --deduplicate --stage --others --cached --modified --deleted --killed --ignored --unmerged"
        " --format=T --sparse --with-tree=T --resolve-undo --debug"
    ),
    "ls-tree": (
        "-d -r -t -l -z --name-only --name-status --object-only --full-name --full-tree --abbrev[=N]"
        " --format=T --long"
    ),
    "rev-parse": (
        "--show-toplevel --abbrev-ref[=T] --short[=N] --verify -q --quiet --git-dir --git-common-dir"
        " --absolute-git-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository"
        " --is-shallow-repository --show-prefix --show-cdup --show-superproject-working-tree --symbolic"
        " --symbolic-full-name --all --branches[=T] --tags[=T] --remotes[=T] --glob=T --exclude=T"
        " --local-env-vars --show-object-format[=T] --show-ref-format --since=T --after=T --until=T"
        " --before=T --default=T --git-path=T --end-of-options --path-format=T --not --flags --no-flags"
        " --revs-only --no-revs --sq --disambiguate=T --shared-index-path --resolve-git-dir=D"
    ),
    "rev-list": _WALK + (
        " --count --objects --objects-edge --timestamp --header --use-bitmap-index --disk-usage[=T] --quiet"
        " --no-commit-header --commit-header --no-object-names --object-names --in-commit-order --unpacked"
        " --missing=T --filter=T --max-age=N --min-age=N --bisect --bisect-all --bisect-vars --abbrev[=N]"
    ),
    "shortlog": _WALK + " -s -e -c -w[=T] -n --summary --numbered --email --group=T",
    "branch": _REFS + " -a -r -v -l --all --remotes --list --verbose --show-current --abbrev=N --no-abbrev"
                      " --omit-empty",
    "tag": _REFS + " -l -n[=N] --list --omit-empty",
    "for-each-ref": _REFS + " --count=N --shell --perl --python --tcl --omit-empty --exclude=T",
    "show-ref": "--head --heads --branches --tags -d --dereference -s --hash[=N] --verify --exists"
        " --abbrev[=N] -q --quiet",
    "show-branch": "-r --remotes -a --all --current --topo-order --date-order --sparse --more=N --list"
                   " --merge-base --independent --no-name --sha1-name --topics -g[=T] --reflog[=T]"
                   " --color[=T] --no-color",
    "describe": (
        "--all --tags --contains --abbrev=N --candidates=N --exact-match --debug"
        " --long --match=T --exclude=T --always --first-parent"
    ),
    "merge-base": "-a --all --octopus --independent --is-ancestor --fork-point",
    "name-rev": "--tags --refs=T --exclude=T --all --name-only --no-undefined --always",
    "cherry": "-v --abbrev[=N]",
    "count-objects": "-v -H --verbose --human-readable",
    "check-ignore": "-q --quiet -v --verbose -n --non-matching -z --no-index",
    "check-attr": "-a --all --cached -z --source=T",
    "check-mailmap": "",
    "check-ref-format": "--branch --normalize --allow-onelevel --refspec-pattern",
    "fsck": "--full --strict --no-dangling --dangling --unreachable --connectivity-only --tags --root"
            " --no-reflogs --verbose --no-progress --progress --name-objects --cache",
}
"""Verbs that show only names, hashes and dates."""

# Per second word: its options, and the most operands that it takes.
SECOND = {
    "remote": {"": ("-v --verbose", 0), "get-url": ("--push --all", 1)},
    "stash": {"list": (_LOG, 9), "show": (_DIFF + " -u --include-untracked --only-untracked"
        " --no-include-untracked",
                                          1)},
    "worktree": {"list": ("-v --verbose --porcelain -z", 0)},
    "submodule": {"": ("", 0), "status": ("--cached --recursive -q --quiet", 9)},
    "notes": {"": ("", 0), "list": ("", 1), "show": ("", 1), "get-ref": ("", 0)},
    "sparse-checkout": {"list": ("", 0)},
    "bundle": {"list-heads": ("", 9)},
    "bisect": {"log": ("", 0), "terms": ("", 0)},
    "archive": {"--list": ("", 0), "-l": ("", 0)},
}

CONFIG_READS = frozenset((
    "--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l", "--get-color", "--get-colorbool",
))
CONFIG = (
    "--get --get-all --get-regexp --get-urlmatch --list -l --show-origin --show-scope --name-only --global"
    " --local --system --worktree --type=T --bool --int --bool-or-int --path --expiry-date -z --null"
    " --includes --no-includes --default=T --fixed-value --all --regexp --value=T --show-names --url=T"
)
INERT_SETTINGS = frozenset((
    "color.ui", "color.diff", "color.status", "color.branch", "color.grep", "core.quotepath", "core.abbrev",
    "log.date", "log.decorate", "log.follow", "diff.renames", "diff.renamelimit", "diff.context",
    "diff.algorithm", "diff.colormoved", "diff.mnemonicprefix", "diff.noprefix", "grep.linenumber",
    "status.relativepaths", "status.short", "status.branch", "column.ui", "advice.detachedhead",
))
# fmt: on
