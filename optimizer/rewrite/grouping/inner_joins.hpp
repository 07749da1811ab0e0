#pragma once
#include "sql/algebra/rel.hpp"

namespace ouzel::optimizer {

/// The inner joins below an operator, taken apart.
struct InnerJoins {
   std::vector<sql::RelPtr*> relations;
   std::vector<sql::ExprPtr*> predicates; ///< of the joins; each may be an AND

   /// False: a join has a volatile predicate.
   bool collect(sql::RelPtr& rel) {
      auto* join = rel->getIf<sql::op::Join>();
      if (!join || join->kind != sql::JoinKind::Inner) {
         relations.push_back(&rel);
         return true;
      }
      if (join->predicate && sql::isVolatile(*join->predicate)) return false;
      if (join->predicate) predicates.push_back(&join->predicate);
      return collect(rel->inputs[0]) && collect(rel->inputs[1]);
   }
};

} // namespace ouzel::optimizer
