"""Operators, functions, casts, aggregates and window functions as data.

A line is "result: template", with argument types in braces. Braces may also name a kind of constant (`constants`), where
an arbitrary value would fail or take for ever. A "!" at the end marks what may fail for some arguments: queries without
such calls must never end with an error."""
import re

from known import avoided
from values import ARRAY_ELEMENTS, NUMBERS, base

LINES = """
bool: {bool} AND {bool}
bool: {bool} OR {bool}
bool: NOT {bool}
bool: {bool} IS TRUE
bool: {bool} IS NOT FALSE
bool: {bool} IS UNKNOWN
bool: {text} LIKE {pattern}
bool: {text} NOT ILIKE {pattern}
bool: {text} ~ {regexp}
bool: {text} !~* {regexp}
bool: {text} SIMILAR TO {pattern}
bool: {varchar} LIKE {pattern}
bool: {bpchar} LIKE {pattern}
bool: {bytea} LIKE '\\\\x61%'::bytea
bool: starts_with({text}, {text})
bool: isfinite({date})
bool: isfinite({timestamp})
bool: isfinite({interval})
bool: ({timestamp}, {timestamp}) OVERLAPS ({timestamp}, {timestamp})
bool: ({date}, {date}) OVERLAPS ({date}, {date}) !
bool: {int4}::bool
bool: {date} < {timestamp}
bool: {date} >= {timestamptz}
bool: {timestamp} <= {date}
bool: {int2} = {int8}
bool: {int4} < {int2}
bool: {int8} >= {int4}
bool: {int4} <> {numeric}
bool: {int8} > {float8}
bool: {numeric} <= {float8}
bool: {float4} = {float8}
bool: {text} = {varchar}
bool: {bpchar} = {varchar}
bool: {bpchar} < {text}
bool: {name} = {text}
bool: {name} < {name}
int4: {int4} + {int4} !
int4: {int4} - {int2} !
int4: {int2} * {int4} !
int4: {int4} / {int4} !
int4: {int4} % {int4} !
int4: {int4} / {nonzero} !
int4: {int4} % {nonzero}
int4: - {int4} !
int4: abs({int4}) !
int4: {int4} & {int4}
int4: {int4} | {int4}
int4: {int4} # {int4}
int4: ~ {int4}
int4: {int4} << {few}
int4: {int4} >> {few}
int4: sign({int4})::int4
int4: gcd({int4}, {int4}) !
int4: lcm({int4}, {int4}) !
int4: length({text})
int4: char_length({bpchar})
int4: octet_length({text})
int4: octet_length({bpchar})
int4: bit_length({text})
int4: length({bytea})
int4: strpos({text}, {text})
int4: position({text} IN {text})
int4: position({bytea} IN {bytea})
int4: ascii({text})
int4: get_byte({bytea}, {few}) !
int4: {date} - {date} !
int4: {bool}::int4
int4: {text}::int4 !
int4: {numeric}::int4 !
int4: {int8}::int4 !
int4: {int2}::int4
int4: {float8}::int4 !
int4: num_nulls({int4}, {text}, {date})
int4: num_nonnulls({int4}, {numeric})
int4: width_bucket({numeric}, 0, 10, 5) !
int4: width_bucket({float8}, 0, 10, 5) !
int4: regexp_count({text}, {regexp})
int4: regexp_instr({text}, {regexp})
int4: scale({numeric})
int4: min_scale({numeric})
int4: cardinality({int4[]})
int4: cardinality({text[]})
int4: array_length({int4[]}, 1)
int4: array_upper({text[]}, 1)
int4: array_lower({int8[]}, 1)
int4: array_ndims({date[]})
int4: array_position({int4[]}, {int4})
int4: array_position({text[]}, {text})
int2: {int2} + {int2} !
int2: {int2} * {int2} !
int2: {int2} / {int2} !
int2: {int4}::int2 !
int2: {int2} & {int2}
int2: {numeric}::int2 !
int8: {int8} + {int8} !
int8: {int8} - {int4} !
int8: {int8} * {int8} !
int8: {int4} * {int8} !
int8: {int8} / {int8} !
int8: {int8} % {int8} !
int8: {int4}::int8
int8: {int4}::int8 * {int4}
int8: {int2}::int8 + {int4}
int8: {int8} & {int8}
int8: {int8} # {int8}
int8: {numeric}::int8 !
int8: {float8}::int8 !
int8: {text}::int8 !
int8: abs({int8}) !
int8: factorial({few})::int8 !
int8: bit_count({bytea})
numeric: {numeric} + {numeric}
numeric: {numeric} - {numeric}
numeric: {numeric} * {numeric}
numeric: {numeric} * {int4}
numeric: {int8} + {numeric}
numeric: {numeric} / {numeric} !
numeric: {numeric} / {nonzero}
numeric: {numeric} % {numeric} !
numeric: div({numeric}, {nonzero})
numeric: mod({numeric}, {nonzero})
numeric: - {numeric}
numeric: abs({numeric})
numeric: sign({numeric})
numeric: round({numeric})
numeric: round({numeric}, {places})
numeric: trunc({numeric}, {places})
numeric: ceil({numeric})
numeric: floor({numeric})
numeric: trim_scale({numeric})
numeric: sqrt(abs({numeric}))
numeric: ln({numeric}) !
numeric: log({numeric}) !
numeric: exp({numeric}) !
numeric: power({numeric}, {few})
numeric: power({numeric}, {numeric}) !
numeric: {int4}::numeric
numeric: {int8}::numeric
numeric: {float8}::numeric
numeric: {text}::numeric !
numeric: {numeric}::numeric(10,3) !
numeric: {numeric}::numeric(5,1) !
numeric: extract({field} FROM {timestamp})
numeric: extract({field} FROM {timestamptz})
numeric: extract({datefield} FROM {date}) !
numeric: extract({timefield} FROM {time})
numeric: extract({ifield} FROM {interval})
float8: {float8} + {float8} !
float8: {float8} - {float8} !
float8: {float8} * {float8} !
float8: {float8} / {float8} !
float8: {float4} + {float8} !
float8: - {float8}
float8: abs({float8})
float8: round({float8})
float8: trunc({float8})
float8: floor({float8})
float8: sign({float8})
float8: sqrt(abs({float8}))
float8: cbrt({float8})
float8: exp({float8}) !
float8: ln({float8}) !
float8: power({float8}, {float8}) !
float8: sin({int4})
float8: atan2({int4}, {int2})
float8: degrees({int2})
float8: {int4}::float8
float8: {int8}::float8
float8: {numeric}::float8 !
float8: {float4}::float8
float8: {text}::float8 !
float8: date_part({field}, {timestamp})
float8: date_part({ifield}, {interval})
float4: {float4} + {float4} !
float4: {float4} * {float4} !
float4: {float8}::float4 !
float4: {int4}::float4
float4: abs({float4})
text: {text} || {text}
text: {text} || {int4}
text: {date} || {text}
text: {bpchar} || {text}
text: upper({text})
text: lower({text})
text: initcap({text})
text: reverse({text})
text: left({text}, {few})
text: right({text}, {signed})
text: substr({text}, {signed})
text: substring({text} FROM {signed} FOR {few})
text: substring({text} FROM {regexp})
text: overlay({text} PLACING {text} FROM {positive} FOR {few})
text: lpad({text}, {few}, {text})
text: rpad({text}, {few})
text: repeat({text}, {few})
text: replace({text}, {text}, {text})
text: translate({text}, 'abc', 'xy')
text: trim({text})
text: ltrim({text}, {text})
text: rtrim({text}, 'ab ')
text: split_part({text}, {text}, {positive})
text: split_part({text}, 'a', {signed}) !
text: concat({text}, {int4}, {bool}, {date})
text: concat_ws(',', {text}, {int8}, {numeric})
text: md5({text})
text: quote_literal({text})
text: quote_nullable({text})
text: quote_ident({text})
text: to_hex({int4})
text: chr({letter})
text: encode({bytea}, 'hex')
text: encode({bytea}, 'base64')
text: encode({bytea}, 'escape')
text: regexp_replace({text}, {regexp}, 'Z')
text: regexp_replace({text}, {regexp}, '<\\&>', 'g')
text: regexp_substr({text}, {regexp})
text: format('%s-%I-%L', {text}, {name}, {text}) !
text: format('%5s|%-5s|%1$s', {text}, {int4})
text: {bool}::text
text: {int4}::text
text: {int8}::text
text: {float8}::text
text: {float4}::text
text: {date}::text
text: {time}::text
text: {timetz}::text
text: {timestamp}::text
text: {timestamptz}::text
text: {uuid}::text
text: {bytea}::text
text: {varchar}::text
text: {bpchar}::text
text: {name}::text
text: {int4[]}::text
text: {text[]}::text
text: to_char({timestamp}, {dateformat})
text: to_char({int4}, {numberformat})
text: to_char({numeric}, {numberformat}) !
text: to_char({interval}, 'HH24:MI:SS')
text: array_to_string({text[]}, ',')
text: array_to_string({int4[]}, '-', '*')
text: ({text[]} || {text})[1]
text: pg_typeof({numeric})::text
varchar: {text}::varchar(3)
varchar: {varchar}
bpchar: {text}::char(3)
bpchar: {bpchar}::char(6)
name: {text}::name
bytea: {bytea} || {bytea}
bytea: substr({bytea}, {positive}, {few})
bytea: convert_to({text}, 'UTF8')
bytea: decode(encode({bytea}, 'hex'), 'hex')
bytea: set_byte({bytea}, 0, {letter}) !
bytea: sha256({bytea})
bytea: {text}::bytea !
date: {date} + {few} !
date: {date} - {int4} !
date: {timestamp}::date
date: {timestamptz}::date
date: {text}::date !
date: make_date({year}, {month}, {day}) !
date: to_date('2024-03-' || {few}, 'YYYY-MM-DD') !
time: {timestamp}::time
time: {time} + {interval} !
time: {interval}::time
time: {timetz}::time
time: make_time({few}, {few}, 1.5)
timetz: {time}::timetz
timetz: {timestamptz}::timetz
timetz: {timetz} AT TIME ZONE 'UTC'
timestamp: {date} + {time} !
timestamp: {timestamp} + {interval} !
timestamp: {timestamp} - {interval} !
timestamp: {date} + {interval} !
timestamp: {date}::timestamp !
timestamp: {timestamptz}::timestamp
timestamp: {timestamptz} AT TIME ZONE {zone} !
timestamp: date_trunc({unit}, {timestamp}) !
timestamp: date_bin('15 minutes', {timestamp}, timestamp '2001-01-01') !
timestamp: make_timestamp({year}, {month}, {day}, {few}, 3, 1.5) !
timestamp: {text}::timestamp !
timestamptz: {timestamptz} + {interval} !
timestamptz: {timestamp}::timestamptz
timestamptz: {timestamp} AT TIME ZONE {zone} !
timestamptz: {date}::timestamptz !
timestamptz: date_trunc({unit}, {timestamptz}) !
timestamptz: date_trunc({unit}, {timestamptz}, 'Europe/Berlin') !
timestamptz: to_timestamp({int4})
interval: {interval} + {interval} !
interval: {interval} - {interval} !
interval: {interval} * {few} !
interval: {interval} * {float8} !
interval: {interval} / {nonzero} !
interval: - {interval} !
interval: {timestamp} - {timestamp} !
interval: {time} - {time}
interval: age({timestamp}, {timestamp}) !
interval: justify_days({interval}) !
interval: justify_hours({interval}) !
interval: justify_interval({interval}) !
interval: make_interval({few}, {few}, 0, {signed})
interval: date_trunc({unit}, {interval}) !
interval: {time}::interval
interval: {text}::interval !
uuid: {text}::uuid !
uuid: {uuid}
int4[]: {int4[]} || {int4[]}
int4[]: {int4[]} || {int4}
int4[]: array_append({int4[]}, {int4})
int4[]: array_prepend({int4}, {int4[]})
int4[]: array_cat({int4[]}, {int4[]})
int4[]: array_remove({int4[]}, {int4})
int4[]: array_replace({int4[]}, {int4}, {int4})
int4[]: array_positions({int4[]}, {int4})
int4[]: array_fill({int4}, ARRAY[{few}])
int4[]: trim_array({int4[]}, 1) !
int4[]: ({int4[]})[{positive}:{few}]
int4[]: ({int4[]})[2:]
int4[]: {int8[]}::int4[] !
int4[]: {text[]}::int4[] !
text[]: string_to_array({text}, 'a')
text[]: string_to_array({text}, NULL, '')
text[]: regexp_split_to_array({text}, {regexp})
text[]: regexp_match({text}, {regexp})
text[]: {text[]} || {text}
text[]: array_remove({text[]}, {text})
text[]: {int4[]}::text[]
text[]: {varchar[]}::text[]
int8[]: {int4[]}::int8[]
numeric[]: {int4[]}::numeric[]
float8[]: {int4[]}::float8[]
timestamp[]: {date[]}::timestamp[] !
"""

