#include "sql/bind/state/scope.hpp"

#include "catalog/object/objects.hpp"
#include "common/error/sql_error.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::sql {

std::string_view clauseName(Clause clause) {
   switch (clause) {
   case Clause::None: return "expression";
   case Clause::Select: return "SELECT";
   case Clause::Where: return "WHERE";
   case Clause::Having: return "HAVING";
   case Clause::Filter: return "FILTER";
   case Clause::JoinOn: return "JOIN conditions";
   case Clause::FromSubquery: return "FROM clause of their own query level";
   case Clause::FromFunction: return "functions in FROM";
   case Clause::WindowPartition:
   case Clause::WindowOrder: return "window definitions";
   case Clause::WindowFrame: return "window RANGE";
   case Clause::GroupBy: return "GROUP BY";
   case Clause::OrderBy: return "ORDER BY";
   case Clause::DistinctOn: return "DISTINCT ON";
   case Clause::Limit: return "LIMIT";
   case Clause::Offset: return "OFFSET";
   case Clause::Values:
   case Clause::InsertValues: return "VALUES";
   case Clause::UpdateSource: return "UPDATE";
   case Clause::MergeWhen: return "MERGE WHEN conditions";
   case Clause::Returning: return "RETURNING";
   case Clause::Check: return "check constraints";
   case Clause::Default: return "DEFAULT expressions";
   case Clause::Generated: return "column generation expressions";
   case Clause::AlterUsing: return "transform expressions";
   case Clause::Index: return "index expressions";
   case Clause::Statistics: return "statistics expressions";
   case Clause::IndexPredicate: return "index predicates";
   case Clause::PartitionKey: return "partition key expressions";
   case Clause::PartitionBound: return "partition bound";
   case Clause::Execute: return "EXECUTE parameters";
   case Clause::CallArgument: return "CALL arguments";
   case Clause::CopyWhere: return "COPY FROM WHERE conditions";
   case Clause::Policy: return "policy expressions";
   case Clause::TriggerWhen: return "trigger WHEN conditions";
   case Clause::Transition: return "transition functions";
   }
   return "expression";
}

NamespaceItem itemOf(const catalog::Relation& table, const std::vector<GetColumn>& columns) {
   NamespaceItem item;
   item.alias = table.name;
   item.relation = &table;
   item.rowType = table.rowType;
   for (const GetColumn& column : columns) {
      const auto* attribute = table.column(column.attribute);
      if (!attribute) continue; // only a part of the table has it
      item.columns.push_back({attribute->name, column.column, attribute->type, table.oid, column.attribute});
   }
   return item;
}

void addEntry(Scope& scope, const NamespaceItem& item) {
   RangeEntry entry;
   entry.alias = item.alias;
   entry.relationName = item.relation ? item.relation->name : item.alias;
   entry.isAliased = item.isAliased;
   for (const ScopeColumn& column : item.columns)
      entry.columns.push_back(column.name);
   scope.entries.push_back(std::move(entry));
}

const ::WindowDef& findWindow(const Scope& scope, std::string_view name, uint32_t position, size_t upTo) {
   for (size_t i = 0; i < upTo; ++i)
      if (name == scope.namedWindows[i]->name) return *scope.namedWindows[i];
   throw SqlError(sqlstate::undefinedObject, "window \"" + std::string(name) + "\" does not exist").at(position);
}

} // namespace ouzel::sql
