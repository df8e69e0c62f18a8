"""triseek measured against its peers: every answer is compared before it is timed."""
