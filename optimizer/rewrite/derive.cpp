#include "optimizer/rewrite/derive.hpp"

#include <algorithm>

#include "common/thread/stack.hpp"

namespace ouzel::optimizer {

using namespace sql;

namespace {

/// The column of a test that compares one column with constants, so that the test holds for all equal columns; null for
/// any other expression.
const Expr* testedColumn(const Expr& expr) {
   const auto* compare = expr.getIf<scalar::Compare>();
   if (compare ? isNullSafe(compare->op) : expr.kind != ExprKind::InList) return nullptr;
   if (expr.args[0]->kind != ExprKind::Column) return nullptr;
   for (size_t i = 1; i < expr.args.size(); ++i)
      if (expr.args[i]->kind != ExprKind::Constant) return nullptr;
   return expr.args[0].get();
}

bool isColumnEquality(const Expr& expr) {
   return compareOf(expr) == CompareOp::Eq && expr.args[0]->kind == ExprKind::Column &&
          expr.args[1]->kind == ExprKind::Column && expr.args[0]->type.oid == expr.args[1]->type.oid;
}

void collectFacts(const Rel& rel, std::vector<const Expr*>& facts) {
   checkStack();
   const auto add = [&facts](const ExprPtr& predicate) {
      for (const Expr* conjunct : conjunctList(predicate.get()))
         facts.push_back(conjunct);
   };
   switch (rel.kind) {
   case RelKind::Get: add(rel.as<op::Get>().predicate); return;
   case RelKind::Select:
      collectFacts(*rel.inputs[0], facts);
      add(rel.as<op::Select>().predicate);
      return;
   case RelKind::Map:
   case RelKind::Sort: collectFacts(*rel.inputs[0], facts); return;
   case RelKind::Join: {
      const JoinKind kind = rel.as<op::Join>().kind;
      if (kind == JoinKind::Full || kind == JoinKind::Right) return;
      collectFacts(*rel.inputs[0], facts);
      if (kind == JoinKind::Inner) collectFacts(*rel.inputs[1], facts);
      return;
   }
   default: return;
   }
}

/// Classes of equal columns, as a union-find structure.
class EqualColumns {
public:
   void add(ColumnId a, ColumnId b) { parents_[find(a)] = find(b); }
   ColumnId find(ColumnId column) {
      checkStack();
      auto [it, isNew] = parents_.try_emplace(column, column);
      if (it->second == column) return column;
      const ColumnId root = find(it->second);
      parents_[column] = root;
      return root;
   }
   std::vector<ColumnId> members() const {
      std::vector<ColumnId> all;
      for (const auto& entry : parents_)
         all.push_back(entry.first);
      std::sort(all.begin(), all.end());
      return all;
   }

private:
   std::unordered_map<ColumnId, ColumnId> parents_;
};

ExprPtr withColumn(const Expr& test, ColumnId column, const Query& query) {
   ExprPtr copy = clone(test);
   copy->args[0] = query.ref(column);
   return copy;
}

} // namespace

ExprPtr impliedBy(const Expr& conjunct, const ColumnSet& side) {
   checkStack();
   if (conjunct.kind != ExprKind::Or) return nullptr;
   std::vector<ExprPtr> disjuncts;
   for (const ExprPtr& disjunct : conjunct.args) {
      std::vector<ExprPtr> parts;
      const auto consider = [&](const Expr& part) {
         std::vector<ColumnId> used;
         collectColumns(part, used);
         if (!used.empty() && side.containsAll(used)) {
            parts.push_back(clone(part));
         } else if (ExprPtr nested = impliedBy(part, side)) {
            parts.push_back(std::move(nested));
         }
      };
      if (disjunct->kind == ExprKind::And) {
         for (const ExprPtr& part : disjunct->args)
            consider(*part);
      } else {
         consider(*disjunct);
      }
      if (parts.empty()) return nullptr;
      disjuncts.push_back(makeAnd(std::move(parts)));
   }
   return makeOr(std::move(disjuncts));
}

void deriveFromEqualities(std::vector<ExprPtr>& conjuncts, const Rel& tree, const Query& query) {
   EqualColumns classes;
   for (const ExprPtr& conjunct : conjuncts)
      if (isColumnEquality(*conjunct)) classes.add(columnOf(*conjunct->args[0]), columnOf(*conjunct->args[1]));
   const std::vector<ColumnId> members = classes.members();
   if (members.empty()) return;
   std::vector<const Expr*> facts;
   for (const ExprPtr& conjunct : conjuncts)
      facts.push_back(conjunct.get());
   collectFacts(tree, facts);
   std::vector<ExprPtr> derived;
   for (const Expr* fact : facts) {
      const Expr* column = testedColumn(*fact);
      if (!column || std::find(members.begin(), members.end(), columnOf(*column)) == members.end()) continue;
      const ColumnId root = classes.find(columnOf(*column));
      for (const ColumnId member : members) {
         if (member == columnOf(*column) || classes.find(member) != root) continue;
         if (query.columns[member].type.oid != column->type.oid) continue;
         ExprPtr test = withColumn(*fact, member, query);
         const auto isSame = [&test](const Expr& other) { return equal(other, *test); };
         const bool known = std::any_of(facts.begin(), facts.end(), [&](const Expr* e) { return isSame(*e); }) ||
                            std::any_of(derived.begin(), derived.end(), [&](const ExprPtr& e) { return isSame(*e); });
         if (!known) derived.push_back(std::move(test));
      }
   }
   for (ExprPtr& test : derived)
      conjuncts.push_back(std::move(test));
}

std::vector<ExprPtr> deriveForRight(const std::vector<ExprPtr>& on, const std::vector<ExprPtr>& leftConjuncts,
                                    const Rel& left, const ColumnSet& right, const Query& query) {
   std::vector<const Expr*> facts;
   for (const ExprPtr& conjunct : leftConjuncts)
      facts.push_back(conjunct.get());
   collectFacts(left, facts);
   std::vector<ExprPtr> derived;
   for (const ExprPtr& equality : on) {
      if (!isColumnEquality(*equality)) continue;
      const bool firstIsRight = right.contains(columnOf(*equality->args[0]));
      const Expr& there = *equality->args[firstIsRight ? 0 : 1];
      const Expr& here = *equality->args[firstIsRight ? 1 : 0];
      if (!right.contains(columnOf(there)) || right.contains(columnOf(here))) continue;
      for (const Expr* fact : facts) {
         const Expr* column = testedColumn(*fact);
         if (column && columnOf(*column) == columnOf(here) && column->type.oid == there.type.oid)
            derived.push_back(withColumn(*fact, columnOf(there), query));
      }
   }
   return derived;
}

} // namespace ouzel::optimizer
