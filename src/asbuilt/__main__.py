"""Let `python -m asbuilt` be the same command as `asbuilt`."""

import sys

from asbuilt.cli.shell.main import main

if __name__ == "__main__":
    sys.exit(main())
