"""What training runs on: task distributions, links, flows on one path."""
