#include "catalog/object/search_path.hpp"
#include "sql/deparse/writer.hpp"

// INSERT, UPDATE and DELETE.

namespace ouzel::sql::deparse {

using catalog::quoteIdentifier;

namespace {

constexpr int standardIndent = 8;

} // namespace

void Writer::returning(Query& query) {
   if (query.returning.empty()) return;
   keyword(" RETURNING", -standardIndent, standardIndent, 1);
   targets(query.returning, nullptr, true);
}

void Writer::insert(Query& query) {
   with(query);
   indent_ += standardIndent;
   const Source& target = *query.target;
   out_ += " INSERT INTO " + relationName(*target.relation);
   if (!target.alias.empty()) out_ += " AS " + quoteIdentifier(target.alias);
   const char* separator = " (";
   for (const Written& column : query.written)
      out_ += std::exchange(separator, ", ") + quoteIdentifier(column.name);
   out_ += query.written.empty() ? " " : ") ";
   out_ += query.overriding;
   if (query.selectSource) {
      const auto outer = std::exchange(open_, {}); // it has OLD and NEW itself
      this->query(*query.selectSource, nullptr, false, indent_);
      open_ = outer;
   } else if (query.rows.size() > 1) {
      values(query.rows);
   } else if (query.rows.size() == 1) {
      keyword("VALUES (", -standardIndent, standardIndent, 2);
      for (size_t i = 0; i < query.rows[0].size(); ++i) {
         if (i > 0) out_ += ", ";
         topLevel(*query.rows[0][i], false);
      }
      out_ += ')';
   } else {
      out_ += "DEFAULT VALUES";
   }
   returning(query);
}

void Writer::update(Query& query) {
   with(query);
   beginStatement();
   targetTable(query, "UPDATE ");
   const char* separator = " SET ";
   for (const Written& column : query.written) {
      out_ += std::exchange(separator, ", ") + quoteIdentifier(column.name) + " = ";
      term(*column.value, false);
   }
   from(query, " FROM ");
   conditionAndReturning(query);
}

void Writer::remove(Query& query) {
   with(query);
   beginStatement();
   targetTable(query, "DELETE FROM ");
   from(query, " USING ");
   conditionAndReturning(query);
}

void Writer::targetTable(Query& query, std::string_view command) {
   const Source& target = *query.target;
   out_ += command;
   if (target.isOnly) out_ += "ONLY ";
   out_ += relationName(*target.relation);
   // Also where another source has the name.
   if (!target.alias.empty() || target.shownName != target.relation->name)
      out_ += " AS " + quoteIdentifier(target.shownName);
}

void Writer::conditionAndReturning(Query& query) {
   if (query.where) {
      keyword(" WHERE ", -standardIndent, standardIndent, 1);
      term(*query.where, false);
   }
   returning(query);
}

} // namespace ouzel::sql::deparse