# Aggregates. "~" at the end: the result depends on the order of float additions in its last digits; "?" at the end: any
# of several equal values may be the result. {order} is a total order of the rows of a group.
AGGREGATES = """
int8: count(*)
int8: count({int4})
int8: count({text})
int8: count({bpchar})
int8: count(DISTINCT {text})
int8: count(DISTINCT {int4})
int8: count(DISTINCT {numeric})
int8: count(DISTINCT {int4[]})
int8: count(DISTINCT {bpchar})
int8: sum({int4})
int8: sum({int2})
int8: sum(DISTINCT {int4})
numeric: sum({int8})
numeric: sum({numeric})
numeric: sum(DISTINCT {numeric})
numeric: avg({int4})
numeric: avg({int8})
numeric: avg({numeric})
numeric: variance({int4})
numeric: stddev({numeric})
numeric: var_pop({int8})
numeric: stddev_pop(DISTINCT {int4})
float8: sum({tamefloat}) ~
float8: avg({tamefloat}) ~
float8: stddev({tamefloat}) ~
float8: var_pop({tamefloat}) ~
float8: corr({tamefloat}, {tameint}) ~
float8: regr_slope({tamefloat}, {tameint}) ~
float8: covar_pop({tamefloat}, {tamefloat}) ~
float8: percentile_cont(0.5) WITHIN GROUP (ORDER BY {float8})
interval: sum({interval}) !
interval: avg({interval}) !
interval: max({interval}) ?
int4: max({int4})
int4: min({int4})
int8: min({int8})
int2: max({int2})
numeric: max({numeric}) ?
numeric: min({numeric}) ?
float8: max({float8}) ?
float4: min({float4}) ?
text: max({text})
text: min({text})
text: min({varchar})
bpchar: max({bpchar}) ?
date: max({date})
date: min({date})
time: min({time})
timestamp: max({timestamp})
timestamptz: min({timestamptz})
timetz: max({timetz})
int4[]: max({int4[]})
text[]: min({text[]})
int4: mode() WITHIN GROUP (ORDER BY {int4})
text: percentile_disc(0.3) WITHIN GROUP (ORDER BY {text})
int4: percentile_disc(0.75) WITHIN GROUP (ORDER BY {int4} DESC)
int8: rank({int4}) WITHIN GROUP (ORDER BY {int4})
bool: bool_and({bool})
bool: bool_or({bool})
bool: every({bool})
int4: bit_and({int4})
int4: bit_or({int4})
int4: bit_xor({int4})
int4[]: array_agg({int4} ORDER BY {order})
text[]: array_agg({text} ORDER BY {order})
int4[]: array_agg(DISTINCT {int4})
text[]: array_agg(DISTINCT {text} ORDER BY 1)
text: string_agg({text}, ',' ORDER BY {order})
text: string_agg({text}, {text} ORDER BY {order})
bytea: string_agg({bytea}, '\\\\x00' ORDER BY {order})
"""

