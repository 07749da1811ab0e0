"""The types the generator knows, and random values of them as SQL literals: mostly a small set, so that joins and groups
meet, now and then NULL or an extreme."""

INTEGERS = {"int2": 1 << 15, "int4": 1 << 31, "int8": 1 << 63}

# Ordinary values of each type, and values at its limits.
ORDINARY = {
    "bool": ["t", "f"],
    "numeric": ["0", "1", "-1", "1.5", "2.50", "-0.001", "10", "3.14159", "100.00", "7"],
    "numeric(8,2)": ["0", "1.25", "-1.5", "2.5", "3", "10.01", "-99.99", "1000"],
    "float4": ["0", "1", "-1", "0.25", "1.5", "-2.75", "10", "3"],
    "float8": ["0", "1", "-1", "0.25", "1.5", "-2.75", "10", "3", "100.125"],
    "text": ["", "a", "b", "ab", "abc", "B", "x y", "Zoë", "10", "-3", "a%b", "  pad  ", "1.5e3", "2024-02-30", "12:30 pm",
             "Feb 3 2024", "3 days ago", "true", "P1Y2M", "{1,2}", "1 mon -3:04"],
    "varchar(5)": ["", "a", "b", "ab", "abc", "B", "x y", "10", "ab "],
    "char(4)": ["", "a", "b", "ab", "abc", "B", "x y", "10"],
    "name": ["", "a", "b", "pg", "Abc"],
    "bytea": ["\\x", "\\x00", "\\x01ff", "\\x616263", "\\x61"],
    "date": ["2000-01-01", "2020-02-29", "1999-12-31", "2024-06-15", "1970-01-01", "2024-06-16"],
    "time": ["00:00:00", "12:34:56.789", "23:59:59", "06:00:00"],
    "timetz": ["00:00:00+00", "12:34:56.789+02", "23:59:59-05:30", "10:34:56.789+00"],
    "timestamp": ["2000-01-01 00:00:00", "2020-02-29 12:00:00", "1999-12-31 23:59:59.999999", "2024-06-15 01:02:03", "2024-03-31 02:30:00",
                  "2024-10-27 02:30:00", "1900-01-01 00:00:00"],
    "timestamptz": ["2000-01-01 00:00:00+00", "2020-02-29 12:00:00+02", "1999-12-31 23:59:59.999999-08",
                    "2024-06-15 01:02:03+00", "2024-03-31 01:00:00+00", "2024-11-03 05:30:00+00", "1890-01-01 00:00:00+00"],
    "interval": ["0", "1 day", "-1 day", "1 mon", "30 days", "1 year 2 mons 3 days 04:05:06", "24:00:00", "-00:00:01.5"],
    "uuid": ["00000000-0000-0000-0000-000000000000", "11111111-2222-3333-4444-555555555555",
             "ffffffff-ffff-ffff-ffff-ffffffffffff"],
}
EXTREME = {
    "numeric": ["NaN", "Infinity", "-Infinity", "1e40", "-1e-20", "99999999999999999999999999.999999999"],
    "numeric(8,2)": ["999999.99", "-999999.99"],
    "float4": ["NaN", "Infinity", "-Infinity", "-0", "3.4e38", "1e-40"],
    "float8": ["NaN", "Infinity", "-Infinity", "-0", "1.7e308", "1e-310", "9007199254740993"],
    "text": ["a\\b", "'", "\"q\"", "\t", "😀", "NULL", "x" * 40],
    "varchar(5)": ["😀😀😀😀😀", "'\"\\"],
    "char(4)": ["😀", "a  b"],
    "bytea": ["\\x5c27", "\\x" + "ff" * 20],
    "date": ["infinity", "-infinity", "4713-01-01 BC", "5874897-12-31", "0001-01-01"],
    "time": ["24:00:00", "23:59:59.999999"],
    "timetz": ["24:00:00-15:59", "00:00:00+15:59"],
    "timestamp": ["infinity", "-infinity", "4713-01-01 00:00:00 BC", "294276-12-31 23:59:59.999999"],
    "timestamptz": ["infinity", "-infinity", "4713-01-01 00:00:00+00 BC", "294276-12-31 23:59:59.999999+00"],
    "interval": ["178000000 years", "-178000000 years", "2147483647 days", "1 mon -30 days", "-1 mon 29 days 24:00:00"],
}

SCALARS = ["bool", *INTEGERS, *ORDINARY.keys() - {"bool"}]
SCALARS.sort()
ARRAY_ELEMENTS = ["bool", "int2", "int4", "int8", "numeric", "float8", "text", "date", "timestamp", "interval", "uuid",
                  "varchar(5)", "bytea"]
ARRAYS = [element + "[]" for element in ARRAY_ELEMENTS]
NUMBERS = ["int2", "int4", "int8", "numeric", "float4", "float8"]
# Types whose equal values may look different (1.0 and 1.00, 0 and -0, 30 days and 1 mon).
AMBIGUOUS = {"numeric", "float4", "float8", "interval", "bpchar", "char"}


def base(type_name):
    """The type without its modifier: what expressions over a column have."""
    array = "[]" if type_name.endswith("[]") else ""
    plain = type_name.removesuffix("[]").split("(")[0]
    return {"char": "bpchar"}.get(plain, plain) + array


def quote(text):
    return "'" + text.replace("'", "''") + "'" if "\\" not in text and "\t" not in text else \
        "E'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\t", "\\t") + "'"


def value(rng, type_name, extremes=True):
    """A random value's text, or None for NULL."""
    if rng.random() < 0.1:
        return None
    if type_name.endswith("[]"):
        return array_text(rng, type_name[:-2], extremes)
    if type_name == "bpchar":
        type_name = "char(4)"
    elif type_name == "varchar":
        type_name = "varchar(5)"
    extreme = extremes and rng.random() < 0.08
    if type_name in INTEGERS:
        limit = INTEGERS[type_name]
        return str(rng.choice([limit - 1, -limit, limit - 2, -limit + 1])) if extreme else str(rng.randint(-3, 10))
    if extreme and type_name in EXTREME:
        return rng.choice(EXTREME[type_name])
    return rng.choice(ORDINARY[type_name])


def array_text(rng, element, extremes):
    if rng.random() < 0.1:
        return "{}"
    texts = []
    for _ in range(rng.randint(1, 3)):
        text = value(rng, element, extremes)
        texts.append("NULL" if text is None else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"')
    return "{" + ",".join(texts) + "}"


def literal(rng, type_name, extremes=True):
    """A typed literal for use inside expressions."""
    text = value(rng, type_name, extremes)
    if text is None:
        return f"(NULL::{type_name})"
    if type_name == "int4" and text[0] != "-":
        return text
    if type_name == "bool" and rng.random() < 0.7:
        return {"t": "true", "f": "false"}[text]
    if type_name == "numeric" and "." in text and text[0] != "-" and "e" not in text:
        return text
    return f"({quote(text)}::{type_name})"


def stored(rng, type_name, extremes=True):
    """A literal for VALUES, without a type."""
    text = value(rng, type_name, extremes)
    return "NULL" if text is None else quote(text)
