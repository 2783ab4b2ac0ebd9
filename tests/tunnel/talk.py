"""Gives stdin to the peer's end of the tunnel, or takes it to stdout: all of it by TCP, 1000 bytes by UDP."""

import os
import socket
import sys

PORTS = {"tcp": 5001, "udp": 5002}
DATAGRAM_BYTES = 1000


def take(protocol: str) -> None:
    here = (os.environ["CCGYM_TUNNEL_LOCAL"], PORTS[protocol])
    if protocol == "udp":
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.bind(here)
            sys.stdout.buffer.write(sock.recv(65536))
        return
    with socket.create_server(here) as server:
        connection, _ = server.accept()
        with connection:
            while data := connection.recv(1 << 20):
                sys.stdout.buffer.write(data)


def give(protocol: str) -> None:
    peer = (os.environ["CCGYM_TUNNEL_PEER"], PORTS[protocol])
    if protocol == "udp":
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.sendto(sys.stdin.buffer.read(DATAGRAM_BYTES), peer)
        return
    with socket.create_connection(peer, timeout=10) as connection:
        connection.sendall(sys.stdin.buffer.read())
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)


{"take": take, "give": give}[sys.argv[1]](sys.argv[2])
