"""Published tables and figures beside ours."""
