#include "sql/program/value_chain.hpp"

#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "common/thread/stack.hpp"
#include "sql/algebra/build.hpp"
#include "sql/algebra/known_null.hpp"
#include "sql/algebra/last_of.hpp"

namespace ouzel::sql::program {

size_t nodeCount(const Rel& rel) {
   size_t count = 1;
   forEachOwnExpr(rel, [&](const Expr& expr) { count += nodeCount(expr); });
   forEachChild(rel, [&](const RelPtr& child) { count += nodeCount(*child); });
   return count;
}
size_t nodeCount(const Expr& root) {
   size_t count = 0;
   forEachExpr(root, [&](const Expr& expr) {
      ++count;
      if (const Rel* query = subqueryOf(expr)) count += nodeCount(*query);
      return true;
   });
   return count;
}

namespace {

/// Whether the conjunct gives the column one value. The query has one table: other columns are variables.
bool fixes(const Expr& conjunct, ColumnId column, const op::Get& get) {
   if (compareOf(conjunct) != CompareOp::Eq) return false;
   for (int side = 0; side < 2; ++side) {
      if (columnOf(*conjunct.args[side]) != column) continue;
      std::vector<ColumnId> read;
      collectColumns(*conjunct.args[1 - side], read);
      const auto isOfTable = [&](ColumnId one) {
         return std::any_of(get.columns.begin(), get.columns.end(),
                            [&](const GetColumn& own) { return own.column == one; });
      };
      if (!subqueryOf(*conjunct.args[1 - side]) && std::none_of(read.begin(), read.end(), isOfTable)) return true;
   }
   return false;
}

} // namespace

bool findsByKey(const BindState& state, const Rel& rel) {
   std::vector<const Expr*> conjuncts;
   const Rel* at = &rel;
   for (; at->kind == RelKind::Map || at->kind == RelKind::Select; at = at->inputs[0].get())
      if (const auto* select = at->getIf<op::Select>())
         for (const Expr* one : conjunctList(select->predicate.get()))
            conjuncts.push_back(one);
   const auto* get = at->kind == RelKind::Get ? at->getIf<op::Get>() : nullptr;
   const auto relation = get ? state.context.catalog.relation(get->table.relation) : nullptr;
   if (!relation || get->table.parts) return false;
   const auto isFixed = [&](int16_t attribute) {
      return std::any_of(get->columns.begin(), get->columns.end(), [&](const GetColumn& own) {
         return own.attribute == attribute && std::any_of(conjuncts.begin(), conjuncts.end(), [&](const Expr* one) {
                   return fixes(*one, own.column, *get);
                });
      });
   };
   return std::any_of(relation->constraints.begin(), relation->constraints.end(), [&](const catalog::Constraint& key) {
      const bool isKey = key.kind == catalog::ConstraintKind::PrimaryKey || key.kind == catalog::ConstraintKind::Unique;
      return isKey && !key.isDeferrable && std::all_of(key.columns.begin(), key.columns.end(), isFixed);
   });
}

namespace {

/// As the row of a scalar subquery that gives more than one is an error.
bool givesOneRow(const Rel& rel) {
   if (rel.kind == RelKind::Map || rel.kind == RelKind::Select) return givesOneRow(*rel.inputs[0]);
   if (rel.kind == RelKind::Limit) return true; // made here, of one row
   const auto* group = rel.getIf<op::GroupBy>();
   return isUnit(rel) || (group && group->keys.empty());
}

} // namespace

bool mayRaise(const BindState& state, const Rel& rel) {
   bool found = false;
   forEachOwnExpr(rel, [&](const Expr& expr) { found = found || mayRaise(state, expr); });
   forEachChild(rel, [&](const RelPtr& child) { found = found || mayRaise(state, *child); });
   return found;
}
bool mayRaise(const BindState& state, const Expr& root) {
   checkStack();
   if (const Rel* query = subqueryOf(root)) {
      const bool isScalar = root.as<scalar::Subquery>().kind == SubqueryKind::Scalar;
      if (mayRaise(state, *query) || (isScalar && !givesOneRow(*query) && !findsByKey(state, *query))) return true;
   } else if (root.args.empty() || root.kind == ExprKind::Call || root.kind == ExprKind::TextCast ||
              root.kind == ExprKind::TypmodCast || root.kind == ExprKind::AnyArray) {
      // of the node alone: the arguments follow
      if (mayFail(root) && (root.args.empty() || root.kind == ExprKind::AnyArray)) return true;
      if (root.kind != ExprKind::AnyArray && !root.args.empty()) {
         auto shallow = clone(root);
         for (ExprPtr& arg : shallow->args)
            if (!knownValue(*arg)) arg = makeNull(arg->type);
         if (mayFail(*shallow)) return true;
      }
   }
   return std::any_of(root.args.begin(), root.args.end(), [&](const ExprPtr& arg) { return mayRaise(state, *arg); });
}

ExprPtr conditionOf(const Path& path, size_t from) {
   std::vector<ExprPtr> terms;
   for (size_t i = from; i < path.size(); ++i)
      terms.push_back(clone(*path[i]));
   return terms.empty() ? nullptr : makeAnd(std::move(terms));
}

ExprPtr ValueChain::add(std::string name, ExprPtr value, const Path& path) {
   const SqlType type = value->type;
   Step& step = steps_.emplace_back();
   step.column = state_.addColumn(noLevel, std::move(name), type);
   step.mayFail = mayRaise(state_, *value);
   size_ += nodeCount(*value);
   step.value = std::move(value);
   step.path = path;
   return makeColumn(step.column, type);
}

void ValueChain::join(RelPtr query, const Path& path) {
   size_ += nodeCount(*query);
   Step& step = steps_.emplace_back();
   step.query = std::move(query);
   step.path = path;
}

ValueChain::Step* ValueChain::stepOf(ColumnId column) {
   for (Step& step : steps_)
      if (step.column == column && step.value) return &step;
   return nullptr;
}

namespace {

bool contains(const Path& path, const Expr& term) {
   return std::any_of(path.begin(), path.end(), [&](const auto& one) { return equal(*one, term); });
}

} // namespace

bool ValueChain::isNull(const Expr& expr) {
   checkStack();
   const Step* step = expr.kind == ExprKind::Column ? stepOf(columnOf(expr)) : nullptr;
   if (step) return isNull(*step->value);
   const auto isNullArgument = [&](const ExprPtr& arg) { return isNull(*arg); };
   switch (expr.kind) {
   case ExprKind::Constant: return isNullConstant(expr);
   case ExprKind::Case:
      for (size_t i = 1; i < expr.args.size(); i += 2) {
         const Expr& condition = *expr.args[i - 1];
         if (!isConstantFalseOrNull(condition) && !isNull(condition) && !isNull(*expr.args[i])) return false;
      }
      return expr.args.size() % 2 == 0 || isNull(*expr.args.back());
   case ExprKind::Coalesce: return std::all_of(expr.args.begin(), expr.args.end(), isNullArgument);
   case ExprKind::Not:
   case ExprKind::Relabel:
   case ExprKind::TextCast:
   case ExprKind::TypmodCast: return isNull(*expr.args[0]);
   default: return isStrict(expr) && std::any_of(expr.args.begin(), expr.args.end(), isNullArgument);
   }
}

void ValueChain::mark(const Expr& expr, const Path& path) {
   checkStack();
   if (isNull(expr)) return; // the optimizer finds it, and its arguments are not computed
   if (expr.kind == ExprKind::Column) {
      Step* step = stepOf(columnOf(expr));
      if (!step || step->isCertain) return;
      // Computed here in at least the rows that come by the step's path?
      const bool isCertain =
          std::all_of(path.begin(), path.end(), [&](const auto& term) { return contains(step->path, *term); });
      if (!isCertain) return;
      step->isCertain = true;
      return mark(*step->value, step->path);
   }
   if (expr.kind == ExprKind::Case) {
      Path rest = path;
      for (size_t i = 0; i + 1 < expr.args.size(); i += 2) {
         std::vector<const Expr*> terms = conjunctList(expr.args[i].get());
         Path arm = rest;
         for (const Expr* term : terms) {
            mark(*term, arm); // terms of an AND are computed as long as all before them are true
            arm.push_back(std::shared_ptr<const Expr>(clone(*term)));
         }
         mark(*expr.args[i + 1], arm);
         rest.push_back(std::shared_ptr<const Expr>(makeTest(ExprKind::IsNotTrue, clone(*expr.args[i]))));
      }
      if (expr.args.size() % 2 == 1) mark(*expr.args.back(), rest);
      return;
   }
   const bool isLazy = expr.kind == ExprKind::And || expr.kind == ExprKind::Or || expr.kind == ExprKind::Coalesce;
   for (size_t i = 0; i < expr.args.size() && (i == 0 || !isLazy); ++i)
      mark(*expr.args[i], path);
}

namespace {

size_t usesIn(const Rel& rel, ColumnId column);
size_t usesIn(const Expr& root, ColumnId column) {
   size_t uses = 0;
   forEachExpr(root, [&](const Expr& expr) {
      uses += expr.kind == ExprKind::Column && columnOf(expr) == column;
      if (const Rel* query = subqueryOf(expr)) uses += 2 * usesIn(*query, column); // perhaps for each of its rows
      return true;
   });
   return uses;
}
size_t usesIn(const Rel& rel, ColumnId column) {
   size_t uses = 0;
   forEachOwnExpr(rel, [&](const Expr& expr) { uses += usesIn(expr, column); });
   forEachChild(rel, [&](const RelPtr& child) { uses += usesIn(*child, column); });
   return uses;
}

} // namespace

size_t ValueChain::usesOf(ColumnId column, size_t behind, const Expr& result) const {
   size_t uses = usesIn(result, column);
   for (size_t i = behind + 1; i < steps_.size(); ++i) {
      if (steps_[i].value) {
         uses += usesIn(*steps_[i].value, column);
      } else {
         uses += 2 * usesIn(*steps_[i].query, column);
         for (const auto& term : steps_[i].path)
            uses += 2 * usesIn(*term, column);
      }
   }
   return uses;
}

void ValueChain::substitute(ExprPtr& result) {
   for (size_t i = steps_.size(); i-- > 0;) {
      if (!steps_[i].value) continue;
      const ColumnId column = steps_[i].column;
      const size_t uses = usesOf(column, i, *result);
      if (uses > 1) continue;
      const ExprPtr value = std::move(steps_[i].value);
      const auto replacement = [&](ColumnId read) -> const Expr* { return read == column ? value.get() : nullptr; };
      for (size_t k = i + 1; k < steps_.size(); ++k)
         if (steps_[k].value) substituteColumns(steps_[k].value, replacement);
      substituteColumns(result, replacement);
      steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(i));
   }
}

