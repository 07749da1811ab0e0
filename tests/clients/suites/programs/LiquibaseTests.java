import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import liquibase.CatalogAndSchema;
import liquibase.Contexts;
import liquibase.LabelExpression;
import liquibase.Liquibase;
import liquibase.Scope;
import liquibase.changelog.ChangeSet;
import liquibase.changelog.ChangeSetStatus;
import liquibase.database.Database;
import liquibase.database.DatabaseFactory;
import liquibase.database.jvm.JdbcConnection;
import liquibase.diff.DiffGeneratorFactory;
import liquibase.diff.DiffResult;
import liquibase.diff.compare.CompareControl;
import liquibase.diff.output.DiffOutputControl;
import liquibase.diff.output.changelog.DiffToChangeLog;
import liquibase.diff.output.report.DiffToReport;
import liquibase.resource.DirectoryResourceAccessor;
import liquibase.snapshot.DatabaseSnapshot;
import liquibase.snapshot.SnapshotControl;
import liquibase.snapshot.SnapshotGeneratorFactory;
import liquibase.structure.DatabaseObject;

/** What users of Liquibase do, each in a schema of its own. */
public final class LiquibaseTests {
   /** A schema, a folder with change logs, and a session of Liquibase over them. */
   static final class Place implements AutoCloseable {
      final String schema;
      final Path folder;
      private Database database;

      Place(String name) throws Exception {
         schema = "lb_" + name;
         folder = Files.createTempDirectory("liquibase");
         Tests.execute("DROP SCHEMA IF EXISTS " + schema + " CASCADE", "CREATE SCHEMA " + schema);
      }

      static Database open(String schema) throws Exception {
         Connection connection = Tests.connect();
         connection.createStatement().execute("SET search_path = " + schema);
         Database database = DatabaseFactory.getInstance().findCorrectDatabaseImplementation(new JdbcConnection(connection));
         database.setDefaultSchemaName(schema);
         database.setLiquibaseSchemaName(schema);
         return database;
      }

      Database database() throws Exception {
         if (database == null) database = open(schema);
         return database;
      }

      /** A change log in XML; the change sets are numbered. */
      Liquibase log(String... changeSets) throws Exception {
         StringBuilder text = new StringBuilder(
            "<databaseChangeLog xmlns=\"http://www.liquibase.org/xml/ns/dbchangelog\"\n"
            + " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation=\"http://www.liquibase.org/xml/ns/dbchangelog\n"
            + " http://www.liquibase.org/xml/ns/dbchangelog/dbchangelog-latest.xsd\">\n");
         int id = 0;
         for (String one : changeSets)
            text
               .append(one.startsWith("<changeSet") || one.startsWith("<property") || one.startsWith("<preConditions")
                          ? one
                          : "<changeSet id=\"" + ++id + "\" author=\"t\">" + one + "</changeSet>")
               .append('\n');
         return file("log.xml", text + "</databaseChangeLog>\n");
      }

      Liquibase file(String name, String text) throws Exception {
         Files.writeString(folder.resolve(name), text);
         return new Liquibase(name, new DirectoryResourceAccessor(folder), database());
      }

      String log() throws Exception {
         return Tests.rows("SELECT id, author, filename, orderexecuted, exectype, md5sum, description, comments, tag, contexts, labels FROM " +
                           schema + ".databasechangelog ORDER BY orderexecuted");
      }

      String columns() throws Exception {
         return Tests.rows("SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns WHERE "
                           + "table_schema = '" + schema + "' AND table_name !~ 'databasechangelog' ORDER BY 1, ordinal_position");
      }

      String constraints() throws Exception {
         return Tests.rows("SELECT conrelid::regclass, conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = '" + schema +
                           "'::regnamespace AND conrelid::regclass::text !~ 'databasechangelog' ORDER BY 1, 2");
      }

      String indexes() throws Exception {
         return Tests.rows("SELECT indexdef FROM pg_indexes WHERE schemaname = '" + schema + "' AND tablename !~ 'databasechangelog' ORDER BY 1");
      }

      @Override
      public void close() throws Exception {
         if (database != null) database.close();
      }
   }

   interface Use {
      String of(Place place) throws Throwable;
   }

   static void add(String name, Use use) {
      Tests.add(name, () -> {
         try (Place place = new Place(name)) {
            return use.of(place);
         }
      });
   }

