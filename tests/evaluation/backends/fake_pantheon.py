"""A small Pantheon checkout whose schemes run the endpoint's own programs, in both orders."""

import shutil
from pathlib import Path

from ccgym.evaluation.backends.programs import RECEIVER, SENDER, endpoint_program

CONFIG = "schemes:\n" + "".join(
    f"  {name}:\n    name: {name}\n" for name in ("window", "upside_down", "deserted")
)

# A receiver-first scheme: a fixed window of 40 packets.
WINDOW = """#!/bin/sh
bin=$(dirname "$(readlink -f "$0")")/../../third_party/window
case $1 in
setup) touch "$bin/set-up" ;;
run_first) echo receiver ;;
receiver) exec "$bin/ccgym-receiver" "$2" ;;
sender) exec "$bin/ccgym-sender" "$2" "$3" --scheme fixed:40 ;;
*) exit 1 ;;
esac
"""

# Its receiver leaves before its sender has begun.
DESERTED = """#!/bin/sh
listen='import socket, sys, time; udp = socket.socket(type=socket.SOCK_DGRAM)
udp.bind(("", int(sys.argv[1])))'
case $1 in
run_first) echo receiver ;;
receiver) python3 -c "$listen; time.sleep(0.5)" "$2"; echo had enough >&2; exit 4 ;;
sender) sleep 3; echo nobody answers >&2; exit 1 ;;
esac
"""

# A sender-first scheme of the same: the sender listens, and learns from a first word where its receiver is.
# Both ends relay between that path and the endpoint's program beside them.
UPSIDE_DOWN = """#!/usr/bin/python3
import os, socket, subprocess, sys, threading, time

BIN = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../third_party/window")

def udp(port=0, address="127.0.0.1"):
    it = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    it.bind((address, port))
    return it

def relay(source, target):
    while True:
        try:
            target.send(source.recv(2048))
        except OSError:
            time.sleep(0.001)

def relay_both_ways(path, local):
    threading.Thread(target=relay, args=(path, local), daemon=True).start()
    threading.Thread(target=relay, args=(local, path), daemon=True).start()

if sys.argv[1] == "run_first":
    print("sender")
elif sys.argv[1] == "sender":
    path, local = udp(int(sys.argv[2]), "0.0.0.0"), udp()
    path.connect(path.recvfrom(2048)[1])
    program = [BIN + "/ccgym-sender", "127.0.0.1", str(local.getsockname()[1]), "--scheme", "fixed:40"]
    sender = subprocess.Popen(program)
    first, address = local.recvfrom(2048)
    local.connect(address)
    path.send(first)
    relay_both_ways(path, local)
    sys.exit(sender.wait())
elif sys.argv[1] == "receiver":
    probe = udp()
    port = probe.getsockname()[1]
    probe.close()
    path, local = udp(address="0.0.0.0"), udp()
    path.connect((sys.argv[2], int(sys.argv[3])))
    receiver = subprocess.Popen([BIN + "/ccgym-receiver", str(port)])
    local.connect(("127.0.0.1", port))
    path.send(b"hello")
    relay_both_ways(path, local)
    sys.exit(receiver.wait())
"""


def make_checkout(root: Path) -> Path:
    """Writes it; every user may read and run it."""
    (root / "src" / "wrappers").mkdir(parents=True)
    (root / "third_party" / "window").mkdir(parents=True)
    (root / "src" / "config.yml").write_text(CONFIG)
    wrappers = {
        "window": WINDOW,
        "upside_down": UPSIDE_DOWN,
        "deserted": DESERTED,
        "mute": "#!/bin/sh\nexit 3\n",
    }
    for name, text in wrappers.items():
        wrapper = root / "src" / "wrappers" / f"{name}.py"
        wrapper.write_text(text)
        wrapper.chmod(0o755)
    for program in (SENDER, RECEIVER):
        shutil.copy(endpoint_program(program), root / "third_party" / "window" / program)
    return root
