--
-- PostgreSQL database dump
--



SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: app; Type: SCHEMA; Schema: -; Owner: rich_owner
--

CREATE SCHEMA app;


ALTER SCHEMA app OWNER TO rich_owner;

--
-- Name: SCHEMA app; Type: COMMENT; Schema: -; Owner: rich_owner
--

COMMENT ON SCHEMA app IS 'the app';


--
-- Name: german; Type: COLLATION; Schema: app; Owner: postgres
--

CREATE COLLATION app.german (provider = icu, locale = 'de-DE');


ALTER COLLATION app.german OWNER TO postgres;

--
-- Name: pg_trgm; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA app;


--
-- Name: EXTENSION pg_trgm; Type: COMMENT; Schema: -; Owner: 
--

COMMENT ON EXTENSION pg_trgm IS 'text similarity measurement and index searching based on trigrams';


--
-- Name: frange; Type: TYPE; Schema: app; Owner: postgres
--

CREATE TYPE app.frange AS RANGE (
    subtype = double precision,
    multirange_type_name = app.fmultirange
);


ALTER TYPE app.frange OWNER TO postgres;

--
-- Name: mood; Type: TYPE; Schema: app; Owner: postgres
--

CREATE TYPE app.mood AS ENUM (
    'sad',
    'ok',
    'happy'
);


ALTER TYPE app.mood OWNER TO postgres;

--
-- Name: pair; Type: TYPE; Schema: app; Owner: postgres
--

CREATE TYPE app.pair AS (
	a integer,
	b text
);


ALTER TYPE app.pair OWNER TO postgres;

--
-- Name: posint; Type: DOMAIN; Schema: app; Owner: postgres
--

CREATE DOMAIN app.posint AS integer NOT NULL DEFAULT 3
	CONSTRAINT pos CHECK ((VALUE > 0));


ALTER DOMAIN app.posint OWNER TO postgres;

--
-- Name: CAST (app.pair AS text); Type: CAST; Schema: -; Owner: -
--

CREATE CAST (app.pair AS text) WITH INOUT AS ASSIGNMENT;


--
-- Name: add(integer, integer); Type: FUNCTION; Schema: app; Owner: postgres
--

CREATE FUNCTION app.add(a integer, b integer DEFAULT 2) RETURNS integer
    LANGUAGE sql IMMUTABLE STRICT
    AS $$select a + b$$;


ALTER FUNCTION app.add(a integer, b integer) OWNER TO postgres;

--
-- Name: atomic(integer); Type: FUNCTION; Schema: app; Owner: postgres
--

CREATE FUNCTION app.atomic(x integer) RETURNS integer
    LANGUAGE sql
    BEGIN ATOMIC
 SELECT (x + 1);
END;


ALTER FUNCTION app.atomic(x integer) OWNER TO postgres;

--
-- Name: audit(); Type: FUNCTION; Schema: app; Owner: postgres
--

CREATE FUNCTION app.audit() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ begin return new; end $$;


ALTER FUNCTION app.audit() OWNER TO postgres;

--
-- Name: evt(); Type: FUNCTION; Schema: app; Owner: postgres
--

CREATE FUNCTION app.evt() RETURNS event_trigger
    LANGUAGE plpgsql
    AS $$ begin null; end $$;


ALTER FUNCTION app.evt() OWNER TO postgres;

--
-- Name: proc(integer); Type: PROCEDURE; Schema: app; Owner: postgres
--

CREATE PROCEDURE app.proc(INOUT n integer)
    LANGUAGE plpgsql
    AS $$ begin n := n + 1; end $$;


ALTER PROCEDURE app.proc(INOUT n integer) OWNER TO postgres;

--
-- Name: rows(); Type: FUNCTION; Schema: app; Owner: postgres
--

CREATE FUNCTION app.rows(OUT x integer, OUT y text) RETURNS SETOF record
    LANGUAGE sql
    AS $$ select 1, 'a' $$;


