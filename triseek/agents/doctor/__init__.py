"""The checks of `triseek doctor`, one module for each subject."""
