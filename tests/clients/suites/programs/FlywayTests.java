import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.MigrationInfo;
import org.flywaydb.core.api.MigrationVersion;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.flywaydb.core.api.migration.BaseJavaMigration;
import org.flywaydb.core.api.migration.Context;
import org.flywaydb.core.api.output.MigrateResult;
import org.flywaydb.core.api.output.ValidateResult;
import org.flywaydb.database.postgresql.PostgreSQLConfigurationExtension;

/** What users of Flyway do, each in a schema of its own. */
public final class FlywayTests {
   /** A schema and a folder of scripts. */
   static final class Place {
      final String schema;
      final Path scripts;

      Place(String name) throws Exception {
         schema = "fw_" + name;
         scripts = Files.createTempDirectory("flyway");
         Tests.execute("DROP SCHEMA IF EXISTS " + schema + " CASCADE");
      }

      Place script(String name, String text) throws Exception {
         Files.writeString(scripts.resolve(name), text);
         return this;
      }

      FluentConfiguration configure() {
         return Flyway.configure()
            .dataSource(Tests.url, Tests.user, "")
            .schemas(schema)
            .defaultSchema(schema)
            .locations("filesystem:" + scripts)
            .cleanDisabled(false);
      }

      /** A lock of the session: what waits for all transactions must not wait for Flyway's own. */
      FluentConfiguration withSessionLock() {
         FluentConfiguration configuration = configure();
         configuration.getConfigurationExtension(PostgreSQLConfigurationExtension.class).setTransactionalLock(false);
         return configuration;
      }

      String migrate() throws Exception { return told(configure().load().migrate()); }

      String history() throws Exception {
         return Tests.rows("SELECT installed_rank, version, description, type, script, checksum, success FROM " + schema +
                           ".flyway_schema_history ORDER BY 1");
      }

      String info() {
         StringBuilder words = new StringBuilder();
         for (MigrationInfo one : configure().load().info().all())
            words.append(one.getVersion()).append(' ').append(one.getDescription()).append(' ').append(one.getState()).append('\n');
         return words.toString();
      }

      String tables() throws Exception {
         return Tests.rows("SELECT relname, relkind FROM pg_class WHERE relnamespace = '" + schema + "'::regnamespace ORDER BY 1");
      }
   }

   interface Use {
      String of(Place place) throws Throwable;
   }

   static void add(String name, Use use) { Tests.add(name, () -> use.of(new Place(name))); }

   static String told(MigrateResult result) {
      return result.migrationsExecuted + " executed, from " + result.initialSchemaVersion + " to " + result.targetSchemaVersion + ", " +
         result.success + "\n";
   }

   static String told(ValidateResult result) {
      StringBuilder words = new StringBuilder("valid: " + result.validationSuccessful + "\n");
      result.invalidMigrations.forEach(one -> words.append(one.version).append(' ').append(one.errorDetails.errorCode).append('\n'));
      return words.toString();
   }

   static final String table = "CREATE TABLE book (id serial PRIMARY KEY, title text NOT NULL, price numeric(8, 2) DEFAULT 0);\n";

   public static void main(String[] args) throws Exception {
      Tests.place(args);
      migrations();
      kinds();
      repairs();
      cleaning();
      Tests.run(args);
   }

