"""What bench/programs measures: tables, functions in PL/pgSQL, and the queries that call them. Sizes are for scale 1."""


def tables(scale):
    """Statements that make the tables. `calls` has a row for each call, `numbers` one for each call of (a), `starts` of (c)."""
    customers, orders, calls = (max(10, int(n * scale)) for n in (100_000, 1_000_000, 1_000_000))
    numbers, starts = max(10, int(10_000_000 * scale)), max(10, int(10_000 * scale))
    return [
        f"""CREATE TABLE customers AS SELECT i AS id, 'customer ' || i AS name, i % 25 AS nation, (i % 10)::int8 AS discount
            FROM generate_series(1, {customers}) AS i""",
        f"""CREATE TABLE orders AS SELECT i AS id, 1 + (i::int8 * 7919 % {customers})::int4 AS customer, (i::int8 * 31 % 1000)::int8 AS amount,
            i % 3 AS status, date '2020-01-01' + i % 1000 AS day FROM generate_series(1, {orders}) AS i""",
        f"""CREATE TABLE calls AS SELECT i AS id, 1 + (i::int8 * 104729 % {customers + customers // 20})::int4 AS customer, i % 40 AS kind,
            (i % 500)::int8 AS price FROM generate_series(1, {calls}) AS i""",
        "CREATE TABLE rates AS SELECT i AS nation, 100 + i * 3 AS rate FROM generate_series(0, 24) AS i",
        f"CREATE TABLE numbers AS SELECT (i % 997)::int8 AS price, i % 50 AS quantity FROM generate_series(1, {numbers}) AS i",
        f"CREATE TABLE starts AS SELECT i AS x FROM generate_series(1, {starts}) AS i",
        "ALTER TABLE customers ADD PRIMARY KEY (id)",
        "ALTER TABLE orders ADD PRIMARY KEY (id)",
        "ALTER TABLE rates ADD PRIMARY KEY (nation)",
        "CREATE INDEX ON orders (customer)",
        *(f"ANALYZE {table}" for table in ("customers", "orders", "calls", "rates", "numbers", "starts")),
    ]


def function(head, body):
    return f"CREATE FUNCTION {head} LANGUAGE plpgsql AS $$ {body} $$"


# (a) A branch and arithmetic, and the expression that it is.
SCALAR = function("reduced(price int8, quantity int4) RETURNS int8 IMMUTABLE", """
DECLARE total int8 := price * quantity;
BEGIN
  IF total > 20000 THEN
    total := total - total / 10;
  ELSIF quantity > 40 THEN
    total := total - 100;
  END IF;
  RETURN total;
END""")
SCALAR_CALL = "SELECT sum(reduced(price, quantity)), count(*) FROM numbers"
SCALAR_EXPRESSION = """SELECT sum(CASE WHEN price * quantity > 20000 THEN price * quantity - price * quantity / 10
    WHEN quantity > 40 THEN price * quantity - 100 ELSE price * quantity END), count(*) FROM numbers"""