namespace {

/// Whether the term is true in any case where control has passed these conditions without being in their rows.
bool isImplied(const Expr& term, const Path& path, const std::vector<Path>& before) {
   if (term.kind != ExprKind::IsNotTrue) return false;
   return std::any_of(before.begin(), before.end(), [&](const Path& passed) {
      return contains(passed, *term.args[0]) && std::all_of(passed.begin(), passed.end(), [&](const auto& one) {
                return equal(*one, *term.args[0]) || contains(path, *one);
             });
   });
}

/// The value of whichever path control takes.
ExprPtr choice(std::vector<ReturnedValue> returned) {
   if (returned.size() == 1) return std::move(returned[0].value);
   auto value = makeTyped(ExprKind::Case, returned[0].value->type);
   std::vector<Path> before;
   for (size_t i = 0; i < returned.size(); ++i) {
      const Path& path = returned[i].path;
      Path needed;
      for (const auto& term : path)
         if (!isImplied(*term, path, before)) needed.push_back(term);
      if (i + 1 < returned.size()) {
         ExprPtr condition = conditionOf(needed);
         value->args.push_back(condition ? std::move(condition) : makeBoolean(true));
      }
      value->args.push_back(std::move(returned[i].value));
      before.push_back(path);
   }
   return value;
}

} // namespace

