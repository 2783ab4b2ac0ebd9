"""The experiments of `ccgym reproduce`, one module each."""
