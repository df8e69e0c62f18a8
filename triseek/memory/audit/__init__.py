"""What is doubtful in a palace: said twice, out of date, contradictory, or not to be kept."""
