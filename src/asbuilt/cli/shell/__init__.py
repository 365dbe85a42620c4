"""What starts every command: dispatch, options, the error boundary, the repository and its journal."""
