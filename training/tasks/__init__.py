"""What is run in training: task distributions, links, flows on one path."""