ALTER FUNCTION app.rows(OUT x integer, OUT y text) OWNER TO postgres;

--
-- Name: tot(integer); Type: FUNCTION; Schema: app; Owner: postgres
--

CREATE FUNCTION app.tot(c integer) RETURNS numeric
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'app'
    AS $$ declare t numeric; begin select sum(total) into t from orders where customer = c; return t; end $$;


ALTER FUNCTION app.tot(c integer) OWNER TO postgres;

--
-- Name: mysum(integer); Type: AGGREGATE; Schema: app; Owner: postgres
--

CREATE AGGREGATE app.mysum(integer) (
    SFUNC = int4pl,
    STYPE = integer,
    INITCOND = '0'
);


ALTER AGGREGATE app.mysum(integer) OWNER TO postgres;

--
-- Name: @+@; Type: OPERATOR; Schema: app; Owner: postgres
--

CREATE OPERATOR app.@+@ (
    FUNCTION = app.add,
    LEFTARG = integer,
    RIGHTARG = integer
);


ALTER OPERATOR app.@+@ (integer, integer) OWNER TO postgres;

--
-- Name: own_parser; Type: TEXT SEARCH PARSER; Schema: app; Owner: -
--

CREATE TEXT SEARCH PARSER app.own_parser (
    START = prsd_start,
    GETTOKEN = prsd_nexttoken,
    END = prsd_end,
    HEADLINE = prsd_headline,
    LEXTYPES = prsd_lextype );


--
-- Name: TEXT SEARCH PARSER own_parser; Type: COMMENT; Schema: app; Owner: 
--

COMMENT ON TEXT SEARCH PARSER app.own_parser IS 'a parser';


--
-- Name: own_template; Type: TEXT SEARCH TEMPLATE; Schema: app; Owner: -
--

CREATE TEXT SEARCH TEMPLATE app.own_template (
    INIT = dsimple_init,
    LEXIZE = dsimple_lexize );


--
-- Name: listed; Type: TEXT SEARCH DICTIONARY; Schema: app; Owner: postgres
--

CREATE TEXT SEARCH DICTIONARY app.listed (
    TEMPLATE = pg_catalog.simple,
    stopwords = 'english', accept = 'false' );


ALTER TEXT SEARCH DICTIONARY app.listed OWNER TO postgres;

--
-- Name: stems; Type: TEXT SEARCH DICTIONARY; Schema: app; Owner: postgres
--

CREATE TEXT SEARCH DICTIONARY app.stems (
    TEMPLATE = pg_catalog.snowball,
    language = 'german', stopwords = 'german' );


ALTER TEXT SEARCH DICTIONARY app.stems OWNER TO postgres;

--
-- Name: TEXT SEARCH DICTIONARY stems; Type: COMMENT; Schema: app; Owner: postgres
--

COMMENT ON TEXT SEARCH DICTIONARY app.stems IS 'a dictionary';


--
-- Name: bare; Type: TEXT SEARCH CONFIGURATION; Schema: app; Owner: postgres
--

CREATE TEXT SEARCH CONFIGURATION app.bare (
    PARSER = app.own_parser );


ALTER TEXT SEARCH CONFIGURATION app.bare OWNER TO postgres;

--
-- Name: docs; Type: TEXT SEARCH CONFIGURATION; Schema: app; Owner: rich_owner
--

CREATE TEXT SEARCH CONFIGURATION app.docs (
    PARSER = pg_catalog."default" );

ALTER TEXT SEARCH CONFIGURATION app.docs
    ADD MAPPING FOR asciiword WITH app.listed, app.stems, english_stem;

ALTER TEXT SEARCH CONFIGURATION app.docs
    ADD MAPPING FOR word WITH app.listed, app.stems, english_stem;

ALTER TEXT SEARCH CONFIGURATION app.docs
    ADD MAPPING FOR numword WITH simple;

ALTER TEXT SEARCH CONFIGURATION app.docs
    ADD MAPPING FOR email WITH simple;

