#!/usr/bin/env python3
"""Events of a social network, one JSON document a line, as the Bluesky firehose sends them and JSONBench stores them.

    bench/json/events.py --count 1000000 [--seed 1] FILE

The text is random; what a database feels is kept from the answers that JSONBench publishes for 1 million and 10 million events: the share of each
collection and operation, how many users make how many events of each kind, 1,230 events a second, 481 bytes a document, and the entropy of ids and
hashes (gzip -6 leaves 26.6 %, of the original 28 %). The same seed makes the same file."""
import argparse

import numpy as np

# Of 1,000,000 events: all, created, updated (the others are deleted); the users behind the created ones follow the density (rank + q) ** -s over
# 2 million users, in bursts of k events on average. s, q and k are fitted to the published counts of users.
COLLECTIONS = {
    "app.bsky.feed.like": (448944, 444523, 0, (0.9, 56, 2.26)),
    "app.bsky.graph.follow": (360374, 337978, 0, (1.1, 3.2, 1.39)),
    "app.bsky.feed.post": (90816, 86812, 40, (0.7, 1778, 1.63)),
    "app.bsky.feed.repost": (58540, 56993, 0, (1.4, 1000, 1.0)),
    "app.bsky.graph.block": (14040, 13838, 0, (1.4, 5623, 2.26)),
    "app.bsky.actor.profile": (11762, 5337, 6420, (0.0, 1, 1.0)),
    "app.bsky.graph.listitem": (8103, 7568, 0, (1.6, 562, 6.0)),
    "account": (2700, 0, 0, (0.0, 1, 1.0)),
    "identity": (2628, 0, 0, (0.0, 1, 1.0)),
    "app.bsky.graph.listblock": (895, 860, 0, (1.2, 100, 2.0)),
    "app.bsky.graph.starterpack": (405, 104, 290, (0.0, 1, 1.0)),
    "app.bsky.graph.list": (356, 259, 80, (0.0, 1, 1.2)),
    "app.bsky.feed.threadgate": (255, 228, 20, (0.0, 1, 1.2)),
    "app.bsky.feed.postgate": (104, 101, 1, (0.0, 1, 1.2)),
    "app.bsky.feed.generator": (74, 10, 60, (0.0, 1, 1.0)),
    "app.bsky.labeler.service": (4, 0, 4, (0.0, 1, 1.0)),
}
USERS = 2_000_000
FIRST_MICROSECOND = 1732206349000167
MICROSECONDS_PER_EVENT = 813
BASE32 = b"abcdefghijklmnopqrstuvwxyz234567"
SORTABLE32 = "234567abcdefghijklmnopqrstuvwxyz"
CHUNK = 100_000


def letters(rng, count, width, alphabet=BASE32):
    """`count` random strings of `width` letters."""
    pool = np.frombuffer(alphabet, np.uint8)[rng.integers(0, len(alphabet), count * width)].tobytes().decode()
    return [pool[i : i + width] for i in range(0, count * width, width)]


def tid(microseconds, clock):
    """A record key: 53 bits of time and 10 bits of clock in 13 sortable letters."""
    value, text = int(microseconds) << 10 | int(clock), []
    for _ in range(13):
        text.append(SORTABLE32[value & 31])
        value >>= 5
    return "".join(reversed(text))


