"""Makes the figures of the documentation again: `.venv/bin/python etc/docs_figures.py [NAME ...]`.

The plots of the concepts come from runs in the twin, on fixed seeds. `report` and `tensorboard` are
screenshots of the real pages in headless Chromium, after an evaluation and a short training.
"""

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError

import gymnasium
import matplotlib as mpl
import numpy as np
from ccgym.envs import _core
from ccgym.envs.logs.link_log import TUN_HEADER_BYTES
from ccgym.envs.specs.emulator_spec import EmulatorSpec, LinkSpec
from ccgym.envs.specs.emulators import NamedEmulator, select_emulators
from ccgym.evaluation.report.palette import styles
from ccgym.evaluation.schemes import select_native
from ccgym.oracle.preference import PREFERENCES
from ccgym.oracle.window import bdp_packets, search_window
from ccgym.training.rollouts import run_measured
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator
from PIL import Image
from playwright.sync_api import Page, sync_playwright

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "figures"
PROGRAMS = Path(sys.executable).parent
MOST_BYTES = 150_000
"""Size of a figure."""
WAIT_S = 120
SMALL = ("synthetic/20mbps-40ms", "calibrated/nepal", "calibrated/india")


def twin() -> Figure:
    """Three schemes alone on one link: window, rate and delay over time."""
    spec = select_emulators("synthetic/20mbps-40ms")[0].spec
    spec = spec.model_copy(update={"uplink": LinkSpec(rate_mbps=20, queue="droptail", packets=200)})
    figure, (windows, delays) = _figure(2, "time (s)")
    for scheme in ("cubic", "copa", "indigo2"):
        record = _core.simulate(spec.to_path(), select_native(scheme), seconds=15, seed=1)
        windows.plot(record.cwnd_ms[::5] / 1e3, record.cwnd_packets[::5], lw=1, label=scheme)
        delays.plot(*_binned(record.departure_ms, record.departure_delay_ms, 50), lw=1, label=scheme)
    windows.axhline(bdp_packets(spec), ls=":", color="grey")
    windows.annotate("BDP", (15, bdp_packets(spec)), va="bottom", ha="right", color="grey")
    windows.set_ylabel("window (packets)")
    windows.set_title("20 Mbit/s, 80 ms round trip, queue of 200 packets, in the twin")
    delays.set_ylabel("delay in the link (ms)")
    windows.legend()
    return figure


def oracle() -> Figure:
    """Fixed windows around the BDP, and the one that the search finds."""
    figure, (axes,) = _figure(1, "95th percentile one-way delay (ms)")
    for label in SMALL:
        (emulator,) = select_emulators(label)
        bdp = bdp_packets(emulator.spec)
        windows = [max(2.0, bdp * factor) for factor in np.geomspace(0.25, 2.5, 12)]
        points = [run_measured(emulator, f"fixed:{window:g}", 30) for window in windows]
        line = axes.plot(
            [f.p95_delay_ms for f in points], [f.throughput_mbps for f in points], ".-", label=label
        )
        best = search_window(emulator.spec)
        axes.plot(best.p95_delay_ms, best.throughput_mbps, "*", ms=15, color=line[0].get_color())
    axes.set(xscale="log", yscale="log", ylabel="throughput (Mbit/s)")
    axes.set_title("Fixed windows of 0.25 to 2.5 BDP; stars: the ideal windows")
    axes.legend()
    return figure


def preference() -> Figure:
    """The shipped policy over its preference, beside Copa over its delta and fixed windows."""
    figure, (axes,) = _figure(1, "mean of p95 one-way delay / that of the empty path")
    emulators = select_emulators("random:24:771")
    curves = {
        "indigo2, preference": [select_native(f"indigo2:{place}") for place in PREFERENCES],
        "copa, delta": [f"copa:{delta}" for delta in (4.0, 1.0, 0.5, 0.25, 0.1, 0.05)],
    }
    for name, schemes in curves.items():
        axes.plot(
            *zip(*(_mean_point(scheme, emulators) for scheme in schemes), strict=True), "o-", label=name
        )
    axes.set_ylabel("mean share of the link used")
    axes.set_title("24 random links of the split test, 20 s each")
    axes.legend()
    return figure


