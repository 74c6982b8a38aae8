"""`python -m gate` is the console script `gate`."""

import sys
from pathlib import Path

# Python puts the working folder first: a file there must not stand in for a module.
if not sys.flags.safe_path and Path(sys.path[0]) != Path(__file__).parents[1]:
    del sys.path[0]

from gate.cli import main

if __name__ == "__main__":
    main()
