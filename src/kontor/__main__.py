"""`python -m kontor`."""

from kontor.cli import main

if __name__ == "__main__":
    main()
