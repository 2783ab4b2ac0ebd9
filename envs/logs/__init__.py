"""What crossed a link: link logs, captures, replays, and the metrics of a flow."""