ALTER TEXT SEARCH CONFIGURATION app.docs
    ADD MAPPING FOR host WITH simple;

ALTER TEXT SEARCH CONFIGURATION app.docs
    ADD MAPPING FOR sfloat WITH simple;

ALTER TEXT SEARCH CONFIGURATION app.docs
    ADD MAPPING FOR version WITH simple;

ALTER TEXT SEARCH CONFIGURATION app.docs
    ADD MAPPING FOR hword_numpart WITH simple;

ALTER TEXT SEARCH CONFIGURATION app.docs
    ADD MAPPING FOR hword_part WITH english_stem;

ALTER TEXT SEARCH CONFIGURATION app.docs
    ADD MAPPING FOR hword_asciipart WITH english_stem;

ALTER TEXT SEARCH CONFIGURATION app.docs
    ADD MAPPING FOR numhword WITH simple;

ALTER TEXT SEARCH CONFIGURATION app.docs
    ADD MAPPING FOR asciihword WITH english_stem;

ALTER TEXT SEARCH CONFIGURATION app.docs
    ADD MAPPING FOR hword WITH english_stem;

ALTER TEXT SEARCH CONFIGURATION app.docs
    ADD MAPPING FOR url_path WITH simple;

ALTER TEXT SEARCH CONFIGURATION app.docs
    ADD MAPPING FOR file WITH simple;

ALTER TEXT SEARCH CONFIGURATION app.docs
    ADD MAPPING FOR "float" WITH simple;

ALTER TEXT SEARCH CONFIGURATION app.docs
    ADD MAPPING FOR uint WITH simple;


ALTER TEXT SEARCH CONFIGURATION app.docs OWNER TO rich_owner;

--
-- Name: TEXT SEARCH CONFIGURATION docs; Type: COMMENT; Schema: app; Owner: rich_owner
--

COMMENT ON TEXT SEARCH CONFIGURATION app.docs IS 'a configuration';


--
-- Name: fdw; Type: FOREIGN DATA WRAPPER; Schema: -; Owner: postgres
--

CREATE FOREIGN DATA WRAPPER fdw VALIDATOR postgresql_fdw_validator;


ALTER FOREIGN DATA WRAPPER fdw OWNER TO postgres;

--
-- Name: FOREIGN DATA WRAPPER fdw; Type: COMMENT; Schema: -; Owner: postgres
--

COMMENT ON FOREIGN DATA WRAPPER fdw IS 'a wrapper';


--
-- Name: plain; Type: FOREIGN DATA WRAPPER; Schema: -; Owner: postgres
--

CREATE FOREIGN DATA WRAPPER plain OPTIONS (
    "C d" 'e''f',
    a 'b'
);


ALTER FOREIGN DATA WRAPPER plain OWNER TO postgres;

--
-- Name: far; Type: SERVER; Schema: -; Owner: rich_owner
--

CREATE SERVER far TYPE 'kind' VERSION '1.2' FOREIGN DATA WRAPPER fdw OPTIONS (
    dbname 'd',
    host 'h'
);


ALTER SERVER far OWNER TO rich_owner;

--
-- Name: SERVER far; Type: COMMENT; Schema: -; Owner: rich_owner
--

COMMENT ON SERVER far IS 'a server';


--
-- Name: USER MAPPING rich_reader SERVER far; Type: USER MAPPING; Schema: -; Owner: rich_owner
--

CREATE USER MAPPING FOR rich_reader SERVER far OPTIONS (
    password 'p',
    "user" 'u'
);


--
-- Name: near; Type: SERVER; Schema: -; Owner: postgres
--

CREATE SERVER near FOREIGN DATA WRAPPER plain;


ALTER SERVER near OWNER TO postgres;

--
-- Name: USER MAPPING public SERVER near; Type: USER MAPPING; Schema: -; Owner: postgres
--

