"""Speed of ccgym, beside yardsticks measured in the same minutes on the same machine."""
