"""The text of `asbuilt --help`. Rule: this module imports nothing, because it is printed before all else."""

TEXT = """\
Take a software plan from an idea to landed code, and prove that it is done.
It drives the agent that you have: Claude Code, Codex, Gemini or opencode.

Examples
  asbuilt author "add rate limiting"        a plan that you approve
  asbuilt plan check plans/login.md         what is wrong with it, line by line
  asbuilt run rate-limit                    next phase, then stop
  asbuilt run rate-limit --finish --auto    all phases, no questions, then land
  asbuilt why                               is it stuck, and on what?

Plan    author      a sentence becomes a plan that you approve
        plan        list show check new mark open refine import export
        task        add list show status research plan import export
        approve     everything that waits for a person
        session     your own agent; --plan: the kernel holds it while it plans
Run     run         --finish all phases, --auto unattended, --every WHEN
        run-plan    the words of /run-plan: PLAN finish auto, stop, next
        watch       look on; Ctrl-C leaves it running
        tell        a note for the next attempt, in your words
        pause       let a run wait at its next safe point
        now         run a scheduled plan early; the schedule stays
        stop        end a run and its schedule; all work is kept; --all
        resume      go on after a stop, a limit, a failure, a crash
        land        move proven commits to the target branch; --undo
Look    status      how far every plan is; --all repositories
        why         is it stuck, and on what?
        log         everything that happened to a plan
        report      what a run promised, and what is proven
        next        what happens by itself, and when
        attempts    list diff restore: what agents have written
        memory      list show add search clear: lessons, facts, notes
Prove   verify      prove again that what is done is done
        demo        see a small plan run: 30 s, no model
        selftest    lies: are they caught, and is honest work let through?
Set up  doctor      is this machine ready to be left alone?
        init        --claude --codex --gemini --opencode; --remove
        agents      list test: who is here to work, and are they held?
        notify      test: the ways to you when nobody looks on
        gate        check command pr-paths: what may go on here
        mode        show enter exit set: is planning held here?
        clean       remove what nobody needs any more; shows it first
        worker      the process that does the work; install uninstall
        claim       list acquire release break
        config      show set unset
        bug-report  pack what a bug report needs, redacted
        completion  bash zsh fish

Everywhere  --json --plain --no-color -q -v --no-input --repo DIR -h
Exit codes  0 done or declined, 1 failed, 2 usage or settings, 3 not found,
            4 a gate stopped it, 5 waits for approval, 70 our bug,
            130 interrupted

More: asbuilt run -h, asbuilt plan new -h"""
