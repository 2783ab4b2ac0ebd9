"""Acceptance checks of a policy: each has bounds and answers held, missed or unsure."""
