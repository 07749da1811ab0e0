import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ResultSet;

/**
 * What schema browsers ask through pgJDBC. Argument: URL. Prints for each question its name, the rows of the answer and the median of
 * the milliseconds that it took, over a few rounds.
 */
public class JdbcMetadata {
   interface Question {
      ResultSet ask(DatabaseMetaData metadata) throws Exception;
   }

   static void time(Connection connection, String name, int rounds, Question question) throws Exception {
      final double[] times = new double[rounds];
      long rows = 0;
      for (int round = 0; round < rounds; ++round) {
         final long begin = System.nanoTime();
         rows = 0;
         try (ResultSet result = question.ask(connection.getMetaData())) {
            while (result.next()) ++rows;
         }
         times[round] = (System.nanoTime() - begin) / 1e6;
      }
      java.util.Arrays.sort(times);
      System.out.printf("%s %d %.3f%n", name, rows, times[rounds / 2]);
   }

   public static void main(String[] arguments) throws Exception {
      try (Connection connection = DriverManager.getConnection(arguments[0])) {
         time(connection, "getTables", 5, m -> m.getTables(null, "public", null, new String[] {"TABLE"}));
         time(connection, "getColumns-of-one", 9, m -> m.getColumns(null, "public", "t77", null));
         time(connection, "getColumns", 3, m -> m.getColumns(null, "public", null, null));
         time(connection, "getPrimaryKeys-of-one", 9, m -> m.getPrimaryKeys(null, "public", "t77"));
         time(connection, "getIndexInfo-of-one", 9, m -> m.getIndexInfo(null, "public", "t77", false, false));
         time(connection, "getImportedKeys-of-one", 9, m -> m.getImportedKeys(null, "public", "t77"));
      }
   }
}
