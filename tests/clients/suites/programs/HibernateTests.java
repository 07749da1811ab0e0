import jakarta.persistence.*;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Connection;
import java.time.*;
import java.util.*;
import java.util.function.Function;
import org.hibernate.LockMode;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.annotations.JdbcTypeCode;
import org.hibernate.cfg.Configuration;
import org.hibernate.query.NativeQuery;
import org.hibernate.type.SqlTypes;

/** What users of Hibernate do: schemas made from entities, all basic types, associations, inheritance, locks, HQL, native queries. */
public final class HibernateTests {
   public enum Mood { SAD, OK, HAPPY }

   @Embeddable
   public static class Address {
      public String street;
      public Integer number;

      public Address() {}
      Address(String street, Integer number) {
         this.street = street;
         this.number = number;
      }
   }

   @Entity(name = "Author")
   @Table(name = "author", indexes = @Index(name = "author_by_name", columnList = "name"))
   public static class Author {
      @Id @GeneratedValue(strategy = GenerationType.SEQUENCE) public Long id;
      @Column(nullable = false, length = 60, unique = true) public String name;
      public LocalDate born;
      @Enumerated(EnumType.STRING) public Mood feeling;
      @Embedded public Address home;
      @Version public int version;
      @OneToMany(mappedBy = "author", cascade = CascadeType.ALL, orphanRemoval = true) @OrderBy("title") public List<Book> books = new ArrayList<>();
      @ElementCollection @CollectionTable(name = "author_nick") @Column(name = "nick") public Set<String> nicks = new TreeSet<>();
      @ElementCollection
      @CollectionTable(name = "author_fact")
      @MapKeyColumn(name = "k")
      @Column(name = "v")
      public Map<String, String> facts = new TreeMap<>();
   }

   @Entity(name = "Book")
   @Table(name = "book")
   @NamedQuery(name = "Book.cheaper", query = "from Book where price < :price order by title")
   public static class Book {
      @Id @GeneratedValue(strategy = GenerationType.IDENTITY) public Integer id;
      public String title;
      @Column(precision = 9, scale = 2) public BigDecimal price;
      @ManyToOne(fetch = FetchType.LAZY) public Author author;
      @ManyToMany public Set<Tag> tags = new HashSet<>();
      @JdbcTypeCode(SqlTypes.JSON) public Map<String, Object> about;
      @JdbcTypeCode(SqlTypes.ARRAY) public int[] numbers;
      public LocalDateTime at;
   }

   @Entity(name = "Tag")
   @Table(name = "tag")
   public static class Tag {
      @Id public String name;
   }

   @Entity(name = "Everything")
   @Table(name = "everything")
   public static class Everything {
      @Id public long id;
      public boolean aBoolean;
      public byte aByte;
      public short aShort;
      public int anInt;
      public long aLong;
      public float aFloat;
      public double aDouble;
      public char aChar;
      public String text;
      @Lob public String clob;
      @Lob public byte[] blob;
      public byte[] bytes;
      public BigDecimal decimal;
      public BigInteger integer;
      public UUID uuid;
      public LocalDate date;
      public LocalTime time;
      public LocalDateTime timestamp;
      public OffsetDateTime shifted;
      public Instant instant;
      public Duration duration;
      public Year year;
      public ZoneId zone;
      public Locale locale;
      public Currency currency;
      public Mood ordinal;
      @JdbcTypeCode(SqlTypes.NAMED_ENUM) public Mood named;
      public String[] texts;
      public List<Integer> integers;
      @JdbcTypeCode(SqlTypes.INTERVAL_SECOND) public Duration span;
      @JdbcTypeCode(SqlTypes.INET) public java.net.InetAddress inet;
      public Boolean missing;
      public java.util.Date old;
      public Class<?> type;
   }

