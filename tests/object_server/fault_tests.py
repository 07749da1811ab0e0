"""Faults happen as often as asked for, look as they should, and the same ones for the same seed."""
import http.client
import os
import socket
import time

import botocore.exceptions

from s3_client import client, refused, serving
from server import ObjectServer

MIB = 1 << 20


def outcome(server, path="/data/x", size=MIB, expected=None, timeout=0.5):
    """What a plain GET ends in."""
    connection = server.connect(timeout)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            return str(answer.status)
        return "good" if expected is None or body == expected else "other bytes"
    except http.client.IncompleteRead:
        return "truncated"
    except (ConnectionResetError, BrokenPipeError):
        return "reset"
    except (socket.timeout, TimeoutError):
        return "stalled"
    finally:
        connection.close()


def test_each_fault(binary):
    body = os.urandom(MIB)
    # Without signatures, so that a plain client can ask.
    server = ObjectServer(binary, bucket="data")
    try:
        client(server).put_object(Bucket="data", Key="x", Body=body)
        for fault, seen in (("error_500", "500"), ("error_503", "503"), ("error_429", "429"), ("reset_before", "reset"),
                            ("reset_after", "reset"), ("reset_body", "reset"), ("truncate", "truncated"), ("stall_header", "stalled"),
                            ("stall_body", "stalled"), ("flip", "other bytes")):
            server.set(**{fault: 1, "reset": 1, "stall_ms": 700})
            assert outcome(server, expected=body) == seen, (fault, seen)
            assert server.counters()["faults"][fault] == 1, (fault, server.counters())
            server.set(**{fault: 0})
        assert outcome(server, expected=body, timeout=5) == "good"
        server.set(slow=1, slow_rate=100)
        with socket.create_connection((server.host, server.port)) as loris:
            loris.sendall(b"GET /data/x HTTP/1.1\r\nHost: x\r\n\r\n")
            start, got = time.monotonic(), 0
            while time.monotonic() - start < 0.5:
                got += len(loris.recv(4096))
            assert 30 <= got <= 70, got
        server.set(slow=0)
        # A stall ends, and the bytes are right then.
        server.set(stall_body=1, stall_ms=200)
        start = time.monotonic()
        assert outcome(server, expected=body, timeout=5) == "good" and time.monotonic() - start > 0.19
        server.set(stall_body=0, error_503=1, methods="PUT", match="yy")
        assert outcome(server) == "good"
    finally:
        assert server.stop()


def test_faults_of_writes(binary):
    with serving(binary) as (server, s3):
        def put(key, **kwargs):
            try:
                s3.put_object(Bucket="data", Key=key, Body=b"z" * MIB, **kwargs)
                return "good"
            except botocore.exceptions.ClientError as error:
                return error.response["Error"]["Code"]
            except botocore.exceptions.HTTPClientError:
                return "reset"

        exists = lambda key: s3.list_objects_v2(Bucket="data", Prefix=key)["KeyCount"] == 1
        for fault, seen, done in (("error_503", "SlowDown", False), ("reset_before", "reset", False), ("reset_after", "reset", True),
                                  ("reset_body", "reset", False), ("truncate", "reset", False)):
            server.set(**{fault: 1, "methods": "PUT"})
            assert put(fault) == seen, (fault, seen)
            server.set(**{fault: 0})
            assert exists(fault) == done, fault
        server.set(flip=1)
        assert put("flip") in ("BadDigest", "XAmzContentSHA256Mismatch") and not exists("flip")
        server.set(flip=0, conflict=1)
        assert put("free") == "good" and put("bound", IfNoneMatch="*") == "ConditionalRequestConflict" and not exists("bound")


def test_seed(binary):
    def run(seed, backwards=False):
        server = ObjectServer(binary, bucket="data", seed=seed, error=0.3, reset_before=0.2, methods="GET")
        try:
            s3 = client(server)
            for i in range(40):
                s3.put_object(Bucket="data", Key=f"k{i}", Body=b"1")
            order = range(39, -1, -1) if backwards else range(40)
            return {(i, turn): outcome(server, f"/data/k{i}") for i in order for turn in range(5)}
        finally:
            server.stop()

    first = run(1)
    assert run(1) == first and run(1, backwards=True) == first and run(2) != first
    faults = sum(seen != "good" for seen in first.values())
    assert 70 <= faults <= 130, faults  # of 200, one half


def test_retries_get_through(binary):
    with serving(binary) as (server, _):
        server.set(error=0.1, reset_before=0.05, reset_body=0.05)
        s3 = client(server, retries=12)
        for i in range(20):
            s3.put_object(Bucket="data", Key=f"k{i}", Body=b"%d" % i * 1000)
        counters = server.counters()
        assert sum(counters["faults"].values()) >= 2, counters
        assert s3.list_objects_v2(Bucket="data")["KeyCount"] == 20


def test_counters(binary):
    with serving(binary) as (server, s3):
        s3.put_object(Bucket="data", Key="x", Body=b"1" * 1000)
        s3.get_object(Bucket="data", Key="x", Range="bytes=0-9")["Body"].read()
        refused(s3.get_object, Bucket="data", Key="y")
        counters = server.counters()
        assert counters["requests"] == {"GetObject": 2, "PutObject": 1}, counters
        assert counters["statuses"] == {"200": 1, "206": 1, "404": 1} and counters["outstanding"] == 0
        assert counters["bytes_received"] == 1000 and 10 < counters["bytes_sent"] < 1000
        server.set(reset=1)
        assert server.counters()["requests_total"] == 0
        try:
            server.set(nonsense=1)
            raise AssertionError("was taken")
        except RuntimeError as error:
            assert "latency_ms" in str(error)
