"""The client side of PostgreSQL's protocol, as much as these measurements need."""
import socket
import struct


class Connection:
    """As much of the protocol as simple queries need."""

    def __init__(self, port):
        self.port, self.buffer = port, b""
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        body = struct.pack("!i", 196608) + b"user\0postgres\0database\0postgres\0\0"
        self.socket.sendall(struct.pack("!i", len(body) + 4) + body)
        self.key = self.finish()[1]

    def take(self, count):
        while len(self.buffer) < count:
            data = self.socket.recv(1 << 16)
            if not data:
                raise SystemExit("the server has closed a connection")
            self.buffer += data
        part, self.buffer = self.buffer[:count], self.buffer[count:]
        return part

    def finish(self):
        """Reads until the server is ready. Returns the SQLSTATE of an error, or none, and the key for cancels, if one came."""
        state = key = None
        while True:
            kind, length = struct.unpack("!ci", self.take(5))
            body = self.take(length - 4)
            if kind == b"E":
                state = next(field[1:].decode() for field in body.split(b"\0") if field[:1] == b"C")
            elif kind == b"K":
                key = body
            elif kind == b"Z":
                return state, key

    def run(self, sql):
        body = sql.encode() + b"\0"
        self.socket.sendall(b"Q" + struct.pack("!i", len(body) + 4) + body)
        return self.finish()[0]

    def cancel(self):
        with socket.create_connection(("127.0.0.1", self.port)) as other:
            other.sendall(struct.pack("!ii", 16, 80877102) + self.key)
            other.recv(1)
