import java.io.ByteArrayOutputStream;
import java.io.StringReader;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.Array;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;
import org.postgresql.util.PGInterval;
import org.postgresql.util.PSQLException;

/** What programs in Java do through pgJDBC. Arguments: host and port. Prints "N passed, N failed". */
public class JdbcClient {
   interface Test {
      void run(Connection c) throws Exception;
   }

   static String url;
   static int passed, failed;

   static void check(boolean condition, Object seen) {
      if (!condition) throw new AssertionError(String.valueOf(seen));
   }
   static void equal(Object seen, Object wanted) {
      check(wanted == null ? seen == null : wanted.equals(seen), "got " + seen + ", wanted " + wanted);
   }

   static void test(String name, String more, Test body) {
      try (Connection c = DriverManager.getConnection(url + more)) {
         body.run(c);
         ++passed;
      } catch (Throwable error) {
         ++failed;
         StackTraceElement at = null;
         for (StackTraceElement element : error.getStackTrace())
            if (at == null && element.getClassName().startsWith("JdbcClient") && !element.getMethodName().equals("check") &&
                !element.getMethodName().equals("equal"))
               at = element;
         System.out.println(name + (at == null ? "" : ":" + at.getLineNumber()) + ": " + error);
      }
   }

   static void run(Connection c, String sql) throws SQLException {
      try (Statement s = c.createStatement()) {
         s.execute(sql);
      }
   }
   static String one(Connection c, String sql) throws SQLException {
      try (Statement s = c.createStatement(); ResultSet r = s.executeQuery(sql)) {
         r.next();
         return r.getString(1);
      }
   }
   /** All rows, the named columns joined with "|". */
   static List<String> rows(ResultSet r, String... columns) throws SQLException {
      List<String> out = new ArrayList<>();
      while (r.next()) {
         List<String> cells = new ArrayList<>();
         for (String column : columns) cells.add(r.getString(column));
         out.add(String.join("|", cells.stream().map(String::valueOf).toList()));
      }
      r.close();
      return out;
   }

   static final String TYPES = "a_bool boolean, a_int2 int2, a_int4 int4, a_int8 int8, a_float4 float4, a_float8 float8, " +
         "a_numeric numeric(20,4), a_text text, a_varchar varchar(40), a_char char(4), a_bytea bytea, a_date date, a_time time, " +
         "a_timestamp timestamp, a_timestamptz timestamptz, a_interval interval, a_uuid uuid";

