"""What a policy must hold: checks with bounds that say held, missed or unsure."""