def schemes() -> Figure:
    """Every scheme over links that no policy was trained on, each with its mean."""
    figure, (axes,) = _figure(
        1, "mean of p95 one-way delay / that of the empty path (further right is better)"
    )
    emulators = select_emulators("random:24:771")
    names = (
        "indigo2",
        "indigo",
        "copa",
        "bbr",
        "bbr3",
        "cubic",
        "reno",
        "vegas",
        "ledbat",
        "vivace",
        "sprout",
    )
    for name, style in styles(list(names)).items():
        delay, share = _mean_point(select_native(name), emulators)
        axes.plot(delay, share, style.pen, ms=9, color=style.colour)
        aside = (0, -14) if name in ("copa", "reno", "bbr3") else (0, 7)
        axes.annotate(name, (delay, share), xytext=aside, textcoords="offset points", ha="center")
    axes.set(xscale="log", ylabel="mean share of the link used", ylim=(0, 1.1))
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("")
    axes.invert_xaxis()
    axes.set_title("24 random links of the split test, 20 s each, in the twin")
    return figure


def emulators() -> Figure:
    """The capacity of links of each kind over time."""
    figure, (axes,) = _figure(1, "time (s)")
    kinds = {
        "constant": LinkSpec(rate_mbps=12),
        "poisson": LinkSpec(rate_mbps=12, arrivals="poisson", seed=1),
        "markov": LinkSpec(arrivals="markov", rates_mbps=(4, 20), mean_stay_ms=2000, seed=1),
        "cellular": LinkSpec(rate_mbps=12, arrivals="cellular", seed=1),
    }
    edges_ms = np.arange(0, 60_200, 200)
    for name, link in kinds.items():
        packets = np.diff(link.schedule().count_through(edges_ms))
        axes.plot(edges_ms[:-1] / 1e3, packets * 0.06, lw=1, label=name)
    axes.set_ylabel("Mbit/s, in bins of 200 ms")
    axes.set_title("What four kinds of links can deliver, each 12 Mbit/s in the long run")
    axes.legend(ncols=4)
    return figure


def features() -> Figure:
    """Three of the scale-free features of a window that is too small, too large and right."""
    uplink = LinkSpec(rate_mbps=12, queue="droptail", packets=200)
    spec = EmulatorSpec(name="link", delay_ms=20, uplink=uplink)
    env = gymnasium.make("ccgym.envs:ccgym/Path-v0", emulator=spec, features="scale_free", actions="window")
    env.reset(seed=1)
    times_s, seen = [0.0], []
    while times_s[-1] < 6:
        window = (20, 80, 40)[int(times_s[-1] / 2)]
        observation, _, _, _, info = env.step(np.array([window], np.float32))
        times_s.append(info["time_ms"] / 1e3)
        seen.append(observation)
    figure, (axes,) = _figure(1, "time (s)")
    names = {
        2: "2: ln(1 + queueing delay / min RTT)",
        6: "6: ln(bdp(delivery rate) / W)",
        9: "9: as 6, maximum over 10 round trips",
    }
    for entry, name in names.items():
        axes.plot(times_s[1:], np.array(seen)[:, entry], lw=1, label=name)
    axes.set_ylabel("entry of the observation, scaled")
    axes.set_title("Windows of 20, 80 and 40 packets, 2 s each; the path holds 40 (12 Mbit/s, 40 ms)")
    axes.legend(loc="lower right")
    return figure


def metrics() -> Figure:
    """How the delays of three schemes are distributed, with mean and 95th percentile."""
    uplink = LinkSpec(rate_mbps=20, queue="droptail", packets=200)
    emulator = NamedEmulator("figure", EmulatorSpec(name="link", delay_ms=40, uplink=uplink))
    figure, (axes,) = _figure(1, "one-way delay (ms)")
    for scheme in ("cubic", "copa", "indigo2"):
        record = _core.simulate(emulator.spec.to_path(), select_native(scheme), seconds=30, seed=1)
        measured = run_measured(emulator, select_native(scheme), 30, seed=1)
        delays_ms = np.quantile(record.departure_delay_ms + emulator.spec.delay_ms, np.linspace(0, 1, 400))
        label = f"{scheme}: {measured.throughput_mbps:.1f} Mbit/s, power {measured.power:.2f}"
        (line,) = axes.plot(delays_ms, np.linspace(0, 1, 400), lw=1, label=label)
        axes.plot(measured.p95_delay_ms, 0.95, "o", color=line.get_color())
    axes.set_ylabel("share of the packets")
    axes.set_title("20 Mbit/s, 40 ms one way, queue of 200 packets, 30 s; dots: p95 delay")
    axes.legend(loc="lower right")
    return figure