# Window functions besides aggregates. "#" at the end: ties would make the result arbitrary, so it needs a total order.
WINDOWS = """
int8: row_number() #
int8: rank()
int8: dense_rank()
float8: percent_rank()
float8: cume_dist()
int4: ntile({positive}) #
int4: lag({int4}) #
int4: lead({int4}, {few}) #
int4: lag({int4}, {few}, {int4}) #
text: lead({text}, 1, {text}) #
date: lag({date}) #
int4: first_value({int4}) #
text: last_value({text}) #
int4: nth_value({int4}, {positive}) #
numeric: first_value({numeric}) #
text[]: last_value({text[]}) #
"""

# Constants for the places in templates that do not name a type.
CONSTANTS = {
    "few": ["0", "1", "2", "3", "5"], "positive": ["1", "2", "3", "4"], "signed": ["-2", "-1", "0", "1", "3"],
    "nonzero": ["1", "2", "3", "7", "-2"], "places": ["-2", "-1", "0", "1", "3"], "letter": ["65", "97", "233", "48"],
    "pattern": ["'a%'", "'%b%'", "'_'", "'%'", "''", "'a\\%b'", "'%a_'"],
    "regexp": ["'a'", "'^a'", "'b+'", "'[a-c]'", "'.'", "'(a|b)c?'", "'x*'"],
    "field": ["year", "month", "day", "hour", "minute", "second", "dow", "isodow", "doy", "week", "isoyear", "quarter", "epoch",
              "century", "decade", "millennium", "microseconds", "milliseconds", "julian"],
    "datefield": ["year", "month", "day", "dow", "doy", "week", "quarter", "epoch", "isoyear", "julian"],
    "timefield": ["hour", "minute", "second", "epoch", "milliseconds"],
    "ifield": ["year", "month", "day", "hour", "minute", "second", "epoch", "quarter", "decade", "century"],
    "unit": ["'year'", "'quarter'", "'month'", "'day'", "'hour'", "'minute'", "'second'", "'decade'", "'century'"],
    "zone": ["'UTC'", "'Europe/Berlin'", "'America/New_York'", "'+03:30'"],
    "dateformat": ["'YYYY-MM-DD HH24:MI:SS'", "'Dy, DD Mon YYYY'", "'J Q WW IW D'", "'HH12:MI AM'", "'FMDay FMMonth FMDDth'"],
    "numberformat": ["'999'", "'0009.99'", "'S999'", "'FM9990'", "'9.9EEEE'", "'RN'", "'999PR'"],
    "year": ["1999", "2024", "2000"], "month": ["1", "2", "12"], "day": ["1", "28", "29", "31"],
}
QUOTED = {"field"}  # where date_part takes the field as a string


