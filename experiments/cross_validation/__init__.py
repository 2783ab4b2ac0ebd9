"""Comparisons of ccgym with independent implementations and measurements."""
