"""The model of a network: latency, rates, the cap that all share; and the proxy."""
import os
import threading
import time

from s3_client import client, serving
from server import ObjectServer

MIB = 1 << 20


def get(server, path="/data/x"):
    connection = server.connect()
    connection.request("GET", path)
    size = len(connection.getresponse().read())
    connection.close()
    return size


def timed(count, function):
    """Seconds until `count` threads have done it."""
    threads = [threading.Thread(target=function) for _ in range(count)]
    start = time.monotonic()
    [t.start() for t in threads], [t.join() for t in threads]
    return time.monotonic() - start


def check_time(taken, expected):
    """Never faster than the network is said to be; how much slower is a matter of the machine's load."""
    assert expected * 0.9 <= taken < expected * 3 + 2, (taken, expected)


def test_model(binary):
    server = ObjectServer(binary, bucket="data")
    try:
        client(server).put_object(Bucket="data", Key="x", Body=os.urandom(4 * MIB))
        server.set(latency_ms=50, ms_per_mib=25)
        for count in (1, 8):
            check_time(timed(count, lambda: get(server)), 0.15)
        server.set(latency_ms=0, ms_per_mib=0, per_request_cap="40MB/s")
        check_time(timed(4, lambda: get(server)), 4 * MIB / 40e6)
        server.set(per_request_cap=0, cap="100MB/s")
        for count in (1, 4, 8):
            check_time(timed(count, lambda: get(server)), count * 4 * MIB / 100e6)
        server.set(cap=0)
        check_time(timed(1, lambda: get(server)), 0)
    finally:
        assert server.stop()


def test_model_of_uploads(binary):
    with serving(binary) as (server, s3):
        server.set(latency_ms=50, cap="50MB/s")
        body = os.urandom(5 * MIB)
        check_time(timed(2, lambda: client(server).put_object(Bucket="data", Key="x", Body=body)), 0.05 + 10 * MIB / 50e6)
        server.set(cap=0, ms_per_mib=40)
        check_time(timed(2, lambda: client(server).put_object(Bucket="data", Key="x", Body=body)), 0.25)


def test_proxy(binary):
    """Another object_server stands behind; it checks signatures that were made for the proxy's address."""
    with serving(binary) as (behind, _):
        server = ObjectServer(binary, upstream=f"{behind.host}:{behind.port}")
        try:
            s3 = client(server)
            body = os.urandom(3 * MIB)
            s3.put_object(Bucket="data", Key="x", Body=body)
            assert s3.get_object(Bucket="data", Key="x")["Body"].read() == body
            assert s3.head_object(Bucket="data", Key="x")["ContentLength"] == len(body)
            s3.delete_object(Bucket="data", Key="y")
            upload = s3.create_multipart_upload(Bucket="data", Key="m")["UploadId"]
            s3.abort_multipart_upload(Bucket="data", Key="m", UploadId=upload)
            server.set(error=0.15, reset_before=0.1, reset_body=0.1, truncate=0.1, latency_ms=1)
            s3 = client(server, retries=15)
            for _ in range(8):
                s3.put_object(Bucket="data", Key="x", Body=body)
            assert sum(server.counters()["faults"].values()) >= 2
            server.set(error=0, reset_before=0, reset_body=0, truncate=0, per_request_cap="20MB/s")
            start = time.monotonic()
            assert s3.get_object(Bucket="data", Key="x")["Body"].read() == body
            assert time.monotonic() - start > 3 * MIB / 20e6
            # A kept connection that the server behind has closed is not an error.
            port = behind.port
            behind.process.terminate()
            behind.process.wait()
            try:
                s3 = client(server)
                s3.get_object(Bucket="data", Key="x")
                raise AssertionError("was answered")
            except s3.exceptions.ClientError as error:
                assert error.response["ResponseMetadata"]["HTTPStatusCode"] == 502
            again = ObjectServer(binary, root=behind.root, port=port)
            assert s3.head_object(Bucket="data", Key="x")["ContentLength"] == len(body)
            behind.process.stdout.close()
            behind.process = again.process
        finally:
            assert server.stop()
