"""`python -m triseek` is the `triseek` command."""

from triseek.cli.main import main

if __name__ == "__main__":
    main()
