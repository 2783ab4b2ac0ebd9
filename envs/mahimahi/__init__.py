"""Real mahimahi shells: started, watched, taken down, with kernel TCP in them."""