   static String update(Liquibase liquibase) throws Exception {
      liquibase.update(new Contexts());
      return "updated\n";
   }

   static final String person =
      "<createTable tableName=\"person\"><column name=\"id\" type=\"bigint\" autoIncrement=\"true\">"
      + "<constraints primaryKey=\"true\" primaryKeyName=\"person_pk\"/></column><column name=\"name\" type=\"varchar(50)\">"
      + "<constraints nullable=\"false\"/></column><column name=\"born\" type=\"date\"/><column name=\"score\" type=\"decimal(9,2)\" "
      + "defaultValueNumeric=\"1.5\"/><column name=\"active\" type=\"boolean\" defaultValueBoolean=\"true\"/></createTable>";
   static final String pet = "<createTable tableName=\"pet\"><column name=\"id\" type=\"int\"><constraints primaryKey=\"true\"/></column>"
                             + "<column name=\"owner\" type=\"bigint\"/><column name=\"name\" type=\"text\"/></createTable>";
   static final String link = "<addForeignKeyConstraint baseTableName=\"pet\" baseColumnNames=\"owner\" constraintName=\"pet_owner\" "
                              + "referencedTableName=\"person\" referencedColumnNames=\"id\" onDelete=\"CASCADE\"/>";

   public static void main(String[] args) throws Exception {
      Tests.place(args);
      System.setProperty("liquibase.analytics.enabled", "false");
      System.setProperty("liquibase.showBanner", "false");
      changes();
      runs();
      rollbacks();
      snapshots();
      Tests.run(args);
   }

   static void change(String name, String... changeSets) {
      add("change_" + name, place -> update(place.log(changeSets)) + place.columns() + place.constraints() + place.indexes());
   }

