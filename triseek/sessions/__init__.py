"""What is kept for a conversation: answers it was given, actions it took."""