   @Entity(name = "Single")
   @Inheritance(strategy = InheritanceType.SINGLE_TABLE)
   @Table(name = "single")
   @DiscriminatorColumn(name = "kind")
   public static class Single {
      @Id @GeneratedValue public Long id;
      public String name;
   }
   @Entity(name = "SingleMore")
   @DiscriminatorValue("more")
   public static class SingleMore extends Single {
      public Integer more;
   }
   @Entity(name = "Joined")
   @Inheritance(strategy = InheritanceType.JOINED)
   @Table(name = "joined")
   public static class Joined {
      @Id @GeneratedValue public Long id;
      public String name;
   }
   @Entity(name = "JoinedMore")
   @Table(name = "joined_more")
   public static class JoinedMore extends Joined {
      public Integer more;
   }
   @Entity(name = "Each")
   @Inheritance(strategy = InheritanceType.TABLE_PER_CLASS)
   @Table(name = "each_one")
   public static class Each {
      @Id @GeneratedValue public Long id;
      public String name;
   }
   @Entity(name = "EachMore")
   @Table(name = "each_more")
   public static class EachMore extends Each {
      public Integer more;
   }

   static final Class<?>[] entities = {Author.class,     Book.class,   Tag.class,        Everything.class, Single.class,
                                       SingleMore.class, Joined.class, JoinedMore.class, Each.class,       EachMore.class};

   static SessionFactory open(String schema, String ddl, Map<String, String> more) {
      Configuration configuration = new Configuration();
      for (Class<?> entity : entities)
         configuration.addAnnotatedClass(entity);
      configuration.setProperty("hibernate.connection.url", Tests.url + "&currentSchema=" + schema)
         .setProperty("hibernate.connection.username", Tests.user)
         .setProperty("hibernate.connection.password", "")
         .setProperty("hibernate.hbm2ddl.auto", ddl)
         .setProperty("hibernate.hbm2ddl.halt_on_error", "true")
         .setProperty("hibernate.jdbc.batch_size", "10")
         .setProperty("hibernate.order_inserts", "true")
         .setProperty("hibernate.jdbc.time_zone", "UTC")
         .setProperty("hibernate.query.hql.json_functions_enabled", "true");
      more.forEach(configuration::setProperty);
      return configuration.buildSessionFactory();
   }

   static SessionFactory shared;

   /** Runs in a transaction over fresh rows. */
   static void add(String name, Function<Session, Object> use) {
      Tests.add(name, () -> {
         Tests.execute(
            "TRUNCATE hb.author, hb.book, hb.tag, hb.everything, hb.single, hb.joined, hb.joined_more, hb.each_one, hb.each_more RESTART IDENTITY CASCADE",
            "ALTER SEQUENCE hb.author_seq RESTART");
         shared.inTransaction(HibernateTests::fill);
         return shared.fromTransaction(session -> String.valueOf(use.apply(session)));
      });
   }

   static void fill(Session session) {
      Tag fun = new Tag(), sad = new Tag();
      fun.name = "fun";
      sad.name = "sad";
      session.persist(fun);
      session.persist(sad);
      String[] names = {"Ann", "Bob", "Cy"};
      for (int i = 0; i < names.length; ++i) {
         Author author = new Author();
         author.name = names[i];
         author.born = i == 1 ? null : LocalDate.of(1970 + i, 2, 3);
         author.feeling = Mood.values()[i];
         author.home = i == 2 ? null : new Address("Street " + i, i);
         author.nicks.add(names[i].toLowerCase());
         author.nicks.add("x" + i);
         author.facts.put("shoe", "4" + i);
         for (int k = 0; k <= i; ++k) {
            Book book = new Book();
            book.title = names[i] + " " + k;
            book.price = BigDecimal.valueOf(100 * i + 25 * k, 1);
            book.author = author;
            book.about = k == 0 ? null : Map.of("pages", 10 * k, "list", List.of(1, "a"));
            book.numbers = new int[] {i, k};
            book.at = LocalDateTime.of(2024, 1, 1 + k, 2, 3, 4);
            if (k > 0) book.tags.add(fun);
            if (i > 1) book.tags.add(sad);
            author.books.add(book);
         }
         session.persist(author);
      }
   }