   static void migrations() {
      add("migrate",
          place
          -> place.script("V1__first.sql", table).script("V2__rows.sql", "INSERT INTO book (title) VALUES ('a;b'), ('c');").migrate() +
                place.history() + Tests.rows("SELECT * FROM " + place.schema + ".book ORDER BY id"));
      add("migrate_again", place -> place.script("V1__first.sql", table).migrate() + place.migrate() + place.history());
      add("migrate_more",
          place
          -> place.script("V1__first.sql", table).migrate() +
                place.script("V1.1__more.sql", "ALTER TABLE book ADD author text; CREATE INDEX ON book (author);").migrate() + place.tables());
      add("info", place -> {
         place.script("V1__first.sql", table).migrate();
         return place.script("V2__second.sql", "SELECT 1;").script("R__view.sql", "CREATE OR REPLACE VIEW v AS SELECT 1 AS one;").info();
      });
      add("target", place -> {
         place.script("V1__a.sql", table).script("V2__b.sql", "DROP TABLE book;");
         return told(place.configure().target(MigrationVersion.fromVersion("1")).load().migrate()) + place.info() + place.tables();
      });
      add("out_of_order", place -> {
         place.script("V2__b.sql", table).migrate();
         place.script("V1__a.sql", "CREATE TABLE early (a int);");
         return told(place.configure().outOfOrder(true).load().migrate()) + place.info();
      });
      add("group", place -> {
         place.script("V1__a.sql", table).script("V2__b.sql", "INSERT INTO book (title) VALUES ('x');").script("V3__c.sql", "SELECT 1 / 0;");
         String failed = Tests.state(() -> told(place.configure().group(true).load().migrate()));
         return failed + place.tables();
      });
      add("failed_is_rolled_back", place -> {
         place.script("V1__a.sql", table + "INSERT INTO book (title) VALUES (NULL);");
         return Tests.state(place::migrate) + place.tables() + place.history();
      });
      add("failed_without_transaction", place -> {
         place.script("V1__a.sql", table + "SELECT 1 / 0;").script("V1__a.sql.conf", "executeInTransaction=false\n");
         return Tests.state(place::migrate) + place.tables() + place.history() + place.info();
      });
      add("placeholders", place -> {
         place.script("V1__a.sql", "CREATE TABLE ${name} (a int); COMMENT ON TABLE ${name} IS '${flyway:defaultSchema} ${flyway:user}';");
         return told(place.configure().placeholders(Map.of("name", "chosen")).load().migrate()) + place.tables() +
            Tests.rows("SELECT obj_description('" + place.schema + ".chosen'::regclass)");
      });
      add("several_schemas", place -> {
         Tests.execute("DROP SCHEMA IF EXISTS fw_other CASCADE");
         place.script("V1__a.sql", "CREATE TABLE fw_other.t (a int); CREATE TABLE t (b int);");
         return told(place.configure().schemas(place.schema, "fw_other").load().migrate()) + place.history() +
            Tests.rows("SELECT schemaname, tablename FROM pg_tables WHERE schemaname IN ('fw_other', '" + place.schema + "') ORDER BY 1, 2");
      });
      add("history_table", place -> {
         place.script("V1__a.sql", table);
         return told(place.configure().table("my history").load().migrate()) + place.tables();
      });
      add("java_migration", place -> {
         class V3__Java extends BaseJavaMigration {
            @Override
            public void migrate(Context context) throws Exception {
               try (Statement statement = context.getConnection().createStatement()) {
                  statement.execute("INSERT INTO book (title) SELECT 'book ' || i FROM generate_series(1, 3) AS i");
               }
            }
         }
         place.script("V1__a.sql", table);
         return told(place.configure().javaMigrations(new V3__Java()).load().migrate()) + place.history() +
            Tests.rows("SELECT title FROM " + place.schema + ".book ORDER BY 1");
      });
      add("callbacks",
          place
          -> place.script("V1__a.sql", table)
                   .script("beforeMigrate.sql", "CREATE TABLE before_all (a int);")
                   .script("afterEachMigrate.sql", "INSERT INTO book (title) VALUES ('each');")
                   .script("afterMigrate.sql", "ANALYZE book;")
                   .migrate() +
                place.tables() + Tests.rows("SELECT title FROM " + place.schema + ".book"));
      add("two_at_once", place -> {
         place.script("V1__a.sql", table + "SELECT pg_sleep(0.3);").script("V2__b.sql", "INSERT INTO book (title) VALUES ('once');");
         ExecutorService threads = Executors.newFixedThreadPool(3);
         Callable<Integer> migrate = () -> place.configure().load().migrate().migrationsExecuted;
         int executed = 0;
         for (Future<Integer> one : threads.invokeAll(Arrays.asList(migrate, migrate, migrate)))
            executed += one.get();
         threads.shutdown();
         return executed + "\n" + Tests.rows("SELECT title FROM " + place.schema + ".book");
      });
      add("lock_without_transaction", place -> {
         place.script("V1__a.sql", table).script("V2__b.sql", "CREATE INDEX CONCURRENTLY book_title ON book (title);");
         FluentConfiguration configuration = place.withSessionLock();
         return told(configuration.load().migrate()) + place.tables() + place.history();
      });
   }

