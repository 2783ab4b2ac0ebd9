"""What `ccgym reproduce` runs: experiments beside published or independent references."""
