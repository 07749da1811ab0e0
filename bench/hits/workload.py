"""A table of page views like that of ClickBench, and the 43 questions that ClickBench asks of its own.

The columns are named and typed as there, less 44 that no query reads. The data are made from a seed, a million
rows at a time, each million sorted by (counterid, eventdate, userid, eventtime), since the original comes from a table of ClickHouse with that key.
What is skewed, and how (shares are of all rows; n is the number of distinct values, u uniform between 0 and 1):

* counterid: 6,500, weights 1 / (rank + 5); counter 62 is the tenth, 1.0 %.
* userid: rank = n * u^2, n a fifth of the rows, so that there is a user for five rows and the busiest has 0.07 % of 10 million. clientip,
  regionid (9,000, one of them 18 %), the screen, the telephone (5 % have a model) and the system are functions of the user.
* url: pages belong to a counter, rank = n * u^5; a fifth of the rows are distinct URLs. 0.015 % have "google" in them.
* title: of the page or its neighbour, 10 % empty, 0.04 % with "Google". Half of the words in titles and phrases are Cyrillic.
* referer: 20 % none, 45 % a page of the same counter, 35 % of 20,000 other sites, Zipf.
* searchphrase: 13.2 % not empty, rank = n * u^2.5; 0.6 million distinct in 10 million rows.
* advengineid: 0.63 % not 0. isrefresh 14 %, islink 5 %, isdownload 0.3 %, dontcounthits 4 %.
* eventtime: July 2013, fewer on weekends and at night.
"""
import os

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as parquet

HERE = os.path.dirname(os.path.abspath(__file__))
CHUNK = 1_000_000
COUNTERS, SITES = 6500, 20_000
TABLES = {"hits": [column.split() for column in """watchid bigint; javaenable smallint; title text; goodevent smallint; eventtime timestamp;
    eventdate date; counterid int; clientip int; regionid int; userid bigint; counterclass smallint; os smallint; useragent smallint; url text;
    referer text; isrefresh smallint; refererregionid int; urlregionid int; resolutionwidth smallint; resolutionheight smallint;
    resolutiondepth smallint; flashmajor smallint; flashminor smallint; netmajor smallint; useragentmajor smallint; cookieenable smallint;
    ismobile smallint; mobilephone smallint; mobilephonemodel text; params text; ipnetworkid int; traficsourceid smallint;
    searchengineid smallint; searchphrase text; advengineid smallint; windowclientwidth smallint; windowclientheight smallint;
    clienttimezone smallint; clienteventtime timestamp; pagecharset text; codeversion int; islink smallint; isdownload smallint; funiqid bigint;
    originalurl text; hid int; dontcounthits smallint; hitcolor text; localeventtime timestamp; age smallint; sex smallint; income smallint;
    robotness smallint; browserlanguage text; browsercountry text; sendtiming int; dnstiming int; responseendtiming int; refererhash bigint;
    urlhash bigint; clid int""".split(";")]}
KEYS = {"hits": "counterid, eventdate, userid, eventtime, watchid"}
ARROW = {"bigint": pa.int64(), "int": pa.int32(), "smallint": pa.int16(), "text": pa.string(), "timestamp": pa.timestamp("us"), "date": pa.date32()}
RARE_USER = 435_000_000_000_000_062  # of four rows


def mix(values, salt=0):
    """splitmix64: a function of the value that looks random."""
    with np.errstate(over="ignore"):
        x = np.asarray(values).astype(np.uint64) + np.uint64((salt + 1) * 0x9E3779B97F4A7C15 % 2**64)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))


def below(values, salt, n):
    """Of [0, n), by the value."""
    return (mix(values, salt) % np.uint64(n)).astype(np.int64)


def unit(values, salt):
    """Of [0, 1), by the value."""
    return (mix(values, salt) >> np.uint64(11)).astype(np.float64) / 2**53


def hashed(values, salt):
    """A bigint."""
    return mix(values, salt).view(np.int64)


def weighted(uniform, weights):
    """The index whose share of the weights holds the number of [0, 1)."""
    return np.searchsorted(np.cumsum(weights) / np.sum(weights), uniform, side="right").clip(0, len(weights) - 1)


def words(alphabet, count, salt):
    """Made of two to four syllables."""
    consonants, vowels = alphabet
    syllables = [c + v for c in consonants for v in vowels]
    picks = [below(np.arange(count), salt + i, len(syllables)) for i in range(4)]
    return ["".join(syllables[p[i]] for p in picks[:2 + i % 3]) for i in range(count)]


