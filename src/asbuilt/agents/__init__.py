"""Run coding agents in host processes that outlive the worker, through one adapter per kind of agent."""