   static void kinds() {
      add("repeatable", place -> {
         place.script("V1__a.sql", table).script("R__titles.sql", "CREATE OR REPLACE VIEW titles AS SELECT title FROM book;");
         String first = place.migrate();
         String second = place.migrate();
         place.script("R__titles.sql", "CREATE OR REPLACE VIEW titles AS SELECT title, price FROM book;");
         return first + second + place.migrate() + place.history() + Tests.rows("SELECT pg_get_viewdef('" + place.schema + ".titles'::regclass)");
      });
      add("functions",
          place
          -> place.script("V1__f.sql",
                          "CREATE FUNCTION twice(a int) RETURNS int LANGUAGE plpgsql AS $body$\nBEGIN\n  -- a; b\n"
                             + "  RETURN a * 2;\nEND;\n$body$;\nCREATE PROCEDURE nothing() LANGUAGE sql AS $$ SELECT 1; $$;\nCALL nothing();\n"
                             + "DO $$ BEGIN PERFORM twice(2); END $$;\nSELECT twice(4);")
                   .migrate() +
                Tests.rows("SELECT " + place.schema + ".twice(21)"));
      add(
         "triggers",
         place
         -> place.script(
                    "V1__t.sql",
                    table + "CREATE FUNCTION mark() RETURNS trigger LANGUAGE plpgsql AS $$\nBEGIN\n"
                       +
                       "  NEW.title := upper(NEW.title); RETURN NEW;\nEND $$;\nCREATE TRIGGER marks BEFORE INSERT OR UPDATE ON book FOR EACH ROW EXECUTE FUNCTION mark();\n"
                       + "INSERT INTO book (title) VALUES ('small');")
                  .migrate() +
               Tests.rows("SELECT title FROM " + place.schema + ".book"));
      add("copy_from_stdin",
          place
          -> place.script("V1__c.sql", table + "COPY book (id, title, price) FROM STDIN;\n7\tone\t1.50\n8\ttwo\t\\N\n\\.\n"
                                          + "INSERT INTO book (id, title) VALUES (9, 'three');")
                   .migrate() +
                Tests.rows("SELECT * FROM " + place.schema + ".book ORDER BY 1"));
      add("concurrent_index_waits", place -> {
         place.script("V1__a.sql", table);
         String first = place.migrate();
         place.script("V2__i.sql", "CREATE INDEX CONCURRENTLY book_price ON book (price);");
         FluentConfiguration configuration = place.withSessionLock();
         return first + told(configuration.load().migrate()) + place.tables();
      });
      add("mixed_is_refused", place -> {
         place.script("V1__m.sql", table + "CREATE INDEX CONCURRENTLY book_price ON book (price);");
         return Tests.state(place::migrate);
      });
      add("mixed", place -> {
         place.script("V1__m.sql", table + "VACUUM book;\nINSERT INTO book (title) VALUES ('m');");
         FluentConfiguration configuration = place.withSessionLock().mixed(true);
         return told(configuration.load().migrate()) + Tests.rows("SELECT title FROM " + place.schema + ".book");
      });
      add("enum_value", place -> {
         place.script("V1__e.sql", "CREATE TYPE mood AS ENUM ('sad', 'ok');\nCREATE TABLE person (m mood);");
         place.script("V2__e.sql", "ALTER TYPE mood ADD VALUE 'happy' AFTER 'ok';").script("V3__e.sql", "INSERT INTO person VALUES ('happy');");
         return place.migrate() + Tests.rows("SELECT * FROM " + place.schema + ".person");
      });
      add("partitions",
          place
          -> place.script(
                     "V1__p.sql",
                     "CREATE TABLE event (at date, what text) PARTITION BY RANGE (at);\n"
                        + "CREATE TABLE event_24 PARTITION OF event FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');\n"
                        + "CREATE TABLE event_rest PARTITION OF event DEFAULT;\nINSERT INTO event VALUES ('2024-05-05', 'a'), ('1999-01-01', 'b');")
                   .migrate() +
                Tests.rows("SELECT tableoid::regclass, what FROM " + place.schema + ".event ORDER BY what"));
      add("quoting",
          place
          -> place.script("V1__q.sql", "CREATE TABLE \"Odd name;\" (\"a b\" text DEFAULT 'it''s; $$');\n/* a ; comment */\n"
                                          + "INSERT INTO \"Odd name;\" VALUES (E'back\\\\slash;\\n'), (DEFAULT), ('$tag$;$tag$');\n-- the end;\n")
                   .migrate() +
                Tests.rows("SELECT * FROM " + place.schema + ".\"Odd name;\" ORDER BY 1"));
      add("grants",
          place
          -> place.script(
                     "V1__g.sql",
                     table + "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'fw_reader') THEN "
                        + "CREATE ROLE fw_reader; END IF; END $$;\nGRANT SELECT ON book TO fw_reader;\nALTER TABLE book ENABLE ROW LEVEL SECURITY;\n"
                        + "CREATE POLICY readers ON book FOR SELECT TO fw_reader USING (price > 1);")
                   .migrate() +
                Tests.rows("SELECT policyname, roles, qual FROM pg_policies WHERE schemaname = '" + place.schema + "'"));
      add("set_in_script",
          place
          -> place.script("V1__s.sql", "SET LOCAL statement_timeout = '5s';\nSET search_path = pg_catalog;\nSELECT 1;")
                   .script("V2__s.sql", table)
                   .migrate() +
                place.tables());
      add("warnings", place -> place.script("V1__w.sql", "DROP TABLE IF EXISTS nothing_here;\nDO $$ BEGIN RAISE WARNING 'look'; END $$;").migrate());
   }

