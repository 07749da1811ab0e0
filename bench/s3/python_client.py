"""One measurement of a client in Python as a line of JSON, like clients.cpp.

    python_client.py boto3  ADDRESS BUCKET OBJECT OBJECT_SIZE REQUEST_SIZE OUTSTANDING SECONDS    a thread for each request
    python_client.py duckdb ADDRESS BUCKET PREFIX 0 REQUEST_SIZE OUTSTANDING SECONDS              read_blob over objects, so many threads"""
import glob
import json
import os
import resource
import sys
import threading
import time


def boto3_client(address, bucket, name, object_size, size, outstanding, seconds):
    import boto3
    import botocore.config
    s3 = boto3.client("s3", endpoint_url=f"http://{address}", region_name="us-east-1",
                      config=botocore.config.Config(s3={"addressing_style": "path"}, max_pool_connections=outstanding))
    offsets = iter([i * size % (object_size // size * size) for i in range(1 << 20)])
    frames, done = [bytearray(size) for _ in range(outstanding)], []

    def work(frame):
        while time.perf_counter() < end:
            offset = next(offsets)
            body = s3.get_object(Bucket=bucket, Key=name, Range=f"bytes={offset}-{offset + size - 1}")["Body"]
            view, filled = memoryview(frame), 0
            while filled < size:
                part = body._raw_stream.readinto(view[filled:])
                assert part > 0
                filled += part
            done.append(size)

    threads = [threading.Thread(target=work, args=(frame,)) for frame in frames]
    yield
    end = time.perf_counter() + seconds
    [t.start() for t in threads], [t.join() for t in threads]
    yield sum(done)


def duckdb_client(address, bucket, prefix, _, size, outstanding, seconds):
    import duckdb
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true", "threads": outstanding})
    home = os.path.join(os.path.dirname(os.path.dirname(duckdb.__file__)), "duckdb_ext/extensions")
    connection.execute(f"LOAD '{glob.glob(home + '/*/*/httpfs.duckdb_extension')[0]}'")
    connection.execute(f"CREATE SECRET (TYPE s3, KEY_ID 'key', SECRET 'secret', REGION 'us-east-1', ENDPOINT '{address}', "
                       "URL_STYLE 'path', USE_SSL false)")
    try:
        connection.execute("SET enable_external_file_cache = false")
    except duckdb.Error:
        pass
    yield
    end, done = time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        done += connection.execute(f"SELECT sum(octet_length(content)) FROM read_blob('s3://{bucket}/{prefix}/*')").fetchone()[0]
    yield int(done)


def main():
    client, address, bucket, name, *numbers = sys.argv[1:]
    numbers = [int(n) for n in numbers[:3]] + [float(numbers[3])]
    run = {"boto3": boto3_client, "duckdb": duckdb_client}[client](address, bucket, name, *numbers)
    next(run)
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    done = next(run)
    elapsed, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"bytes": done, "seconds": elapsed, "user": after.ru_utime - before.ru_utime,
                      "system": after.ru_stime - before.ru_stime, "switches": after.ru_nvcsw - before.ru_nvcsw}))


if __name__ == "__main__":
    main()
