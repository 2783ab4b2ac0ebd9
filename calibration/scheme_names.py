"""Names that others have for our schemes, and schemes of theirs that we do not have, with the reason."""

SAME_ALGORITHM = {
    "bbr": "bbr",
    "cubic": "cubic",
    "vegas": "vegas",
    "vivace": "vivace",
    "tcp bbr": "bbr",
    "kernel-bbr": "bbr",
    "tcp cubic": "cubic",
    "kernel-cubic": "cubic",
    "tcp reno": "reno",
    "kernel-reno": "reno",
    "tcp vegas": "vegas",
    "copa": "copa",
    "ledbat": "ledbat",
    "pcc": "allegro",
    "pcc-allegro": "allegro",
    "pcc allegro": "allegro",
    "pcc-vivace": "vivace",
    "pcc vivace": "vivace",
    "sprout": "sprout",
    "verus": "verus",
}
"""From names of Pantheon and the kernel, in lower case, to ours."""

ANOTHER_ALGORITHM = {
    "webrtc media": "sends a video, whose rate bounds it; ours sends all it may",
    "webrtc": "sends a video, whose rate bounds it; ours sends all it may",
    "scream": "sends a video, whose rate bounds it; ours sends all it may",
    "quic cubic": "Chromium's Cubic, which acts as two connections",
    "quic": "Chromium's Cubic, which acts as two connections",
    "indigo": "a policy with other weights than ours",
    "aurora": "a policy with other weights than ours",
    "pcc-expr": "an experiment of PCC's authors, not PCC",
    "pcc_experimental": "an experiment of PCC's authors, not PCC",
    "taova-100x": "its rule table is not among our schemes",
    "taova": "its rule table is not among our schemes",
}
"""Schemes of Pantheon with the name or kind of one of ours that are another algorithm, and why."""


def stable_name(name: str) -> tuple[str | None, str]:
    """The scheme of ours that is the same algorithm as Pantheon's `name`, or None and why there is none."""
    key = name.strip().lower()
    if key in SAME_ALGORITHM:
        return SAME_ALGORITHM[key], ""
    return None, ANOTHER_ALGORITHM.get(key, "not among our schemes")
