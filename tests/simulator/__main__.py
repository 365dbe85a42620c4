"""`python -m tests.simulator SEEDS [FIRST]`."""

import sys

from tests.simulator.seeds import main

sys.exit(main(sys.argv[1:]))
