# `just` lists this; `just check` before every commit; `just ci` is what CI runs.
set shell := ["bash", "-euo", "pipefail", "-c"]
export PATH := justfile_directory() / ".venv/bin:" + env_var("PATH")

[private]
default:
    @just --list --unsorted

# make or refresh .venv from the hashed requirement files
setup:
    scripts/setup

# lint, types, floors, and every test but the long ones: under 5 minutes on two cores
check *args: lint types floors (test args)

# formatting, lint, and phrases that readers have to decode
lint:
    ruff format --check .
    ruff check .
    python scripts/voice.py

# mypy, strict, on sources and tests
types:
    mypy

# import layers: a floor imports only the floors below it
floors:
    lint-imports

# the tests, on both cores
test *args:
    pytest --numprocesses 2 -m "not crash and not live and not real" {{ args }}

# whole runs, with and without kill -9, simulated ones: a slice of each matrix, three at once because most wait (--whole for all of it, ASBUILT_CRASH_ROUNDS=400 for longer ones)
journeys *args:
    pytest --numprocesses 3 -m crash {{ args }}

# the whole matrix of kill -9 into docs/reference/reliability.md, made for an hour of two idle cores; --help has parts of it
crash *args:
    python -m tests.crash {{ args }}

# two and eight processes that want the same thing, 1,000 rounds each, and journals put back in time
races *args:
    ASBUILT_RACE_ROUNDS=${ASBUILT_RACE_ROUNDS:-1000} ASBUILT_CRASH_ROUNDS=400 \
        pytest --numprocesses 2 --whole -m crash tests/races tests/timetravel {{ args }}

# a year of five schedules in three zones, on a clock that jumps and a worker that is killed; ASBUILT_YEARS=N for N seeds
schedules *args:
    ASBUILT_YEARS=${ASBUILT_YEARS:-1} pytest -p no:xdist -q -s -m crash tests/schedules {{ args }}

# store twenty runs and replay each on another checkout
replays *args:
    ASBUILT_REPLAYS=${ASBUILT_REPLAYS:-20} pytest -p no:xdist -m crash tests/journeys/test_replay.py {{ args }}

# landings by pull request with the real gh against a stub, killed at every step, on both databases (ASBUILT_GH_FOLDER=/usr/bin: that gh)
pulls *args:
    ASBUILT_CRASH_ROUNDS=400 pytest --numprocesses 2 --whole -m crash tests/journeys/test_pulls.py {{ args }}

# every fault in its long form, into docs/reference/reliability.md: disks, files, locks, databases, clocks, agents
faults *args:
    ASBUILT_CRASH_ROUNDS=400 FAULTS_ROWS=1 pytest --numprocesses 2 --whole tests/faults {{ args }}

# SEEDS worlds of the decision core from FIRST on, invariants checked after every step; a single seed prints its run
simulate seeds="1000" first="0":
    python -m tests.simulator {{ seeds }} {{ first }}

# SESSIONS of critique from seed FIRST on, with critics and authors of every kind: counts of ended, lost, recognised
critics sessions="1000" first="0":
    python -m tests.lifecycle.critique {{ sessions }} {{ first }}

# list code that no process of journeys and live tests executes, and fields that nothing fills; compared with tests/reach.toml
reach *args: agents
    for marks in "crash" "live and not long" "not crash and not live and not real"; do \
        just reach-slice --numprocesses 2 -m "$marks" {{ args }}; \
    done
    python scripts/reach.py

# a part of it, with pytest's arguments: what earlier slices reached still counts; `python scripts/reach.py` lists the rest
reach-slice *args:
    python scripts/reach.py make
    PATH="$PWD/.tools/reach/venv/bin:$PATH" pytest {{ args }} || true

# run the corpus of lies and honest work: caught, missed, wrongly accused
lies *args:
    asbuilt selftest lies {{ args }}

# install the agents that tests start, pinned in tests/live/agents.toml (--only NAME...)
agents *args:
    python scripts/agents.py {{ args }}

# real agents on a scripted model: the contract of agents over all of them, in full (--record writes the golden files again)
live *args: agents
    pytest --numprocesses 2 -m live tests/live {{ args }}

# every way to write in every state of planning, into docs/explanation/planning.md: with the gate, the kernel, neither
matrix *args: agents
    ASBUILT_WRITE_DOCS=1 pytest -p no:xdist -m live tests/live/test_matrix.py {{ args }}

# real projects, from the registries, into docs/reference/real-projects.md with --write (NAMES, --slice); needs an hour in full
real *args:
    python -m tests.real {{ args }}

# everything CI runs: slices of the long tests, then check with 200 examples for each property, so that pytest's summary comes last
ci: begin-record smoke site (release "--smoke") (sbom ".tools/sbom.json") (fuzz-slice "plan" "30") (fuzz-slice "gate" "20") journeys-slice live-slice real-slice
    HYPOTHESIS_PROFILE=ci just check --inventory

# the part of CI that shows the required behaviours: each test that proves one has run and started asbuilt; a session that fails does not end it
inventory: agents begin-record
    code=0; for session in journeys live-slice "test --inventory"; do just $session || code=1; done; exit $code

# delete the record of what tests started; the session with --inventory compares what was recorded since
[private]
begin-record:
    python scripts/requirements.py --begin