   static void changes() {
      change("create_table", person);
      change("types", "<createTable tableName=\"t\">" +
                         String.join("", List
                                            .of("int", "bigint", "smallint", "boolean", "char(3)", "varchar(9)", "nvarchar(9)", "clob", "blob",
                                                "uuid", "date", "time", "datetime", "timestamp", "timestamp with time zone", "decimal(7,3)", "double",
                                                "float", "currency", "number", "xml2", "jsonb", "int[]")
                                            .stream()
                                            .filter(type -> !type.equals("xml2"))
                                            .map(type -> "<column name=\"c_" + type.replaceAll("\\W+", "_") + "\" type=\"" + type + "\"/>")
                                            .toList()) +
                         "</createTable>");
      change("foreign_key", person, pet, link);
      change("drop_foreign_key", person, pet, link, "<dropForeignKeyConstraint baseTableName=\"pet\" constraintName=\"pet_owner\"/>");
      change("add_column", person,
             "<addColumn tableName=\"person\"><column name=\"city\" type=\"text\" defaultValue=\"here\"><constraints nullable=\"false\"/>"
                + "</column><column name=\"at\" type=\"timestamp\" defaultValueComputed=\"CURRENT_TIMESTAMP\"/></addColumn>");
      change("rename", person, "<renameColumn tableName=\"person\" oldColumnName=\"name\" newColumnName=\"full_name\"/>",
             "<renameTable oldTableName=\"person\" newTableName=\"people\"/>");
      change("modify_type", person, "<modifyDataType tableName=\"person\" columnName=\"score\" newDataType=\"double precision\"/>",
             "<modifyDataType tableName=\"person\" columnName=\"name\" newDataType=\"text\"/>");
      change("nulls", person, "<dropNotNullConstraint tableName=\"person\" columnName=\"name\"/>",
             "<addNotNullConstraint tableName=\"person\" columnName=\"born\" columnDataType=\"date\" defaultNullValue=\"2000-01-01\"/>");
      change("defaults", person, "<dropDefaultValue tableName=\"person\" columnName=\"score\"/>",
             "<addDefaultValue tableName=\"person\" columnName=\"born\" defaultValueDate=\"2020-02-02\"/>");
      change("unique", person,
             "<addUniqueConstraint tableName=\"person\" columnNames=\"name, born\" constraintName=\"person_unique\" deferrable=\"true\" "
                + "initiallyDeferred=\"true\"/>",
             "<addUniqueConstraint tableName=\"person\" columnNames=\"score\"/>",
             "<dropUniqueConstraint tableName=\"person\" constraintName=\"person_unique\"/>");
      change("index", person,
             "<createIndex tableName=\"person\" indexName=\"by_name\" unique=\"true\"><column name=\"name\" descending=\"true\"/><column "
                + "name=\"lower(name)\" computed=\"true\"/></createIndex>",
             "<createIndex tableName=\"person\" indexName=\"gone\"><column name=\"born\"/></createIndex>",
             "<dropIndex tableName=\"person\" indexName=\"gone\"/>");
      change("primary_key", pet, "<dropPrimaryKey tableName=\"pet\"/>",
             "<addPrimaryKey tableName=\"pet\" columnNames=\"id, name\" constraintName=\"pet_key\"/>");
      change("drop", person, pet, "<dropColumn tableName=\"pet\" columnName=\"name\"/>",
             "<dropTable tableName=\"person\" cascadeConstraints=\"true\"/>");
      change("auto_increment", pet, "<addAutoIncrement tableName=\"pet\" columnName=\"id\" columnDataType=\"int\" startWith=\"100\"/>");
      change(
         "merge_columns", person, "<insert tableName=\"person\"><column name=\"name\" value=\"x\"/></insert>",
         "<mergeColumns tableName=\"person\" column1Name=\"name\" joinString=\" \" column2Name=\"born\" finalColumnName=\"both\" finalColumnType=\"varchar(110)\"/>");
      change(
         "lookup_table", person, "<insert tableName=\"person\"><column name=\"name\" value=\"x\"/></insert>",
         "<addLookupTable existingTableName=\"person\" existingColumnName=\"name\" newTableName=\"names\" newColumnName=\"n\" newColumnDataType=\"varchar(50)\"/>");
      add("change_view",
          place
          -> update(place.log(person, "<createView viewName=\"v\">SELECT id, name FROM person</createView>",
                              "<createView viewName=\"v\" replaceIfExists=\"true\">SELECT id, name, born FROM person</createView>",
                              "<renameView oldViewName=\"v\" newViewName=\"w\"/>")) +
                Tests.rows("SELECT viewname, definition FROM pg_views WHERE schemaname = '" + place.schema + "'"));
      add("change_sequence",
          place
          -> update(place.log("<createSequence sequenceName=\"s\" startValue=\"10\" incrementBy=\"5\" minValue=\"5\" maxValue=\"500\" "
                                 + "cycle=\"true\" cacheSize=\"7\"/>",
                              "<alterSequence sequenceName=\"s\" incrementBy=\"3\"/>", "<createSequence sequenceName=\"gone\"/>",
                              "<dropSequence sequenceName=\"gone\"/>", "<renameSequence oldSequenceName=\"s\" newSequenceName=\"r\"/>")) +
                Tests.rows(
                   "SELECT sequencename, start_value, min_value, max_value, increment_by, cycle, cache_size FROM pg_sequences WHERE schemaname = '" +
                   place.schema + "'"));
      add(
         "change_data",
         place
         -> update(place.log(
               person,
               "<insert tableName=\"person\"><column name=\"name\" value=\"it's\"/><column name=\"born\" "
                  +
                  "valueDate=\"1999-12-31\"/></insert><insert tableName=\"person\"><column name=\"name\" value=\"b\"/><column name=\"score\" valueNumeric=\"3.25\"/></insert>",
               "<update tableName=\"person\"><column name=\"active\" valueBoolean=\"false\"/><where>name = 'b'</where></update>",
               "<delete tableName=\"person\"><where>score &lt; 0</where></delete>")) +
               Tests.rows("SELECT * FROM " + place.schema + ".person ORDER BY id"));
      add("change_load_data", place -> {
         Files.writeString(place.folder.resolve("people.csv"), "name,born,score,active\nann,2001-02-03,4.5,true\nbob,NULL,5,false\n");
         return update(place.log(person, "<loadData tableName=\"person\" file=\"people.csv\"/>")) +
            Tests.rows("SELECT * FROM " + place.schema + ".person ORDER BY id");
      });
      add("change_load_update_data", place -> {
         Files.writeString(place.folder.resolve("pets.csv"), "id,owner,name\n1,NULL,rex\n2,NULL,tom\n");
         return update(place.log(pet, "<insert tableName=\"pet\"><column name=\"id\" value=\"1\"/><column name=\"name\" value=\"old\"/></insert>",
                                 "<loadUpdateData tableName=\"pet\" file=\"pets.csv\" primaryKey=\"id\"/>")) +
            Tests.rows("SELECT * FROM " + place.schema + ".pet ORDER BY id");
      });
      add("change_remarks",
          place
          -> update(place.log(person, "<setTableRemarks tableName=\"person\" remarks=\"It's a person\"/>",
                              "<setColumnRemarks tableName=\"person\" columnName=\"name\" remarks=\"Its name\"/>")) +
                Tests.rows("SELECT obj_description(oid), col_description(oid, 2) "
                           + "FROM pg_class WHERE oid = '" + place.schema + ".person'::regclass"));
      add("change_sql",
          place
          -> update(place.log("<sql splitStatements=\"true\">CREATE TABLE a (i int); INSERT INTO a VALUES (1)</sql>",
                              "<sql splitStatements=\"false\">CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 7; END; $$</sql>",
                              "<createProcedure>CREATE OR REPLACE PROCEDURE p() LANGUAGE sql AS 'INSERT INTO a VALUES (2)'</createProcedure>",
                              "<sql>CALL p()</sql>")) +
                Tests.rows("SELECT * FROM " + place.schema + ".a ORDER BY 1") + Tests.rows("SELECT " + place.schema + ".f()"));
   }

