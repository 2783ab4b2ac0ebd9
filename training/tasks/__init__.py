"""What is flown in training: task distributions, links, flows on one path."""