   static String told(List<?> rows) {
      StringBuilder words = new StringBuilder();
      for (Object row : rows)
         words
            .append(row instanceof Object[] many   ? Arrays.deepToString(many)
                    : row instanceof Book book     ? book.title
                    : row instanceof Author author ? author.name
                                                   : String.valueOf(row))
            .append('\n');
      return words.toString();
   }

   static void query(String name, String hql) { add("hql_" + name, session -> told(session.createQuery(hql, Object.class).list())); }

   static void nativeQuery(String name, String sql) { add("native_" + name, session -> told(session.createNativeQuery(sql, Object.class).list())); }

   public static void main(String[] args) throws Exception {
      Tests.place(args);
      java.util.logging.LogManager.getLogManager().reset();
      Tests.execute("DROP SCHEMA IF EXISTS hb CASCADE", "CREATE SCHEMA hb", "DROP SCHEMA IF EXISTS hb2 CASCADE", "CREATE SCHEMA hb2");
      shared = open("hb", "create", Map.of());
      schemas();
      rows();
      queries();
      Tests.run(args);
   }

   static void schemas() {
      String columns =
         "SELECT table_name, column_name, data_type, udt_name, is_nullable, column_default, character_maximum_length, numeric_precision, numeric_scale FROM "
         + "information_schema.columns WHERE table_schema = 'hb' ORDER BY 1, ordinal_position";
      Tests.add("schema_columns", () -> Tests.rows(columns));
      Tests.add(
         "schema_constraints",
         ()
            -> Tests.rows(
               "SELECT conrelid::regclass, contype, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'hb'::regnamespace ORDER BY 1, 2, 3"));
      Tests.add("schema_indexes",
                () -> Tests.rows("SELECT indexdef FROM pg_indexes WHERE schemaname = 'hb' AND indexname NOT LIKE 'uk%' ORDER BY 1"));
      Tests.add("schema_sequences",
                () -> Tests.rows("SELECT sequencename, start_value, increment_by, max_value FROM pg_sequences WHERE schemaname = 'hb' ORDER BY 1"));
      for (String ddl : List.of("create", "create-drop", "create-only", "update", "validate"))
         Tests.add("schema_" + ddl.replace('-', '_'), () -> {
            Tests.execute("DROP SCHEMA IF EXISTS hb2 CASCADE", "CREATE SCHEMA hb2");
            if (ddl.equals("validate")) open("hb2", "create", Map.of()).close();
            open("hb2", ddl, Map.of()).close();
            return Tests.rows("SELECT relname, relkind FROM pg_class WHERE relnamespace = 'hb2'::regnamespace AND relname !~ '^uk' ORDER BY 1");
         });
      Tests.add("schema_update_adds", () -> {
         Tests.execute("DROP SCHEMA IF EXISTS hb2 CASCADE", "CREATE SCHEMA hb2", "CREATE TABLE hb2.book (id int PRIMARY KEY, title varchar(255))",
                       "CREATE TABLE hb2.tag (name varchar(255) PRIMARY KEY)");
         open("hb2", "update", Map.of()).close();
         open("hb2", "validate", Map.of()).close();
         return Tests.rows(
            "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'hb2' AND table_name = 'book' ORDER BY ordinal_position");
      });
      Tests.add("schema_validate_fails", () -> {
         Tests.execute("DROP SCHEMA IF EXISTS hb2 CASCADE", "CREATE SCHEMA hb2");
         open("hb2", "create", Map.of()).close();
         Tests.execute("ALTER TABLE hb2.book ALTER price TYPE text");
         try {
            open("hb2", "validate", Map.of()).close();
            return "valid";
         } catch (RuntimeException error) {
            return Tests.causes(error);
         }
      });
   }