   static void runs() {
      add("update_twice", place -> update(place.log(person, pet)) + update(place.log(person, pet, link)) + place.log());
      add("contexts", place -> {
         Liquibase log = place.log("<changeSet id=\"a\" author=\"t\" context=\"test\">" + person + "</changeSet>",
                                   "<changeSet id=\"b\" author=\"t\" context=\"prod\">" + pet + "</changeSet>",
                                   "<changeSet id=\"c\" author=\"t\" labels=\"x,y\"><sql>SELECT 1</sql></changeSet>");
         log.update(new Contexts("prod"), new LabelExpression("x and not z"));
         return place.log() + place.columns();
      });
      add(
         "preconditions",
         place
         -> update(place.log(
               person,
               "<changeSet id=\"a\" author=\"t\"><preConditions onFail=\"MARK_RAN\"><not><tableExists tableName=\"person\"/>"
                  + "</not></preConditions>" + person + "</changeSet>",
               "<changeSet id=\"b\" author=\"t\"><preConditions onFail=\"CONTINUE\"><columnExists tableName=\"person\" "
                  + "columnName=\"nothing\"/></preConditions><sql>SELECT 1</sql></changeSet>",
               "<changeSet id=\"c\" author=\"t\"><preConditions><and><primaryKeyExists "
                  +
                  "tableName=\"person\" primaryKeyName=\"person_pk\"/><sqlCheck expectedResult=\"0\">SELECT count(*) FROM person</sqlCheck><dbms type=\"postgresql\"/>"
                  +
                  "<rowCount tableName=\"person\" expectedRows=\"0\"/><not><indexExists indexName=\"i\"/></not><not><sequenceExists sequenceName=\"q\"/></not>"
                  +
                  "<not><viewExists viewName=\"v\"/></not><not><foreignKeyConstraintExists foreignKeyTableName=\"person\" foreignKeyName=\"f\"/></not></and></preConditions>"
                  + "<sql>SELECT 2</sql></changeSet>")) +
               place.log());
      add("run_on_change", place -> {
         String first =
            "<changeSet id=\"v\" author=\"t\" runOnChange=\"true\"><createView viewName=\"v\" replaceIfExists=\"true\">SELECT 1 AS a</createView></changeSet>";
         update(place.log(first));
         update(place.log(first.replace("1 AS a", "1 AS a, 2 AS b")));
         return place.log() + place.columns();
      });
      add("run_always", place -> {
         String count = "<changeSet id=\"c\" author=\"t\" runAlways=\"true\"><sql>INSERT INTO pet (id) SELECT count(*) FROM pet</sql></changeSet>";
         update(place.log(pet, count));
         update(place.log(pet, count));
         return Tests.rows("SELECT id FROM " + place.schema + ".pet ORDER BY 1") + place.log();
      });
      add("checksum_changed", place -> {
         update(place.log(person));
         return Tests.state(() -> update(place.log(person.replace("varchar(50)", "varchar(60)"))));
      });
      add("clear_checksums", place -> {
         update(place.log(person));
         Liquibase changed = place.log(person.replace("varchar(50)", "varchar(60)"));
         changed.clearCheckSums();
         return update(changed) + place.log();
      });
      add("fails", place -> Tests.state(() -> update(place.log(person, "<sql>SELECT 1 / 0</sql>", pet))) + place.log() + place.columns());
      add(
         "fail_on_error_false",
         place -> update(place.log("<changeSet id=\"a\" author=\"t\" failOnError=\"false\"><sql>SELECT 1 / 0</sql></changeSet>", pet)) + place.log());
      add("without_transaction",
          place
          -> update(place.log(person, "<changeSet id=\"a\" author=\"t\" runInTransaction=\"false\"><sql>CREATE INDEX CONCURRENTLY i ON person "
                                         + "(name)</sql></changeSet>")) +
                place.indexes());
      add(
         "formatted_sql",
         place
         -> update(place.file(
               "log.sql",
               "--liquibase formatted sql\n\n--changeset t:1\n--comment: first\nCREATE TABLE a (i int);\n"
                  +
                  "--rollback DROP TABLE a;\n\n--changeset t:2 splitStatements:false endDelimiter:/\nCREATE FUNCTION g() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 1; "
                  +
                  "END; $$\n\n--changeset t:3 context:never\nDROP TABLE a;\n--changeset t:4\n--preconditions onFail:MARK_RAN\n--precondition-sql-check expectedResult:1 SELECT 1\nCREATE TABLE b (i int);\n")) +
               place.log());
      add(
         "yaml",
         place
         -> update(place.file(
               "log.yaml",
               "databaseChangeLog:\n- changeSet:\n    id: 1\n    author: t\n    changes:\n    - createTable:\n        tableName: y\n"
                  +
                  "        columns:\n        - column: {name: id, type: int, constraints: {primaryKey: true, nullable: false}}\n        - column: {name: doc, type: jsonb}\n")) +
               place.columns());
      add("json",
          place
          -> update(place.file("log.json",
                               "{\"databaseChangeLog\": [{\"changeSet\": {\"id\": \"1\", \"author\": \"t\", \"changes\": [{\"createSequence\": "
                                  + "{\"sequenceName\": \"js\"}}]}}]}")) +
                place.log());
      add("parameters", place -> {
         Liquibase log =
            place.log("<property name=\"t\" value=\"named\"/>", "<createTable tableName=\"${t}\"><column name=\"${c}\" type=\"int\"/></createTable>");
         log.setChangeLogParameter("c", "given");
         return update(log) + place.columns();
      });
      add("status", place -> {
         update(place.log(person));
         StringBuilder words = new StringBuilder();
         Liquibase more = place.log(person, pet, link);
         for (ChangeSetStatus one : more.getChangeSetStatuses(new Contexts(), new LabelExpression()))
            words.append(one.getChangeSet().getId()).append(' ').append(one.getWillRun()).append('\n');
         for (ChangeSet one : more.listUnrunChangeSets(new Contexts(), new LabelExpression()))
            words.append(one.getId()).append('\n');
         return words.toString();
      });
      add("update_sql", place -> {
         StringWriter out = new StringWriter();
         place.log(person, pet, link).update(new Contexts(), out);
         StringBuilder words = new StringBuilder();
         for (String line : out.toString().split("\n"))
            if (!line.startsWith("--") && !line.contains("databasechangelog")) words.append(line).append('\n');
         return words + place.columns();
      });
      add("update_count", place -> {
         place.log(person, pet, link).update(2, "");
         return place.log();
      });
      add("changelog_sync", place -> {
         Tests.execute("CREATE TABLE " + place.schema + ".person (id int)");
         place.log(person).changeLogSync(new Contexts(), new LabelExpression());
         return update(place.log(person, pet)) + place.log();
      });
      add("locks", place -> {
         Liquibase log = place.log(person);
         update(log);
         Tests.execute("UPDATE " + place.schema + ".databasechangeloglock SET locked = true, lockgranted = now(), lockedby = 'another'");
         int locks = log.listLocks().length;
         log.forceReleaseLocks();
         return locks + " " + log.listLocks().length + Tests.rows("SELECT id, locked FROM " + place.schema + ".databasechangeloglock");
      });
      add("validate", place -> {
         place.log(person, pet).validate();
         return "valid " + Tests.state(() -> {
            place.log("<createTable><column name=\"a\" type=\"int\"/></createTable>").validate();
            return "";
         });
      });
   }

