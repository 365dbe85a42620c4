"""`python -m tests.lifecycle.critique SESSIONS [FIRST]`."""

import sys

from tests.lifecycle.critique.sessions import main

sys.exit(main(sys.argv[1:]))
