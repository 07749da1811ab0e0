import static org.jooq.impl.DSL.*;

import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.jooq.DSLContext;
import org.jooq.DatePart;
import org.jooq.Field;
import org.jooq.JSONB;
import org.jooq.Name;
import org.jooq.Record;
import org.jooq.Result;
import org.jooq.SQLDialect;
import org.jooq.Table;
import org.jooq.codegen.GenerationTool;
import org.jooq.conf.Settings;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.jooq.meta.jaxb.Configuration;
import org.jooq.meta.jaxb.Database;
import org.jooq.meta.jaxb.Generate;
import org.jooq.meta.jaxb.Generator;
import org.jooq.meta.jaxb.Jdbc;
import org.jooq.meta.jaxb.Logging;
import org.jooq.meta.jaxb.Target;

/** What users of jOOQ do: code generated from a schema with objects of every kind, and all kinds of statements. */
public final class JooqTests {
   interface Use {
      Object of(DSLContext db) throws Throwable;
   }

   /** Each test runs in a transaction that is rolled back. */
   static void add(String name, Use use) {
      Tests.add(name, () -> {
         try (Connection connection = Tests.connect()) {
            connection.setAutoCommit(false);
            connection.createStatement().execute("SET search_path = jq");
            DSLContext db = DSL.using(connection, SQLDialect.POSTGRES, new Settings().withExecuteLogging(false));
            Object told = use.of(db);
            String words = told instanceof Result<?> result ? result.formatCSV() : String.valueOf(told);
            connection.rollback();
            return words;
         }
      });
   }

   static final String[] schema = {
      "DROP SCHEMA IF EXISTS jq CASCADE",
      "CREATE SCHEMA jq",
      "SET search_path = jq",
      "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')",
      "CREATE TYPE address AS (street text, number int, tags text[])",
      "CREATE DOMAIN email AS varchar(80) CHECK (VALUE ~ '@')",
      "CREATE SEQUENCE ids START 100 INCREMENT 10 MAXVALUE 10000 CYCLE",
      "CREATE TABLE author (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, born date, feeling mood DEFAULT 'ok', home address, mail email,"
         + " doc jsonb, tags text[] DEFAULT '{}', UNIQUE (name))",
      "CREATE TABLE book (id serial PRIMARY KEY, author_id int NOT NULL REFERENCES author ON DELETE CASCADE, title varchar(100) NOT NULL, price numeric(8,2) DEFAULT 0,"
         +
         " sold bigint, at timestamp DEFAULT '2024-01-01', tz timestamptz, u uuid, raw bytea, ok boolean, total numeric GENERATED ALWAYS AS (price * 2) STORED,"
         + " CONSTRAINT priced CHECK (price >= 0))",
      "CREATE TABLE types (a smallint, b int, c bigint, d real, e double precision, f numeric, g numeric(5), h char(4), i varchar, j text, k date, l time, m timetz,"
         + " n interval, o inet, p bit(4), q varbit, r json, s int[], t int4range, u mood[], v address[], w money, x oid, y name, z \"char\")",
      "CREATE UNIQUE INDEX by_title ON book (title DESC, author_id)",
      "CREATE INDEX cheap ON book (price) WHERE price < 5",
      "CREATE VIEW books AS SELECT b.title, a.name FROM book b JOIN author a ON a.id = b.author_id",
      "CREATE MATERIALIZED VIEW counts AS SELECT author_id, count(*) AS n FROM book GROUP BY 1",
      "CREATE FUNCTION twice(a int, b int DEFAULT 2) RETURNS int LANGUAGE sql AS 'SELECT a * b'",
      "CREATE FUNCTION titles(who text) RETURNS TABLE (title text, price numeric) LANGUAGE sql AS 'SELECT title, price FROM jq.book ORDER BY 1'",
      "CREATE FUNCTION parts(IN a int, OUT b int, INOUT c text) LANGUAGE plpgsql AS $$ BEGIN b := a + 1; c := c || '!'; END $$",
      "CREATE PROCEDURE bump(IN by int, INOUT total int) LANGUAGE plpgsql AS $$ BEGIN total := total + by; END $$",
      "CREATE AGGREGATE product(int) (SFUNC = int4mul, STYPE = int)",
      "COMMENT ON TABLE book IS 'all books'",
      "COMMENT ON COLUMN book.title IS 'its title'",
      "CREATE TABLE event (at date, what text) PARTITION BY RANGE (at)",
      "CREATE TABLE event_24 PARTITION OF event FOR VALUES FROM ('2024-01-01') TO ('2025-01-01')",
      "INSERT INTO author (name, born, feeling, home, mail, doc, tags) VALUES ('Ann', '1970-01-02', 'happy', ROW('Main', 5, '{a,b}'), 'a@x', '{\"k\": [1, 2]}', '{x,y}'),"
         +
         " ('Bob', NULL, 'sad', NULL, NULL, NULL, '{}'), ('Cy', '1990-05-05', 'ok', ROW('Side, \"x\"', NULL, NULL), 'c@y', '{\"k\": {\"z\": null}}', NULL)",
      "INSERT INTO book (author_id, title, price, sold, ok) VALUES (1, 'Alpha', 9.5, 10, true), (1, 'Beta', 3, 20, false), (2, 'Gamma', 12.25, NULL, NULL), (3, 'Delta', 3, 5, true)"};