bool ValueChain::isConstant(const Expr& expr) {
   checkStack();
   if (expr.kind == ExprKind::Column) {
      const Step* step = stepOf(columnOf(expr));
      return step && isConstant(*step->value);
   }
   if (expr.kind == ExprKind::Subquery || isVolatile(expr)) return false;
   return std::all_of(expr.args.begin(), expr.args.end(), [&](const ExprPtr& arg) { return isConstant(*arg); });
}

bool ValueChain::isFoldedApart(const Rel& rel) {
   bool found = false;
   forEachOwnExpr(rel, [&](const Expr& expr) { found = found || isFoldedApart(expr); });
   forEachChild(rel, [&](const RelPtr& child) { found = found || isFoldedApart(*child); });
   return found;
}

bool ValueChain::isFoldedApart(const Expr& expr) {
   checkStack();
   const bool readsColumns = [&] {
      std::vector<ColumnId> columns;
      collectColumns(expr, columns);
      return !columns.empty();
   }();
   // The values of variables make a constant of it, which fails when it is planned, reached or not.
   if (readsColumns && expr.kind != ExprKind::Column && mayFail(expr) && isConstant(expr)) return true;
   if (isStrict(expr) && isNull(expr) && !isKnownNull(expr) && mayRaise(state_, expr)) return true;
   if (const Rel* query = subqueryOf(expr); query && isFoldedApart(*query)) return true;
   return std::any_of(expr.args.begin(), expr.args.end(), [&](const ExprPtr& arg) { return isFoldedApart(*arg); });
}