LATIN, CYRILLIC = words(("bdfgklmnprstvz", "aeiou"), 3000, 1), words(("бвгдзклмнпрст", "аеиоуы"), 3000, 10)


def take(choices, indexes):
    return pa.array(choices, pa.large_string()).take(pa.array(indexes))


def join(*parts):
    return pc.binary_join_element_wise(*parts, pa.scalar("", pa.large_string()))


def choose(condition, yes, no):
    return pc.if_else(pa.array(condition), yes, no)


def phrases(ordinals, salt):
    """One to four words, half of them Cyrillic."""
    parts = []
    for i, share in enumerate((1, 0.9, 0.6, 0.3)):
        blank = " " if i else ""
        vocabulary = [blank + w for w in LATIN + CYRILLIC] + [""]
        picks = below(ordinals, salt + 2 * i, len(vocabulary) - 1)
        parts.append(take(vocabulary, np.where(unit(ordinals, salt + 2 * i + 1) < share, picks, len(vocabulary) - 1)))
    return join(*parts)


class Pools:
    """The distinct texts that rows point to, for a number of rows."""

    def __init__(self, rows):
        self.users, self.phrases, self.externals = rows // 5, max(rows // 9, 10), max(rows // 8, SITES)
        self.weights = 1 / (np.arange(COUNTERS) + 5)
        self.pages = np.maximum(1, 0.3 * rows * self.weights / self.weights.sum()).astype(np.int64)
        self.first = np.concatenate(([0], np.cumsum(self.pages)))
        self.counters = 1 + below(np.arange(COUNTERS), 20, 250_000)
        self.counters[self.counters == 62] = 63
        self.counters[9] = 62
        self.site_words = [f"{LATIN[below(i, 21, 3000)]}{LATIN[below(i, 22, 3000)] if i % 3 else ''}{i}.{('ru', 'com', 'ua', 'net')[i % 4]}"
                           for i in range(COUNTERS + SITES)]

    def page_texts(self):
        """URLs and titles by page; the first page of a counter is its home."""
        count = int(self.first[-1])
        page, counter = np.arange(count), np.repeat(np.arange(COUNTERS), self.pages)
        rank = page - self.first[counter]
        host = take([("http://www." if i % 2 else "http://") + s + "/" for i, s in enumerate(self.site_words[:COUNTERS])], counter)
        folder = join(take([w + "/" for w in LATIN], below(counter * 64 + below(page, 30, 40), 31, 3000)),
                      take([w + "/" for w in LATIN] + [""], np.where(unit(page, 38) < 0.7, below(counter * 64 + below(page, 39, 60), 29, 3000), 3000)))
        name = take(LATIN, below(page, 32, 3000))
        number = pc.cast(pa.array(rank), pa.large_string())
        search = take(["?from=www.google.ru&text=", "?to=http%3A//google.com/", ".html?gclid=", "?page=", "/", "?id="],
                      np.where((rank > 2) & (unit(page, 33) < 0.0002), below(page, 34, 2), 2 + below(page, 35, 4)))
        variables = [""] + ["&" + w + "=" + v for w, v in zip(LATIN, reversed(LATIN))]
        tail = join(*(take(variables, np.where(unit(page, i) < 0.6, 1 + below(page, i + 1, 3000), 0)) for i in (24, 26, 36)))
        home = pa.scalar("", pa.large_string())
        urls = join(host, choose(rank == 0, home, join(folder, name, search, number, tail)))
        title = page // 2
        titles = join(phrases(title, 40), take([" — Google — ", " | Google Chrome | ", " - "], np.where((rank > 2) & (unit(title, 50) < 0.0007), below(title, 51, 2), 2)),
                      take(self.site_words[:COUNTERS], counter))
        return urls, choose(unit(title, 52) < 0.1, home, titles)

    def external_texts(self):
        """Pages of other sites; the site's share falls as its rank grows."""
        page = np.arange(self.externals)
        site = (SITES ** unit(page, 60)).astype(np.int64) - 1
        host = take([("https://" if i % 5 == 0 else "http://") + ("www." if i % 3 else "") + s for i, s in enumerate(self.site_words[COUNTERS:])], site)
        path = join(take(["/" + w for w in LATIN], below(page, 61, 3000)), take(["/?q=", ".html#", "/", "?n="], below(page, 62, 4)),
                    pc.cast(pa.array(page), pa.large_string()))
        return choose(unit(page, 63) < 0.02, host, join(host, path))


def timestamps(seconds):
    return pa.array(seconds * 1_000_000, pa.timestamp("us"))