   static final Table<Record> author = table(name("author")), book = table(name("book"));
   static final Field<Integer> id = field(name("id"), Integer.class), authorId = field(name("author_id"), Integer.class);
   static final Field<String> title = field(name("title"), String.class), who = field(name("name"), String.class);
   static final Field<BigDecimal> price = field(name("price"), BigDecimal.class);
   static final Field<Long> sold = field(name("sold"), Long.class);

   public static void main(String[] args) throws Exception {
      Tests.place(args);
      System.setProperty("org.jooq.no-logo", "true");
      System.setProperty("org.jooq.no-tips", "true");
      Tests.execute(schema);
      generation();
      queries();
      writes();
      definitions();
      roundTrips();
      Tests.run(args);
   }

   static Path generated;

   /** All generated files by their names. */
   static String generate() throws Exception {
      if (generated == null) {
         Path folder = Files.createTempDirectory("jooq");
         GenerationTool.generate(
            new Configuration()
               .withLogging(Logging.WARN)
               .withJdbc(new Jdbc().withUrl(Tests.url).withUser(Tests.user).withPassword(""))
               .withGenerator(new Generator()
                                 .withDatabase(new Database().withName("org.jooq.meta.postgres.PostgresDatabase").withInputSchema("jq"))
                                 .withGenerate(new Generate().withPojos(true).withDaos(true).withComments(true))
                                 .withTarget(new Target().withPackageName("made").withDirectory(folder.toString()))));
         generated = folder;
      }
      return generated.toString();
   }

   static void generation() {
      for (String kind : List.of("tables/Author", "tables/Book", "tables/Types", "tables/Books", "tables/Counts", "tables/Event", "tables/Titles",
                                 "tables/records/BookRecord", "tables/records/AuthorRecord", "tables/daos/BookDao", "tables/pojos/Types",
                                 "enums/Mood", "udt/Address", "domains/../Domains", "routines/Twice", "routines/Parts", "routines/Bump",
                                 "routines/Product", "Sequences", "Keys", "Indexes", "Tables", "Routines", "Jq"))
         Tests.add("generate_" + kind.replaceAll("\\W+", "_"), () -> {
            Path file = Path.of(generate(), "made", "jq", kind + ".java").normalize();
            if (!Files.exists(file)) file = Path.of(generate(), "made", kind + ".java").normalize();
            if (!Files.exists(file)) {
               try (Stream<Path> all = Files.walk(generated)) {
                  return String.join("\n",
                                     all.map(one -> generated.relativize(one).toString()).filter(one -> one.endsWith(".java")).sorted().toList());
               }
            }
            return Files.readString(file);
         });
      add("meta", db -> {
         StringBuilder words = new StringBuilder();
         db.meta().getSchemas("jq").forEach(one -> one.getTables().stream().sorted((a, b) -> a.getName().compareTo(b.getName())).forEach(t -> {
            words.append(t.getName()).append(' ').append(t.getTableType()).append(' ').append(t.getPrimaryKey()).append('\n');
            for (Field<?> f : t.fields())
               words.append("   ")
                  .append(f.getName())
                  .append(' ')
                  .append(f.getDataType().getTypeName())
                  .append(' ')
                  .append(f.getDataType().nullable())
                  .append('\n');
         }));
         return words;
      });
      add("meta_ddl",
          db
          -> db.meta()
                .filterSchemas(s -> s.getName().equals("jq"))
                .filterTables(t -> List.of("author", "book").contains(t.getName()))
                .ddl()
                .toString());
   }

