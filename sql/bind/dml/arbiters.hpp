#pragma once
#include "sql/bind/dml/view_target.hpp"
#include "sql/bind/state/bound_rel.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::sql {

/// A unique index, or that of an exclusion constraint, whose keys ON CONFLICT looks at.
struct Arbiter {
   catalog::RelationPtr index;
   bool nullsNotDistinct = false;

   const catalog::IndexDefinition& definition() const { return *index->index; }
   /// The operator that a key column of two rows must not satisfy.
   std::string_view operatorName(size_t i) const {
      return definition().operators.empty() ? "=" : catalog::builtins().operatorByOid(definition().operators[i])->name;
   }
   /// Whether only equal keys conflict.
   bool isOfEqual() const {
      for (size_t i = 0; i < definition().columns.size(); ++i)
         if (operatorName(i) != "=") return false;
      return true;
   }
};

/// The indexes that ON CONFLICT names or that fit what it says of them; without either, all unique ones. `scope`: has
/// the target as its only item; `stored`: the target's columns. Throws 42P10 if none fits, 55000 for a deferrable one.
std::vector<Arbiter> inferArbiters(BindState& state, Scope& scope, const ::OnConflictClause& clause,
                                   const catalog::Relation& table, const std::vector<GetColumn>& stored,
                                   const ViewTarget* view);

} // namespace ouzel::sql
