import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;

/**
 * Reads all rows of a query through pgJDBC. Arguments: URL, query, fetch size. Fetch size 0: with autocommit, the whole result at once;
 * otherwise in a transaction, so many rows at a time. Prints the rows, a sum over all values that other readers of the same rows
 * print too, and the seconds it took.
 */
public class JdbcReader {
   public static void main(String[] arguments) throws Exception {
      final int fetchSize = Integer.parseInt(arguments[2]);
      try (Connection connection = DriverManager.getConnection(arguments[0]); Statement statement = connection.createStatement()) {
         connection.setAutoCommit(fetchSize == 0);
         statement.setFetchSize(fetchSize);
         final long begin = System.nanoTime();
         long rows = 0, sum = 0;
         try (ResultSet result = statement.executeQuery(arguments[1])) {
            for (; result.next(); ++rows) {
               sum += result.getInt(1) + result.getLong(2);
               sum += result.getString(3).length() + result.getString(4).length() + result.getString(5).length();
            }
         }
         if (fetchSize != 0) connection.commit();
         System.out.printf("%d %d %.4f%n", rows, sum, (System.nanoTime() - begin) / 1e9);
      }
   }
}