   static void queries() {
      add("select", db -> db.select(id, title, price).from(book).orderBy(title).fetch());
      add("join", db -> db.select(title, who).from(book).join(author).on(field("author.id").eq(field("book.author_id"))).orderBy(1).fetch());
      add("outer_joins",
          db
          -> db.select(who, count(title))
                .from(author)
                .leftJoin(book)
                .on("book.author_id = author.id and price > 5")
                .groupBy(who)
                .orderBy(who)
                .fetch());
      add("lateral",
          db
          -> db.select(who, field(name("t", "title")))
                .from(author)
                .crossJoin(lateral(select(title).from(book).where("author_id = author.id").orderBy(price.desc()).limit(1)).as("t"))
                .orderBy(1)
                .fetch());
      add("group_sets", db -> db.select(authorId, price, sum(sold)).from(book).groupBy(rollup(authorId, price)).orderBy(1, 2).fetch());
      add("having", db -> db.select(authorId, avg(price)).from(book).groupBy(authorId).having(count().gt(1)).fetch());
      add("window",
          db
          -> db.select(title, rowNumber().over(orderBy(price, title)), sum(sold).over(partitionBy(authorId).orderBy(title).rowsUnboundedPreceding()),
                       lag(title, 1).over(orderBy(title)), ntile(2).over(orderBy(id)), firstValue(title).over(orderBy(price.desc(), title)),
                       percentRank().over(orderBy(price)))
                .from(book)
                .orderBy(title)
                .fetch());
      add("filter",
          db
          -> db.select(count().filterWhere(price.gt(BigDecimal.valueOf(5))), listAgg(title, ", ").withinGroupOrderBy(title),
                       arrayAgg(id).orderBy(id.desc()), percentileCont(0.5).withinGroupOrderBy(price), mode().withinGroupOrderBy(price))
                .from(book)
                .fetch());
      add("cte", db -> db.with("t", "a").as(select(price.add(1)).from(book)).select(sum(field(name("a"), BigDecimal.class))).from("t").fetch());
      add("recursive",
          db
          -> db.withRecursive("t", "n")
                .as(select(inline(1)).unionAll(select(field("n + 1", Integer.class)).from("t").where("n < 5")))
                .select(sum(field("n", Integer.class)))
                .from("t")
                .fetch());
      add("sets",
          db
          -> db.select(title)
                .from(book)
                .where(price.lt(BigDecimal.TEN))
                .intersect(select(title).from(book))
                .except(select(inline("Beta")))
                .union(select(inline("Z")))
                .orderBy(1)
                .fetch());
      add("exists", db -> db.select(who).from(author).whereExists(selectOne().from(book).where("author_id = author.id and price > 10")).fetch());
      add("in", db -> db.select(title).from(book).where(id.in(1, 3)).or(title.in(select(inline("Delta")))).orderBy(1).fetch());
      add("rows",
          db
          -> db.select(title)
                .from(book)
                .where(row(authorId, price).in(row(1, new BigDecimal("3.00")), row(2, new BigDecimal("12.25"))))
                .orderBy(1)
                .fetch());
      add("case",
          db
          -> db.select(title, case_().when(price.gt(BigDecimal.valueOf(5)), "dear").otherwise("cheap"), decode(authorId, 1, "one", "more"),
                       nvl(sold, -1L), coalesce(sold, 0L), nullif(price, new BigDecimal("3")))
                .from(book)
                .orderBy(title)
                .fetch());
      add("strings",
          db
          -> db.select(upper(title), length(title), substring(title, 2, 2), position(title, "a"), lpad(title, 7, "*"), replace(title, "a", "o"),
                       trim("  x "), concat(title, inline("-"), title), title.likeIgnoreCase("%A%"), title.likeRegex("^[AB]"), md5(title),
                       reverse(title), splitPart(inline("a,b"), ",", 2), ascii(title))
                .from(book)
                .orderBy(title)
                .fetch());
      add("numbers",
          db
          -> db.select(abs(inline(-2)), round(inline(2.567), 2), ceil(inline(1.2)), floor(inline(-1.2)), power(inline(2), 3), sqrt(inline(16)),
                       inline(7).mod(3), greatest(inline(1), inline(5)), sign(inline(-3)), bitAnd(inline(6), inline(3)), bitXor(inline(6), inline(3)),
                       shl(inline(1), inline(4)), width(), exp(inline(0)), ln(inline(1)))
                .fetch());
      add("dates",
          db
          -> db.select(extract(inline(LocalDate.of(2024, 2, 29)), DatePart.QUARTER), dateAdd(java.sql.Date.valueOf("2024-01-31"), 1, DatePart.MONTH),
                       localDateTimeDiff(inline(LocalDateTime.of(2024, 1, 2, 0, 0)), inline(LocalDateTime.of(2024, 1, 1, 0, 0))).toString().length() >
                             0
                          ? inline(1)
                          : inline(0),
                       trunc(inline(LocalDateTime.of(2024, 5, 6, 7, 8)), DatePart.MONTH),
                       localDateDiff(LocalDate.of(2024, 3, 1), LocalDate.of(2024, 2, 1)), isoDayOfWeek(inline(LocalDate.of(2024, 5, 6))))
                .fetch());
      add("json",
          db
          -> db.select(jsonObject(jsonEntry("id", id), jsonEntry("t", title)), jsonArray(id, title), jsonbObject(key("p").value(price)))
                .from(book)
                .orderBy(id)
                .fetch());
      add("json_aggregates", db -> db.select(jsonArrayAgg(title).orderBy(title), jsonbObjectAgg(title, price)).from(book).fetch());
      add("json_paths",
          db
          -> db.select(field("doc -> 'k'", JSONB.class), field("doc #>> '{k,0}'", String.class), jsonbValue(field("doc", JSONB.class), "$.k[0]"),
                       jsonbExists(field("doc", JSONB.class), "$.k.z"))
                .from(author)
                .orderBy(id)
                .fetch());
      add("multiset",
          db
          -> db.select(who, multiset(select(title, price).from(book).where("author_id = author.id").orderBy(title)))
                .from(author)
                .orderBy(who)
                .fetch()
                .formatJSON());
      add("arrays",
          db
          -> db.select(array(1, 2, 3), field("tags", String[].class), cardinality(field("tags", Object[].class)),
                       arrayGet(field("tags", String[].class), 1), arrayConcat(array(1), array(2)), arrayAppend(array(1), 9),
                       arrayOverlap(field("tags", String[].class), array("x")))
                .from(author)
                .orderBy(id)
                .fetch());
      add("unnest", db -> db.select().from(unnest(DSL.array(1, 2, 3)).as("u", "v")).orderBy(1).fetch());
      add("values", db -> db.select().from(DSL.values(row(1, "a"), row(2, "b")).as("t", "n", "s")).orderBy(1).fetch());
      add("generate_series", db -> db.select().from(generateSeries(1, 9, 4)).fetch());
      add("distinct_on", db -> db.select(authorId, title).distinctOn(authorId).from(book).orderBy(authorId, price.desc()).fetch());
      add("limit_offset", db -> db.select(title).from(book).orderBy(title).limit(2).offset(1).fetch());
      add("with_ties", db -> db.select(title, price).from(book).orderBy(price).limit(1).withTies().fetch().size());
      add("seek", db -> db.select(title).from(book).orderBy(price, title).seek(new BigDecimal("3"), "Beta").limit(2).fetch());
      add("for_update", db -> db.select(title).from(book).where(id.eq(1)).forUpdate().skipLocked().fetch());
      add("for_key_share", db -> db.select(title).from(book).where(id.eq(1)).forKeyShare().of(book).noWait().fetch());
      add("cursor", db -> {
         StringBuilder words = new StringBuilder();
         try (org.jooq.Cursor<?> cursor = db.select(title).from(book).orderBy(title).fetchSize(2).fetchLazy()) {
            while (cursor.hasNext())
               words.append(cursor.fetchNext());
         }
         return words;
      });
      add("table_sample", db -> db.fetchCount(db.selectFrom("book tablesample bernoulli (100)")));
      add("routines",
          db -> db.select(function(name("twice"), Integer.class, inline(4)), function(name("twice"), Integer.class, inline(4), inline(5))).fetch());
      add("table_function", db -> db.select().from("titles('x')").fetch());
      add("aggregate_of_user", db -> db.select(aggregate("product", Integer.class, id)).from(book).fetch());
      add("enums", db -> db.select(who).from(author).where("feeling > 'sad'").orderBy(field("feeling"), who).fetch());
      add("explain", db -> db.explain(selectOne()).plan().length() > 0);
      add("cast",
          db
          -> db.select(cast(inline("12"), Integer.class), cast(inline(1), SQLDataType.BOOLEAN), cast(inline("2024-01-01"), LocalDate.class),
                       cast(inline(2.5), SQLDataType.NUMERIC(5, 1)))
                .fetch());
      add("quantified", db -> db.select(title).from(book).where(price.ge(all(select(price).from(book)))).or(id.eq(any(1, 2))).orderBy(1).fetch());
      add(
         "overlaps",
         db
         -> db.select(row(LocalDate.of(2024, 1, 1), LocalDate.of(2024, 2, 1)).overlaps(LocalDate.of(2024, 1, 15), LocalDate.of(2024, 3, 1))).fetch());
      add("nulls_first", db -> db.select(title, sold).from(book).orderBy(sold.desc().nullsLast(), title).fetch());
      add("qualify", db -> db.select(title).from(book).qualify(rowNumber().over(partitionBy(authorId).orderBy(price)).eq(1)).orderBy(title).fetch());
      add("parser", db -> db.parser().parseQuery("select coalesce(title, 'x') from book where price > 5 limit 1").getSQL());
      add("statistics",
          db
          -> db.select(stddevPop(price), varSamp(price), corr(price, sold), regrSlope(price, sold), median(price), boolOr(field("ok", Boolean.class)),
                       bitOrAgg(id))
                .from(book)
                .fetch());
   }

