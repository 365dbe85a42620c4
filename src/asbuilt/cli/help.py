"""What `asbuilt --help` says. Its one rule: it is printed before anything is loaded, and imports nothing."""

TEXT = """\
Take a software plan from an idea to landed code, and prove that it is done.
This version works on the plan files; it starts no agent.

Examples
  asbuilt plan new "rate limiting"     write a plan to fill in
  asbuilt plan check plans/login.md    what is wrong with it, line by line
  asbuilt plan show rate-limit         its phases, and which is next
  asbuilt plan list --json             every plan here, for a script

Plan    plan        list show check new mark open import export
Set up  doctor      is this machine ready to be left alone?
        config      show set
        worker      install uninstall
        bug-report  pack what a bug report needs, redacted
        completion  bash zsh fish

Everywhere  --json --plain --no-color -q -v --no-input --repo DIR -h
Exit codes  0 done or declined, 1 failed, 2 usage or settings, 3 not found,
            4 a gate stopped it, 70 our bug, 130 interrupted

More: asbuilt plan -h, asbuilt plan new -h"""