CREATE USER MAPPING FOR public SERVER near;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: base; Type: TABLE; Schema: app; Owner: postgres
--

CREATE TABLE app.base (
    a integer,
    b text
);


ALTER TABLE app.base OWNER TO postgres;

--
-- Name: checked; Type: VIEW; Schema: app; Owner: postgres
--

CREATE VIEW app.checked AS
 SELECT base.a,
    base.b
   FROM app.base
  WHERE (base.a > 3)
  WITH LOCAL CHECK OPTION;


ALTER TABLE app.checked OWNER TO postgres;

--
-- Name: child; Type: TABLE; Schema: app; Owner: postgres
--

CREATE TABLE app.child (
    c integer
)
INHERITS (app.base);


ALTER TABLE app.child OWNER TO postgres;

--
-- Name: customer; Type: TABLE; Schema: app; Owner: rich_owner
--

CREATE TABLE app.customer (
    id integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    email character varying(100),
    born date,
    mood app.mood DEFAULT 'ok'::app.mood,
    tags text[] DEFAULT '{}'::text[],
    extra jsonb,
    created timestamp with time zone DEFAULT now(),
    score numeric(8,3),
    gen integer GENERATED ALWAYS AS (length(name)) STORED,
    CONSTRAINT customer_score_check CHECK (((score >= (0)::numeric) AND (score <= (1000)::numeric)))
);


ALTER TABLE app.customer OWNER TO rich_owner;

--
-- Name: TABLE customer; Type: COMMENT; Schema: app; Owner: rich_owner
--

COMMENT ON TABLE app.customer IS 'customers';


--
-- Name: COLUMN customer.email; Type: COMMENT; Schema: app; Owner: rich_owner
--

COMMENT ON COLUMN app.customer.email IS 'it''s an email';


--
-- Name: customer_id_seq; Type: SEQUENCE; Schema: app; Owner: rich_owner
--

ALTER TABLE app.customer ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME app.customer_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: excl; Type: TABLE; Schema: app; Owner: postgres
--

CREATE TABLE app.excl (
    r int4range
);


ALTER TABLE app.excl OWNER TO postgres;

--
-- Name: foreign_child; Type: FOREIGN TABLE; Schema: app; Owner: postgres
--

CREATE FOREIGN TABLE app.foreign_child (
    d integer
)
INHERITS (app.base)
SERVER near;


ALTER FOREIGN TABLE app.foreign_child OWNER TO postgres;

--
-- Name: foreign_one; Type: FOREIGN TABLE; Schema: app; Owner: rich_owner
--

CREATE FOREIGN TABLE app.foreign_one (
    a integer NOT NULL,
    b text DEFAULT 'q'::text,
    CONSTRAINT foreign_one_a_check CHECK ((a > 0))
)
SERVER near
OPTIONS (
    schema_name 's',
    "t n" 'v'
);
ALTER FOREIGN TABLE app.foreign_one ALTER COLUMN a OPTIONS (
    x '1',
    y '2'
);


ALTER FOREIGN TABLE app.foreign_one OWNER TO rich_owner;

--
-- Name: FOREIGN TABLE foreign_one; Type: COMMENT; Schema: app; Owner: rich_owner
--

COMMENT ON FOREIGN TABLE app.foreign_one IS 'foreign';


--
-- Name: COLUMN foreign_one.b; Type: COMMENT; Schema: app; Owner: rich_owner
--

COMMENT ON COLUMN app.foreign_one.b IS 'a column';


--
-- Name: parts; Type: TABLE; Schema: app; Owner: postgres
--

CREATE TABLE app.parts (
    a integer,
    b text
)
PARTITION BY LIST (a);


ALTER TABLE app.parts OWNER TO postgres;

--
-- Name: foreign_part; Type: FOREIGN TABLE; Schema: app; Owner: postgres
--

CREATE FOREIGN TABLE app.foreign_part (
    a integer,
    b text
)
SERVER near
OPTIONS (
    z '1'
);