   static Field<?> width() { return widthBucket(inline(5), inline(0), inline(10), inline(5)); }

   static void writes() {
      add("insert", db -> db.insertInto(book, authorId, title, price).values(1, "New", BigDecimal.ONE).values(2, "Newer", null).execute());
      add("insert_returning",
          db -> db.insertInto(book).set(authorId, 1).set(title, "New").returningResult(title, price, field(name("total"))).fetch());
      add("insert_select", db -> db.insertInto(book, authorId, title).select(select(authorId, title.concat("!")).from(book)).execute());
      add("insert_default", db -> db.insertInto(table(name("event_24"))).defaultValues().returning(asterisk()).fetch());
      add("upsert_update",
          db
          -> db.insertInto(author, who, field("mail", String.class))
                .values("Ann", "new@x")
                .onConflict(who)
                .doUpdate()
                .set(field("mail", String.class), excluded(field("mail", String.class)))
                .returning(who, field("mail"))
                .fetch());
      add("upsert_nothing", db -> db.insertInto(author, who).values("Ann").onConflictDoNothing().execute());
      add("upsert_constraint",
          db
          -> db.insertInto(author, who)
                   .values("Bob")
                   .onConflictOnConstraint(name("author_name_key"))
                   .doUpdate()
                   .set(who, "Rob")
                   .where("author.id > 1")
                   .execute() +
                db.select(who).from(author).orderBy(1).fetch().formatCSV());
      add("on_duplicate_key", db -> db.insertInto(author, who).values("Ann").onDuplicateKeyIgnore().execute());
      add("update", db -> db.update(book).set(price, price.mul(2)).where(authorId.eq(1)).returning(title, price).fetch().sortAsc(title));
      add("update_from",
          db
          -> db.update(book).set(title, field("author.name", String.class)).from(author).where("author.id = book.author_id and price > 9").execute());
      add("update_row", db -> db.update(book).set(row(title, price), row("x", BigDecimal.ONE)).where(id.eq(2)).execute());
      add("delete", db -> db.deleteFrom(book).where(price.eq(new BigDecimal("3"))).returning(title).fetch().sortAsc(title));
      add("delete_using", db -> db.deleteFrom(book).using(author).where("author.id = book.author_id and author.name = 'Ann'").execute());
      add("merge",
          db
          -> db.mergeInto(book)
                   .using(DSL.values(row(1, "M"), row(99, "N")).as("s", "i", "t"))
                   .on("book.id = s.i")
                   .whenMatchedThenUpdate()
                   .set(title, field("s.t", String.class))
                   .whenNotMatchedThenInsert(authorId, title)
                   .values(inline(1), field("s.t", String.class))
                   .execute() +
                db.select(title).from(book).orderBy(1).fetch().formatCSV());
      add("batch",
          db
          -> java.util.Arrays.toString(
             db.batch(db.insertInto(book, authorId, title).values((Integer)null, null)).bind(1, "b1").bind(2, "b2").execute()));
      add("loader",
          db
          -> db.loadInto(book)
                .batchAfter(2)
                .loadCSV("author_id,title,price\n1,L1,1.5\n2,L2,2.5\n3,L3,3.5\n")
                .fields(authorId, title, price)
                .execute()
                .stored());
      add("truncate", db -> db.truncate(book).restartIdentity().cascade().execute() + " " + db.fetchCount(book));
      add("sequences",
          db
          -> db.nextval(sequence(name("ids"))) + " " + db.nextvals(sequence(name("ids"), Integer.class), 3) + " " +
                db.currval(sequence(name("ids"))));
      add("nested_transaction", db -> {
         db.insertInto(author, who).values("T1").execute();
         db.connection(c -> {
            var savepoint = c.setSavepoint();
            Tests.state(() -> String.valueOf(c.createStatement().executeUpdate("INSERT INTO author (name) VALUES (NULL)")));
            c.rollback(savepoint);
         });
         return db.fetchCount(author);
      });
      add("errors", db -> Tests.state(() -> String.valueOf(db.insertInto(book, authorId, title).values(77, "x").execute())));
      add("check_violation",
          db -> Tests.state(() -> String.valueOf(db.insertInto(book, authorId, title, price).values(1, "x", BigDecimal.valueOf(-1)).execute())));
      add("records", db -> {
         Record record = db.selectFrom(book).where(id.eq(1)).fetchOne();
         return record.formatJSON();
      });
      add("procedure", db -> db.fetch("CALL bump(5, 7)"));
      add("out_parameters", db -> db.fetch("SELECT * FROM parts(1, 'x')"));
      add("do_block", db -> db.begin(db.insertInto(author, who).values("D")).execute() + " " + db.fetchCount(author));
   }