# the long commands that no test runs, each as small as it can be, so that none breaks unseen
[private]
smoke:
    python scripts/bench.py --smoke
    python scripts/landings.py --smoke
    python scripts/board_load.py --smoke
    python scripts/kills.py --smoke
    python -m tests.simulator 20 0
    python -m tests.lifecycle.critique 20 0

# every other journey that shows a required behaviour, and a sixth of the others: six commits in a row have all
[private]
journeys-slice:
    just journeys --turn "$(git rev-list --count HEAD)"

# what the quick agents can do, and of the slow ones what matters most
[private]
live-slice: agents
    pytest --numprocesses 2 -m "live and not long" tests/live

# a few real projects of several kinds, half of them with each commit; a registry that cannot be reached is a failure
[private]
real-slice:
    pytest --numprocesses 2 -m real --turn "$(git rev-list --count HEAD)" tests/real

# a fuzzer that cannot run here is listed with its reason
[private]
fuzz-slice target seconds:
    scripts/fuzz {{ target }} {{ seconds }} || { [ $? -eq 3 ] && echo "NOT RUN: fuzz {{ target }}, see above"; }

# SIZE mutants that the gate allows, from number FIRST on, run under strace without the sandbox: nothing is written
gate-sample size="2000" first="0":
    python -m tests.attack.gate sample {{ size }} {{ first }}

# all unsafe rows, or SIZE of them from FIRST on, run in the planning sandbox with the hook removed: nothing changes
gate-ring size="0" first="0":
    python -m tests.attack.gate ring {{ size }} {{ first }}

# SIZE programs of sed, awk and jq each, and tests, by chance: those that the gate allows are run by the real programs
gate-languages size="10000" first="0":
    python -m tests.attack.gate languages {{ size }} {{ first }}

# SIZE inputs to the hook from the number FIRST on, one in a hundred to a process of its own: none opens the gate
gate-hook size="100000" first="0":
    python -m tests.attack.gate hook {{ size }} {{ first }}

# property tests with 10,000 random examples each: run it overnight
hunt *args:
    HYPOTHESIS_PROFILE=hunt pytest --numprocesses 2 {{ args }}

# fuzz TARGET (plan, gate, hook) for SECONDS: executions and crashes at the end
fuzz target seconds:
    scripts/fuzz {{ target }} {{ seconds }}

# 200 landings onto one branch by 8 workers, against one worker that does them alone (--smoke: 6 by 2)
landings *args:
    python scripts/landings.py {{ args }}

# 100 runs in 10 repositories by 8 workers of a fleet with a kill every 20 s: lost and doubled (--smoke: 6 runs, 1 kill)
kills *args:
    python scripts/kills.py {{ args }}

# speed as ratios of things measured in one run (--quick: only reading and starting; --smoke: all of it, small)
bench *args:
    python scripts/bench.py {{ args }}

# the board beside a run of 200 phases and 50,000 events with 20 tabs: pages, updates, memory, transactions (--smoke: small)
board-load *args:
    python scripts/board_load.py {{ args }}

# what asbuilt costs as things grow, with a forecast (--slice, --long, --only A, --write into docs/reference/performance.md)
growth *args:
    python scripts/growth.py {{ args }}

# what asbuilt is made of, as a CycloneDX bill of materials: sbom.json
sbom out="sbom.json":
    "$(command -v uv || echo .tools/bin/uv)" tool run --quiet --from cyclonedx-bom==7.5.0 cyclonedx-py requirements requirements/run.txt --of JSON -o {{ out }}

# build wheel and sdist twice into dist/ and check them: bytes, contents, Pythons, SBOM, audit, upgrade (--smoke: less)
release *args: docs
    python scripts/release.py {{ args }}

# the workflow files: schema, and weaknesses that zizmor knows; CI adds actionlint, which downloads its program
workflows:
    "$(command -v uv || echo .tools/bin/uv)" tool run --quiet --from check-jsonschema==0.39.0 check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
    "$(command -v uv || echo .tools/bin/uv)" tool run --quiet --from check-jsonschema==0.39.0 check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml
    "$(command -v uv || echo .tools/bin/uv)" tool run --quiet --from zizmor==1.32.0 zizmor --offline --no-progress .github/workflows

# the locked dependencies against known vulnerabilities; asks PyPI's advisory database
audit:
    "$(command -v uv || echo .tools/bin/uv)" tool run --quiet pip-audit==2.10.1 -r requirements/run.txt --require-hashes --disable-pip

# write the docs that are made from the code
docs:
    python scripts/docs.py

# build the docs site into site/: strict links and anchors, spelling, search, llms.txt
site: docs
    scripts/site

# record the session of docs/how-to/author.md again, with the real Claude Code
two-commands: agents
    python scripts/two_commands.py

# record the transcripts of the tutorial again, from a built wheel in an empty home
first-plan:
    python scripts/first_plan.py

# take the pictures of the demo again, in a separate tmux
pictures:
    python scripts/pictures.py

# take the pictures of the board again, at three widths, light and dark; lists elements that overflow
board-pictures *args:
    python scripts/board_pictures.py {{ args }}

# open a report (FILE.html) in Chromium, take screenshots into FOLDER, and list elements that overflow
looks file folder="looks":
    python scripts/looks.py {{ file }} {{ folder }}

# what the next release notes would say
changelog:
    towncrier build --draft --version next

# format the code and fix what the linter can fix
fix:
    ruff format .
    ruff check --fix .
