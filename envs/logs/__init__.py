"""Logs of links: link logs, captures, replays, and the metrics of a flow."""
