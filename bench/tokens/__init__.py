"""What a question costs in a real agent's context: triseek's answer beside the output of rg."""
