"""boto3's client for a server under test."""
import contextlib
import types

import boto3
import botocore.config
import botocore.endpoint
import botocore.exceptions

from server import KEY, SECRET, ObjectServer

botocore.endpoint.time = types.SimpleNamespace(sleep=lambda seconds: None)  # retries need not wait here


def client(server, key=KEY, secret=SECRET, token=None, region="eu-central-1", style="path", retries=1, timeout=10, **config):
    return boto3.client("s3", endpoint_url=server.url, aws_access_key_id=key, aws_secret_access_key=secret, aws_session_token=token,
                        region_name=region, verify=server.certificate,
                        config=botocore.config.Config(s3={"addressing_style": style}, retries={"total_max_attempts": retries},
                                                      read_timeout=timeout, connect_timeout=timeout, **config))


@contextlib.contextmanager
def serving(binary, **options):
    """(server, boto3 client) over an empty bucket named "data"; signatures are checked."""
    server = ObjectServer(binary, **{"bucket": "data", "credentials": f"{KEY}:{SECRET}", **options})
    try:
        yield server, client(server)
    finally:
        ended_well = server.stop()
    assert ended_well, "the server did not end well"


def refused(function, *args, **kwargs):
    """(status, code) of the refusal."""
    try:
        function(*args, **kwargs)
    except botocore.exceptions.ClientError as error:
        return error.response["ResponseMetadata"]["HTTPStatusCode"], error.response["Error"]["Code"]
    raise AssertionError("was not refused")