def iso(microseconds):
    return str(np.datetime64(int(microseconds) // 1000, "ms")) + "Z"


def hashes(rng, count):
    """The 52 letters behind the prefix of a content identifier: 36 bytes in base 32, so that the last letter has three bits."""
    return [text[:51] + "aeimquy4"[ord(text[51]) & 7] for text in letters(rng, count, 52)]


class Population:
    """Draws users by rank. A rank is the same user in every collection: who likes much also posts much."""

    def __init__(self, rng):
        self.names = ["did:plc:" + name for name in letters(rng, USERS, 24)]
        ranks = np.arange(1, USERS + 1, dtype=float)
        self.distributions = {}
        for name, (_, _, _, (s, q, _)) in COLLECTIONS.items():
            if (s, q) not in self.distributions:
                weights = np.cumsum((ranks + q) ** -s)
                self.distributions[(s, q)] = weights / weights[-1]

    def draw(self, rng, collection, count):
        s, q, burst = COLLECTIONS[collection][3]
        lengths = 1 + rng.poisson(burst - 1, int(count / burst) + 10)
        starts = np.searchsorted(self.distributions[(s, q)], rng.random(len(lengths)))
        users = np.repeat(starts, lengths)
        while len(users) < count:
            users = np.concatenate([users, np.searchsorted(self.distributions[(s, q)], rng.random(count - len(users)))])
        users = users[:count]
        return users[np.argsort(np.arange(count) + rng.exponential(60, count))]


class Writer:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.people = Population(self.rng)
        words = self.rng.integers(2, 10, 20_000)
        self.words = [word[:n] for word, n in zip(letters(self.rng, 20_000, 10, b"eeeeetttaaaooiinnsshhrrddlluccmmwfgypbvk"), words)]
        self.popular = [(self.rng.integers(USERS), hashes(self.rng, 1)[0], tid(FIRST_MICROSECOND - t, 7)) for t in self.rng.integers(1, 10**11, 100_000)]

    def text(self, count):
        ranks = (len(self.words) ** self.rng.random(count)).astype(int)
        return " ".join(self.words[r - 1] for r in ranks).capitalize() + "."

    def subject(self, random):
        """A post that somebody likes, reposts or answers: a few posts are very popular."""
        author, cid, key = self.popular[int(len(self.popular) ** random) - 1] if random < 0.45 else (int(random * 1e9) % USERS, hashes(self.rng, 1)[0], tid(FIRST_MICROSECOND - random * 1e11, 3))
        return f'{{"cid":"bafyrei{cid}","uri":"at://{self.people.names[author]}/app.bsky.feed.post/{key}"}}'

    def record(self, collection, created, random):
        stamp = f'"$type":"{collection}","createdAt":"{iso(created)}"'
        if collection in ("app.bsky.feed.like", "app.bsky.feed.repost"):
            return f'{{{stamp},"subject":{self.subject(random)}}}'
        if collection in ("app.bsky.graph.follow", "app.bsky.graph.block"):
            return f'{{{stamp},"subject":"{self.people.names[int(USERS ** random) - 1]}"}}'
        if collection in ("app.bsky.graph.listitem", "app.bsky.graph.listblock"):
            owner = self.people.names[int(random * 5000)]
            extra = f',"list":"at://{owner}/app.bsky.graph.list/{tid(FIRST_MICROSECOND - int(random * 9000) * 10**9, 1)}"'
            return f'{{{stamp}{extra},"subject":"{self.people.names[int(USERS ** random) - 1]}"}}'
        if collection == "app.bsky.feed.post":
            return self.post(stamp, random)
        if collection == "app.bsky.actor.profile":
            avatar = f'"avatar":{self.blob(random)},' if random < 0.7 else ""
            description = f'"description":"{self.text(12)}",' if random > 0.3 else ""
            return f'{{{stamp},{avatar}{description}"displayName":"{self.text(2)}"}}'
        return f'{{{stamp},"name":"{self.text(3)}","description":"{self.text(10)}"}}'

    def blob(self, random):
        return f'{{"$type":"blob","ref":{{"$link":"bafkrei{hashes(self.rng, 1)[0]}"}},"mimeType":"image/jpeg","size":{int(random * 999983)}}}'

    def post(self, stamp, random):
        parts, kind = [stamp], int(random * 1000) % 100
        if kind < 15:
            images = ",".join(f'{{"alt":"{self.text(6) if kind < 5 else ""}","aspectRatio":{{"height":{700 + 13 * i},"width":{900 + kind}}},"image":{self.blob(random)}}}' for i in range(1 + kind % 3))
            parts.append(f'"embed":{{"$type":"app.bsky.embed.images","images":[{images}]}}')
        elif kind < 25:
            parts.append(f'"embed":{{"$type":"app.bsky.embed.external","external":{{"description":"{self.text(15)}","title":"{self.text(5)}","uri":"https://{self.text(1)[:-1].lower()}.com/{letters(self.rng, 1, 20)[0]}"}}}}')
        elif kind < 30:
            parts.append(f'"embed":{{"$type":"app.bsky.embed.record","record":{self.subject(random)}}}')
        if kind % 10 == 3:
            parts.append(f'"facets":[{{"features":[{{"$type":"app.bsky.richtext.facet#tag","tag":"{self.text(1)[:-1]}"}}],"index":{{"byteEnd":{20 + kind},"byteStart":{kind}}}}}]')
        if kind != 50:
            parts.append('"langs":["%s"]' % ("en", "pt", "ja", "de", "es")[min(4, int((kind % 20) / 5) if kind % 4 else 0)])
        if kind >= 55:
            parent = self.subject(random)
            parts.append(f'"reply":{{"parent":{parent},"root":{parent if kind % 2 else self.subject(1 - random)}}}')
        parts.append(f'"text":"{self.text(1 + int(self.rng.gamma(2, 11)))}"')
        return "{" + ",".join(parts) + "}"

    def chunk(self, first, count):
        """The lines of the events `first` to `first + count`."""
        rng = self.rng
        shares = np.array([c[0] for c in COLLECTIONS.values()], float)
        kinds = rng.choice(len(shares), count, p=shares / shares.sum())
        users = np.zeros(count, int)
        for i, name in enumerate(COLLECTIONS):
            at = np.flatnonzero(kinds == i)
            users[at] = self.people.draw(rng, name, len(at))
        times = FIRST_MICROSECOND + (np.arange(first, first + count) * MICROSECONDS_PER_EVENT) + rng.integers(0, MICROSECONDS_PER_EVENT, count)
        delays = rng.exponential(900_000, count).astype(int) + 50_000
        clocks, random, choice = rng.integers(0, 1024, (2, count)), rng.random(count), rng.random(count)
        cids, names = hashes(rng, count), list(COLLECTIONS)
        for i in range(count):
            name, did, time = names[kinds[i]], self.people.names[users[i]], int(times[i])
            head = f'{{"did":"{did}","time_us":{time},"kind":'
            if "." not in name:
                more = f'"handle":"{self.words[users[i] % 20_000]}.bsky.social"' if name == "identity" else f'"active":{"true" if random[i] < 0.9 else "false"}'
                yield f'{head}"{name}","{name}":{{"did":"{did}",{more},"seq":{3_400_000_000 + first + i},"time":"{iso(time - delays[i])}"}}}}\n'
                continue
            total, created, updated, _ = COLLECTIONS[name]
            at = choice[i] * total
            operation = "create" if at < created else "update" if at < created + updated else "delete"
            commit = f'"rev":"{tid(time - 400_000, clocks[0][i])}","operation":"{operation}","collection":"{name}","rkey":"{"self" if name.endswith("profile") else tid(time - delays[i], clocks[1][i])}"'
            if operation != "delete":
                commit += f',"record":{self.record(name, time - delays[i], random[i])},"cid":"bafyrei{cids[i]}"'
            yield f'{head}"commit","commit":{{{commit}}}}}\n'


def write(path, count, seed=1):
    writer = Writer(seed)
    with open(path, "w", buffering=1 << 20) as file:
        for first in range(0, count, CHUNK):
            file.writelines(writer.chunk(first, min(CHUNK, count - first)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    write(args.file, args.count, args.seed)
