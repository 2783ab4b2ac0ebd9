"""What a path is: delay, links, queues, traffic, and the emulators by name."""