# (b) Functions with queries, called for each row: their names and definitions.
QUERIES = {
    "discounted": (function("discounted(c int4, price int8) RETURNS int8 STABLE", """
DECLARE d int8;
BEGIN
  SELECT discount INTO d FROM customers WHERE id = c;
  RETURN price * (100 - coalesce(d, 0));
END"""), "SELECT sum(discounted(customer, price)) FROM calls"),
    "turnover": (function("turnover(c int4) RETURNS numeric STABLE", """
DECLARE total numeric;
BEGIN
  SELECT sum(amount) INTO total FROM orders WHERE customer = c;
  RETURN total;
END"""), "SELECT sum(turnover(customer)) FROM calls"),
    "service_level": (function("service_level(c int4) RETURNS text STABLE", """
DECLARE total numeric; level text;
BEGIN
  SELECT sum(amount) INTO total FROM orders WHERE customer = c;
  IF total > 6000 THEN level := 'Platinum'; ELSIF total > 4000 THEN level := 'Gold'; ELSE level := 'Regular'; END IF;
  RETURN level;
END"""), "SELECT service_level(customer) AS level, count(*) FROM calls GROUP BY 1 ORDER BY 1"),
    "open_orders": (function("open_orders(c int4) RETURNS int8 STABLE", """
DECLARE n int8;
BEGIN
  n := (SELECT count(*) FROM orders WHERE customer = c AND status = 0);
  RETURN n;
END"""), "SELECT sum(open_orders(customer)) FROM calls"),
    "in_currency": (function("in_currency(c int4, price int8) RETURNS int8 STABLE", """
DECLARE home int4; r int4;
BEGIN
  SELECT nation INTO home FROM customers WHERE id = c;
  SELECT rate INTO r FROM rates WHERE nation = home;
  RETURN price * r / 100;
END"""), "SELECT sum(in_currency(customer, price)), count(in_currency(customer, price)) FROM calls"),
    "last_day": (function("last_day(c int4) RETURNS date STABLE", """
DECLARE d date;
BEGIN
  SELECT max(day) INTO d FROM orders WHERE customer = c;
  IF d IS NULL THEN RETURN date '1970-01-01'; END IF;
  RETURN d;
END"""), "SELECT last_day(customer) AS day, count(*) FROM calls GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20"),
    "fee": (function("fee(c int4, kind int4, price int8) RETURNS int8 STABLE", """
DECLARE total int8;
BEGIN
  IF kind < 20 THEN RETURN price; END IF;
  SELECT count(*) INTO total FROM orders WHERE customer = c AND amount > price;
  RETURN price + total * 10;
END"""), "SELECT sum(fee(customer, kind, price)) FROM calls"),
    "is_active": (function("is_active(c int4) RETURNS boolean STABLE", """
BEGIN
  IF EXISTS (SELECT FROM orders WHERE customer = c AND day > date '2022-09-01') THEN RETURN true; END IF;
  RETURN false;
END"""), "SELECT count(*) FILTER (WHERE is_active(customer)) FROM calls"),
    "share": (function("share(c int4) RETURNS float8 STABLE", """
DECLARE own int8; paid int8;
BEGIN
  SELECT count(*), count(*) FILTER (WHERE status = 1) INTO own, paid FROM orders WHERE customer = c;
  IF own = 0 THEN RETURN 0; END IF;
  RETURN paid::float8 / own;
END"""), "SELECT round(sum(share(customer))::numeric, 3) FROM calls"),
    "label": (function("label(c int4) RETURNS text STABLE", """
DECLARE n text; total numeric;
BEGIN
  SELECT name INTO n FROM customers WHERE id = c;
  IF n IS NULL THEN RETURN 'nobody'; END IF;
  total := turnover(c);
  RETURN CASE WHEN total > 5000 THEN n || ' (large)' ELSE n END;
END"""), "SELECT count(label(customer)), max(label(customer)), sum(length(label(customer))) FROM calls"),
}

# (c) A loop for each row.
LOOP = function("looped(x int4) RETURNS int8 IMMUTABLE", """
DECLARE s int8 := 0;
BEGIN
  FOR i IN 1..1000 LOOP
    s := s + (i * x) % 7;
  END LOOP;
  RETURN s;
END""")
LOOP_CALL = "SELECT sum(looped(x)), count(*) FROM starts"

# (d) Row triggers of a table into which rows are inserted: when, and what their function does.
TRIGGERS = {
    "audit": ("AFTER INSERT OR UPDATE OR DELETE", """
BEGIN
  IF TG_OP = 'DELETE' THEN
    INSERT INTO trail VALUES (TG_OP, OLD.id, OLD.owner, OLD.balance);
    RETURN OLD;
  END IF;
  INSERT INTO trail VALUES (TG_OP, NEW.id, NEW.owner, NEW.balance);
  RETURN NEW;
END"""),
    "change": ("BEFORE INSERT", """
BEGIN
  NEW.owner := upper(NEW.owner);
  IF NEW.balance < 0 THEN NEW.balance := 0; END IF;
  RETURN NEW;
END"""),
    "some": ("AFTER INSERT", """
BEGIN
  IF NEW.balance > 900 THEN
    INSERT INTO trail VALUES (TG_OP, NEW.id, NEW.owner, NEW.balance);
  END IF;
  RETURN NULL;
END"""),
}
AUDITED = "SELECT (SELECT count(*) FROM accounts), (SELECT sum(balance) FROM accounts), (SELECT min(owner) FROM accounts), count(*), sum(balance) FROM trail"


def audited(trigger):
    when, body = trigger
    return ["DROP TABLE IF EXISTS accounts, trail", "CREATE TABLE accounts (id int4 PRIMARY KEY, owner text, balance numeric(12,2))",
            "CREATE TABLE trail (what text, id int4, owner text, balance numeric(12,2))",
            f"CREATE OR REPLACE FUNCTION on_account() RETURNS trigger LANGUAGE plpgsql AS $${body}$$",
            f"CREATE TRIGGER on_account {when} ON accounts FOR EACH ROW EXECUTE FUNCTION on_account()"]


def audited_insert(scale):
    return f"INSERT INTO accounts SELECT g, 'owner ' || g % 1000, (g * 37 % 1100) - 100 FROM generate_series(1, {max(10, int(1_000_000 * scale))}) g"


# (e) Statements alone.
MACHINE = function("counted(n int4) RETURNS int4", """
DECLARE i int4 := 0;
BEGIN
  WHILE i < n LOOP
    i := i + 1;
  END LOOP;
  RETURN i;
END""")


def machine_call(scale):
    return f"SELECT counted({max(10, int(10_000_000 * scale))})"
