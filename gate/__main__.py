"""`python -m gate` is the console script `gate`."""

from gate.cli import main

if __name__ == "__main__":
    main()