   static void types(Connection c) throws Exception {
      run(c, "DROP TABLE IF EXISTS jdbc_types");
      run(c, "CREATE TABLE jdbc_types (" + TYPES + ")");
      UUID uuid = UUID.fromString("01234567-89ab-cdef-0123-456789abcdef");
      OffsetDateTime instant = OffsetDateTime.of(2024, 7, 1, 12, 0, 0, 5000, ZoneOffset.UTC);
      try (PreparedStatement p = c.prepareStatement("INSERT INTO jdbc_types VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")) {
         p.setBoolean(1, true);
         p.setShort(2, (short) -7);
         p.setInt(3, Integer.MAX_VALUE);
         p.setLong(4, Long.MIN_VALUE);
         p.setFloat(5, 1.5f);
         p.setDouble(6, 0.1);
         p.setBigDecimal(7, new BigDecimal("-1234567890123456.7890"));
         p.setString(8, "Grüße, 世界 \\ '");
         p.setString(9, "x\ty");
         p.setString(10, "ab");
         p.setBytes(11, new byte[] {0, 1, (byte) 255});
         p.setObject(12, LocalDate.of(1999, 12, 31));
         p.setObject(13, LocalTime.of(23, 59, 59, 999999000));
         p.setObject(14, LocalDateTime.of(2024, 2, 29, 12, 0, 0, 5000));
         p.setObject(15, instant);
         p.setObject(16, new PGInterval(0, 0, 3, 4, 5, 6.5));
         p.setObject(17, uuid);
         for (int i = 0; i < 8; ++i) equal(p.executeUpdate(), 1); // past prepareThreshold: named and binary
         for (int i = 1; i <= 17; ++i) p.setNull(i, Types.NULL);
         equal(p.executeUpdate(), 1);
      }
      try (PreparedStatement p = c.prepareStatement("SELECT * FROM jdbc_types WHERE a_int2 = ? OR (a_int2 IS NULL AND ? < 0)")) {
         for (int i = 0; i < 8; ++i) {
            p.setInt(1, -7);
            p.setInt(2, 1);
            ResultSet r = p.executeQuery();
            int count = 0;
            for (; r.next(); ++count) {
               equal(r.getBoolean(1), true);
               equal(r.getShort(2), (short) -7);
               equal(r.getInt(3), Integer.MAX_VALUE);
               equal(r.getLong(4), Long.MIN_VALUE);
               equal(r.getFloat(5), 1.5f);
               equal(r.getDouble(6), 0.1);
               equal(r.getBigDecimal(7), new BigDecimal("-1234567890123456.7890"));
               equal(r.getString(8), "Grüße, 世界 \\ '");
               equal(r.getString(9), "x\ty");
               equal(r.getString(10), "ab  ");
               check(Arrays.equals(r.getBytes(11), new byte[] {0, 1, (byte) 255}), "bytea");
               equal(r.getObject(12, LocalDate.class), LocalDate.of(1999, 12, 31));
               equal(r.getObject(13, LocalTime.class), LocalTime.of(23, 59, 59, 999999000));
               equal(r.getObject(14, LocalDateTime.class), LocalDateTime.of(2024, 2, 29, 12, 0, 0, 5000));
               equal(r.getObject(15, OffsetDateTime.class), instant);
               equal(((PGInterval) r.getObject(16)).getDays(), 3);
               equal(r.getObject(17), uuid);
               equal(r.getDate(12), Date.valueOf("1999-12-31"));
               equal(r.getTimestamp(14), Timestamp.valueOf("2024-02-29 12:00:00.000005"));
            }
            equal(count, 8);
         }
         ResultSetMetaData m = p.getMetaData();
         equal(m.getColumnCount(), 17);
         List<String> names = new ArrayList<>();
         for (int i = 1; i <= 17; ++i) names.add(m.getColumnTypeName(i));
         equal(String.join(",", names), "bool,int2,int4,int8,float4,float8,numeric,text,varchar,bpchar,bytea,date,time,timestamp,timestamptz,interval,uuid");
         equal(m.getTableName(1), "jdbc_types");
         equal(m.getPrecision(7), 20);
         equal(m.getScale(7), 4);
         equal(m.isNullable(1), ResultSetMetaData.columnNullable);
         equal(m.isAutoIncrement(3), false);
         equal(p.getParameterMetaData().getParameterTypeName(1), "int4");
      }
      run(c, "DROP TABLE jdbc_types");
   }