class Call:
    """One line of a table: a template cut into texts and argument kinds."""

    def __init__(self, line):
        result, _, template = line.partition(": ")
        self.result, self.flags = result, set()
        while template[-2:-1] == " " and template[-1] in "!~?#":
            self.flags.add(template[-1])
            template = template[:-2]
        self.pieces = re.split(r"\{([^}]*)\}", template.replace("\\\\", "\\"))
        self.can_fail = "!" in self.flags
        self.template = template


def parse(lines):
    calls = {}
    for line in lines.strip().splitlines():
        call = Call(line)
        calls.setdefault(call.result, []).append(call)
    return calls


CALLS, AGGREGATE_CALLS, WINDOW_CALLS = parse(LINES), parse(AGGREGATES), parse(WINDOWS)
# Quoted literals read as each type: casts that everyone writes.
COMPARABLE = ["bool", *NUMBERS, "text", "varchar", "bpchar", "name", "bytea", "date", "time", "timetz", "timestamp", "timestamptz",
              "interval", "uuid", *[base(e) + "[]" for e in ARRAY_ELEMENTS if not avoided(base(e) + "[]")]]
for element in {base(e) for e in ARRAY_ELEMENTS}:
    array = element + "[]"
    CALLS.setdefault(element, []).append(Call(f"{element}: ({{{array}}})[{{few}}]"))
    CALLS.setdefault(array, []).append(Call(f"{array}: ARRAY[{{{element}}}, {{{element}}}]"))
    CALLS.setdefault("bool", []).append(Call(f"bool: {{{array}}} @> {{{array}}}"))
    CALLS["bool"].append(Call(f"bool: {{{array}}} && {{{array}}}"))


def constant(rng, kind, quoted=False):
    text = rng.choice(CONSTANTS[kind])
    return f"'{text}'" if quoted and kind in ("field", "ifield") else text
