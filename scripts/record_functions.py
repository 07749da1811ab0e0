#!/usr/bin/env python3
"""Records what PostgreSQL 15 gives for calls of scalar functions: tests/unit/executor/functions.tsv.

Usage: record_functions.py 'host=... port=... user=postgres'   (a libpq connection string; needs psql)
One line per call: result type, function(argument types), arguments..., result; \\N is NULL, a result that begins with
"ERROR " is followed by the SQLSTATE. Calls are a fixed random sample over pools of values per type, plus the list below.
"""
import itertools
import os
import random
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OUT = os.path.join(ROOT, "tests/unit/executor/functions.tsv")

POOLS = {
    "int2": ["0", "1", "-1", "7", "-32768", "32767", None],
    "int4": ["0", "1", "-1", "2", "3", "5", "-4", "100", "2147483647", "-2147483648", None],
    "int8": ["0", "1", "-1", "12", "9223372036854775807", "-9223372036854775808", "4294967296", None],
    "float4": ["0", "1.5", "-2.25", "NaN", "Infinity", "3e38", "1e-40", None],
    "float8": ["0", "1.5", "-2.25", "NaN", "-Infinity", "1e308", "1e-310", "0.1", None],
    "bool": ["t", "f", None],
    "text": ["", "a", "abc", "hello world", "  padded  ", "Äpfel und Öl", "a,b,,c", "ABCxyz", "日本語テキスト",
             "the quick brown fox jumps over the lazy dog", "xx", "O'Reilly", "back\\slash", None],
    "bytea": ["\\x", "\\x00", "\\x616263", "\\xdeadbeef00ff", "\\x61616162626263", None],
    "name": ["pg_class", "abc", "", None],
    "numeric": ["0", "1.50", "-2.250", "1.5", "NaN", "12345678901234567890.123", None],
    "date": ["2000-01-01", "1999-12-31", "infinity", None],
    "timestamp": ["2000-01-01 00:00:00", "1999-12-31 23:59:59.5", None],
    "interval": ["1 mon", "30 days", "29 days 24:00:00", "-1 day", None],
    "uuid": ["00000000-0000-0000-0000-000000000001", "ffffffff-ffff-ffff-ffff-ffffffffffff", None],
    "int4[]": ["{}", "{1,2,3}", "{3,NULL,1}", "{{1,2},{3,4}}", "[0:1]={5,6}", "{1,2}", None],
    "text[]": ["{}", "{a,b,NULL,c}", "{\"x y\",\"\"}", "{a}", None],
}

ARITHMETIC = [f"{p}{op}({a},{b})" for p, a, b in [
    ("int2", "int2", "int2"), ("int4", "int4", "int4"), ("int8", "int8", "int8"), ("int24", "int2", "int4"),
    ("int42", "int4", "int2"), ("int28", "int2", "int8"), ("int82", "int8", "int2"), ("int48", "int4", "int8"),
    ("int84", "int8", "int4"), ("float4", "float4", "float4"), ("float8", "float8", "float8"),
    ("float48", "float4", "float8"), ("float84", "float8", "float4")]
    for op in ("pl", "mi", "mul", "div", "eq", "ne", "lt", "le", "gt", "ge")]
SAME = [f"{t}{f}({t},{t})" for t in ("int2", "int4", "int8") for f in ("mod", "and", "or", "xor", "larger", "smaller")]
SAME += [f"{t}{f}({t})" for t in ("int2", "int4", "int8", "float4", "float8") for f in ("um", "abs", "up")]
SAME += [f"{t}{f}({t},int4)" for t in ("int2", "int4", "int8") for f in ("shl", "shr")]
SAME += [f"{t}not({t})" for t in ("int2", "int4", "int8")]
ORDER = [f"{p}_{op}({t},{t})" for p, t in [("numeric", "numeric"), ("date", "date"), ("timestamp", "timestamp"),
                                          ("interval", "interval"), ("uuid", "uuid")]
         for op in ("eq", "ne", "lt", "le", "gt", "ge")]
