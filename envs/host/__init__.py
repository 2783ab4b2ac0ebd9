"""This machine: its users, processes, scheduling priority, namespaces, and what it lacks."""