   static void repairs() {
      add("baseline", place -> {
         Tests.execute("CREATE SCHEMA " + place.schema, "CREATE TABLE " + place.schema + ".old (a int)");
         place.script("V1__a.sql", "SELECT 1 / 0;").script("V2__b.sql", table);
         place.configure().baselineVersion("1").baselineDescription("as it was").load().baseline();
         return place.migrate() + place.history() + place.info();
      });
      add("not_empty_is_refused", place -> {
         Tests.execute("CREATE SCHEMA " + place.schema, "CREATE TABLE " + place.schema + ".old (a int)");
         return Tests.state(() -> place.script("V1__a.sql", table).migrate());
      });
      add("baseline_on_migrate", place -> {
         Tests.execute("CREATE SCHEMA " + place.schema, "CREATE VIEW " + place.schema + ".old AS SELECT 1 AS a");
         place.script("V1__a.sql", table).script("V2__b.sql", table);
         return told(place.configure().baselineOnMigrate(true).load().migrate()) + place.history();
      });
      add("validate", place -> {
         place.script("V1__a.sql", table).migrate();
         return told(place.configure().load().validateWithResult());
      });
      add("validate_changed", place -> {
         place.script("V1__a.sql", table).migrate();
         place.script("V1__a.sql", table + "-- changed");
         return told(place.configure().load().validateWithResult()) + Tests.state(place::migrate);
      });
      add("validate_missing", place -> {
         place.script("V1__a.sql", table).script("V2__b.sql", "SELECT 1;").migrate();
         Files.delete(place.scripts.resolve("V2__b.sql"));
         return told(place.configure().load().validateWithResult()) +
            told(place.configure().ignoreMigrationPatterns("*:missing").load().validateWithResult());
      });
      add("repair_checksum", place -> {
         place.script("V1__a.sql", table).migrate();
         place.script("V1__a.sql", table + "-- changed");
         String repaired = place.configure().load().repair().repairActions.toString();
         return repaired + told(place.configure().load().validateWithResult()) + place.history();
      });
      add("repair_failed", place -> {
         place.script("V1__a.sql", table + "SELECT 1 / 0;").script("V1__a.sql.conf", "executeInTransaction=false\n");
         String failed = Tests.state(place::migrate) + place.info();
         place.configure().load().repair();
         place.script("V1__a.sql", "DROP TABLE IF EXISTS book;" + table);
         return failed + place.migrate() + place.history();
      });
      add("repair_missing", place -> {
         place.script("V1__a.sql", table).script("V2__b.sql", "SELECT 1;").migrate();
         Files.delete(place.scripts.resolve("V2__b.sql"));
         place.configure().load().repair();
         return place.history() + place.info();
      });
   }

