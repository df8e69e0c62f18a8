"""Run the `triseek` command as `python -m triseek`."""

from triseek.cli.main import main

if __name__ == "__main__":
    main()
