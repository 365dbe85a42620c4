"""The process that hosts an attempt: starts the agent, answers permission requests, records events."""