def splits() -> Figure:
    """The policy beside Copa on random links that it may have seen in training, and on unseen ones."""
    figure, (axes,) = _figure(1, "log power of indigo2 less that of Copa, same draw")
    for name in ("train", "test"):
        links = select_emulators(f"random:{name}:60")
        ours, theirs = (
            [run_measured(link, select_native(scheme), 10).power for link in links]
            for scheme in ("indigo2", "copa")
        )
        axes.plot(np.sort(np.log(np.divide(ours, theirs))), np.linspace(0, 1, 60), label=f"random:{name}:60")
    axes.axvline(0, color="grey", lw=0.8)
    axes.set_ylabel("share of the links")
    axes.set_title("60 random links of each split, 10 s each")
    axes.legend()
    return figure


def sharing() -> Figure:
    """A policy that joins a Cubic flow, which leaves."""
    uplink = LinkSpec(rate_mbps=24.0, queue="droptail", packets=160)
    spec = EmulatorSpec(name="shared", delay_ms=20, uplink=uplink)
    flows = [_core.Flow("cubic", stop_s=40.0), _core.Flow(select_native("indigo2"), start_s=10.0)]
    figure, (rates, delays) = _figure(2, "time (s)")
    for name, record in zip(
        ("cubic", "indigo2"), _core.simulate(spec.to_path(), flows, seconds=60, seed=0), strict=True
    ):
        bits = (record.departure_bytes - TUN_HEADER_BYTES) * 8e-6
        edges = np.arange(0, 60.5, 0.5)
        mbps = np.histogram(record.departure_ms / 1e3, edges, weights=bits)[0] / 0.5
        rates.plot(edges[:-1], mbps, lw=1, label=name)
        delays.plot(*_binned(record.departure_ms, record.departure_delay_ms, 200), lw=1, label=name)
    rates.set_ylabel("throughput (Mbit/s)")
    rates.set_title("indigo2 joins Cubic after 10 s; Cubic leaves after 40 s (24 Mbit/s, 40 ms, 2 BDP)")
    delays.set_ylabel("delay in the link (ms)")
    rates.legend()
    return figure