   static void rows() {
      add("everything", session -> {
         Everything e = new Everything();
         e.id = 1;
         e.aBoolean = true;
         e.aByte = -8;
         e.aShort = -300;
         e.anInt = Integer.MIN_VALUE;
         e.aLong = Long.MAX_VALUE;
         e.aFloat = 1.5f;
         e.aDouble = 1e300;
         e.aChar = '\u00e4';
         e.text = "it's \\ \ud83d\ude00";
         e.clob = "long ".repeat(2000);
         e.blob = new byte[] {1, 2, 3};
         e.bytes = new byte[] {0, -1};
         e.decimal = new BigDecimal("12345.67");
         e.integer = BigInteger.TWO.pow(70);
         e.uuid = new UUID(1, 2);
         e.date = LocalDate.of(1999, 12, 31);
         e.time = LocalTime.of(23, 59, 58);
         e.timestamp = LocalDateTime.of(2024, 2, 29, 1, 2, 3, 456789000);
         e.shifted = OffsetDateTime.of(2024, 1, 2, 3, 4, 5, 0, ZoneOffset.UTC);
         e.instant = Instant.ofEpochSecond(1700000000);
         e.duration = Duration.ofHours(5).plusMillis(7);
         e.year = Year.of(2024);
         e.zone = ZoneId.of("Europe/Paris");
         e.locale = Locale.GERMANY;
         e.currency = Currency.getInstance("EUR");
         e.ordinal = Mood.OK;
         e.named = Mood.HAPPY;
         e.texts = new String[] {"a", null, "b,c"};
         e.integers = List.of(1, 2);
         e.span = Duration.ofSeconds(90);
         e.old = new Date(1700000000000L);
         e.type = String.class;
         try {
            e.inet = java.net.InetAddress.getByName("10.1.2.3");
         } catch (java.net.UnknownHostException error) {
            throw new IllegalStateException(error);
         }
         session.persist(e);
         session.flush();
         session.clear();
         Everything back = session.find(Everything.class, 1L);
         return String.join("\n", List.of("" + back.aBoolean, "" + back.aByte, "" + back.aShort, "" + back.anInt, "" + back.aLong, "" + back.aFloat,
                                          "" + back.aDouble, "" + back.aChar, back.text, "" + back.clob.length(), Arrays.toString(back.blob),
                                          Arrays.toString(back.bytes), "" + back.decimal, "" + back.integer, "" + back.uuid, "" + back.date,
                                          "" + back.time, "" + back.timestamp, "" + back.shifted.toInstant(), "" + back.instant, "" + back.duration,
                                          "" + back.year, "" + back.zone, "" + back.locale, "" + back.currency, "" + back.ordinal, "" + back.named,
                                          Arrays.toString(back.texts), "" + back.integers, "" + back.span, "" + back.inet, "" + back.missing,
                                          "" + back.old.getTime(), "" + back.type));
      });
      add("associations", session -> {
         Author cy = session.createQuery("from Author where name = 'Cy'", Author.class).getSingleResult();
         StringBuilder words = new StringBuilder(cy.nicks + " " + cy.facts + " ");
         for (Book book : cy.books)
            words.append(book.title)
               .append(new TreeSet<>(book.tags.stream().map(tag -> tag.name).toList()))
               .append(book.about == null ? "" : new TreeMap<>(book.about))
               .append(Arrays.toString(book.numbers));
         return words;
      });
      add("update_and_version", session -> {
         Author ann = session.createQuery("from Author where name = 'Ann'", Author.class).getSingleResult();
         int before = ann.version;
         ann.feeling = Mood.HAPPY;
         ann.books.clear();
         session.flush();
         return (ann.version - before) + " " + session.createQuery("select count(*) from Book", Long.class).getSingleResult();
      });
      add("optimistic_lock", session -> {
         Author ann = session.createQuery("from Author where name = 'Ann'", Author.class).getSingleResult();
         session.createMutationQuery("update Author set version = version + 1 where name = 'Ann'").executeUpdate();
         ann.feeling = Mood.HAPPY;
         try {
            session.flush();
            return "no error";
         } catch (OptimisticLockException error) {
            return error.getClass().getSimpleName();
         } finally {
            session.clear();
         }
      });
      for (LockMode mode : List.of(LockMode.PESSIMISTIC_READ, LockMode.PESSIMISTIC_WRITE, LockMode.PESSIMISTIC_FORCE_INCREMENT, LockMode.OPTIMISTIC,
                                   LockMode.UPGRADE_NOWAIT))
         add("lock_" + mode.name().toLowerCase(), session -> {
            Author bob = session.createQuery("from Author where name = 'Bob'", Author.class).getSingleResult();
            session.lock(bob, mode);
            return session.getCurrentLockMode(bob) + " " + bob.name;
         });
      add(
         "lock_query",
         session
         -> told(session.createQuery("from Author order by name", Author.class).setLockMode(LockModeType.PESSIMISTIC_WRITE).setMaxResults(2).list()));
      add("lock_timeout", session -> {
         session.createQuery("from Author where name = 'Bob'", Author.class).setLockMode(LockModeType.PESSIMISTIC_WRITE).getSingleResult();
         return shared.fromSession(other -> {
            other.beginTransaction();
            try {
               other.createQuery("from Author where name = 'Bob'", Author.class).setHibernateLockMode(LockMode.UPGRADE_NOWAIT).list();
               return "no error";
            } catch (RuntimeException error) {
               return error.getClass().getSimpleName();
            } finally {
               other.getTransaction().rollback();
            }
         });
      });
      add("batch", session -> {
         for (int i = 0; i < 45; ++i) {
            Author author = new Author();
            author.name = "many " + i;
            session.persist(author);
         }
         session.flush();
         return session.createQuery("select count(*), max(version) from Author", Object[].class).getSingleResult()[0];
      });
      add("inheritance_single", session -> {
         SingleMore more = new SingleMore();
         more.name = "m";
         more.more = 4;
         Single plain = new Single();
         plain.name = "p";
         session.persist(more);
         session.persist(plain);
         session.flush();
         return told(session.createQuery("select s.name, type(s) from Single s order by s.name", Object.class).list()) +
            told(session.createQuery("select more from SingleMore", Object.class).list());
      });
      add("inheritance_joined", session -> {
         JoinedMore more = new JoinedMore();
         more.name = "m";
         more.more = 4;
         session.persist(more);
         session.flush();
         int updated = session.createMutationQuery("update JoinedMore set more = more + 1, name = 'n'").executeUpdate();
         return updated + told(session.createQuery("select name, treat(j as JoinedMore).more from Joined j", Object.class).list()) +
            session.createMutationQuery("delete from Joined").executeUpdate();
      });
      add("inheritance_each", session -> {
         EachMore more = new EachMore();
         more.name = "m";
         more.more = 4;
         Each plain = new Each();
         plain.name = "p";
         session.persist(more);
         session.persist(plain);
         session.flush();
         return told(session.createQuery("select name from Each order by name", Object.class).list());
      });
      add("unique_violation", session -> shared.fromSession(other -> {
         other.beginTransaction();
         Author twice = new Author();
         twice.name = "Ann";
         other.persist(twice);
         try {
            other.flush();
            return "no error";
         } catch (RuntimeException error) {
            return error.getClass().getSimpleName();
         } finally {
            other.getTransaction().rollback();
         }
      }));
      add("stateless", session -> {
         try (var stateless = shared.openStatelessSession()) {
            return stateless.createQuery("select count(*) from Book", Long.class).getSingleResult();
         }
      });
      add("scroll", session -> {
         StringBuilder words = new StringBuilder();
         try (var rows = session.createQuery("select title from Book order by title", String.class)
                            .setFetchSize(2)
                            .scroll(org.hibernate.ScrollMode.FORWARD_ONLY)) {
            while (rows.next())
               words.append(rows.get()).append(',');
         }
         return words;
      });
      add("procedure", session -> {
         session.doWork(
            connection
            -> connection.createStatement().execute(
               "CREATE OR REPLACE PROCEDURE hb.add_up(IN a int, IN b int, INOUT total int) LANGUAGE plpgsql AS $$ BEGIN total := a + b; END $$"));
         StoredProcedureQuery call = session.createStoredProcedureQuery("hb.add_up")
                                        .registerStoredProcedureParameter(1, Integer.class, ParameterMode.IN)
                                        .registerStoredProcedureParameter(2, Integer.class, ParameterMode.IN)
                                        .registerStoredProcedureParameter(3, Integer.class, ParameterMode.INOUT);
         call.setParameter(1, 4).setParameter(2, 5).setParameter(3, 0).execute();
         return call.getOutputParameterValue(3);
      });
      add("named_query", session -> told(session.createNamedQuery("Book.cheaper", Book.class).setParameter("price", BigDecimal.TEN).list()));
      add("criteria", session -> {
         var builder = session.getCriteriaBuilder();
         var query = builder.createTupleQuery();
         var book = query.from(Book.class);
         query.multiselect(book.get("author").get("name"), builder.count(book), builder.sum(book.<BigDecimal>get("price")))
            .groupBy(book.get("author").get("name"))
            .having(builder.gt(builder.count(book), 1))
            .orderBy(builder.asc(book.get("author").get("name")));
         StringBuilder words = new StringBuilder();
         session.createQuery(query).list().forEach(tuple -> words.append(Arrays.toString(tuple.toArray())));
         return words;
      });
      add("native_entity", session -> {
         NativeQuery<Book> query = session.createNativeQuery("SELECT * FROM book WHERE price > :p ORDER BY title", Book.class);
         return told(query.setParameter("p", new BigDecimal("5")).list());
      });
      add("work", session -> session.doReturningWork((Connection connection) -> connection.getMetaData().getDatabaseMajorVersion()));
   }

