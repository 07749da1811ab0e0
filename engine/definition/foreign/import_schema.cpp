#include <algorithm>

#include "catalog/object/function.hpp"
#include "engine/core/privileges.hpp"
#include "engine/core/session_services.hpp"
#include "engine/definition/foreign/foreign.hpp"
#include "engine/definition/foreign/foreign_table.hpp"
#include "engine/remote/remote_servers.hpp"
#include "sql/parse/node_access.hpp"

// IMPORT FOREIGN SCHEMA: asks the other server for the tables of a schema, and makes a foreign table for each.

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::stringOf;

namespace {

/// A string constant that means the same under every setting of standard_conforming_strings.
std::string literal(std::string_view text) {
   std::string quoted = text.find('\\') == std::string_view::npos ? "'" : "E'";
   for (const char c : text) {
      if (c == '\'' || c == '\\') quoted += c;
      quoted += c;
   }
   return quoted + "'";
}

/// What the statement's OPTIONS say of columns.
struct Wishes {
   bool collations = true, defaults = false, generated = true, notNull = true;
};

bool booleanOf(const ::DefElem& option) {
   std::string word(stringOf(option.arg));
   std::transform(word.begin(), word.end(), word.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
   if (word == "true" || word == "on") return true;
   if (word == "false" || word == "off") return false;
   throw SqlError(sqlstate::syntaxError, std::string(option.defname) + " requires a Boolean value");
}

Wishes wishesOf(const ::ImportForeignSchemaStmt& statement) {
   Wishes wishes;
   for (const ::DefElem* option : ListOf<::DefElem>(statement.options)) {
      const std::string_view name = option->defname;
      bool* wish = name == "import_collate"     ? &wishes.collations
                   : name == "import_default"   ? &wishes.defaults
                   : name == "import_generated" ? &wishes.generated
                   : name == "import_not_null"  ? &wishes.notNull
                                                : nullptr;
      if (!wish) throw SqlError(sqlstate::fdwInvalidOptionName, "invalid option \"" + std::string(name) + "\"");
      *wish = booleanOf(*option);
   }
   return wishes;
}

/// The columns of all tables that the statement means, in order; a table without columns has one row of NULLs.
std::string columnsQuery(const ::ImportForeignSchemaStmt& statement) {
   const bool isLimited = statement.list_type == FDW_IMPORT_SCHEMA_LIMIT_TO;
   std::string names;
   for (const ::RangeVar* table : ListOf<::RangeVar>(statement.table_list))
      names += (names.empty() ? "" : ", ") + literal(table->relname);
   std::string query =
       "SELECT relname, attname, format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid), "
       "attgenerated, collname, collnsp.nspname "
       "FROM pg_class c JOIN pg_namespace n ON relnamespace = n.oid "
       "LEFT JOIN pg_attribute a ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped "
       "LEFT JOIN pg_attrdef ad ON adrelid = c.oid AND adnum = attnum "
       "LEFT JOIN pg_collation coll ON coll.oid = attcollation "
       "LEFT JOIN pg_namespace collnsp ON collnsp.oid = collnamespace "
       "WHERE c.relkind IN ('r', 'v', 'f', 'm', 'p') AND n.nspname = " +
       literal(statement.remote_schema);
   if (!isLimited) query += " AND NOT c.relispartition"; // the whole table has its rows
   if (!names.empty()) query += std::string(" AND c.relname ") + (isLimited ? "IN (" : "NOT IN (") + names + ")";
   return query + " ORDER BY c.relname, a.attnum";
}

using RemoteRow = std::vector<std::optional<std::string>>;

/// A column in CREATE FOREIGN TABLE.
std::string columnText(const RemoteRow& row, const Wishes& wishes) {
   std::string text = catalog::quoteIdentifier(*row[1]) + " " + row[2].value_or("") + " OPTIONS (column_name " +
                      literal(*row[1]) + ")";
   if (wishes.collations && row[6] && row[7])
      text += " COLLATE " + catalog::quoteIdentifier(*row[7]) + "." + catalog::quoteIdentifier(*row[6]);
   const bool isGenerated = row[5] == "s";
   if (wishes.generated && isGenerated && row[4]) text += " GENERATED ALWAYS AS (" + *row[4] + ") STORED";
   if (wishes.defaults && !isGenerated && row[4]) text += " DEFAULT " + *row[4];
   if (wishes.notNull && row[3] == "t") text += " NOT NULL";
   return text;
}

/// Runs the text of a CREATE FOREIGN TABLE.
void makeForeignTable(CommandContext& context, const std::string& name, const std::string& text) {
   try {
      const auto script = sql::ParsedScript::parse(text);
      const sql::ParsedStatement& statement = script.statements()[0];
      CommandContext inner{context.core, script, statement, {}, context.sink};
      createForeignTable(inner, *as<::CreateForeignTableStmt>(statement.node));
   } catch (SqlError& error) {
      if (error.position() > 0) {
         error.setInternal(text, error.position());
         error.setPosition(0);
      }
      error.addContext("importing foreign table \"" + name + "\"");
      throw;
   }
}

} // namespace

std::string importForeignSchema(CommandContext& context, const ::ImportForeignSchemaStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "IMPORT FOREIGN SCHEMA");
   const auto server = catalog::requireServer(core.transaction.catalog(), statement.server_name);
   requireUsage(core, *server);
   const Oid schema = catalog::requireSchema(core.transaction.catalog(), core.searchPath(), statement.local_schema);
   if (const auto found = core.transaction.catalog().schema(schema))
      requirePrivilege(core, *found, catalog::privilege::create);
   const catalog::ForeignWrapperPtr wrapper = core.transaction.catalog().wrapper(server->wrapper);
   if (wrapper->handler == invalidOid) catalog::throwNoHandler(wrapper->name);
   const Wishes wishes = wishesOf(statement);
   const auto link = core.services.remoteServers().link(*server, core.role());
   if (link->query("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = " + literal(statement.remote_schema)).empty())
      throw SqlError(sqlstate::fdwSchemaNotFound, "schema \"" + std::string(statement.remote_schema) +
                                                      "\" is not present on foreign server \"" + server->name + "\"");
   const auto rows = link->query(columnsQuery(statement));
   for (size_t at = 0; at < rows.size();) {
      const std::string name = *rows[at][0];
      std::string columns;
      for (; at < rows.size() && rows[at][0] == name; ++at)
         if (rows[at][1]) columns += (columns.empty() ? "" : ", ") + columnText(rows[at], wishes);
      makeForeignTable(context, name,
                       "CREATE FOREIGN TABLE " + catalog::quoteIdentifier(statement.local_schema) + "." +
                           catalog::quoteIdentifier(name) + " (" + columns + ") SERVER " +
                           catalog::quoteIdentifier(server->name) + " OPTIONS (schema_name " +
                           literal(statement.remote_schema) + ", table_name " + literal(name) + ")");
   }
   return "IMPORT FOREIGN SCHEMA";
}

} // namespace ouzel::engine
