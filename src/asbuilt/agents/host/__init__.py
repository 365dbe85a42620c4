"""The process that hosts one attempt: starts the agent, answers its questions, records its events."""