   static void metadata(Connection c) throws Exception {
      run(c, "DROP SCHEMA IF EXISTS jdbc_shop CASCADE; CREATE SCHEMA jdbc_shop");
      run(c, "CREATE TABLE jdbc_shop.customer (id int PRIMARY KEY, name varchar(40) NOT NULL, balance numeric(12,2) DEFAULT 0.00, born date)");
      run(c, "CREATE TABLE jdbc_shop.line (a int, b int, c float8, PRIMARY KEY (b, a))");
      run(c, "CREATE VIEW jdbc_shop.rich AS SELECT id, name FROM jdbc_shop.customer WHERE balance > 1000");
      run(c, "COMMENT ON TABLE jdbc_shop.customer IS 'who buys'");
      run(c, "COMMENT ON COLUMN jdbc_shop.customer.name IS 'as on the bill'");
      DatabaseMetaData m = c.getMetaData();
      equal(m.getDatabaseProductName(), "PostgreSQL");
      equal(m.getDatabaseMajorVersion(), 15);
      equal(rows(m.getTables(null, "jdbc_shop", "%", new String[] {"TABLE", "VIEW"}), "TABLE_SCHEM", "TABLE_NAME", "TABLE_TYPE", "REMARKS"),
            List.of("jdbc_shop|customer|TABLE|who buys", "jdbc_shop|line|TABLE|null", "jdbc_shop|rich|VIEW|null"));
      check(rows(m.getTables(null, "pg_catalog", "pg_cl%", null), "TABLE_NAME", "TABLE_TYPE").contains("pg_class|SYSTEM TABLE"), "pg_class");
      equal(rows(m.getColumns(null, "jdbc_shop", "customer", "%"), "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "COLUMN_SIZE", "DECIMAL_DIGITS",
                 "NULLABLE", "COLUMN_DEF", "REMARKS", "ORDINAL_POSITION", "IS_NULLABLE", "IS_AUTOINCREMENT"),
            List.of("id|4|int4|10|0|0|null|null|1|NO|NO", "name|12|varchar|40|0|0|null|as on the bill|2|NO|NO",
                    "balance|2|numeric|12|2|1|0.00|null|3|YES|NO", "born|91|date|13|0|1|null|null|4|YES|NO"));
      equal(rows(m.getPrimaryKeys(null, "jdbc_shop", "line"), "COLUMN_NAME", "KEY_SEQ", "PK_NAME"), List.of("b|1|line_pkey", "a|2|line_pkey"));
      equal(rows(m.getIndexInfo(null, "jdbc_shop", "line", false, true), "INDEX_NAME", "NON_UNIQUE", "COLUMN_NAME", "ORDINAL_POSITION"),
            List.of("line_pkey|f|b|1", "line_pkey|f|a|2"));
      equal(rows(m.getImportedKeys(null, "jdbc_shop", "line"), "FK_NAME"), List.of());
      equal(rows(m.getExportedKeys(null, "jdbc_shop", "line"), "FK_NAME"), List.of());
      equal(rows(m.getBestRowIdentifier(null, "jdbc_shop", "customer", DatabaseMetaData.bestRowSession, false), "COLUMN_NAME", "TYPE_NAME"),
            List.of("id|int4"));
      check(rows(m.getTypeInfo(), "TYPE_NAME", "DATA_TYPE").containsAll(List.of("int4|4", "text|12", "numeric|2", "timestamptz|93", "uuid|1111")), "types");
      check(rows(m.getSchemas(), "TABLE_SCHEM").containsAll(List.of("jdbc_shop", "pg_catalog", "public", "information_schema")), "schemas");
      equal(rows(m.getCatalogs(), "TABLE_CAT").contains("postgres"), true);
      check(rows(m.getTableTypes(), "TABLE_TYPE").contains("TABLE"), "table types");
      check(rows(m.getFunctions(null, "pg_catalog", "lower"), "FUNCTION_NAME").contains("lower"), "functions");
      check(!rows(m.getFunctionColumns(null, "pg_catalog", "substr", "%"), "COLUMN_NAME").isEmpty(), "function columns");
      rows(m.getProcedures(null, null, "%"), "PROCEDURE_NAME");
      rows(m.getTablePrivileges(null, "jdbc_shop", "customer"), "PRIVILEGE");
      rows(m.getColumnPrivileges(null, "jdbc_shop", "customer", "%"), "PRIVILEGE");
      rows(m.getUDTs(null, "jdbc_shop", "%", null), "TYPE_NAME");
      rows(m.getVersionColumns(null, "jdbc_shop", "customer"), "COLUMN_NAME");
      rows(m.getClientInfoProperties(), "NAME");
      equal(m.getMaxColumnNameLength(), 63);
      check(m.getSQLKeywords().length() > 100, "keywords");
      equal(c.getSchema(), "public");
      c.setSchema("jdbc_shop");
      equal(one(c, "SELECT count(*) FROM customer"), "0");
      run(c, "DROP SCHEMA jdbc_shop CASCADE");
   }

