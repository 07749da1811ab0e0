#pragma once
#include <vector>

#include "catalog/object/publication.hpp"
#include "engine/query/command_context.hpp"

struct List;
struct Node;
struct PublicationTable;

// The objects that CREATE and ALTER PUBLICATION name.

namespace ouzel::engine {

/// A table of a statement, and what the statement says of it. Heirs of a table have what it has.
struct NamedTable {
   catalog::RelationPtr table;
   const ::Node* where;      ///< null: none
   const ::RangeVar* name;   ///< before the filter's text
   const ::List* columnList; ///< null: none
};

/// The lists of tables and schemas of a statement, with checks in PostgreSQL's order.
class PublishedObjects {
public:
   /// Finds the schemas. Throws 3F000.
   PublishedObjects(CommandContext& context, const ::List* objects);

   bool hasTables() const { return !tables_.empty(); }
   const std::vector<Oid>& schemas() const { return schemas_; }
   /// Finds and locks the tables and their heirs. Throws 42P01, 42809, and 42710 for tables that come twice with a
   /// filter or a column list.
   std::vector<NamedTable> openTables() const;
   /// The tables as a publication keeps them, without OIDs. `hasSchemas`: the publication has schemas. Throws 0A000,
   /// 22023, 42501, 42703, 42710, 42P10.
   std::vector<catalog::PublicationTable> read(const std::vector<NamedTable>& tables, const std::string& publication,
                                               bool hasSchemas, bool viaRoot) const;
   /// Throws 22023 for a schema that no publication may have.
   static void requirePublishable(SessionCore& core, Oid schema);

private:
   CommandContext& context_;
   std::vector<const ::PublicationTable*> tables_;
   std::vector<Oid> schemas_;
};

/// A filter as the catalog keeps it.
struct StoredFilter {
   std::string text;
   std::vector<int16_t> reads; ///< attnums, ascending
};
/// Throws 0A000 for what PostgreSQL does not allow in filters: whatever is not built in, or not immutable.
StoredFilter storedFilter(CommandContext& context, const NamedTable& named);

} // namespace ouzel::engine