   static void queries() {
      query("select", "from Book order by title");
      query("join", "select b.title, a.name from Book b join b.author a where a.feeling <> 'SAD' order by b.title");
      query("fetch", "select distinct a from Author a left join fetch a.books order by a.name");
      query("embedded", "select a.name, a.home.street from Author a where a.home.number = 1");
      query(
         "group",
         "select a.name, count(b), sum(b.price), avg(b.price), min(b.at) from Author a left join a.books b group by a.name having count(b) > 0 order by a.name");
      query("subquery", "from Book b where b.price = (select max(c.price) from Book c where c.author = b.author) order by b.title");
      query("exists", "from Author a where exists (select 1 from Book b where b.author = a and b.price > 20)");
      query("in", "from Book where title in ('Ann 0', 'Cy 1') order by title");
      query("collections", "select a.name, size(a.books) from Author a where a.nicks is not empty and 'x1' member of a.nicks");
      query("case",
            "select title, case when price > 10 then 'dear' else 'cheap' end, coalesce(price, 0), nullif(title, 'x') from Book order by title");
      query(
         "strings",
         "select upper(title), length(title), substring(title, 1, 2), locate('n', title), concat(title, '!'), trim(both 'A' from title), replace(title, ' ', '_'), left(title, 2), "
            + "lpad(title, 8, '*'), repeat('x', 3), title like '%n%', title ilike 'A%' from Book order by title");
      query(
         "numbers",
         "select abs(-1), mod(7, 3), round(2.567, 2), floor(1.5), ceiling(1.2), sqrt(4.0), power(2, 3), sign(-2), greatest(1, 3), least(1, 3), exp(0.0), ln(1.0)");
      query(
         "dates",
         "select extract(year from at), extract(day from at), month(at), at + 1 day, format(at as 'yyyy-MM-dd HH:mm'), (at - datetime 2023-12-31 00:00:00) by day "
            + "from Book where title = 'Cy 1'");
      query(
         "window",
         "select title, row_number() over (partition by author order by price), rank() over (order by price desc), sum(price) over (order by title rows between unbounded preceding and "
            + "current row), lag(title) over (order by title), first_value(title) over (order by title) from Book order by title");
      query("cte", "with dear as (select title as t, price as p from Book where price > 5) select t, p from dear order by t");
      query("recursive", "with nums as (select 1 as n union all select n + 1 as n from nums where n < 5) select sum(n) from nums");
      add(
         "hql_sets",
         session -> new TreeSet<>(session.createQuery("select title from Book where price > 10 union select name from Author", String.class).list()));
      query("intersect", "select title from Book intersect select title from Book where price < 1");
      query("limit", "from Book order by price desc, title offset 1 rows fetch first 2 rows only");
      query(
         "filter",
         "select count(*) filter (where price > 5), listagg(title, ',') within group (order by title), percentile_cont(0.5) within group (order by price) from Book");
      query("every", "select every(price >= 0), any(price > 20), stddev_pop(price), var_samp(price) from Book");
      query("cast", "select cast(price as string), cast('12' as integer), cast(title as string) from Book where title = 'Bob 1'");
      query("enums", "select a.feeling, count(*) from Author a group by a.feeling order by a.feeling");
      query(
         "arrays",
         "select array_length(b.numbers), array_get(b.numbers, 1), array_contains(b.numbers, 2), array_append(b.numbers, 9) from Book b order by b.title");
      query("array_agg", "select array_agg(title) within group (order by title) from Book");
      query(
         "json",
         "select json_value(b.about, '$.pages'), json_exists(b.about, '$.list'), json_query(b.about, '$.list') from Book b where b.about is not null order by b.title");
      query("json_make", "select json_object('a': title, 'b': price), json_array(title, 1) from Book order by title");
      query("map", "select a.name, key(f), value(f) from Author a join a.facts f order by a.name");
      query(
         "lateral",
         "select a.name, l.t from Author a join lateral (select b.title as t from Book b where b.author = a order by b.price desc limit 1) l order by a.name");
      query("values", "select t.title from Book t where (t.title, t.price) in (('Ann 0', 0.0), ('Bob 1', 12.5))");
      query("distinct_from", "select a.name from Author a where a.born is distinct from null order by a.name");
      query(
         "rollup",
         "select a.name, b.title, count(*) from Book b join b.author a group by rollup(a.name, b.title) order by a.name nulls last, b.title nulls last");
      query("generate_series", "select g from generate_series(1, 5, 2) g order by g");
      query("unnest", "select b.title, n from Book b join lateral unnest(b.numbers) n order by b.title, n");
      add("hql_update", session -> session.createMutationQuery("update Book set price = price * 2 where author.name = 'Cy'").executeUpdate());
      add("hql_delete", session -> session.createMutationQuery("delete from Book where price < 5 and tags is empty").executeUpdate());
      add("hql_insert", session -> session.createMutationQuery("insert into Tag (name) select title from Book").executeUpdate());
      add("hql_upsert",
          session -> session.createMutationQuery("insert into Tag (name) values ('fun'), ('new') on conflict (name) do nothing").executeUpdate());
      nativeQuery("window", "SELECT title, row_number() OVER w FROM book WINDOW w AS (ORDER BY title)");
      nativeQuery("cte", "WITH RECURSIVE t(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM t WHERE n < 4) SELECT n FROM t");
      nativeQuery("json", "SELECT jsonb_agg(title ORDER BY title)::text FROM book");
      nativeQuery(
         "types",
         "SELECT 1::smallint, 2, 3::bigint, 1.5::numeric, true, 'x'::text, '2024-01-01'::date, ARRAY[1, 2], '00000000-0000-0000-0000-000000000001'::uuid");
   }
}
