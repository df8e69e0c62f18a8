"""What is there: roots, walking, ignore rules, text and fingerprints."""
