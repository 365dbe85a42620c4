"""Refusals without a case in `test_refusals`: their case is in another file, or none can be made."""

from __future__ import annotations

OURS = ("cli/", "agents/roster.py", "library/name_resolution.py", "settings/")
"""Where every refusal has a case in `test_refusals`, or a reason why it has not."""
_APPROVE, _READING = "cli/commands/approve/test_command.py", "cli/shell/test_read_context.py"
_REPLIES = "cli/commands/approve/test_replies.py"
_CARRY = "cli/test_plan_carry.py"
_WAYS_OUT = "journeys/test_newcomer_ways_out.py"
ELSEWHERE = {
    "agents/roster.py {} is installed, and {} is not": "cli/test_agents.py",
    "plan/refine.py the new text does not change the plan's requirements": "authoring/test_redrafting.py",
    "report.py {} has not run yet: {}.{} {} the plan": "cli/commands/test_report.py",
    "author/command.py a plan is being authored here already: {}": "authoring/test_commands.py",
    "task/tracking.py specs/state.json has tasks that are not in the ledger": "cli/test_task.py",
    "author/in_conversation.py {} is authored in another conversation": "authoring/test_conversations.py",
    "session/start.py {} in {} changed while it planned": "live/test_gate.py",
    "approve/command.py --edit needs a terminal": _APPROVE,
    "ui/agent_questions.py {} has no option {}: {}": _APPROVE,
    'ui/agent_questions.py "{}" is no answer to {}: {}': _REPLIES,
    'approve/command.py the answer to {} is yes, and its remark says no: "{}"': _REPLIES,
    "approve/command.py {} is a proven run, not a question": _APPROVE,
    "approve/reviewers.py {} is not about a plan: {}": _APPROVE,
    "runs/inbox.py the journal knows no repository {}": _APPROVE,
    "runs/inbox.py there is no question {}a{} here": _APPROVE,
    "runs/inbox.py {} has {} open questions: {}": _APPROVE,
    "runs/inbox.py {} asks nothing": "journeys/test_names_that_clash.py",
    "run/preconditions.py --hold and --direct contradict each other": "journeys/test_direct.py",
    "stop.py {} has no run to pause; it is scheduled ({})": "cli/shell/test_runs_of_a_plan.py",
    "runs/lost_plan_file.py the plan's file {} is gone": _WAYS_OUT,
    "land.py nothing to land: no phase is proven": _WAYS_OUT,
    "runs/plan_approval.py your text has {}: line {}: {}": _APPROVE,
    "runs/plan_approval.py {} was answered while you edited: {}, by {}": _APPROVE,
    "board.py no board runs": "board/test_attacks.py",
    "fleet.py {} is not the name of a variable": "cli/commands/test_fleet.py",
    "shell/addresses.py {} repositories have a plan {}: {}": "crash/test_look_from_anywhere.py",
    "run/fleet.py the repository has no clone here, and its runs stay on the machine that has one": (
        "crash/test_look_from_anywhere.py"
    ),
    "run/fleet.py {} may not work on this machine": "crash/test_authoring_on_a_fleet.py",
    "fleet.py there is no value on the input": "cli/commands/test_fleet.py",
    "approve/command.py {} asks for a waiver, and a waiver needs a reason": "cli/test_waivers.py",
    'log/command.py no attempt "{}". Did you mean {}?': "journeys/test_attempts.py",
    'log/command.py no attempt "{}"': "journeys/test_attempts.py",
    "log/command.py nothing is kept of {}": "journeys/test_pausing.py",
    "log/command.py no files are kept of {}": "authoring/test_commands.py",
    "runs/test_command.py the setup failed on a clean checkout: {}": "journeys/test_settling.py",
    "shell/boundary.py the disk is full: {}": "cli/shell/test_boundary.py",
    "shell/settings_files.py {} is a link to a file outside the repository": "cli/test_config_set.py",
    "runs/grants.py the variable {} has no value": "cli/runs/test_grants.py",
    "runs/grants.py this repository's own git settings name programs, and you have not agreed to them": (
        "journeys/test_programs.py"
    ),
    "runs/grants.py this repository asks for the variable{} {}, which you have not granted": (
        "cli/runs/test_grants.py"
    ),
    "land.py nothing of {} has landed here": "journeys/test_pausing.py",
    "land.py all work of {} is reverted already": "journeys/test_landing_again.py",
    "plan/bundles.py the bundle cannot be imported: its progress document is called {}": _CARRY,
    "plan/bundles.py {} holds nothing": _CARRY,
    "plan/bundles.py {} exists already, with different text": _CARRY,
    "plan/mark.py {} does not go with {}": "cli/test_plan_mark_refused.py",
    "plan/open.py plan open needs a terminal": "cli/test_plan_open.py",
    "plan/refine.py no refinement of {} waits": "cli/test_plan_refine.py",
    "plan/refine.py writing the new text needs a terminal": "cli/test_plan_refine.py",
    "plan/refine.py say in a few words what changes": "cli/test_plan_refine.py",
    "plan/refine.py the new text has {}: line {}: {}": "cli/test_plan_refine.py",
    "runs/check_trial.py checks are tried on what is committed, and there is no repository here": (
        "cli/test_plan_try.py"
    ),
    "runs/check_trial.py nothing is committed here yet": "cli/test_plan_try.py",
    "ui/screen.py the answer could not be written: {}": "cli/shell/test_boundary.py",
    "land.py {} has landed by a pull request, and only another pull request reverts it": _READING,
    'shell/addresses.py no plan "{}". Did you mean {}?': "cli/shown/did-you-mean.txt",
    "shell/read_context.py {} has no run {}; the newest is {}": "cli/shown/no-such-run.txt",
    "plan_mode.py an agent cannot turn plan mode off": "cli/test_mode.py",
    "plan_mode.py plan mode is not on in {}": "cli/test_mode.py",
    "plan_mode.py {} conversations are open in this folder: {}": "cli/test_mode.py",
    "memory.py {} facts are stored here, and that is the limit": "cli/test_memory.py",
    "memory.py deleting {} needs a yes": "cli/test_memory.py",
    "report.py there is a {} already in {}": "cli/commands/test_report.py",
    "report.py the page cannot be written into {}: {}": "cli/commands/test_report.py",
    "verify/command.py another replay is under way": "journeys/test_replay.py",
    "verify/command.py Sandbox unavailable here, so no check can run": "journeys/test_replay.py",
    "verify/command.py nothing of {}{} can be replayed": "journeys/test_replay.py",
    "selftest/agent.py selftest agent costs money, and there is no terminal to confirm it": (
        "journeys/test_selftest_agent.py"
    ),
    "selftest/agent.py {} exists already": "journeys/test_selftest_agent.py",
    "selftest/corpus.py {}: {}": "attack/test_corpus.py",
    'shell/addresses.py "{}" is part of {} plans: {}': "journeys/test_pausing.py",
    "shell/run_context.py several plans match: {}": _READING,
}
"""Refusals whose case is in another file: it needs a run, or no terminal."""
WITHOUT = {
    "session/start.py the sandbox is unavailable on this machine: {}": "it would need a machine without one",
    "session/start.py on this processor nothing keeps an agent from typing into your terminal": "another one",
    "shell/settings_files.py {} cannot be edited safely; it stays as it was": "no such file is known",
    "shell/scratch.py git {}: {}": "git would have to refuse to make a new repository",
    "shell/options.py the current folder is gone": "a command cannot be started in a folder that is gone",
    "runs/test_command.py the setup failed on a clean checkout: there is no program {}": (
        "it would need a terminal on a machine without the program"
    ),
    "plan/open.py no text of {} is recorded here": "it would need a run that has never started",
    'plan/new.py "{}" cannot be a title': "no title is known that leads there",
    'verify/command.py "{}" has run in {} repositories that this one has commits of': (
        "needs runs of one plan in two clones"
    ),
    "init/agent_targets.py there is no plugin at {}": "an installation would have to lose files",
    "selftest/corpus.py there is no corpus of lies at {}": "an installation would have to lose files",
    "board.py the board is not installed": "it would need an installation without the extra",
    "stop.py {} has not stopped within {} s": "a worker would have to hang for a minute",
    "settings/user_folders.py this user has no home folder": "needs a user that the system does not know",
}
