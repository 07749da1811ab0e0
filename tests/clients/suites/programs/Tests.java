import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs named tests. A test tells in words what it has seen; java.py compares the words that two servers give. A line for
 * each: its name, "ok" or "error", its words.
 */
final class Tests {
   interface Body {
      String run() throws Throwable;
   }

   static String url, user;
   private static final Map<String, Body> all = new LinkedHashMap<>();

   static void add(String name, Body body) {
      if (all.put(name, body) != null) throw new IllegalArgumentException("two tests have the name " + name);
   }

   /** Arguments: host, port, database, user, and the names of the tests to run, none: all. */
   static void place(String[] args) {
      url = "jdbc:postgresql://" + args[0] + ":" + args[1] + "/" + args[2] + "?options=-c%20lock_timeout=20s"; // rather than wait for ever
      user = args[3];
   }

   static void run(String[] args) {
      for (Map.Entry<String, Body> test : all.entrySet()) {
         if (args.length > 4 && !List.of(args).subList(4, args.length).contains(test.getKey())) continue;
         String outcome = "ok", words;
         try {
            words = test.getValue().run();
         } catch (Throwable error) {
            outcome = "error";
            words = causes(error);
         }
         words = words.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t");
         System.out.println("@" + test.getKey() + "\t" + outcome + "\t" + words);
      }
      System.out.flush();
      Runtime.getRuntime().halt(0); // threads that tools leave behind must not keep the program
   }

   static String causes(Throwable error) {
      StringBuilder words = new StringBuilder();
      for (Throwable one = error; one != null; one = one.getCause()) {
         words.append(one.getClass().getSimpleName());
         if (one instanceof SQLException) words.append(' ').append(((SQLException)one).getSQLState());
         words.append(": ").append(one.getMessage()).append('\n');
      }
      return words.toString();
   }

   /** The SQLSTATE that the body fails with, "none" if it does not fail. */
   static String state(Body body) throws Throwable {
      try {
         body.run();
         return "none";
      } catch (Throwable error) {
         String state = error.getClass().getSimpleName();
         for (Throwable one = error; one != null; one = one.getCause())
            if (one instanceof SQLException && ((SQLException)one).getSQLState() != null) return ((SQLException)one).getSQLState();
         return state;
      }
   }

   static Connection connect() throws SQLException { return DriverManager.getConnection(url, user, ""); }

   static void execute(String... statements) throws SQLException {
      try (Connection connection = connect(); Statement statement = connection.createStatement()) {
         for (String sql : statements)
            statement.execute(sql);
      }
   }

   /** The rows of a query, a line for each. */
   static String rows(String sql) throws SQLException {
      try (Connection connection = connect()) {
         return rows(connection, sql);
      }
   }

   static String rows(Connection connection, String sql) throws SQLException {
      try (Statement statement = connection.createStatement(); ResultSet result = statement.executeQuery(sql)) {
         return rows(result);
      }
   }

   static String rows(ResultSet result) throws SQLException {
      StringBuilder words = new StringBuilder();
      ResultSetMetaData columns = result.getMetaData();
      while (result.next()) {
         List<String> values = new ArrayList<>();
         for (int i = 1; i <= columns.getColumnCount(); ++i)
            values.add(result.getString(i));
         words.append(String.join("|", values.stream().map(String::valueOf).toList())).append('\n');
      }
      return words.toString();
   }
}
