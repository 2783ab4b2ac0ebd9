"""Speed: what ccgym costs, beside a yardstick that runs in the same minutes on the same machine."""