   static void batches(Connection c) throws Exception {
      run(c, "DROP TABLE IF EXISTS jdbc_batch; CREATE TABLE jdbc_batch (a int PRIMARY KEY, b text)");
      c.setAutoCommit(false);
      try (PreparedStatement p = c.prepareStatement("INSERT INTO jdbc_batch VALUES (?, ?)")) {
         for (int i = 0; i < 2000; ++i) {
            p.setInt(1, i);
            p.setString(2, "row " + i);
            p.addBatch();
         }
         int[] counts = p.executeBatch();
         equal(counts.length, 2000);
      }
      c.commit();
      equal(one(c, "SELECT count(*) FROM jdbc_batch"), "2000");
      try (Statement s = c.createStatement()) {
         s.addBatch("INSERT INTO jdbc_batch VALUES (5000, 'x')");
         s.addBatch("INSERT INTO jdbc_batch VALUES (0, 'twice')");
         s.addBatch("INSERT INTO jdbc_batch VALUES (5001, 'y')");
         try {
            s.executeBatch();
            throw new AssertionError("no error");
         } catch (BatchUpdateException error) {
            equal(error.getSQLState(), "23505");
         }
      }
      c.rollback();
      equal(one(c, "SELECT count(*) FROM jdbc_batch"), "2000");
      Savepoint point = c.setSavepoint("here");
      run(c, "DELETE FROM jdbc_batch");
      c.rollback(point);
      equal(one(c, "SELECT count(*) FROM jdbc_batch"), "2000");
      c.commit();
      try (PreparedStatement p = c.prepareStatement("INSERT INTO jdbc_batch VALUES (?, ?)", new String[] {"a"})) {
         p.setInt(1, 7000);
         p.setString(2, "keys");
         p.executeUpdate();
         ResultSet keys = p.getGeneratedKeys();
         check(keys.next(), "keys");
         equal(keys.getInt("a"), 7000);
      }
      c.commit();
      run(c, "DROP TABLE jdbc_batch");
      c.commit();
   }

