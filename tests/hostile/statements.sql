-- Statements that try to take the server's memory or time. Each is preceded by what may become of it: SQLSTATEs and ok,
-- separated by blanks. 57014 is the time limit of the test.

-- ok 53200 54000
SELECT length(replace(repeat('a', 1000000), 'a', repeat('b', 10000)));
-- ok 53200
SELECT length(repeat('x', 1000000000));
-- 54000
SELECT length(repeat('x', 1073741824));
-- ok 53200
SELECT md5(repeat('x', 500000000));
-- ok 53200 54000
SELECT length(regexp_replace(repeat('x', 20000000), 'x', 'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy', 'g'));
-- ok 53200 54000
SELECT length(regexp_replace(repeat('x', 10000000), '(x)', '\1\1\1', 'g'));
-- ok 53200
SELECT length(lpad('x', 250000000));
-- ok 53200 54000
SELECT length(lpad('x', 250000000, 'äöü'));
-- ok 53200 54000
SELECT length(concat(repeat('x', 300000000), repeat('y', 300000000), repeat('z', 300000000), repeat('a', 300000000)));
-- ok 53200 54000
SELECT length(concat_ws(repeat(',', 100000000), 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm'));
-- ok 53200 54000
SELECT length(format('%s%s%s%s%s', repeat('x', 250000000), repeat('x', 250000000), repeat('x', 250000000), repeat('x', 250000000), repeat('x', 250000000)));
-- ok 53200 54000
SELECT length(format('%2000000000s', 'x'));
-- ok 53200 54000
SELECT length(quote_literal(repeat('''', 400000000)));
-- ok 53200 54000
SELECT length(encode(repeat('x', 300000000)::bytea, 'hex'));
-- ok 53200 54000
SELECT length(encode(repeat('x', 300000000)::bytea, 'base64'));
-- ok 53200 54000
SELECT length(encode(decode(repeat('00', 200000000), 'hex'), 'escape'));
-- ok 53200
SELECT length(reverse(repeat('ä', 200000000)));
-- ok 53200
SELECT length(upper(repeat('x', 500000000)));
-- ok 53200
SELECT length(translate(repeat('abc', 150000000), 'abc', 'äöü'));
-- ok 53200 54000
SELECT length(overlay(repeat('x', 600000000) PLACING repeat('y', 600000000) FROM 2 FOR 1));
-- ok 53200
SELECT length(string_agg(repeat('x', 10000), ',')) FROM generate_series(1, 100000);
-- ok 53200
SELECT length(string_agg(g::text, ',')) FROM generate_series(1, 30000000) g;
-- ok 53200
SELECT cardinality(array_agg(g)) FROM generate_series(1, 30000000) g;
-- ok 53200
SELECT cardinality(array_agg(repeat('x', 1000))) FROM generate_series(1, 1000000) g;
-- ok 53200 54000
SELECT cardinality(array_fill(1, '{134217727}'));
-- 54000
SELECT cardinality(array_fill(1, '{134217728}'));
-- ok 53200 54000
SELECT cardinality(array_fill(repeat('x', 1000), '{10000000}'));
-- ok 53200
SELECT cardinality(string_to_array(repeat('x,', 50000000), ','));
-- ok 53200
SELECT cardinality(regexp_split_to_array(repeat('x,', 20000000), ','));
-- ok 53200
SELECT length(array_to_string(array_fill(repeat('x', 1000), '{1000000}'), ','));
-- ok 53200 57014
SELECT (SELECT array_agg(g) FROM generate_series(1, 1000000) g) @> (SELECT array_agg(-g) FROM generate_series(1, 1000000) g);
-- ok 53200 57014
SELECT (SELECT array_agg(g) FROM generate_series(1, 1000000) g) && (SELECT array_agg(-g) FROM generate_series(1, 1000000) g);
-- ok 53200 57014
SELECT count(*) FROM unnest(array_fill(1, '{100000000}'));
-- ok 53200 57014
SELECT count(*) FROM generate_series(1, 3000) a, generate_series(1, 100) b WHERE repeat('a', 3000 + b) ~ '(a*)*(a*)*b';
-- ok 53200 57014
SELECT sum(length(repeat('x', g))) FROM generate_series(1, 100000) g;
-- ok 53200 57014
SELECT count(*) FROM (SELECT repeat('x', 100000) || g AS t FROM generate_series(1, 20000) g ORDER BY 1) s;
-- ok 53200 57014
SELECT count(*) FROM (SELECT DISTINCT repeat('x', 100000) || g AS t FROM generate_series(1, 20000) g) s;
-- 57014
SELECT pg_sleep(3600);
-- 57014
SELECT count(*) FROM generate_series(1, 1000000000000) a WHERE a % 7 = 8;