def july_2013(rng, count):
    """Seconds since 1970."""
    hours = 1.1 - np.cos((np.arange(24) - 3) / 24 * 2 * np.pi)
    days = np.where((np.arange(31) % 7 == 5) | (np.arange(31) % 7 == 6), 0.7, 1)
    day, hour = weighted(rng.random(count), days), weighted(rng.random(count), hours)
    return 1_372_636_800 + day * 86400 + hour * 3600 + rng.integers(0, 3600, count)


def chunk(rng, pools, texts, start, count, rows):
    """The rows from `start` on, as arrays by column."""
    urls, titles, referers, search_phrases = texts
    row = np.arange(start, start + count)
    counter = weighted(rng.random(count), pools.weights)
    seconds = july_2013(rng, count)
    user = (pools.users * rng.random(count) ** 2).astype(np.int64)
    userid = hashed(user, 70) & np.int64(2**63 - 1)
    userid[np.isin(row, [i * rows // 4 for i in range(4)])] = RARE_USER
    day = seconds // 86400
    order = np.lexsort((seconds, userid, day, pools.counters[counter]))
    row, counter, seconds, user, userid, day = (a[order] for a in (row, counter, seconds, user, userid, day))

    page = pools.first[counter] + (pools.pages[counter] * rng.random(count) ** 5).astype(np.int64)
    kind = rng.random(count)  # of the referer
    inner, none = kind < 0.45, kind >= 0.8
    referring_page = pools.first[counter] + (pools.pages[counter] * rng.random(count) ** 5).astype(np.int64)
    outer = (pools.externals * rng.random(count) ** 2).astype(np.int64)
    referer = np.where(none, 0, np.where(inner, 1 + referring_page, 1 + int(pools.first[-1]) + outer))
    found = rng.random(count) < 0.132
    phrase = np.where(found, 1 + (pools.phrases * rng.random(count) ** 2.5).astype(np.int64), 0)
    engine = np.where(found | (rng.random(count) < 0.03), 1 + weighted(rng.random(count), 1 / np.arange(1, 60) ** 2), 0)
    advert = np.where(rng.random(count) < 0.0063, 2 + weighted(rng.random(count), 1 / np.arange(1, 18) ** 1.5), 0)
    source = np.where(advert > 0, 3, np.where(engine > 0, 2, np.where(inner, np.where(rng.random(count) < 0.9, -1, 6), np.where(none, 0, 1))))
    model = np.where(unit(user, 71) < 0.05, 1 + weighted(unit(user, 72), 1 / np.arange(1, 166) ** 1.2), 0)
    screens = np.array([(1366, 768), (1920, 1080), (1280, 1024), (1280, 800), (1024, 768), (1440, 900), (1600, 900), (1680, 1050), (320, 480), (768, 1024)])
    screen = weighted(unit(user, 73), np.array([28, 14, 13, 10, 9, 7, 6, 6, 4, 3]))
    width, height = screens[screen, 0], screens[screen, 1]
    region_weights = 1 / (np.arange(9000) + 20)
    region_weights[0] = 0.22 * region_weights[1:].sum()
    region = weighted(unit(user, 74), region_weights)
    regions = np.concatenate(([229, 2, 208, 169, 32], 300 + below(np.arange(9000), 75, 100_000)))

    def flag(share):
        return rng.random(count) < share

    def up_to(n, share=1.0):
        return np.where(rng.random(count) < share, rng.integers(0, n, count), 0)

    return {
        "watchid": hashed(row, 76) & np.int64(2**63 - 1), "javaenable": unit(user, 77) < 0.75, "title": titles.take(pa.array(page)), "goodevent": np.ones(count),
        "eventtime": timestamps(seconds), "eventdate": pa.array(day.astype(np.int32), pa.date32()), "counterid": pools.counters[counter],
        "clientip": hashed(user // 2, 78) >> 32, "regionid": regions[region], "userid": userid, "counterclass": counter % 3 - 1,
        "os": weighted(unit(user, 79), 1 / np.arange(1, 80)), "useragent": weighted(unit(user, 80), 1 / np.arange(1, 70)),
        "url": urls.take(pa.array(page)), "referer": referers.take(pa.array(referer)), "isrefresh": flag(0.14), "refererregionid": regions[up_to(4000, 0.7)],
        "urlregionid": regions[counter % 4000], "resolutionwidth": width, "resolutionheight": height, "resolutiondepth": 8 * (2 + below(user, 81, 3)),
        "flashmajor": below(user, 82, 12), "flashminor": below(user, 83, 8), "netmajor": below(user, 84, 4), "useragentmajor": below(user, 85, 30),
        "cookieenable": unit(user, 86) < 0.99, "ismobile": model > 0, "mobilephone": np.where(model > 0, 1 + model % 60, 0),
        "mobilephonemodel": take([""] + ["iPad", "iPhone"] + [f"{LATIN[i].upper()} {i * 37 % 1000}" for i in range(163)], model),
        "params": take([""] + ["order=" + w for w in LATIN], up_to(3001, 0.02)), "ipnetworkid": below(user // 2, 87, 4_000_000),
        "traficsourceid": source, "searchengineid": engine, "searchphrase": search_phrases.take(pa.array(phrase)), "advengineid": advert,
        "windowclientwidth": width - rng.integers(0, 40, count), "windowclientheight": height - rng.integers(80, 220, count),
        "clienttimezone": below(user, 88, 12) * 60, "clienteventtime": timestamps(seconds + rng.integers(-600, 600, count)),
        "pagecharset": take(["utf-8", "windows-1251", "koi8-r"], counter % 7 % 3), "codeversion": 100 + counter % 1300, "islink": flag(0.05),
        "isdownload": flag(0.003), "funiqid": hashed(user, 89), "originalurl": urls.take(pa.array(np.where(flag(0.03), page, 0))), "hid": up_to(2**30),
        "dontcounthits": flag(0.04), "hitcolor": take(list("55512ES"), up_to(7)), "localeventtime": timestamps(seconds + below(user, 88, 12) * 3600),
        "age": below(user, 90, 6) * 11, "sex": below(user, 91, 3), "income": below(user, 92, 4), "robotness": up_to(5, 0.01),
        "browserlanguage": take(["ru", "uk", "en", "tr"], weighted(unit(user, 93), np.array([80, 10, 8, 2]))),
        "browsercountry": take(["RU", "UA", "KZ", "US", "TR"], weighted(unit(user, 94), np.array([75, 10, 6, 6, 3]))),
        "sendtiming": up_to(2000, 0.3), "dnstiming": up_to(300, 0.2), "responseendtiming": up_to(5000, 0.5),
        "refererhash": hashed(np.where(inner, referring_page, referer + 2**40), 95), "urlhash": hashed(page, 95), "clid": up_to(1000, 0.01)}


class Hits:
    name, tables, keys = "hits", TABLES, KEYS

    def __init__(self, rows, seed):
        self.rows, self.seed = rows, seed

    def label(self):
        return f"hits-{self.rows}-{self.seed}"

    def generate(self, directory):
        """A file of Parquet for each million rows."""
        pools = Pools(self.rows)
        urls, titles = pools.page_texts()
        nothing = pa.array([""], pa.large_string())
        referers = pa.concat_arrays([nothing, urls, pools.external_texts()])
        texts = urls, titles, referers, pa.concat_arrays([nothing, phrases(np.arange(pools.phrases), 100)])
        schema = pa.schema([(name, ARROW[kind]) for name, kind in TABLES["hits"]])
        for start in range(0, self.rows, CHUNK):
            count = min(CHUNK, self.rows - start)
            arrays = chunk(np.random.default_rng((self.seed, start)), pools, texts, start, count, self.rows)
            arrays = {n: a.astype(np.int64) if isinstance(a, np.ndarray) else a for n, a in arrays.items()}
            table = pa.Table.from_arrays([pc.cast(pa.array(arrays[f.name]), f.type) for f in schema], schema=schema)
            parquet.write_table(table, os.path.join(directory, f"hits-{start // CHUNK:03}.parquet"), store_schema=False, row_group_size=CHUNK // 8)

    def parameters(self):
        """Of the queries. Thresholds are the same part of the rows as in ClickBench, offsets at most what they are there."""
        pools = Pools(self.rows)
        return {"userid": RARE_USER, "many": self.rows // 1000, "pagehash": hashed(pools.first[9:10], 95)[0],
                "sums": ", ".join(["sum(resolutionwidth)"] + [f"sum(resolutionwidth + {i})" for i in range(1, 90)]),
                "month": "counterid = 62 and eventdate >= '2013-07-01' and eventdate <= '2013-07-31'",
                "eventtime": 1 + [name for name, _ in TABLES["hits"]].index("eventtime"),
                "offset100": min(100, self.rows // 100_000), "offset1000": min(1000, self.rows // 10_000), "offset10000": min(10_000, self.rows // 10_000)}

    def queries(self):
        with open(os.path.join(HERE, "queries.sql")) as file:
            return file.read().format(**self.parameters())
