"""Random actions, which every other example has to beat: mean log power -5.76 on the twelve links."""

import numpy as np
from twelve_links import mean_log_power


def main() -> float:
    """Runs random actions, and returns their mean log power on the twelve links."""
    generator = np.random.default_rng(1)
    power = mean_log_power(
        lambda seen: generator.uniform(-1, 1, (len(seen), 1)).astype(np.float32), "scale_free", "log_window"
    )
    print(f"mean log power {power:.2f}")
    return power


if __name__ == "__main__":
    main()
