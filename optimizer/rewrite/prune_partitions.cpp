#include "optimizer/rewrite/rules.hpp"
#include "sql/algebra/prune_parts.hpp"

namespace ouzel::optimizer {

using namespace sql;

void prunePartitions(RelPtr& root) {
   forEachRel(*root, [](Rel& rel) {
      if (rel.kind == RelKind::Select && rel.inputs[0]->kind == RelKind::Get) {
         auto& get = rel.inputs[0]->as<op::Get>();
         const ExprPtr& predicate = rel.as<op::Select>().predicate;
         if (get.table.parts && predicate) pruneParts(get.table, get.columns, std::span(&predicate, 1));
      }
      if (rel.kind != RelKind::Get) return;
      auto& get = rel.as<op::Get>();
      if (get.table.parts && get.predicate) pruneParts(get.table, get.columns, std::span(&get.predicate, 1));
   });
}

} // namespace ouzel::optimizer
