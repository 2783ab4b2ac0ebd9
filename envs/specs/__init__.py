"""Specifications of paths: delay, links, queues and traffic; and the emulators by name."""