ALTER FOREIGN TABLE app.foreign_part OWNER TO postgres;

--
-- Name: ids; Type: SEQUENCE; Schema: app; Owner: postgres
--

CREATE SEQUENCE app.ids
    START WITH 100
    INCREMENT BY 5
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE app.ids OWNER TO postgres;

--
-- Name: mv; Type: MATERIALIZED VIEW; Schema: app; Owner: postgres
--

CREATE MATERIALIZED VIEW app.mv AS
 SELECT customer.mood,
    avg(customer.score) AS avg
   FROM app.customer
  GROUP BY customer.mood
  WITH NO DATA;


ALTER TABLE app.mv OWNER TO postgres;

--
-- Name: orders; Type: TABLE; Schema: app; Owner: postgres
--

CREATE TABLE app.orders (
    id bigint DEFAULT nextval('app.ids'::regclass) NOT NULL,
    customer integer,
    total numeric,
    placed date NOT NULL
)
PARTITION BY RANGE (placed);


ALTER TABLE app.orders OWNER TO postgres;

--
-- Name: orders_2020; Type: TABLE; Schema: app; Owner: postgres
--

CREATE TABLE app.orders_2020 (
    id bigint DEFAULT nextval('app.ids'::regclass) NOT NULL,
    customer integer,
    total numeric,
    placed date NOT NULL
);


ALTER TABLE app.orders_2020 OWNER TO postgres;

--
-- Name: orders_def; Type: TABLE; Schema: app; Owner: postgres
--

CREATE TABLE app.orders_def (
    id bigint DEFAULT nextval('app.ids'::regclass) NOT NULL,
    customer integer,
    total numeric,
    placed date NOT NULL
);


ALTER TABLE app.orders_def OWNER TO postgres;

--
-- Name: over_foreign; Type: VIEW; Schema: app; Owner: postgres
--

CREATE VIEW app.over_foreign AS
 SELECT foreign_one.a
   FROM app.foreign_one;


ALTER TABLE app.over_foreign OWNER TO postgres;

--
-- Name: rec; Type: VIEW; Schema: app; Owner: postgres
--

CREATE VIEW app.rec AS
 WITH RECURSIVE t(n) AS (
         VALUES (1)
        UNION ALL
         SELECT (t_1.n + 1)
           FROM t t_1
          WHERE (t_1.n < 10)
        )
 SELECT t.n,
        CASE
            WHEN ((t.n % 2) = 0) THEN 'even'::text
            ELSE 'odd'::text
        END AS kind
   FROM t;


ALTER TABLE app.rec OWNER TO postgres;

--
-- Name: rich; Type: VIEW; Schema: app; Owner: postgres
--

CREATE VIEW app.rich AS
 SELECT c.id,
    c.name,
    count(o.*) AS n,
    sum(o.total) FILTER (WHERE (o.total > (5)::numeric)) AS sum
   FROM (app.customer c
     LEFT JOIN app.orders o ON ((o.customer = c.id)))
  WHERE (c.mood = ANY (ARRAY['ok'::app.mood, 'happy'::app.mood]))
  GROUP BY c.id, c.name
 HAVING (count(*) > 0)
  ORDER BY c.id;


ALTER TABLE app.rich OWNER TO postgres;

--
-- Name: searched; Type: TABLE; Schema: app; Owner: postgres
--

