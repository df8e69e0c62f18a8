"""What each agent's hooks tell, one module an agent."""
