#include "sql/bind/state/scope.hpp"

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
   case Clause::PartitionBound: return "partition bound";
   case Clause::Execute: return "EXECUTE parameters";
   case Clause::CallArgument: return "CALL arguments";
   case Clause::CopyWhere: return "COPY FROM WHERE conditions";
   }
   return "expression";
}

const ::WindowDef& findWindow(const Scope& scope, std::string_view name, uint32_t position, size_t upTo) {
   for (size_t i = 0; i < upTo; ++i)
      if (name == scope.namedWindows[i]->name) return *scope.namedWindows[i];
   throw SqlError(sqlstate::undefinedObject, "window \"" + std::string(name) + "\" does not exist").at(position);
}

} // namespace ouzel::sql