   static void cleaning() {
      final String everything =
         table + "CREATE VIEW v AS SELECT * FROM book;\nCREATE MATERIALIZED VIEW m AS SELECT count(*) AS n FROM book;\n"
         + "CREATE TYPE mood AS ENUM ('a');\nCREATE TYPE pair AS (a int, b text);\nCREATE DOMAIN short AS varchar(9) CHECK (VALUE <> '');\n"
         + "CREATE SEQUENCE s;\nCREATE FUNCTION f(a int, b text DEFAULT 'x') RETURNS int LANGUAGE sql AS 'SELECT 1';\n"
         +
         "CREATE PROCEDURE p(INOUT a int) LANGUAGE plpgsql AS $$ BEGIN a := 1; END $$;\nCREATE AGGREGATE mysum(int) (SFUNC = int4pl, STYPE = int);\n"
         + "CREATE TABLE part (a int) PARTITION BY LIST (a);\nCREATE TABLE part_1 PARTITION OF part FOR VALUES IN (1);\n"
         +
         "CREATE TABLE child (b int) INHERITS (book);\nCREATE TABLE uses (m mood, p pair, d short);\nCREATE TYPE span AS RANGE (SUBTYPE = float8);\n";
      add("clean", place -> {
         place.script("V1__a.sql", everything).migrate();
         String before = place.tables();
         String cleaned = place.configure().load().clean().schemasDropped + " " + place.configure().load().clean().schemasCleaned;
         return before + cleaned + Tests.rows("SELECT count(*) FROM pg_namespace WHERE nspname = '" + place.schema + "'");
      });
      add("clean_existing_schema", place -> {
         Tests.execute("CREATE SCHEMA " + place.schema);
         place.script("V1__a.sql", everything).migrate();
         String cleaned = place.configure().load().clean().schemasCleaned.toString();
         return cleaned + place.tables() +
            Tests.rows("SELECT (SELECT count(*) FROM pg_proc WHERE pronamespace = n.oid), (SELECT count(*) FROM pg_type "
                       + "WHERE typnamespace = n.oid) FROM pg_namespace AS n WHERE nspname = '" + place.schema + "'") +
            place.migrate();
      });
      add("clean_disabled", place -> {
         place.script("V1__a.sql", table).migrate();
         return Tests.state(() -> place.configure().cleanDisabled(true).load().clean().toString()) + place.tables();
      });
      add("init_sql", place -> {
         place.script("V1__a.sql", "CREATE TABLE t AS SELECT current_setting('application_name') AS name, current_setting('my.value') AS v;");
         return told(place.configure().initSql("SET my.value = '42'").load().migrate()) + Tests.rows("SELECT * FROM " + place.schema + ".t");
      });
      add("info_of_nothing", place -> place.script("V1__a.sql", table).info());
      add("connection_keeps_settings", place -> {
         try (Connection connection = Tests.connect()) {
            place.script("V1__a.sql", table).migrate();
            return Tests.rows(connection, "SHOW search_path");
         }
      });
   }
}
