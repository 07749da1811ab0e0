"""What S3 does, asked by boto3."""
import base64
import hashlib
import http.client
import os
import threading
import urllib.request

from s3_client import SECRET, client, refused, serving

MIB = 1 << 20


def keys(s3, **kwargs):
    return [o["Key"] for page in s3.get_paginator("list_objects_v2").paginate(Bucket="data", **kwargs) for o in page.get("Contents", [])]


def test_objects(binary):
    with serving(binary) as (_, s3):
        body = os.urandom(3 * MIB + 17)
        put = s3.put_object(Bucket="data", Key="a/b c/ü+%.bin", Body=body, ContentType="text/x", Metadata={"who": "me"})
        got = s3.get_object(Bucket="data", Key="a/b c/ü+%.bin")
        assert got["Body"].read() == body and got["ETag"] == put["ETag"] and got["ContentType"] == "text/x"
        assert got["Metadata"] == {"who": "me"}
        assert s3.head_object(Bucket="data", Key="a/b c/ü+%.bin")["ContentLength"] == len(body)
        for text, part in (("bytes=5-9", body[5:10]), (f"bytes={3 * MIB}-", body[3 * MIB:]), ("bytes=-3", body[-3:]),
                           (f"bytes=0-{99 * MIB}", body)):
            answer = s3.get_object(Bucket="data", Key="a/b c/ü+%.bin", Range=text)
            assert answer["Body"].read() == part and answer["ResponseMetadata"]["HTTPStatusCode"] == 206, text
        assert refused(s3.get_object, Bucket="data", Key="a/b c/ü+%.bin", Range=f"bytes={4 * MIB}-") == (416, "InvalidRange")
        assert refused(s3.get_object, Bucket="data", Key="none") == (404, "NoSuchKey")
        assert refused(s3.get_object, Bucket="nobucket", Key="none") == (404, "NoSuchBucket")
        assert refused(s3.head_object, Bucket="data", Key="none") == (404, "404")
        assert refused(s3.get_object, Bucket="data", Key="a/b c/ü+%.bin", IfMatch="other") == (412, "PreconditionFailed")
        assert refused(s3.get_object, Bucket="data", Key="a/b c/ü+%.bin", IfNoneMatch=put["ETag"])[0] == 304
        s3.put_object(Bucket="data", Key="empty", Body=b"")
        assert s3.get_object(Bucket="data", Key="empty")["Body"].read() == b""
        s3.delete_object(Bucket="data", Key="empty")
        s3.delete_object(Bucket="data", Key="empty")
        assert keys(s3) == ["a/b c/ü+%.bin"]


