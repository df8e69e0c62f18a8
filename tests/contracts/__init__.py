"""What every implementation of an interface must pass: test classes to subclass."""