   static void rollbacks() {
      add("rollback_count", place -> {
         Liquibase log = place.log(person, pet, link);
         update(log);
         log.rollback(2, "");
         return place.log() + place.columns();
      });
      add("rollback_tag", place -> {
         update(place.log(person));
         place.log(person).tag("one");
         Liquibase log = place.log(person, pet, "<createIndex tableName=\"pet\" indexName=\"i\"><column name=\"name\"/></createIndex>");
         update(log);
         boolean exists = log.tagExists("one");
         log.rollback("one", "");
         return exists + place.log() + place.columns();
      });
      add("rollback_own", place -> {
         Liquibase log = place.log(
            "<changeSet id=\"a\" author=\"t\"><sql>CREATE TABLE z (a int)</sql><rollback>DROP TABLE z; CREATE TABLE undone (a int)</rollback></changeSet>");
         update(log);
         log.rollback(1, "");
         return place.columns();
      });
      add("rollback_sql", place -> {
         Liquibase log = place.log(person, pet, link, "<addColumn tableName=\"pet\"><column name=\"c\" type=\"int\"/></addColumn>");
         update(log);
         StringWriter out = new StringWriter();
         log.rollback(4, null, new Contexts(), new LabelExpression(), out);
         StringBuilder words = new StringBuilder();
         for (String line : out.toString().split("\n"))
            if (!line.startsWith("--") && !line.contains("databasechangelog")) words.append(line).append('\n');
         return words + place.columns();
      });
      add("update_testing_rollback", place -> {
         place.log(person, pet, link).updateTestingRollback(new Contexts(), new LabelExpression());
         return place.log() + place.constraints();
      });
      add("tag_database", place -> update(place.log(person, "<tagDatabase tag=\"v1\"/>", pet)) + place.log());
      add("drop_all", place -> {
         Liquibase log =
            place.log(person, pet, link, "<createView viewName=\"v\">SELECT 1 AS a</createView>", "<createSequence sequenceName=\"s\"/>");
         update(log);
         log.dropAll();
         return Tests.rows("SELECT relname FROM pg_class WHERE relnamespace = '" + place.schema + "'::regnamespace ORDER BY 1");
      });
   }