def test_buckets(binary):
    with serving(binary, region="eu-central-1") as (_, s3):
        s3.create_bucket(Bucket="second", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
        assert [b["Name"] for b in s3.list_buckets()["Buckets"]] == ["data", "second"]
        s3.put_object(Bucket="second", Key="x", Body=b"1")
        assert refused(s3.delete_bucket, Bucket="second") == (409, "BucketNotEmpty")
        s3.delete_object(Bucket="second", Key="x")
        s3.delete_bucket(Bucket="second")
        assert refused(s3.head_bucket, Bucket="second")[0] == 404
        assert s3.head_bucket(Bucket="data")["BucketRegion"] == "eu-central-1"


def test_conditional_puts(binary):
    with serving(binary) as (_, s3):
        tag = s3.put_object(Bucket="data", Key="m", Body=b"1", IfNoneMatch="*")["ETag"]
        assert refused(s3.put_object, Bucket="data", Key="m", Body=b"2", IfNoneMatch="*") == (412, "PreconditionFailed")
        second = s3.put_object(Bucket="data", Key="m", Body=b"2", IfMatch=tag)["ETag"]
        assert second != tag
        assert refused(s3.put_object, Bucket="data", Key="m", Body=b"3", IfMatch=tag) == (412, "PreconditionFailed")
        assert refused(s3.put_object, Bucket="data", Key="n", Body=b"3", IfMatch=tag) == (404, "NoSuchKey")
        assert s3.get_object(Bucket="data", Key="m")["Body"].read() == b"2"


def test_race_of_conditional_puts(binary):
    with serving(binary) as (server, _):
        winners = []

        def race(number):
            s3 = client(server)
            for step in range(25):
                try:
                    s3.put_object(Bucket="data", Key=f"step{step}", Body=b"%d" % number, IfNoneMatch="*")
                    winners.append((step, number))
                except s3.exceptions.ClientError as error:
                    assert error.response["Error"]["Code"] == "PreconditionFailed", error

        threads = [threading.Thread(target=race, args=(n,)) for n in range(4)]
        [t.start() for t in threads], [t.join() for t in threads]
        assert sorted(step for step, _ in winners) == list(range(25)), winners
        s3 = client(server)
        for step, number in winners:
            assert s3.get_object(Bucket="data", Key=f"step{step}")["Body"].read() == b"%d" % number


def test_checksums(binary):
    with serving(binary) as (_, s3):
        for algorithm in ("CRC32", "SHA1", "SHA256"):
            s3.put_object(Bucket="data", Key=algorithm, Body=b"some bytes", ChecksumAlgorithm=algorithm)
            got = s3.get_object(Bucket="data", Key=algorithm, ChecksumMode="ENABLED")
            assert got["Body"].read() == b"some bytes" and got["Checksum" + algorithm]
        # The check values of the CRC catalogue, for the algorithms that boto3 cannot compute without another library.
        for name, value in (("crc32", "cbf43926"), ("crc32c", "e3069283"), ("crc64nvme", "ae8b14860a799888")):
            text = base64.b64encode(bytes.fromhex(value)).decode()
            s3.put_object(Bucket="data", Key=name, Body=b"123456789", **{"Checksum" + name.upper(): text})
            wrong = base64.b64encode(bytes(len(value) // 2)).decode()
            assert refused(s3.put_object, Bucket="data", Key="w", Body=b"123456789", **{"Checksum" + name.upper(): wrong}) == (400, "BadDigest")
        md5 = base64.b64encode(hashlib.md5(b"x").digest()).decode()
        assert s3.put_object(Bucket="data", Key="md5", Body=b"x", ContentMD5=md5)["ETag"].strip('"') == hashlib.md5(b"x").hexdigest()
        assert refused(s3.put_object, Bucket="data", Key="w", Body=b"y", ContentMD5=md5) == (400, "BadDigest")
        assert "w" not in keys(s3)


def test_multipart(binary):
    with serving(binary) as (_, s3):
        parts = [os.urandom(5 * MIB), os.urandom(6 * MIB), os.urandom(17)]
        upload = s3.create_multipart_upload(Bucket="data", Key="big/object", ContentType="a/b")["UploadId"]
        assert [u["UploadId"] for u in s3.list_multipart_uploads(Bucket="data")["Uploads"]] == [upload]
        assert "Uploads" not in s3.list_multipart_uploads(Bucket="data", Prefix="other")
        tags = {}
        for number in (3, 1, 2):
            tags[number] = s3.upload_part(Bucket="data", Key="big/object", UploadId=upload, PartNumber=number, Body=parts[number - 1])["ETag"]
        listed = s3.list_parts(Bucket="data", Key="big/object", UploadId=upload)["Parts"]
        assert [(p["PartNumber"], p["Size"], p["ETag"]) for p in listed] == [(n, len(parts[n - 1]), tags[n]) for n in (1, 2, 3)]
        complete = lambda numbers, **kw: s3.complete_multipart_upload(
            Bucket="data", Key="big/object", UploadId=upload, MultipartUpload={"Parts": [{"PartNumber": n, "ETag": tags[n]} for n in numbers]}, **kw)
        assert refused(complete, (2, 1)) == (400, "InvalidPartOrder")
        assert refused(complete, (3, 1)) == (400, "InvalidPartOrder")
        tags[4] = tags[1]
        assert refused(complete, (1, 4)) == (400, "InvalidPart")
        s3.put_object(Bucket="data", Key="big/object", Body=b"before")
        assert refused(complete, (1, 2, 3), IfNoneMatch="*") == (412, "PreconditionFailed")
        s3.delete_object(Bucket="data", Key="big/object")
        assert complete((1, 2, 3), IfNoneMatch="*")["ETag"].endswith('-3"')
        got = s3.get_object(Bucket="data", Key="big/object")
        assert got["Body"].read() == b"".join(parts) and got["ContentType"] == "a/b"
        assert refused(complete, (1, 2, 3)) == (404, "NoSuchUpload")
        upload = s3.create_multipart_upload(Bucket="data", Key="x")["UploadId"]
        s3.upload_part(Bucket="data", Key="x", UploadId=upload, PartNumber=1, Body=b"1")
        s3.abort_multipart_upload(Bucket="data", Key="x", UploadId=upload)
        assert refused(s3.upload_part, Bucket="data", Key="x", UploadId=upload, PartNumber=1, Body=b"1") == (404, "NoSuchUpload")
        assert keys(s3) == ["big/object"] and "Uploads" not in s3.list_multipart_uploads(Bucket="data")


def test_listing(binary):
    with serving(binary) as (_, s3):
        names = sorted(["a", "b/1", "b/2/3", "b.x", "b0", "b-", "c/<&>\"'", "d/e/f/g"] + [f"many/{i:04}" for i in range(1203)],
                       key=str.encode)
        for name in names:
            s3.put_object(Bucket="data", Key=name, Body=name.encode())
        assert keys(s3) == names
        assert keys(s3, PaginationConfig={"PageSize": 7}, Prefix="many/1") == [n for n in names if n.startswith("many/1")]
        for prefix in ("b", "b/", "b/2", "many/12", "c/<", "none", "b/2/3"):
            assert keys(s3, Prefix=prefix) == [n for n in names if n.startswith(prefix)], prefix
        for after in ("b", "b/1", "b/2", "b/2/3", "many/1201", "zz"):
            assert keys(s3, StartAfter=after) == [n for n in names if n > after], after
        page = s3.list_objects_v2(Bucket="data", MaxKeys=3)
        assert page["IsTruncated"] and page["KeyCount"] == 3 and page["Contents"][0]["Size"] == 1
        page = s3.list_objects_v2(Bucket="data", Delimiter="/")
        assert [p["Prefix"] for p in page["CommonPrefixes"]] == ["b/", "c/", "d/", "many/"]
        assert [o["Key"] for o in page["Contents"]] == ["a", "b-", "b.x", "b0"]
        deleted = s3.delete_objects(Bucket="data", Delete={"Objects": [{"Key": n} for n in names[:1000]]})
        assert [d["Key"] for d in deleted["Deleted"]] == names[:1000]
        s3.delete_objects(Bucket="data", Delete={"Objects": [{"Key": n} for n in names[1000:]], "Quiet": True})
        assert keys(s3) == [] and refused(s3.delete_objects, Bucket="data", Delete={"Objects": []})[0] == 400


def test_signatures(binary):
    with serving(binary, region="eu-central-1", credentials=["A:B:C", "AKIAOUZELTEST:" + SECRET]) as (server, s3):
        s3.put_object(Bucket="data", Key="x y", Body=b"1")
        assert refused(client(server, secret="wrong").get_object, Bucket="data", Key="x y") == (403, "SignatureDoesNotMatch")
        assert refused(client(server, key="nobody").get_object, Bucket="data", Key="x y") == (403, "InvalidAccessKeyId")
        assert client(server, "A", "B", "C").get_object(Bucket="data", Key="x y")["Body"].read() == b"1"
        assert refused(client(server, "A", "B", "D").get_object, Bucket="data", Key="x y") == (400, "InvalidToken")
        plain = server.connect()
        plain.request("GET", "/data/x%20y")
        answer = plain.getresponse()
        assert answer.status == 403 and b"<Code>AccessDenied</Code>" in answer.read()
        url = s3.generate_presigned_url("get_object", {"Bucket": "data", "Key": "x y"}, ExpiresIn=60)
        assert urllib.request.urlopen(url).read() == b"1"
        try:
            urllib.request.urlopen(url.replace("x%20y", "x%20z"))
            raise AssertionError("a changed address was taken")
        except urllib.error.HTTPError as error:
            assert error.code == 403
        # The signature covers the payload.
        request = s3.generate_presigned_url("put_object", {"Bucket": "data", "Key": "z"}, ExpiresIn=60)
        assert urllib.request.urlopen(urllib.request.Request(request, b"2", method="PUT")).status == 200
        server.set(expire_after=2)
        fresh = client(server, "A", "B", "C")
        fresh.head_object(Bucket="data", Key="x y")  # the third of these credentials
    with serving(binary) as (server, s3):
        server.set(expire_after=2)
        s3.put_object(Bucket="data", Key="x", Body=b"1")
        s3.get_object(Bucket="data", Key="x")
        assert refused(s3.get_object, Bucket="data", Key="x") == (400, "ExpiredToken")
        assert server.counters()["expired"] == 1


def test_wrong_region(binary):
    with serving(binary, region="us-west-2") as (server, s3):
        stranger = server.connect()
        stranger.request("GET", "/data/x", headers={"Authorization": "AWS4-HMAC-SHA256 Credential=A/20260101/eu-west-1/s3/aws4_request, "
                                                                    "SignedHeaders=host, Signature=0", "x-amz-date": "20260101T000000Z"})
        answer = stranger.getresponse()
        assert answer.status == 301 and answer.headers["x-amz-bucket-region"] == "us-west-2" and b"PermanentRedirect" in answer.read()
        # boto3 follows that by itself.
        s3.put_object(Bucket="data", Key="x", Body=b"1")
        server.set(wrong_region="malformed")
        assert client(server, region="us-west-2").get_object(Bucket="data", Key="x")["Body"].read() == b"1"
        assert client(server).get_object(Bucket="data", Key="x")["Body"].read() == b"1"


def test_virtual_host_style(binary):
    with serving(binary, domain="s3.test") as (server, s3):
        s3.put_object(Bucket="data", Key="a/b", Body=b"1")
        server.set()
        plain = http.client.HTTPConnection(server.host, server.port)
        plain.request("GET", "/a/b", headers={"Host": f"data.s3.test:{server.port}"})
        assert b"AccessDenied" in plain.getresponse().read()
    with serving(binary, domain="localhost") as (server, _):
        server.url = server.url.replace("127.0.0.1", "localhost")
        import socket
        original = socket.getaddrinfo
        # Not every resolver knows the names below localhost.
        socket.getaddrinfo = lambda host, *args, **kw: original("127.0.0.1" if host.endswith("localhost") else host, *args, **kw)
        try:
            s3 = client(server, style="virtual")
            s3.put_object(Bucket="data", Key="a/b", Body=b"12")
            assert s3.get_object(Bucket="data", Key="a/b")["Body"].read() == b"12" and keys(s3) == ["a/b"]
        finally:
            socket.getaddrinfo = original


def test_tls(binary):
    with serving(binary, tls=True) as (_, s3):
        body = os.urandom(20 * MIB)
        s3.put_object(Bucket="data", Key="x", Body=body)  # with a trailing checksum, aws-chunked
        assert s3.get_object(Bucket="data", Key="x")["Body"].read() == body
        upload = s3.create_multipart_upload(Bucket="data", Key="m")["UploadId"]
        s3.upload_part(Bucket="data", Key="m", UploadId=upload, PartNumber=1, Body=body)
        s3.abort_multipart_upload(Bucket="data", Key="m", UploadId=upload)


def test_files_of_the_directory(binary):
    with serving(binary) as (server, s3):
        os.makedirs(server.root + "/data/sub")
        with open(server.root + "/data/sub/file", "wb") as file:
            file.write(b"was here before")
        got = s3.get_object(Bucket="data", Key="sub/file")
        assert got["Body"].read() == b"was here before" and len(got["ETag"]) == 34
        s3.put_object(Bucket="data", Key="sub/other", Body=b"1")
        assert open(server.root + "/data/sub/other").read() == "1" and keys(s3) == ["sub/file", "sub/other"]
        assert refused(s3.put_object, Bucket="data", Key="sub", Body=b"1") == (409, "KeyConflict")
        assert refused(s3.put_object, Bucket="data", Key="../x", Body=b"1")[0] in (400, 403)


def test_web_identity(binary):
    import boto3
    from botocore import UNSIGNED
    from botocore.config import Config
    with serving(binary, instance_role="worker", web_identity="a.b.c") as (server, _):
        sts = boto3.client("sts", endpoint_url="http://127.0.0.1:%d" % server.port, region_name="us-east-1",
                           config=Config(signature_version=UNSIGNED))
        asked = dict(RoleArn="arn:aws:iam::123456789012:role/worker", RoleSessionName="tests", WebIdentityToken="a.b.c")
        given = sts.assume_role_with_web_identity(**asked)["Credentials"]
        s3 = client(server, given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"])
        s3.put_object(Bucket="data", Key="x", Body=b"1")
        ask = sts.assume_role_with_web_identity
        assert refused(ask, **{**asked, "WebIdentityToken": "a.b.d"}) == (400, "InvalidIdentityToken")
        assert refused(ask, **{**asked, "RoleArn": "arn:aws:iam::123456789012:role/other"}) == (403, "AccessDenied")


def test_role_credentials(binary):
    import json
    import time
    # Longer than a busy machine takes from a credential's birth to its use.
    lifetime = 5
    with serving(binary, instance_role="worker", role_seconds=lifetime) as (server, _):
        def ask(method, path, **headers):
            connection = server.connect()
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

        base = "/latest/meta-data/iam/security-credentials/"
        assert ask("GET", base)[0] == 401
        token = ask("PUT", "/latest/api/token", **{"X-aws-ec2-metadata-token-ttl-seconds": "60"})[1]
        header = {"X-aws-ec2-metadata-token": token}
        assert ask("GET", base, **header) == (200, "worker")
        given = json.loads(ask("GET", base + "worker", **header)[1])
        s3 = client(server, given["AccessKeyId"], given["SecretAccessKey"], given["Token"])
        s3.put_object(Bucket="data", Key="x", Body=b"1")
        time.sleep(lifetime + 0.1)
        assert refused(s3.get_object, Bucket="data", Key="x") == (400, "ExpiredToken")
        again = json.loads(ask("GET", base + "worker", **header)[1])
        assert client(server, again["AccessKeyId"], again["SecretAccessKey"], again["Token"]).get_object(Bucket="data", Key="x")