   static void definitions() {
      add("create_table", db -> {
         db.createTable("made")
            .column("id", SQLDataType.INTEGER.identity(true))
            .column("name", SQLDataType.VARCHAR(20).nullable(false).defaultValue("x"))
            .column("doc", SQLDataType.JSONB)
            .constraints(primaryKey("id"), unique("name"), check(field("name").ne("bad")),
                         foreignKey("id").references("author", "id").onDeleteCascade())
            .execute();
         return db.fetch("SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'made'::regclass ORDER BY 1");
      });
      add("create_table_as",
          db -> db.createTable("copy").as(select(title, price).from(book)).withData().execute() + " " + db.fetchCount(table("copy")));
      add("alter_table", db -> {
         db.alterTable("book").addColumn("extra", SQLDataType.INTEGER.defaultValue(3)).execute();
         db.alterTable("book").alterColumn("title").set(SQLDataType.CLOB).execute();
         db.alterTable("book").renameColumn("sold").to("amount").execute();
         db.alterTable("book").dropColumn("raw").execute();
         db.alterTable("book").add(constraint("few").check(field("extra").lt(inline(9)))).execute();
         return db.fetch(
            "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'book'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum");
      });
      add("indexes", db -> {
         db.createUniqueIndex("i1").on("book", "sold", "id").include(name("price")).where(sold.gt(5L)).execute();
         db.alterIndex("i1").renameTo("i2").execute();
         return db.fetch("SELECT indexdef FROM pg_indexes WHERE indexname IN ('i1', 'i2')");
      });
      add("views", db -> {
         db.createOrReplaceView("v").as(select(title).from(book)).execute();
         db.commentOnView("v").is("a view").execute();
         return db.fetch("SELECT pg_get_viewdef('v'::regclass), obj_description('v'::regclass)");
      });
      add("materialized_view",
          db
          -> db.createMaterializedView("mv").as(selectOne()).execute() + " " + db.execute("REFRESH MATERIALIZED VIEW mv") + " " +
                db.dropMaterializedView("mv").execute());
      add("sequence_ddl", db -> {
         db.createSequence("made_ids").startWith(5).incrementBy(2).minvalue(1).maxvalue(9).cycle().cache(3).execute();
         db.alterSequence("made_ids").restartWith(7).execute();
         return db.fetch("SELECT nextval('made_ids'), nextval('made_ids'), nextval('made_ids')");
      });
      add("types_ddl", db -> {
         db.createType("size").asEnum("s", "m").execute();
         db.alterType("size").addValue("l").execute();
         db.createDomain("positive").as(SQLDataType.INTEGER).constraints(constraint("p").check(condition("value > 0"))).execute();
         return db.fetch("SELECT enumlabel FROM pg_enum WHERE enumtypid = 'size'::regtype ORDER BY enumsortorder").formatCSV() +
            Tests.state(() -> db.fetch("SELECT (-1)::positive").toString());
      });
      add("trigger_ddl",
          db
          -> db.execute("CREATE FUNCTION touched() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.title := 'touched'; RETURN NEW; END $$") + " " +
                db.execute("CREATE TRIGGER t BEFORE INSERT ON book FOR EACH ROW EXECUTE FUNCTION touched()") +
                db.insertInto(book, authorId, title).values(1, "n").returning(title).fetch().formatCSV());
      add("schema_ddl",
          db
          -> db.createSchema("jq_more").execute() + " " + db.alterSchema("jq_more").renameTo("jq_other").execute() + " " +
                db.dropSchema("jq_other").cascade().execute());
      add("grant",
          db
          -> db.grant(privilege("SELECT")).on("book").toPublic().execute() +
                db.fetch("SELECT relacl::text LIKE '%=r/%' FROM pg_class WHERE oid = 'book'::regclass").formatCSV());
      add("drop_if_exists",
          db -> db.dropTableIfExists("nothing").execute() + " " + Tests.state(() -> String.valueOf(db.dropTable("nothing").execute())));
      add("set_search_path", db -> db.setSchema("jq").execute() + " " + db.fetchValue("SELECT current_schema"));
   }

