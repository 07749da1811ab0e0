"""TPC-H's tables and its 22 queries with parameters drawn as the benchmark's qgen does (specification, section 2.4)."""
import os
import random

HERE = os.path.dirname(os.path.abspath(__file__))
TABLES = ["region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem"]

REGIONS = {"AFRICA": "ALGERIA ETHIOPIA KENYA MOROCCO MOZAMBIQUE", "AMERICA": "ARGENTINA BRAZIL CANADA PERU UNITED_STATES",
           "ASIA": "INDIA INDONESIA JAPAN CHINA VIETNAM", "EUROPE": "FRANCE GERMANY ROMANIA RUSSIA UNITED_KINGDOM",
           "MIDDLE EAST": "EGYPT IRAN IRAQ JORDAN SAUDI_ARABIA"}
NATIONS = [(n.replace("_", " "), r) for r, names in REGIONS.items() for n in names.split()]
TYPE1 = "STANDARD SMALL MEDIUM LARGE ECONOMY PROMO".split()
TYPE2 = "ANODIZED BURNISHED PLATED POLISHED BRUSHED".split()
TYPE3 = "TIN NICKEL BRASS STEEL COPPER".split()
CONTAINER1 = "SM LG MED JUMBO WRAP".split()
CONTAINER2 = "CASE BOX BAG JAR PKG PACK CAN DRUM".split()
SEGMENTS = "AUTOMOBILE BUILDING FURNITURE MACHINERY HOUSEHOLD".split()
MODES = ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"]
COLORS = ("almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood burnished chartreuse chiffon "
          "chocolate coral cornflower cornsilk cream cyan dark deep dim dodger drab firebrick floral forest frosted gainsboro "
          "ghost goldenrod green grey honeydew hot indian ivory khaki lace lavender lawn lemon light lime linen magenta maroon "
          "medium metallic midnight mint misty moccasin navajo navy olive orange orchid pale papaya peach peru pink plum powder "
          "puff purple red rose rosy royal saddle salmon sandy seashell sienna sky slate smoke snow spring steel tan thistle "
          "tomato turquoise violet wheat white yellow").split()


def month(rng, first, last):
    """A first of a month between two (year, month)."""
    index = rng.randint(first[0] * 12 + first[1] - 1, last[0] * 12 + last[1] - 1)
    return f"{index // 12}-{index % 12 + 1:02}-01"


def year(rng):
    return f"{rng.randint(1993, 1997)}-01-01"


def brand(rng):
    return f"Brand#{rng.randint(1, 5)}{rng.randint(1, 5)}"


def parameters(rng):
    """Parameters of all 22 queries, but for what only depends on the scale."""
    nation = lambda: rng.choice(NATIONS)
    nation1, nation2 = rng.sample(NATIONS, 2)
    mode1, mode2 = rng.sample(MODES, 2)
    q8 = nation()
    return {
        1: dict(delta=rng.randint(60, 120)),
        2: dict(size=rng.randint(1, 50), type=rng.choice(TYPE3), region=rng.choice(list(REGIONS))),
        3: dict(segment=rng.choice(SEGMENTS), date=f"1995-03-{rng.randint(1, 31):02}"),
        4: dict(date=month(rng, (1993, 1), (1997, 10))),
        5: dict(region=rng.choice(list(REGIONS)), date=year(rng)),
        6: dict(date=year(rng), discount=f"0.0{rng.randint(2, 9)}", quantity=rng.randint(24, 25)),
        7: dict(nation1=nation1[0], nation2=nation2[0]),
        8: dict(nation=q8[0], region=q8[1], type=" ".join(map(rng.choice, (TYPE1, TYPE2, TYPE3)))),
        9: dict(color=rng.choice(COLORS)),
        10: dict(date=month(rng, (1993, 2), (1995, 1))),
        11: dict(nation=nation()[0]),
        12: dict(mode1=mode1, mode2=mode2, date=year(rng)),
        13: dict(word1=rng.choice("special pending unusual express".split()),
                 word2=rng.choice("packages requests accounts deposits".split())),
        14: dict(date=month(rng, (1993, 1), (1997, 12))),
        15: dict(date=month(rng, (1993, 1), (1997, 10))),
        16: dict(brand=brand(rng), type=f"{rng.choice(TYPE1)} {rng.choice(TYPE2)}",
                 sizes=", ".join(map(str, rng.sample(range(1, 51), 8)))),
        17: dict(brand=brand(rng), container=f"{rng.choice(CONTAINER1)} {rng.choice(CONTAINER2)}"),
        18: dict(quantity=rng.randint(312, 315)),
        19: dict(brand1=brand(rng), brand2=brand(rng), brand3=brand(rng), quantity1=rng.randint(1, 10),
                 quantity2=rng.randint(10, 20), quantity3=rng.randint(20, 30)),
        20: dict(color=rng.choice(COLORS), date=year(rng), nation=nation()[0]),
        21: dict(nation=nation()[0]),
        22: dict(codes=", ".join(f"'{c}'" for c in rng.sample(range(10, 35), 7))),
    }


VALIDATION = {
    1: dict(delta=90), 2: dict(size=15, type="BRASS", region="EUROPE"), 3: dict(segment="BUILDING", date="1995-03-15"),
    4: dict(date="1993-07-01"), 5: dict(region="ASIA", date="1994-01-01"),
    6: dict(date="1994-01-01", discount="0.06", quantity=24), 7: dict(nation1="FRANCE", nation2="GERMANY"),
    8: dict(nation="BRAZIL", region="AMERICA", type="ECONOMY ANODIZED STEEL"), 9: dict(color="green"),
    10: dict(date="1993-10-01"), 11: dict(nation="GERMANY"),
    12: dict(mode1="MAIL", mode2="SHIP", date="1994-01-01"), 13: dict(word1="special", word2="requests"),
    14: dict(date="1995-09-01"), 15: dict(date="1996-01-01"),
    16: dict(brand="Brand#45", type="MEDIUM POLISHED", sizes="49, 14, 23, 45, 19, 3, 36, 9"),
    17: dict(brand="Brand#23", container="MED BOX"), 18: dict(quantity=300),
    19: dict(brand1="Brand#12", brand2="Brand#23", brand3="Brand#34", quantity1=1, quantity2=10, quantity3=20),
    20: dict(color="forest", date="1994-01-01", nation="CANADA"), 21: dict(nation="SAUDI ARABIA"),
    22: dict(codes="'13', '31', '23', '29', '30', '18', '17'"),
}


def query(number, values):
    text = open(os.path.join(HERE, "queries", f"q{number:02}.sql")).read()
    return text.format(**values)


def queries(seed=None, scale=1):
    """{number: SQL}: validation parameters without a seed, else drawn from it."""
    values = VALIDATION if seed is None else parameters(random.Random(seed))
    fraction = f"{0.0001 / scale:.10f}" # of query 11 (TPC-H, 2.4.11.3)
    return {n: query(n, {**values[n], "fraction": fraction}) for n in range(1, 23)}


def schema():
    return [s for s in open(os.path.join(HERE, "schema.sql")).read().split(";") if s.strip()]