OTHER = """
gcd(int4,int4) gcd(int8,int8) lcm(int4,int4) lcm(int8,int8) to_hex(int4) to_hex(int8)
texteq(text,text) textne(text,text) text_lt(text,text) text_ge(text,text)
textcat(text,text) length(text) octet_length(text) char_length(text) bit_length(text)
substr(text,int4) substr(text,int4,int4) left(text,int4) right(text,int4) overlay(text,text,int4)
overlay(text,text,int4,int4) strpos(text,text) starts_with(text,text) replace(text,text,text)
translate(text,text,text) split_part(text,text,int4) lpad(text,int4) rpad(text,int4) lpad(text,int4,text)
rpad(text,int4,text) ltrim(text) rtrim(text) btrim(text) ltrim(text,text) rtrim(text,text) btrim(text,text)
repeat(text,int4) reverse(text) ascii(text) chr(int4) upper(text) lower(text) initcap(text) md5(text) md5(bytea)
sha224(bytea) sha256(bytea) sha384(bytea) sha512(bytea) encode(bytea,text) quote_ident(text) quote_literal(text)
quote_nullable(text) textlike(text,text) textnlike(text,text) texticlike(text,text) like_escape(text,text)
length(bytea) substr(bytea,int4) substr(bytea,int4,int4) byteacat(bytea,bytea) position(bytea,bytea)
get_byte(bytea,int4) get_bit(bytea,int8) set_byte(bytea,int4,int4) set_bit(bytea,int8,int4) bit_count(bytea)
btrim(bytea,bytea) overlay(bytea,bytea,int4) overlay(bytea,bytea,int4,int4)
array_ndims(int4[]) cardinality(int4[]) array_length(int4[],int4) array_lower(int4[],int4) array_upper(int4[],int4)
array_dims(int4[]) array_append(int4[],int4) array_prepend(int4,int4[]) array_cat(int4[],int4[])
array_position(int4[],int4) array_position(text[],text) array_positions(int4[],int4) array_remove(int4[],int4)
array_replace(int4[],int4,int4) trim_array(int4[],int4) array_to_string(int4[],text) array_to_string(text[],text,text)
string_to_array(text,text) string_to_array(text,text,text) arraycontains(int4[],int4[]) arrayoverlap(int4[],int4[])
array_eq(int4[],int4[]) array_lt(int4[],int4[]) array_gt(text[],text[]) btarraycmp(int4[],int4[])
unistr(text) bool(int4) int4(bool) booland_statefunc(bool,bool) pg_size_pretty(int8)
""".split()

LISTED = []


def call(signature, *args):
    LISTED.append((signature, args))


for pattern in ["a%", "%a", "%a%", "a_c", "_", "%", "", "%b%c%", "a\\%", "\\%", "%\\_x", "__%", "%quick%fox%dog", "abc",
                "%an%a%", "ends\\", "%テキ%", "_本%", "Ä%"]:
    for text in ["abc", "", "a", "a%", "banana", "100%_x", "the quick brown fox jumps over the lazy dog", "日本語テキスト", "Äpfel", "ends"]:
        call("textlike(text,text)", text, pattern)
        call("texticlike(text,text)", text.upper(), pattern)
for pattern in ["abc", "a.c", "^a", "c$", "^$", "a|b", "(a|ab)(c|bcd)(d*)", "x*", "[a-c]+", "[^a-c]", "\\d+", "\\w+\\s\\w+",
                "[[:digit:]]{2,3}", "a{2}", "a{,2}", "(a+)+b", "\\ycat\\y", "\\mcat", "cat\\M", "[[:<:]]cat", "(?i)ABC", "***=a.c",
                "(", "a)", "[a", "*a", "a**", "a{2", "a{3,2}", "\\", "[z-a]", "[[:foo:]]", "(?:ab)+", "\\u0061", "\\x61", "a\\.c",
                "[\\d,]+", "[]a]+", "[a\\]]+", "\\S+$", ".*?b", "Y*?([0-9]{1,3})", "(x|xy)(z|yz)", "a.*?b+", "(a|b)*c", "()", "a||b",
                "\\Aab", "bc\\Z", "é", "[é-ü]+", "日.語", "\\", "a#b", "(?x) a b # comment", "(a)(b)?", "a$b", "x^y", "(a*)*", "((a|b)*)(b|c)*", "(\\w+?)(\\d+)", "(.*)(\\d+)", "(.*?)(\\d+)", "(a|b)?(c)*", "(l.*?)(e|s)+"]:
    for text in ["abc", "", "ABCD", "xyz", "foo12345bar", "the cat sat", "aab ab b", "XY1234Z", "a,b;1,2]", "line1\nline2", "日本語", "café übung", "ab"]:
        call("textregexeq(text,text)", text, pattern)
        call("regexp_match(text,text)", text, pattern)
        call("regexp_replace(text,text,text,text)", text, pattern, "<\\1|\\&>", "g")
        call("substring(text,text)", text, pattern)
        call("regexp_split_to_array(text,text)", text, pattern)
for text, pattern in [("abc", "a%"), ("abc", "%(b|d)%"), ("abc", "(b|c)%"), ("abc", "_b_"), ("a.c", "a.c"), ("abc", "a[bx]c"), ("ab", "a|ab"), ("aab", "a{2}b"), ("abc", "ABC")]:
    call("similar_to_escape(text)", pattern)
    call("textregexeq(text,text)", text, "^(?:" + pattern.replace("%", ".*").replace("_", ".") + ")$")
for args in [("foobar", "o", "x", "1", "2", ""), ("foobarbaz", "b..", "X", "1", "0", "g"), ("foobarbaz", "b(..)", "X\\1Y", "5", "1", "i"), ("abc", "b", "x", "0", "1", ""), ("abc", "b", "x", "9", "0", "")]:
    call("regexp_replace(text,text,text,int4,int4,text)", *args)