   static void cursors(Connection c) throws Exception {
      c.setAutoCommit(false);
      for (boolean prepared : new boolean[] {false, true}) {
         String sql = "SELECT g AS a, 'text ' || g AS b FROM generate_series(1, 5000) g ORDER BY g";
         try (Statement s = prepared ? c.prepareStatement(sql) : c.createStatement()) {
            s.setFetchSize(100);
            for (int round = 0; round < 7; ++round) {
               ResultSet r = prepared ? ((PreparedStatement) s).executeQuery() : s.executeQuery(sql);
               int expected = 0;
               while (r.next()) {
                  equal(r.getInt("a"), ++expected);
                  equal(r.getString("b"), "text " + expected);
               }
               equal(expected, 5000);
            }
            ResultSet left = prepared ? ((PreparedStatement) s).executeQuery() : s.executeQuery(sql);
            left.next();
            left.close(); // portal closed in the middle
         }
      }
      c.commit();
      try (PreparedStatement s = c.prepareStatement("SELECT g FROM generate_series(1, 100) g")) {
         s.setMaxRows(7);
         int count = 0;
         for (ResultSet r = s.executeQuery(); r.next();) ++count;
         equal(count, 7);
      }
      c.commit();
      try (Statement s = c.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY)) {
         ResultSet r = s.executeQuery("SELECT g FROM generate_series(1, 10) g");
         r.last();
         equal(r.getRow(), 10);
      }
      c.commit();
   }

   static void copies(Connection c) throws Exception {
      run(c, "DROP TABLE IF EXISTS jdbc_copy; CREATE TABLE jdbc_copy (a int, b text)");
      CopyManager copy = c.unwrap(PGConnection.class).getCopyAPI();
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < 20000; ++i) text.append(i).append(",\"row, ").append(i).append("\"\n");
      equal(copy.copyIn("COPY jdbc_copy FROM STDIN (FORMAT csv)", new StringReader(text.toString())), 20000L);
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      equal(copy.copyOut("COPY (SELECT * FROM jdbc_copy ORDER BY a) TO STDOUT (FORMAT csv)", out), 20000L);
      equal(out.toString(StandardCharsets.UTF_8).replace("\"", ""), text.toString().replace("\"", ""));
      try {
         copy.copyIn("COPY jdbc_copy FROM STDIN", new StringReader("1\tx\nno number\ty\n"));
         throw new AssertionError("no error");
      } catch (PSQLException error) {
         equal(error.getSQLState(), "22P02");
         equal(error.getServerErrorMessage().getWhere(), "COPY jdbc_copy, line 2, column a: \"no number\"");
      }
      equal(one(c, "SELECT count(*) FROM jdbc_copy"), "20000");
      run(c, "DROP TABLE jdbc_copy");
   }

   static void errors(Connection c) throws Exception {
      String[][] cases = {{"SELEC 1", "42601", "1"}, {"SELECT * FROM nosuch", "42P01", "15"}, {"SELECT 1/0", "22012", "0"}, {"SELECT nosuch(1)", "42883", "8"}};
      for (String[] one : cases) {
         try {
            run(c, one[0]);
            throw new AssertionError(one[0]);
         } catch (PSQLException error) {
            equal(error.getSQLState(), one[1]);
            equal(String.valueOf(error.getServerErrorMessage().getPosition()), one[2]);
         }
      }
      try (Statement s = c.createStatement()) {
         s.setQueryTimeout(1);
         s.executeQuery("SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b");
         throw new AssertionError("not cancelled");
      } catch (PSQLException error) {
         equal(error.getSQLState(), "57014");
      }
      equal(c.isValid(5), true);
      c.setReadOnly(true);
      c.setAutoCommit(false);
      try {
         run(c, "CREATE TABLE jdbc_never (a int)");
         throw new AssertionError("written");
      } catch (PSQLException error) {
         equal(error.getSQLState(), "25006");
      }
      c.rollback();
      c.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      equal(one(c, "SHOW transaction_isolation"), "repeatable read");
      c.rollback();
   }

   static void arrays(Connection c) throws Exception {
      try (PreparedStatement p = c.prepareStatement("SELECT count(*) FROM generate_series(1, 100) g WHERE g = ANY (?)")) {
         for (int i = 0; i < 8; ++i) {
            p.setArray(1, c.createArrayOf("int4", new Integer[] {1, 50, 1000}));
            ResultSet r = p.executeQuery();
            r.next();
            equal(r.getInt(1), 2);
         }
      }
      try (PreparedStatement p = c.prepareStatement("SELECT ARRAY['a', NULL, 'c d']::text[], ARRAY[1, 2]::int8[]")) {
         for (int i = 0; i < 8; ++i) {
            ResultSet r = p.executeQuery();
            r.next();
            Array array = r.getArray(1);
            check(Arrays.equals((Object[]) array.getArray(), new String[] {"a", null, "c d"}), array);
            check(Arrays.equals((Object[]) r.getArray(2).getArray(), new Long[] {1L, 2L}), r.getArray(2));
         }
      }
   }

   public static void main(String[] arguments) {
      url = "jdbc:postgresql://" + arguments[0] + ":" + arguments[1] + "/postgres?user=postgres";
      for (String more : new String[] {"", "&prepareThreshold=-1", "&preferQueryMode=simple", "&preferQueryMode=extendedForPrepared"}) {
         test("types" + more, more, JdbcClient::types);
         if (!more.contains("simple")) test("cursors" + more, more, JdbcClient::cursors);
         test("batches" + more, more, JdbcClient::batches);
         test("errors" + more, more, JdbcClient::errors);
         test("arrays" + more, more, JdbcClient::arrays);
      }
      test("batches rewritten", "&reWriteBatchedInserts=true", JdbcClient::batches);
      test("metadata", "", JdbcClient::metadata);
      test("copies", "", JdbcClient::copies);
      System.out.println(passed + " passed, " + failed + " failed");
      System.exit(failed == 0 ? 0 : 1);
   }
}
