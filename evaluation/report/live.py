"""Shows a running evaluation in a browser on this machine: progress, leaderboard so far, last runs."""

import json
import re
import threading
import time
from collections import defaultdict
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ccgym.envs.errors import InputError
from ccgym.envs.logs.flow_metrics import FlowMetrics
from ccgym.evaluation.metrics.results import Evaluation
from ccgym.evaluation.metrics.summary import known, leaderboard, scheme_mean
from ccgym.evaluation.sessions.session import Outcome

from .report import page_environment

ADDRESS = "127.0.0.1"
LAST_RUNS = 12


class LiveEvaluation:
    """The state of a running evaluation; other threads may read it."""

    def __init__(self, title: str) -> None:
        self._lock = threading.Lock()
        self._totals: dict[str, dict[str, list[FlowMetrics]]] = defaultdict(lambda: defaultdict(list))
        self._last: list[dict[str, Any]] = []
        self._title, self._begun_s = title, time.time()
        self._done = self._total = self._added = 0
        self._computing = threading.Lock()
        self._leaderboard: tuple[int, list[dict[str, Any]]] = (0, [])

    def begin(self, total: int, done: int) -> None:
        """Sets how many runs there are, and how many are done already."""
        with self._lock:
            self._total, self._done = total, done

    def add_outcome(self, evaluation: Evaluation) -> None:
        """Adds the runs of an earlier, interrupted evaluation."""
        with self._lock:
            self._added += 1
            for scenario in evaluation.scenarios:
                for run in scenario.runs:
                    self._totals[scenario.label][run.scheme].append(run.total)

    def add(self, outcome: Outcome) -> None:
        """Adds a run that has just ended."""
        planned = outcome.planned
        row: dict[str, Any] = {
            "emulator": planned.emulator.label,
            "scheme": planned.scheme.label,
            "run": planned.run,
            "failure": outcome.failure,
        }
        with self._lock:
            self._done += not outcome.refused
            if outcome.metrics is not None:
                self._added += 1
                self._totals[row["emulator"]][row["scheme"]].append(outcome.metrics)
                row |= {
                    "throughput_mbps": outcome.metrics.throughput_mbps,
                    "p95_delay_ms": known(outcome.metrics.p95_delay_ms),
                    "loss": outcome.metrics.loss,
                }
            self._last = [row, *self._last][:LAST_RUNS]

    def state(self) -> dict[str, Any]:
        """The content of the page, for JSON."""
        rows = self._rows()
        with self._lock:
            return {
                "title": self._title,
                "seconds": round(time.time() - self._begun_s),
                "done": self._done,
                "total": self._total,
                "leaderboard": rows,
                "last": self._last,
            }

    def _rows(self) -> list[dict[str, Any]]:
        """The leaderboard, computed without the lock: its intervals take a second, and runs must not wait."""
        with self._computing:
            with self._lock:
                added = self._added
                if added == self._leaderboard[0]:
                    return self._leaderboard[1]
                totals = [
                    [(scheme, list(runs)) for scheme, runs in schemes.items()]
                    for schemes in self._totals.values()
                ]
            scenarios = [[scheme_mean(*each) for each in schemes] for schemes in totals]
            schemes = list(dict.fromkeys(mean.scheme for means in scenarios for mean in means))
            self._leaderboard = added, _rows(scenarios, schemes)
            return self._leaderboard[1]


def _rows(scenarios: list[list[Any]], schemes: list[str]) -> list[dict[str, Any]]:
    """A row for each scheme over the scenarios it has run in so far, which differ until the end."""
    rows: Iterable[Any] = leaderboard(scenarios, schemes) if scenarios else []
    counts = {
        scheme: sum(mean.scheme == scheme for means in scenarios for mean in means) for scheme in schemes
    }
    return [
        {
            "scheme": row.scheme,
            "scenarios": counts[row.scheme],
            "mean_log_power": row.mean_log_power,
            "utilisation": row.mean_utilisation,
        }
        for row in rows
    ]


class LiveServer:
    """Serves a live evaluation at `url` as long as the context lasts.

    Args:
        live: the evaluation to show.
        port: TCP port; 0: any free one.

    Raises:
        InputError: the port is taken.
    """

    def __init__(self, live: LiveEvaluation, port: int = 0) -> None:
        page = page_environment().get_template("live.html").render().encode()
        try:
            self._server = ThreadingHTTPServer((ADDRESS, port), _handler(live, page))
        except (OSError, OverflowError) as error:
            raise InputError(f"--serve {port}: {error}: choose another port") from None
        self._server.daemon_threads = True
        self.url = f"http://{ADDRESS}:{self._server.server_port}/"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> "LiveServer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(live: LiveEvaluation, page: bytes) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the name that http.server calls
            # DNS rebinding: a page of another origin must not read this one by a name that leads here.
            # Browsers leave port 80 out of the Host header.
            if re.sub(r":\d+$", "", self.headers.get("Host", "")) not in (ADDRESS, "localhost"):
                self.send_error(403)
            elif self.path == "/":
                self._answer("text/html; charset=utf-8", page)
            elif self.path == "/state.json":
                self._answer("application/json", json.dumps(live.state()).encode())
            else:
                self.send_error(404)

        def log_message(self, *_: object) -> None:
            """Prints nothing: stderr belongs to the evaluation."""

        def _answer(self, kind: str, content: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(content)

    return Handler