for args in [("1234567890", "(123)(4(56)(78))", "1", "1", "0", "", "0"), ("1234567890", "(123)(4(56)(78))", "1", "1", "0", "i", "3"), ("1234567890", "(123)(4(56)(78))", "1", "1", "1", "", "2"), ("abcabcabc", "a.c", "2", "2", "0", "", "0"), ("abc", "b", "1", "0", "0", "", "0")]:
    call("regexp_instr(text,text,int4,int4,int4,text,int4)", *args)
    call("regexp_substr(text,text,int4,int4,text,int4)", args[0], args[1], args[2], args[3], args[5], args[6])
for text in ["line1\nline2\nline3", "abc"]:
    for pattern in ["^line.$", "e.l", "e[^x]l", "1$", "^l"]:
        for flags in ["", "n", "p", "w", "s", "i", "x", "q", "z", "g"]:
            call("regexp_like(text,text,text)", text, pattern, flags)
            call("regexp_match(text,text,text)", text, pattern, flags)
for text in ["SGVsbG8=", "SGVsbG8", "AA==", "A===", "", "****", "aGVs\nbG8="]:
    call("decode(text,text)", text, "base64")
for text in ["616263", "6", "zz", "61 62", ""]:
    call("decode(text,text)", text, "hex")
for text in ["abc\\\\def", "\\101bc", "\\9", "abc"]:
    call("decode(text,text)", text, "escape")
for fmt in ["hex", "base64", "escape", "rot13"]:
    for b in ["\\x", "\\x00ff61", "\\x" + "61" * 60]:
        call("encode(bytea,text)", b, fmt)
for fmt, *args in [("hello %s", "world"), ("%s %s", "a"), ("%I.%L", "My Table", "it's"), ("%1$s %1$s", "x"), ("%10s|", "r"), ("%-10s|", "l"), ("%%",), ("%x", "1"), ("%",), ("%s", None), ("%L", None), ("%I", None), ("%2$s %s", "a", "b")]:
    call("format(text" + ",text" * len(args) + ")", fmt, *args)
for args in [(",", "a", None, "b"), (None, "a"), ("", "x", "y"), ("--", None, None)]:
    call("concat_ws(text" + ",text" * (len(args) - 1) + ")", *args)
call("concat(text,int4,bool,float8,date)", "a", "1", "t", "1.5", "2000-01-01")
call("concat(text,int4[])", None, "{1,2}")
call("array_fill(int4,int4[])", "7", "{2,2}")
call("array_fill(int4,int4[],int4[])", "7", "{3}", "{2}")
call("width_bucket(int4,int4[])", "5", "{1,3,5,10}")
call("convert_from(bytea,name)", "\\xc3a4", "UTF8")
call("convert_from(bytea,name)", "\\xff", "UTF8")
call("convert_to(text,name)", "ä", "utf8")


def sample(signature):
    types = signature[signature.index("(") + 1:-1]
    types = types.split(",") if types else []
    combinations = list(itertools.product(*[POOLS[t] for t in types]))
    rng = random.Random(signature)
    rng.shuffle(combinations)
    return combinations[:12]


def quote(value):
    return "NULL" if value is None else "E'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


def escape(value):
    if value is None:
        return "\\N"
    return value.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def main():
    calls = [(s, c) for s in ARITHMETIC + SAME + ORDER + OTHER if s != "unistr(text)" for c in sample(s)] + LISTED
    script = ["set client_min_messages = error; set client_encoding = utf8;",
              "create temp table recorded (n int, t text, r text);",
              """create function pg_temp.record(n int, call text) returns void language plpgsql as $$
declare t text; r text; begin
  begin execute 'select pg_typeof(x)::text, x::text from (select ' || call || ' as x) s' into t, r;
  exception when others then t := '-'; r := 'ERROR ' || sqlstate; end;
  insert into recorded values (n, t, r); end $$;"""]
    for n, (signature, args) in enumerate(calls):
        name, types = signature[:-1].split("(")
        types = types.split(",") if types else []
        if name in ("position", "overlay", "substring", "left", "right"):
            name = '"' + name + '"'
        expression = f"pg_catalog.{name}(" + ", ".join(f"{quote(a)}::{t}" for a, t in zip(args, types)) + ")"
        script.append(f"select pg_temp.record({n}, {quote(expression)});")
    script.append("copy (select t, r from recorded order by n) to stdout;")
    run = subprocess.run(["psql", "-q", "-X", "-At", "-v", "ON_ERROR_STOP=1", sys.argv[1]], input="\n".join(script), text=True,
                         capture_output=True)
    if run.returncode != 0:
        sys.exit(run.stderr)
    results = [line for line in run.stdout.split("\n") if "\t" in line]
    assert len(results) == len(calls), (len(results), len(calls))
    types = {}
    for (signature, args), line in zip(calls, results):
        if not line.startswith("-\t"):
            types[signature] = line.split("\t")[0]
    with open(OUT, "w", encoding="utf8") as out:
        for (signature, args), line in zip(calls, results):
            if signature not in types:
                sys.exit(f"all calls of {signature} fail: {line}")
            out.write("\t".join([types[signature], signature] + [escape(a) for a in args] + [line.split("\t")[1]]) + "\n")
    print(f"{len(calls)} calls")


if __name__ == "__main__":
    main()