   static final String[] rich = {
      "CREATE TABLE author (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, name varchar(40) NOT NULL UNIQUE, born date DEFAULT '1970-01-01', tags text[], doc jsonb)",
      "CREATE TABLE book (id serial PRIMARY KEY, author bigint REFERENCES author ON DELETE SET NULL ON UPDATE CASCADE, title text, price numeric(8,2) DEFAULT 9.99, "
         + "at timestamptz DEFAULT now(), ok boolean DEFAULT true, u uuid, CONSTRAINT positive CHECK (price > 0))",
      "CREATE INDEX by_title ON book (title DESC, price)",
      "CREATE UNIQUE INDEX by_pair ON book (author, lower(title))",
      "CREATE VIEW cheap AS SELECT id, title FROM book WHERE price < 10",
      "CREATE SEQUENCE numbers START 5 INCREMENT 2 MAXVALUE 99 CYCLE",
      "COMMENT ON TABLE book IS 'all books'",
      "COMMENT ON COLUMN book.title IS 'the title'",
      "CREATE TABLE pairs (a int, b varchar(3) DEFAULT 'x', PRIMARY KEY (a, b))"};

   static void make(String schema, String... statements) throws Exception {
      String[] all = new String[statements.length + 1];
      all[0] = "SET search_path = " + schema;
      System.arraycopy(statements, 0, all, 1, statements.length);
      Tests.execute(all);
   }

   static String changeLog(DiffResult result) throws Exception {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      DiffOutputControl control = new DiffOutputControl(false, false, false, null);
      DiffToChangeLog writer = new DiffToChangeLog(result, control);
      writer.setIdRoot("id");
      writer.setChangeSetAuthor("t");
      writer.print(new PrintStream(bytes), new liquibase.serializer.core.yaml.YamlChangeLogSerializer());
      // The order of the change sets is that of hashes of classes.
      TreeSet<String> changeSets = new TreeSet<>();
      for (String one : bytes.toString().split("(?m)^- changeSet:\n"))
         changeSets.add(one.replaceFirst("(?m)^    id: id-.*$", "    id: id-" + Integer.toHexString(one.replaceFirst("id-\\d+", "").hashCode())));
      return String.join("- changeSet:\n", changeSets.descendingSet());
   }

