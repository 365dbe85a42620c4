"""The shell around every command: dispatch, options, the error boundary, the repository and its journal."""
