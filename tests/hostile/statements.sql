-- Statements that try to take the server's memory or time. Each is preceded by what may become of it: SQLSTATEs and ok,
-- separated by blanks. 57014, the time limit of the test, is always allowed. ${3*text} is text, three times.

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
-- ok 53200 57014
SELECT count(*) FROM generate_series(1, 2000000) GROUP BY CUBE (generate_series, generate_series + 1, generate_series + 2, generate_series + 3);
-- ok 53200 57014
SELECT count(*) FROM generate_series(1, 2000000) g GROUP BY CUBE (g, g + 1, g + 2, g + 3, g + 4, g + 5, g + 6, g + 7, g + 8, g + 9, g + 10, g + 11);
-- ok 53200 54001
SELECT 1 IN (0${1000000*, 7});
-- ok 53200
SELECT count(*) FROM (VALUES (1)${1000000*, (2)}) v;
-- ok 53200 54001
SELECT ${300*GREATEST(g, }1${300*)} FROM generate_series(1, 3) g;
-- ok 53200 54001
SELECT ${300*LEAST(}1${300*, g)} FROM generate_series(1, 3) g;
-- ok 53200 54001
SELECT ${300*NULLIF(}1${300*, g)} FROM generate_series(1, 3) g;
-- ok 53200
SELECT length('${3000000*0123456789}');
-- ok 53200 54001
SELECT count(*) FROM generate_series(1, 10) g WHERE g IN (0${100000*, g + 1});
-- ok 42601 54001
SELECT ${100000*(}1${100000*)};
-- ok 42601 54001
SELECT ${100000*NOT }true;
-- ok 53200 54001
SELECT 1${100000* + 1};
-- ok 53200 54001 54011
SELECT 1${3000*, 1};
-- ok 53200 54001
SELECT 1${20000* UNION ALL SELECT 1};
-- ok 53200 57014
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3000000) SELECT count(*) FROM r;
-- 57014 53200
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT count(*) FROM r;
-- 57014 53200 54000
WITH RECURSIVE r(t) AS (SELECT 'x' UNION ALL SELECT t || t FROM r) SELECT max(length(t)) FROM r;
-- ok 53200 57014 22003
SELECT length((10::numeric ^ 100000 * g)::text) FROM generate_series(1, 100000) g ORDER BY 1 DESC LIMIT 1;
-- ok 53200 57014 22003
SELECT length(factorial(30000)::text);
-- ok 53200 57014 22003
SELECT factorial(1000000);
-- ok 53200 57014 22003
SELECT sum(sqrt(2::numeric(1000, 500) + g)) FROM generate_series(1, 1000000) g;
-- ok 53200 57014 22003
SELECT exp(ln(3::numeric(1000, 900)) * 1000), power(1.0000000001::numeric, 12345678901);
-- ok 53200 57014 22003
SELECT count(*) FROM generate_series(1::numeric, 1e20::numeric, 0.0000001);
-- ok 53200 57014
SELECT gcd(repeat('9', 100000)::numeric, repeat('7', 99999)::numeric);
-- ok 53200 57014 22003
SELECT length((repeat('9', 130000)::numeric * repeat('7', 130000)::numeric)::text);
-- ok 53200 57014 22003
SELECT div(repeat('9', 130000)::numeric, repeat('7', 60000)::numeric) IS NULL FROM generate_series(1, 1000);
-- ok 53200 57014
SELECT count(*) FROM generate_series('0001-01-01'::timestamp, '200000-01-01', '1 second');
-- ok 53200 54000 57014
SELECT length(to_char(1e100::numeric, repeat('9', 100000)));
-- ok 53200 54000 57014
SELECT length(to_char(now(), repeat('Day Month YYYY', 20000000)));
-- ok 53200 57014 2201B
SELECT regexp_replace(repeat('a', 30000), '(a*)*(a*)*(a*)*b', 'x', 'g') IS NULL;
-- ok 53200 57014 2201B
SELECT count(*) FROM generate_series(1, 200) g WHERE repeat('ab', 100000) ~ '^(a|b|ab)*c$';
-- ok 53200 57014 2201B
SELECT 'x' ~ repeat('(a{1,200}){1,200}', 1000);
-- ok 53200 57014 2201B
SELECT 'x' ~ ('(' || repeat('a|', 1000000) || 'b)');
-- ok 53200 57014 2201B
SELECT 'x' ~ string_agg(md5(g::text), '|') FROM generate_series(1, 100000) g;
-- ok 53200 57014
SELECT count(*) FROM generate_series(1, 1000) g WHERE repeat('a', 100000) LIKE '%a%a%a%a%a%a%a%a%ab%';
-- ok 53200 57014
SELECT count(*) FROM generate_series(1, 1000) g WHERE repeat('ä', 100000) ILIKE '%Ä%Ä%Ä%Ä%Ä%Ä%Äb%';
-- ok 53200 57014
SELECT count(*) FROM regexp_matches(repeat('ab', 20000000), 'a', 'g');
-- ok 53200 57014
SELECT count(*) FROM regexp_split_to_table(repeat('a,', 50000000), ',');
-- ok 53200 57014
SELECT count(*) FROM string_to_table(repeat('a,', 100000000), ',');
-- ok 53200 57014
SELECT sum(s) FROM (SELECT sum(g) OVER (ORDER BY g ROWS BETWEEN 100000 PRECEDING AND 100000 FOLLOWING) s FROM generate_series(1, 3000000) g) w;
-- ok 53200 57014
SELECT max(length(s)) FROM (SELECT string_agg(g::text, ',') OVER (ORDER BY g) s FROM generate_series(1, 100000) g) w;
-- ok 53200 57014
SELECT count(*) FROM (SELECT array_agg(g) OVER (ORDER BY g ROWS BETWEEN 10000 PRECEDING AND CURRENT ROW) s FROM generate_series(1, 1000000) g) w;
-- ok 53200 57014
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY g) FROM generate_series(1, 30000000) g;
-- ok 53200 57014
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY g) FROM generate_series(1, 3000000) g;
-- ok 53200 57014
SELECT count(DISTINCT md5(g::text)) FROM generate_series(1, 5000000) g;
-- ok 53200 57014
SELECT mode() WITHIN GROUP (ORDER BY repeat('x', 1000) || g) FROM generate_series(1, 1000000) g;
-- ok 53200 57014
SELECT count(*) FROM generate_series(1, 100000) a JOIN generate_series(1, 100000) b ON a.a + b.b < 0;
-- ok 53200 57014
SELECT count(*) FROM generate_series(1, 3000000) a JOIN generate_series(1, 3000000) b ON a.a % 10 = b.b % 10;
-- ok 53200 57014
SELECT count(*) FROM generate_series(1, 10000000) a FULL JOIN generate_series(1, 10000000) b ON a.a = b.b;
-- ok 53200 57014
SELECT count(*) FROM (SELECT * FROM generate_series(1, 20000000) a ORDER BY md5(a::text) OFFSET 10000000) s;
-- ok 53200 57014
SELECT count(*) FROM (SELECT generate_series(1, 10000000), repeat('x', 200) EXCEPT SELECT generate_series(5, 10000000), repeat('x', 200)) s;
-- ok 53200 57014
SELECT (SELECT count(*) FROM generate_series(1, g) h WHERE h % 3 = g % 3) FROM generate_series(1, 100000) g ORDER BY 1 DESC LIMIT 1;
-- ok 53200 57014
SELECT count(*) FROM generate_series(1, 1000000) g, LATERAL (SELECT * FROM generate_series(1, g)) s;
-- 57014
SELECT count(pg_sleep(g)) FROM generate_series(1, 1000) g;
-- ok 53200 54000 57014
CREATE TEMP TABLE hostile_rows AS SELECT g, repeat('x', 10000) AS t FROM generate_series(1, 10000000) g;
-- ok 53200 54000 57014
SELECT count(array_remove(array_fill(1, '{1000000}'), g)) FROM generate_series(1, 10000) g;
-- ok 53200 54000 57014
SELECT cardinality(array_cat(array_fill(1, '{60000000}'), array_fill(1, '{60000000}')));
-- ok 53200 54000 57014
SELECT max(a) FROM (SELECT array_fill(g, '{1000000}') AS a FROM generate_series(1, 1000) g) s;
-- ok 53200 57014
SELECT count(*) FROM (SELECT DISTINCT array_fill(g, '{100000}') FROM generate_series(1, 10000) g) s;

-- Nesting: an error must come before the stack ends.
-- ok 54001
SELECT 1 ${3000*INTERSECT SELECT 1 };
-- ok 54001
SELECT 1 ${20000*UNION ALL SELECT 1 };
-- ok 54001
SELECT ${1500*g + (}1${1500*)} FROM generate_series(1, 2) g;
-- ok 42601 54001
SELECT ${1500*NOT (g = 1 OR }true${1500*)} FROM generate_series(1, 2) g;
-- ok 42601 54001
SELECT * FROM ${1000*(SELECT * FROM }(SELECT 1) x${1000* LIMIT 1) x};
-- ok 42601 54001
SELECT ${700*EXISTS (SELECT 1 FROM generate_series(1, 2) h WHERE h = g AND }true${700*)} FROM generate_series(1, 2) g;
-- ok 54001
WITH c0 AS MATERIALIZED (SELECT 1 AS a) SELECT ${1000*(SELECT a + }1${1000* FROM c0)};
