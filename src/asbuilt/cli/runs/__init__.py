"""What several commands share: plan approval, drafts, inbox, test command, run terms, next step."""
