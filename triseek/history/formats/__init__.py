"""The texts of the history tools' answers, in the contract's formats."""