   static void value(String name, Object value, String type) {
      add("value_" + name, db -> {
         Result<?> result = db.fetch("SELECT {0} AS v, pg_typeof({0})::text AS t",
                                     val(value).cast(new org.jooq.impl.DefaultDataType<>(SQLDialect.POSTGRES, value.getClass(), type)));
         Object back = result.get(0).get(0);
         return back.getClass().getName() + " " +
            (back instanceof Object[] many  ? java.util.Arrays.deepToString(many)
             : back instanceof byte[] bytes ? java.util.Arrays.toString(bytes)
                                            : back) +
            " " + result.get(0).get(1);
      });
   }

   static void roundTrips() {
      value("short", (short)-5, "smallint");
      value("int", Integer.MIN_VALUE, "int");
      value("long", Long.MAX_VALUE, "bigint");
      value("decimal", new BigDecimal("12345678901234567890.123456789"), "numeric");
      value("float", 1.5f, "real");
      value("double", 1e300, "double precision");
      value("text", "it's \\ \u00e4 \ud83d\ude00", "text");
      value("uuid", UUID.fromString("00000000-0000-0000-0000-00000000002a"), "uuid");
      value("date", LocalDate.of(1999, 12, 31), "date");
      value("timestamp", LocalDateTime.of(2024, 2, 29, 23, 59, 59, 999999000), "timestamp");
      value("bytes", new byte[] {0, -1, 39, 92}, "bytea");
      value("boolean", true, "boolean");
      value("jsonb", JSONB.valueOf("{\"b\": 1, \"a\": [null]}"), "jsonb");
   }
}