std::optional<BoundRel> ValueChain::finish(std::string name, std::vector<ReturnedValue> returned) {
   const bool isFolded = std::any_of(steps_.begin(), steps_.end(),
                                     [&](const Step& step) { return step.value && isFoldedApart(*step.value); }) ||
                         std::any_of(returned.begin(), returned.end(),
                                     [&](const ReturnedValue& one) { return isFoldedApart(*one.value); });
   if (isFolded) return std::nullopt;
   for (const ReturnedValue& one : returned) {
      Path passed;
      for (const auto& term : one.path) { // conditions are computed as long as those before them hold
         mark(*term, passed);
         passed.push_back(term);
      }
      mark(*one.value, one.path);
   }
   ExprPtr value = choice(std::move(returned));
   std::vector<ExprPtr> forced; // values that the program computes, but uses in some rows only
   for (Step& step : steps_) {
      if (!step.mayFail || step.isCertain || !step.value) continue;
      forced.push_back(makeColumn(step.column, step.value->type));
      step.isCertain = true;
      mark(*step.value, step.path);
   }
   value = lastOf(std::move(forced), std::move(value));
   for (Step& step : steps_) {
      if (!step.value || !step.mayFail || step.path.empty()) continue;
      auto guard = makeTyped(ExprKind::Case, step.value->type);
      guard->args.push_back(conditionOf(step.path));
      guard->args.push_back(std::move(step.value));
      step.value = std::move(guard);
   }
   substitute(value);
   RelPtr rel = oneRow();
   for (Step& step : steps_) {
      if (step.value) {
         std::vector<ComputedColumn> computed;
         computed.push_back({step.column, std::move(step.value)});
         rel = makeMap(std::move(rel), std::move(computed));
      } else {
         const std::vector<ColumnId> made = outputColumns(*rel), read = freeColumns(*step.query);
         const bool isDependent = std::any_of(read.begin(), read.end(), [&](ColumnId column) {
            return std::find(made.begin(), made.end(), column) != made.end();
         });
         rel = makeJoin(JoinKind::Left, std::move(rel), std::move(step.query), conditionOf(step.path));
         rel->as<op::Join>().dependent = isDependent;
      }
   }
   BoundRel query;
   const SqlType type = value->type;
   const ColumnId column = state_.addColumn(uint32_t{0}, name, type);
   std::vector<ComputedColumn> computed;
   computed.push_back({column, std::move(value)});
   query.rel = makeMap(std::move(rel), std::move(computed));
   query.output.push_back({std::move(name), column, type});
   return query;
}

} // namespace ouzel::sql::program
