"""Texts of `asbuilt -h` and `asbuilt help`. Rule: imports nothing, because it is printed before all else."""

TEXT = """\
Run software plans with your coding agent. asbuilt checks the work itself.

  asbuilt author "add rate limiting"     write a plan, then approve it
  asbuilt run rate-limit                 run it, phase by phase
  asbuilt land rate-limit                move proven commits to your branch

Plan     author    Turn a request into a plan you approve
         plan      List, show, check, create and edit plans
Run      run       Start or continue a plan (--finish --auto --every --pr)
         watch     Follow a run
         approve   Answer questions, approve plans, confirm landings
         stop      Stop or pause a run; all work is kept
         land      Move proven commits to the target branch (--undo)
Look     status    What is running, waiting or failed, and why
         log       Events of a plan (--attempts shows what agents wrote)
         report    What was promised and what was proven
Set up   doctor    Check this machine, its agents and this repository
         init      Set up Claude Code, Codex, Gemini or opencode
         config    Show or change settings
         demo      Watch a small plan run (a minute, no model needed)

Options  --json --plain --no-color -q -v --no-input --repo DIR -h
More: asbuilt help more (board, tasks, memory, cleaning up, plumbing)
Exit codes: asbuilt help exit-codes     Docs: asbuilt help docs"""

MORE = """\
More     board       Plans, agents and questions in a browser
         task        Numbered tasks: add, plan and research them
         memory      Lessons, facts and notes about this repository
         clean       Delete old workspaces and logs (asks first)

Plumbing, for scripts and editors:
         run-plan    The grammar of /run-plan: PLAN finish auto, stop, next
         session     Start your own agent; --plan makes it read-only
         mode        Show or change plan mode
         gate        Check commands against the plan-mode rules
         claim       Show and change which run owns a plan
         verify      Run the checks of finished phases again
         selftest    Check that lies are caught and honest work passes
         worker      The process that runs plans; install, uninstall
         fleet       Workers on several machines that share a database
         completion  Tab completion for bash, zsh and fish

Options of a command: asbuilt COMMAND -h"""

EXIT_CODES = """\
0    done, or declined because another run has the plan
1    failed
2    wrong usage or settings
3    not found
4    a gate stopped it
5    parked: the run waits for an answer or a limit, and the worker continues it
70   a bug in asbuilt
130  interrupted"""

DOCS = """\
Pages of asbuilt's repository and source distribution; `just site` makes a site of them:
First plan in ten minutes     docs/tutorial/first-plan.md
Guides by goal                docs/how-to/index.md
Every command and option      docs/reference/commands.md
Every setting                 docs/reference/settings.md
What an error means           docs/reference/troubleshooting.md
Why it works                  docs/explanation/index.md
The same inside a terminal    asbuilt COMMAND -h"""

TOPICS = {"more": MORE, "exit-codes": EXIT_CODES, "docs": DOCS}
