"""The text of `asbuilt --help`. Rule: this module imports nothing, because it is printed before all else."""

TEXT = """\
Take a software plan from an idea to landed code, and prove that it is done.
It drives the agent that you have: Claude Code, Codex, Gemini or opencode.

Examples
  asbuilt author "add rate limiting"        a plan that you approve
  asbuilt plan check plans/login.md         what is wrong with it, line by line
  asbuilt run rate-limit                    next phase, then stop
  asbuilt run rate-limit --finish --auto    all phases, no questions, then land
  asbuilt why                               what is it waiting for?

Plan    author      turn a sentence into a plan that you approve
        plan        list show check new mark open refine import export
        task        add list show status research plan import export
        approve     list everything that waits for you, and answer it
        session     start your own agent; --plan: read-only, held by the kernel
Run     run         --finish all phases, --auto unattended, --every WHEN
        run-plan    the grammar of /run-plan: PLAN finish auto, stop, next
        watch       follow a run; Ctrl-C leaves it running
        tell        give the next attempt a note
        pause       pause a run at its next safe point
        now         run a scheduled plan now; the schedule stays
        stop        end a run and its schedule; all work is kept; --all
        resume      continue after a stop, a limit, a failure or a crash
        land        move proven commits to the target branch; --undo
Look    status      show how far every plan is; --all repositories
        why         explain what a run waits for
        log         list everything that happened to a plan
        report      show what a run promised, and what is proven
        next        list scheduled and parked runs
        attempts    list diff restore: the trees that agents produced
        memory      list show add search clear: lessons, facts, notes
Prove   verify      run the checks of finished phases again
        demo        watch a small plan run: 30 s, no model
        selftest    lies: check that lies are caught; agent: try your own agent
Set up  doctor      check that this machine is set up
        init        --claude --codex --gemini --opencode; --remove
        agents      list test: list agents and test their sandbox
        notify      test: send a test notification
        gate        check command pr-paths: check commands against plan mode
        mode        show enter exit set: show or change plan mode
        clean       delete old workspaces and logs; asks first
        worker      the process that runs plans; install uninstall
        claim       list acquire release break
        config      show set unset
        bug-report  pack what a bug report needs, redacted
        completion  bash zsh fish

Everywhere  --json --plain --no-color -q -v --no-input --repo DIR -h
Exit codes  0 done or declined, 1 failed, 2 usage or settings, 3 not found,
            4 a gate stopped it, 5 waits for approval, 70 our bug,
            130 interrupted

More: asbuilt run -h, asbuilt plan new -h"""
