"""The report: one page with its plots and tables."""
