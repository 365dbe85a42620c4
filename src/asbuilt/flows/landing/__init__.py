"""From a proven tree to commits on the target branch and marks in the plan."""