def imitation() -> Figure:
    """Agreement with the oracle over the iterations of a short training."""
    with tempfile.TemporaryDirectory() as place:
        _train(Path(place) / "run")
        lines = (Path(place) / "run" / "metrics.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    figure, (axes,) = _figure(1, "iteration")
    groups = sorted({key for row in rows for key in row if key.startswith("agreement/")})
    for key in [*groups, "agreement"]:
        points = [(row["iteration"], row[key]) for row in rows if key in row]
        if points:
            name = key.removeprefix("agreement/")
            axes.plot(*zip(*points, strict=True), lw=3 if key == "agreement" else 1, label=name)
    axes.set_ylabel("decisions as the oracle's, share")
    axes.set_title("A training of indigo2 with 40 iterations of 16 runs")
    axes.legend()
    return figure


def report(page: Page) -> None:
    """The report of four schemes over three paths."""
    with tempfile.TemporaryDirectory() as place:
        emulators = "calibrated/india,calibrated/nepal,synthetic/20mbps-40ms"
        points = ["--schemes", "indigo2,copa,cubic,bbr", "--emulators", emulators, "--seconds", "20"]
        _run("ccgym", "eval", *points, "--out", place)
        page.goto((Path(place) / "report.html").as_uri())
        page.wait_for_function("document.querySelectorAll('svg.main-svg').length > 0")
        _photograph(page, "report")


def tensorboard(page: Page) -> None:
    """TensorBoard of a short training."""
    with tempfile.TemporaryDirectory() as place:
        _train(Path(place) / "run")
        port = "16006"
        board = subprocess.Popen(
            [PROGRAMS / "tensorboard", "--logdir", place, "--port", port, "--load_fast=false"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _wait_for(f"http://127.0.0.1:{port}/data/runs")
            page.goto(f"http://127.0.0.1:{port}/#timeseries")
            page.wait_for_selector("card-view canvas, card-view svg", timeout=WAIT_S * 1e3)
            page.wait_for_timeout(8e3)
            _photograph(page, "tensorboard")
        finally:
            board.terminate()
            board.wait()


PLOTS: dict[str, Callable[[], Figure]] = {
    each.__name__: each
    for each in (
        schemes,
        twin,
        oracle,
        preference,
        sharing,
        imitation,
        emulators,
        features,
        metrics,
        splits,
    )
}
SCREENSHOTS: dict[str, Callable[[Page], None]] = {each.__name__: each for each in (report, tensorboard)}


def main(names: list[str]) -> None:
    """Makes the named figures, or all of them."""
    mpl.rcParams.update(
        {"svg.hashsalt": "ccgym", "svg.fonttype": "path", "axes.grid": True, "grid.alpha": 0.3}
    )
    FOLDER.mkdir(exist_ok=True)
    for name in names or [*PLOTS, *SCREENSHOTS]:
        if name in PLOTS:
            PLOTS[name]().savefig(FOLDER / f"{name}.svg", metadata={"Date": None})
            _check(FOLDER / f"{name}.svg")
        else:
            with _browser() as page:
                SCREENSHOTS[name](page)
        print(name, flush=True)


def _figure(rows: int, time_label: str) -> tuple[Figure, tuple[Any, ...]]:
    figure = Figure(figsize=(8, 2.6 * rows + 1), layout="tight")
    axes = tuple(figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0])
    axes[-1].set_xlabel(time_label)
    return figure, axes


def _binned(times_ms: Any, values: Any, bin_ms: int) -> tuple[Any, Any]:
    """Means in bins, at their times in s: a figure shows no finer detail."""
    bins = (times_ms // bin_ms).astype(int)
    counts = np.bincount(bins)
    present = counts > 0
    return np.flatnonzero(present) * bin_ms / 1e3, np.bincount(bins, values)[present] / counts[present]


def _mean_point(scheme: str, emulators: Any) -> tuple[float, float]:
    points = [run_measured(emulator, scheme, 20) for emulator in emulators]
    delay = np.mean([f.p95_delay_ms / e.spec.delay_ms for f, e in zip(points, emulators, strict=True)])
    rates = [e.spec.uplink.schedule().mean_rate_mbps for e in emulators]
    return float(delay), float(np.mean([f.throughput_mbps / r for f, r in zip(points, rates, strict=True)]))


def _train(run: Path) -> None:
    small = {"iterations": 40, "environments": 16, "variations": 2, "random_emulators": 64,
             "fading_emulators": 16, "evaluation_interval": 8, "evaluation_seconds": 5}  # fmt: skip
    settings = [word for key, value in small.items() for word in ("--set", f"{key}={value}")]
    _run("ccgym", "train", "--emulators", "synthetic,calibrated", *settings, "--out", str(run))


def _run(program: str, *arguments: str) -> None:
    subprocess.run([PROGRAMS / program, *arguments], check=True, stdout=subprocess.DEVNULL)


def _wait_for(url: str) -> None:
    for _ in range(WAIT_S):
        try:
            with urllib.request.urlopen(url):
                return
        except URLError:
            time.sleep(1)
    raise TimeoutError(url)


@contextmanager
def _browser() -> Any:
    program = shutil.which("chromium")
    assert program is not None, "the package chromium is missing: etc/install-system-packages.sh --tests"
    with sync_playwright() as playwright:
        # As root the browser refuses to start with its sandbox.
        browser = playwright.chromium.launch(executable_path=program, chromium_sandbox=os.geteuid() != 0)
        yield browser.new_page(viewport={"width": 1200, "height": 900}, color_scheme="light")
        browser.close()


def _photograph(page: Page, name: str) -> None:
    image = Image.open(io.BytesIO(page.screenshot()))
    image.save(FOLDER / f"{name}.webp", quality=80, method=6)
    _check(FOLDER / f"{name}.webp")


def _check(file: Path) -> None:
    assert file.stat().st_size <= MOST_BYTES, f"{file}: {file.stat().st_size} bytes"


if __name__ == "__main__":
    main(sys.argv[1:])