   static void snapshots() {
      add("snapshot", place -> {
         make(place.schema, rich);
         Database database = place.database();
         DatabaseSnapshot snapshot =
            SnapshotGeneratorFactory.getInstance().createSnapshot(new CatalogAndSchema(null, place.schema), database, new SnapshotControl(database));
         StringBuilder words = new StringBuilder();
         for (Class<? extends DatabaseObject> kind :
              snapshot.getSnapshotControl().getTypesToInclude().stream().sorted((a, b) -> a.getName().compareTo(b.getName())).toList()) {
            TreeSet<String> names = new TreeSet<>();
            for (DatabaseObject one : snapshot.get(kind)) {
               TreeSet<String> attributes = new TreeSet<>();
               for (String attribute : one.getAttributes())
                  if (!attribute.equals("objects") && !(one.getAttribute(attribute, Object.class) instanceof DatabaseObject) &&
                      !(one.getAttribute(attribute, Object.class) instanceof Collection))
                     attributes.add(attribute + "=" + one.getAttribute(attribute, Object.class));
               names.add(one + " " + attributes);
            }
            words.append(kind.getSimpleName()).append(": ").append(String.join("\n   ", names)).append('\n');
         }
         return words.toString();
      });
      add("generate_changelog", place -> {
         make(place.schema, rich);
         Database database = place.database();
         CompareControl control = new CompareControl(new CompareControl.SchemaComparison[] {new CompareControl.SchemaComparison(
                                                        new CatalogAndSchema(null, place.schema), new CatalogAndSchema(null, place.schema))},
                                                     (java.util.Set<Class<? extends DatabaseObject>>)null);
         DatabaseSnapshot snapshot =
            SnapshotGeneratorFactory.getInstance().createSnapshot(new CatalogAndSchema(null, place.schema), database, new SnapshotControl(database));
         DiffResult result = DiffGeneratorFactory.getInstance().compare(
            snapshot, new liquibase.snapshot.EmptyDatabaseSnapshot(database, new SnapshotControl(database)), control);
         String written = changeLog(result);
         database.commit(); // its locks
         Tests.execute("DROP SCHEMA " + place.schema + " CASCADE", "CREATE SCHEMA " + place.schema);
         return written + update(place.file("written.yaml", written)) + place.columns() + place.constraints() + place.indexes();
      });
      add("diff", place -> {
         Tests.execute("DROP SCHEMA IF EXISTS lb_second CASCADE", "CREATE SCHEMA lb_second");
         make(place.schema, rich);
         make("lb_second", rich);
         make("lb_second", "ALTER TABLE book ADD extra int", "ALTER TABLE author ALTER name TYPE text", "DROP TABLE pairs", "DROP INDEX by_title",
              "CREATE TABLE fresh (a int PRIMARY KEY)", "ALTER TABLE book ALTER title SET NOT NULL", "CREATE SEQUENCE more");
         Database first = place.database(), other = Place.open("lb_second");
         CompareControl control = new CompareControl(new CompareControl.SchemaComparison[] {new CompareControl.SchemaComparison(
                                                        new CatalogAndSchema(null, place.schema), new CatalogAndSchema(null, "lb_second"))},
                                                     (java.util.Set<Class<? extends DatabaseObject>>)null);
         DiffResult result = DiffGeneratorFactory.getInstance().compare(first, other, control);
         ByteArrayOutputStream bytes = new ByteArrayOutputStream();
         new DiffToReport(result, new PrintStream(bytes)).print();
         String report = bytes.toString().replaceAll("(?m)^.*(jdbc:|Version|Database:|Comparing|Server).*$", "");
         String written = changeLog(result);
         other.close();
         return report + written;
      });
      add("diff_of_equals", place -> {
         Tests.execute("DROP SCHEMA IF EXISTS lb_second CASCADE", "CREATE SCHEMA lb_second");
         make(place.schema, rich);
         make("lb_second", rich);
         Database first = place.database(), other = Place.open("lb_second");
         CompareControl control = new CompareControl(new CompareControl.SchemaComparison[] {new CompareControl.SchemaComparison(
                                                        new CatalogAndSchema(null, place.schema), new CatalogAndSchema(null, "lb_second"))},
                                                     (java.util.Set<Class<? extends DatabaseObject>>)null);
         DiffResult result = DiffGeneratorFactory.getInstance().compare(first, other, control);
         other.close();
         return result.areEqual() + changeLog(result);
      });
   }
}
