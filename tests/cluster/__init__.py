"""The commands of the cluster."""
