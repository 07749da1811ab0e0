"""A port of 127.0.0.1 for a server of a test."""
import random
import socket


def free_port():
    """One that nobody has. It lies below the ports that the kernel gives to outgoing connections: one of those could be taken
    by a client of another test before the server of this one listens."""
    with open("/proc/sys/net/ipv4/ip_local_port_range") as file: first_outgoing = int(file.read().split()[0])
    for port in random.sample(range(10000, max(first_outgoing, 12000)), 200):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no port is free")