CREATE TABLE app.searched (
    body text,
    other tsvector,
    v tsvector GENERATED ALWAYS AS (to_tsvector('english'::regconfig, body)) STORED,
    q tsquery DEFAULT '''a'' & ''b'':*B'::tsquery
);


ALTER TABLE app.searched OWNER TO postgres;

--
-- Name: foreign_part; Type: TABLE ATTACH; Schema: app; Owner: postgres
--

ALTER TABLE ONLY app.parts ATTACH PARTITION app.foreign_part FOR VALUES IN (1);


--
-- Name: orders_2020; Type: TABLE ATTACH; Schema: app; Owner: postgres
--

ALTER TABLE ONLY app.orders ATTACH PARTITION app.orders_2020 FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');


--
-- Name: orders_def; Type: TABLE ATTACH; Schema: app; Owner: postgres
--

ALTER TABLE ONLY app.orders ATTACH PARTITION app.orders_def DEFAULT;


--
-- Name: 4242; Type: BLOB; Schema: -; Owner: postgres
--

SELECT pg_catalog.lo_create('4242');


ALTER LARGE OBJECT 4242 OWNER TO postgres;

--
-- Name: LARGE OBJECT 4242; Type: COMMENT; Schema: -; Owner: postgres
--

COMMENT ON LARGE OBJECT 4242 IS 'a large object';


--
-- Name: 4243; Type: BLOB; Schema: -; Owner: rich_owner
--

SELECT pg_catalog.lo_create('4243');


ALTER LARGE OBJECT 4243 OWNER TO rich_owner;

--
-- Data for Name: base; Type: TABLE DATA; Schema: app; Owner: postgres
--

COPY app.base (a, b) FROM stdin;
5	x
\.


--
-- Data for Name: child; Type: TABLE DATA; Schema: app; Owner: postgres
--

COPY app.child (a, b, c) FROM stdin;
6	y	7
\.


--
-- Data for Name: customer; Type: TABLE DATA; Schema: app; Owner: rich_owner
--

COPY app.customer (id, name, email, born, mood, tags, extra, created, score) FROM stdin;
1	Ann	a@x	1990-01-02	happy	{a,b}	{"k": 1}	2026-01-02 03:04:05+00	5.500
2	Tab\tNew\nLine\\	\N	\N	sad	\N	\N	2026-01-02 03:04:05+00	\N
\.


--
-- Data for Name: excl; Type: TABLE DATA; Schema: app; Owner: postgres
--

COPY app.excl (r) FROM stdin;
\.


--
-- Data for Name: orders_2020; Type: TABLE DATA; Schema: app; Owner: postgres
--

COPY app.orders_2020 (id, customer, total, placed) FROM stdin;
100	1	10.5	2020-05-05
\.


--
-- Data for Name: orders_def; Type: TABLE DATA; Schema: app; Owner: postgres
--

COPY app.orders_def (id, customer, total, placed) FROM stdin;
105	2	3	2022-01-01
\.


--
-- Data for Name: searched; Type: TABLE DATA; Schema: app; Owner: postgres
--

COPY app.searched (body, other, q) FROM stdin;
the foxes und Häuser	'fox':2 'haus':4	'a' & 'b':*B
\.


--
-- Name: customer_id_seq; Type: SEQUENCE SET; Schema: app; Owner: rich_owner
--

SELECT pg_catalog.setval('app.customer_id_seq', 2, true);


--
-- Name: ids; Type: SEQUENCE SET; Schema: app; Owner: postgres
--

SELECT pg_catalog.setval('app.ids', 105, true);


--
-- Data for Name: BLOBS; Type: BLOBS; Schema: -; Owner: -
--

BEGIN;

SELECT pg_catalog.lo_open('4242', 131072);
SELECT pg_catalog.lowrite(0, '\x0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef');
SELECT pg_catalog.lo_close(0);

SELECT pg_catalog.lo_open('4243', 131072);
SELECT pg_catalog.lo_close(0);

COMMIT;

--
-- Name: customer customer_email_key; Type: CONSTRAINT; Schema: app; Owner: rich_owner
--

ALTER TABLE ONLY app.customer
    ADD CONSTRAINT customer_email_key UNIQUE (email);


--
-- Name: customer customer_pkey; Type: CONSTRAINT; Schema: app; Owner: rich_owner
--

ALTER TABLE ONLY app.customer
    ADD CONSTRAINT customer_pkey PRIMARY KEY (id);


--
-- Name: excl excl_r_excl; Type: CONSTRAINT; Schema: app; Owner: postgres
--

ALTER TABLE ONLY app.excl
    ADD CONSTRAINT excl_r_excl EXCLUDE USING gist (r WITH &&);


--
-- Name: base nn; Type: CHECK CONSTRAINT; Schema: app; Owner: postgres
--

ALTER TABLE app.base
    ADD CONSTRAINT nn CHECK ((a > 0)) NOT VALID;


--
-- Name: orders pk; Type: CONSTRAINT; Schema: app; Owner: postgres
--

ALTER TABLE ONLY app.orders
    ADD CONSTRAINT pk PRIMARY KEY (id, placed);


--
-- Name: orders_2020 orders_2020_pkey; Type: CONSTRAINT; Schema: app; Owner: postgres
--

ALTER TABLE ONLY app.orders_2020
    ADD CONSTRAINT orders_2020_pkey PRIMARY KEY (id, placed);


--
-- Name: orders_def orders_def_pkey; Type: CONSTRAINT; Schema: app; Owner: postgres
--

ALTER TABLE ONLY app.orders_def
    ADD CONSTRAINT orders_def_pkey PRIMARY KEY (id, placed);


--
-- Name: customer_lower; Type: INDEX; Schema: app; Owner: rich_owner
--

CREATE INDEX customer_lower ON app.customer USING btree (lower(name)) WHERE (born IS NOT NULL);


--
-- Name: customer_multi; Type: INDEX; Schema: app; Owner: rich_owner
--

CREATE INDEX customer_multi ON app.customer USING btree (born DESC NULLS LAST, mood) INCLUDE (score);


--
-- Name: customer_u; Type: INDEX; Schema: app; Owner: rich_owner
--

CREATE UNIQUE INDEX customer_u ON app.customer USING btree (((extra ->> 'k'::text)));


--
-- Name: mv_idx; Type: INDEX; Schema: app; Owner: postgres
--

CREATE INDEX mv_idx ON app.mv USING btree (mood);


--
-- Name: parts_b_idx; Type: INDEX; Schema: app; Owner: postgres
--

CREATE INDEX parts_b_idx ON ONLY app.parts USING btree (b);


--
-- Name: searched_v_idx; Type: INDEX; Schema: app; Owner: postgres
--

CREATE INDEX searched_v_idx ON app.searched USING gin (v);


--
-- Name: orders_2020_pkey; Type: INDEX ATTACH; Schema: app; Owner: postgres
--

ALTER INDEX app.pk ATTACH PARTITION app.orders_2020_pkey;


--
-- Name: orders_def_pkey; Type: INDEX ATTACH; Schema: app; Owner: postgres
--

ALTER INDEX app.pk ATTACH PARTITION app.orders_def_pkey;


--
-- Name: st; Type: STATISTICS; Schema: app; Owner: postgres
--

CREATE STATISTICS app.st (ndistinct, mcv) ON name, born FROM app.customer;


ALTER STATISTICS app.st OWNER TO postgres;

--
-- Name: base no_del; Type: RULE; Schema: app; Owner: postgres
--

CREATE RULE no_del AS
    ON DELETE TO app.base DO INSTEAD NOTHING;


--
-- Name: customer aud; Type: TRIGGER; Schema: app; Owner: rich_owner
--

CREATE TRIGGER aud BEFORE INSERT OR UPDATE OF name ON app.customer FOR EACH ROW WHEN ((new.name IS NOT NULL)) EXECUTE FUNCTION app.audit();


--
-- Name: searched updates; Type: TRIGGER; Schema: app; Owner: postgres
--

CREATE TRIGGER updates BEFORE INSERT OR UPDATE ON app.searched FOR EACH ROW EXECUTE FUNCTION tsvector_update_trigger('other', 'app.docs', 'body');


--
-- Name: orders_def late; Type: FK CONSTRAINT; Schema: app; Owner: postgres
--

ALTER TABLE ONLY app.orders_def
    ADD CONSTRAINT late FOREIGN KEY (customer) REFERENCES app.customer(id) NOT VALID;


--
-- Name: orders orders_customer_fkey; Type: FK CONSTRAINT; Schema: app; Owner: postgres
--

ALTER TABLE app.orders
    ADD CONSTRAINT orders_customer_fkey FOREIGN KEY (customer) REFERENCES app.customer(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;


--
-- Name: customer; Type: ROW SECURITY; Schema: app; Owner: rich_owner
--

ALTER TABLE app.customer ENABLE ROW LEVEL SECURITY;

--
-- Name: customer p; Type: POLICY; Schema: app; Owner: rich_owner
--

CREATE POLICY p ON app.customer FOR SELECT TO rich_reader USING ((id > 5));


--
-- Name: SCHEMA app; Type: ACL; Schema: -; Owner: rich_owner
--

GRANT USAGE ON SCHEMA app TO rich_reader;


--
-- Name: FUNCTION add(a integer, b integer); Type: ACL; Schema: app; Owner: postgres
--

REVOKE ALL ON FUNCTION app.add(a integer, b integer) FROM PUBLIC;


--
-- Name: FUNCTION tot(c integer); Type: ACL; Schema: app; Owner: postgres
--

GRANT ALL ON FUNCTION app.tot(c integer) TO rich_reader;


--
-- Name: FOREIGN DATA WRAPPER plain; Type: ACL; Schema: -; Owner: postgres
--

GRANT ALL ON FOREIGN DATA WRAPPER plain TO rich_reader;


--
-- Name: FOREIGN SERVER near; Type: ACL; Schema: -; Owner: postgres
--

GRANT ALL ON FOREIGN SERVER near TO rich_reader;


--
-- Name: TABLE customer; Type: ACL; Schema: app; Owner: rich_owner
--

GRANT SELECT ON TABLE app.customer TO rich_reader;


--
-- Name: COLUMN customer.name; Type: ACL; Schema: app; Owner: rich_owner
--

GRANT UPDATE(name) ON TABLE app.customer TO rich_reader;


--
-- Name: TABLE foreign_child; Type: ACL; Schema: app; Owner: postgres
--

GRANT SELECT ON TABLE app.foreign_child TO rich_reader;


--
-- Name: TABLE foreign_one; Type: ACL; Schema: app; Owner: rich_owner
--

GRANT SELECT ON TABLE app.foreign_one TO rich_reader;


--
-- Name: TABLE parts; Type: ACL; Schema: app; Owner: postgres
--

GRANT SELECT ON TABLE app.parts TO rich_reader;


--
-- Name: TABLE foreign_part; Type: ACL; Schema: app; Owner: postgres
--

GRANT SELECT ON TABLE app.foreign_part TO rich_reader;


--
-- Name: TABLE over_foreign; Type: ACL; Schema: app; Owner: postgres
--

GRANT SELECT ON TABLE app.over_foreign TO rich_reader;


--
-- Name: TABLE searched; Type: ACL; Schema: app; Owner: postgres
--

GRANT SELECT ON TABLE app.searched TO rich_reader;


--
-- Name: LARGE OBJECT 4242; Type: ACL; Schema: -; Owner: postgres
--

GRANT SELECT ON LARGE OBJECT 4242 TO rich_reader;


--
-- Name: DEFAULT PRIVILEGES FOR TABLES; Type: DEFAULT ACL; Schema: app; Owner: postgres
--

ALTER DEFAULT PRIVILEGES FOR ROLE postgres IN SCHEMA app GRANT SELECT ON TABLES  TO rich_reader;


--
-- Name: et; Type: EVENT TRIGGER; Schema: -; Owner: postgres
--

CREATE EVENT TRIGGER et ON ddl_command_end
         WHEN TAG IN ('CREATE TABLE')
   EXECUTE FUNCTION app.evt();


ALTER EVENT TRIGGER et OWNER TO postgres;

--
-- PostgreSQL database dump complete
--


