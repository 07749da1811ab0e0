#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "common/error/sql_error.hpp"
#include "common/thread/interruption.hpp"
#include "common/thread/stack.hpp"
#include "common/type/array.hpp"
#include "optimizer/rewrite/guards.hpp"
#include "optimizer/rewrite/rules.hpp"

// Subquery expressions become dependent joins on the input of the operator that computes them:
//
//    conjunct of a Select:  EXISTS, IN, op ANY      Semi join          NOT EXISTS     Anti join
//                           NOT IN, op ALL          Anti join whose predicate "IS NOT FALSE" (NULL-aware)
//    anywhere else:         EXISTS, IN, ANY, ALL    Mark join          scalar         Single join
//                           ARRAY(...)              Single join with array_agg
//
// The predicate of a Mark join is three-valued, as IN is. unnest.cpp later replaces the dependent joins.
//
// A join computes its right side for all left rows, but CASE, COALESCE, AND and OR evaluate their later arguments for
// some rows only. A subquery there that may fail gets a guard (guards.hpp).

namespace ouzel::optimizer {

using namespace sql;

namespace {

bool hasSubquery(const Expr& root) {
   bool found = false;
   forEachExpr(root, [&found](const Expr& expr) {
      found = found || expr.kind == ExprKind::Subquery;
      return !found;
   });
   return found;
}

RelPtr dependentJoin(JoinKind kind, RelPtr left, RelPtr right, ExprPtr predicate) {
   RelPtr join = makeJoin(kind, std::move(left), std::move(right), std::move(predicate));
   join->as<op::Join>().dependent = true;
   return join;
}

/// LIMIT 0 without an OFFSET over what only reads. Its input is not evaluated, and so raises no error.
bool wantsNoRows(Rel& rel) {
   const auto* limit = rel.getIf<op::Limit>();
   const Value* rows = limit && limit->limit && !limit->offset ? knownValue(*limit->limit) : nullptr;
   if (!rows || rows->i64 != 0) return false;
   bool writes = false;
   forEachRel(rel, [&writes](Rel& at) { writes = writes || at.getIf<op::Write>(); });
   return !writes;
}

class SubqueryRemover {
public:
   explicit SubqueryRemover(Query& query) : query_(query) {}

   void visit(RelPtr& rel) {
      if (wantsNoRows(*rel)) {
         rel = makeRel(RelKind::Values, op::Values{outputColumns(*rel), {}});
         return;
      }
      forEachChild(*rel, [&](RelPtr& child) { visit(child); });
      bool any = false;
      forEachOwnExpr(*rel, [&any](ExprPtr& expr) { any = any || hasSubquery(*expr); });
      if (any) remove(rel);
   }

private:
   void remove(RelPtr& rel) {
      checkStack();
      checkInterrupted();
      switch (rel->kind) {
      case RelKind::Select: removeFromSelect(rel); return;
      case RelKind::Join: removeFromJoin(rel); return;
      case RelKind::Values: removeFromValues(rel); return;
      case RelKind::TableFunction: removeFromFunction(rel); return;
      case RelKind::GroupBy: removeFromGroupBy(*rel); return;
      case RelKind::Limit: removeFromLimit(*rel); return;
      case RelKind::Insert:
      case RelKind::Update:
      case RelKind::Delete:
      case RelKind::Merge: throwNotSupported("subquery in RETURNING");
      default: forEachOwnExpr(*rel, [&](ExprPtr& expr) { replaceAll(expr, rel->inputs[0]); });
      }
   }

   void removeFromSelect(RelPtr& rel) {
      std::vector<ExprPtr> conjuncts = conjunctsOf(std::move(rel->as<op::Select>().predicate)), plain, rest;
      for (ExprPtr& conjunct : conjuncts)
         if (!hasSubquery(*conjunct)) plain.push_back(std::move(conjunct));
      RelPtr input = makeSelect(std::move(rel->inputs[0]), std::move(plain));
      for (ExprPtr& conjunct : conjuncts)
         if (conjunct && !asFilter(conjunct, input)) rest.push_back(std::move(conjunct));
      for (ExprPtr& conjunct : rest)
         replaceAll(conjunct, input);
      rel = makeSelect(std::move(input), std::move(rest));
   }

   /// Turns a conjunct that is an existence test (EXISTS, IN, ANY, ALL, perhaps negated) into a Semi or Anti join;
   /// false for any other conjunct.
   bool asFilter(ExprPtr& conjunct, RelPtr& input) {
      Expr* expr = conjunct.get();
      bool negate = false;
      while (expr->kind == ExprKind::Not) {
         negate = !negate;
         expr = expr->args[0].get();
      }
      auto* subquery = expr->getIf<scalar::Subquery>();
      if (!subquery || subquery->kind == SubqueryKind::Scalar || subquery->kind == SubqueryKind::Array) return false;
      visit(subquery->query);
      carryOuter(*subquery->query, input, query_);
      if (subquery->kind == SubqueryKind::Exists) {
         input = dependentJoin(negate ? JoinKind::Anti : JoinKind::Semi, std::move(input), std::move(subquery->query),
                               nullptr);
         return true;
      }
      // x op ALL (q) equals NOT (x negated-op ANY (q)), also in three-valued logic.
      if (subquery->kind == SubqueryKind::All) negate = !negate;
      ExprPtr predicate = comparison(*expr, input);
      if (negate) predicate = makeTest(ExprKind::IsNotFalse, std::move(predicate));
      input = dependentJoin(negate ? JoinKind::Anti : JoinKind::Semi, std::move(input), std::move(subquery->query),
                            std::move(predicate));
      return true;
   }

   /// The comparison of the args with the subquery's columns, negated for ALL. Subqueries in the args become joins on
   /// `input`.
   ExprPtr comparison(Expr& expr, RelPtr& input) {
      std::vector<ExprPtr> parts;
      auto& subquery = expr.as<scalar::Subquery>();
      const bool all = subquery.kind == SubqueryKind::All;
      ensureMade(subquery.query, subquery.columns);
      // With several args the operator is = or <>: the binder moves other row comparisons into the subquery.
      const CompareOp op = all ? sql::negated(subquery.op) : subquery.op;
      for (size_t i = 0; i < expr.args.size(); ++i) {
         replaceAll(expr.args[i], input);
         std::vector<ColumnId> used;
         collectColumns(*expr.args[i], used);
         // What reads outer queries is computed for the rows of `input` only, not for all of theirs.
         if (mayFail(*expr.args[i]) && !ColumnSet(outputColumns(*input)).containsAll(used)) {
            const ColumnId value = query_.newColumn("compared", expr.args[i]->type);
            input = addColumn(std::move(input), value, std::move(expr.args[i]));
            expr.args[i] = query_.ref(value);
         }
         parts.push_back(makeCompare(op, std::move(expr.args[i]), query_.ref(subquery.columns[i])));
      }
      if (parts.size() == 1) return std::move(parts[0]);
      const bool conjunctive = subquery.op == CompareOp::Eq ? !all : all;
      return conjunctive ? makeAnd(std::move(parts)) : makeOr(std::move(parts));
   }

   /// A subquery may pass on columns of an outer query. Makes new columns of the subquery for these columns.
   void ensureMade(RelPtr& subquery, std::vector<ColumnId>& columns) {
      const ColumnSet made(outputColumns(*subquery));
      std::vector<ComputedColumn> computed;
      for (ColumnId& column : columns) {
         if (made.contains(column)) continue;
         const ColumnId copy = query_.copyColumn(column);
         query_.columns[copy].nullable = true;
         computed.push_back({copy, query_.ref(column)});
         column = copy;
      }
      subquery = makeMap(std::move(subquery), std::move(computed));
   }

   /// Replaces the subqueries of an expression by columns of joins on `input`. The expression is evaluated for the rows
   /// in which the column `guard` is true; noColumn: for all.
   void replaceAll(ExprPtr& root, RelPtr& input, ColumnId guard = noColumn) {
      checkStack();
      checkInterrupted();
      if (root->kind == ExprKind::Subquery) {
         replaceOne(root, input, guard);
         return;
      }
      const bool isLazy = root->kind == ExprKind::Case || root->kind == ExprKind::Coalesce ||
                          root->kind == ExprKind::And || root->kind == ExprKind::Or;
      if (isLazy && std::any_of(root->args.begin() + 1, root->args.end(),
                                [](const ExprPtr& arg) { return hasGuardedSubquery(*arg); }))
         return replaceLazily(*root, input, guard);
      for (ExprPtr& arg : root->args)
         replaceAll(arg, input, guard);
   }

   static bool hasGuardedSubquery(const Expr& root) {
      bool found = false;
      forEachExpr(root, [&found](const Expr& expr) {
         if (const auto* subquery = expr.getIf<scalar::Subquery>())
            found = found || hasEffects(*subquery->query) ||
                    (subquery->kind == SubqueryKind::Scalar && !isAtMostOneRow(*subquery->query)) ||
                    std::any_of(expr.args.begin(), expr.args.end(), [](const ExprPtr& arg) { return mayFail(*arg); });
         return !found;
      });
      return found;
   }

   /// replaceAll for a CASE, COALESCE, AND or OR. An argument that decides about later ones becomes a column.
   void replaceLazily(Expr& root, RelPtr& input, ColumnId guard) {
      const size_t count = root.args.size();
      ColumnId open = guard; // true in the rows for which no argument has decided yet
      for (size_t i = 0; i < count; ++i) {
         ExprPtr& arg = root.args[i];
         replaceAll(arg, input, open);
         const bool decides =
             i + 1 < count && std::any_of(root.args.begin() + static_cast<std::ptrdiff_t>(i) + 1, root.args.end(),
                                          [](const ExprPtr& a) { return hasGuardedSubquery(*a); });
         if (!decides) continue;
         const ColumnId value = query_.newColumn("guarding", arg->type);
         input = addColumn(std::move(input), value, query_.onlyWhere(open, std::move(arg)));
         arg = query_.ref(value);
         const auto require = [&](ExprKind test) { return narrow(input, open, makeTest(test, query_.ref(value))); };
         switch (root.kind) {
         case ExprKind::And: open = require(ExprKind::IsNotFalse); break;
         case ExprKind::Or: open = require(ExprKind::IsNotTrue); break;
         case ExprKind::Coalesce: open = require(ExprKind::IsNull); break;
         default: // WHEN, and its THEN
            replaceAll(root.args[i + 1], input, require(ExprKind::IsTrue));
            open = require(ExprKind::IsNotTrue);
            ++i;
         }
      }
   }

   static RelPtr addColumn(RelPtr input, ColumnId column, ExprPtr value) {
      std::vector<ComputedColumn> computed;
      computed.push_back({column, std::move(value)});
      return makeMap(std::move(input), std::move(computed));
   }

   /// A column of `input` that is true where the condition holds and `guard` is true.
   ColumnId narrow(RelPtr& input, ColumnId guard, ExprPtr condition) {
      if (guard != noColumn) condition = conjunction(query_.ref(guard), std::move(condition));
      const ColumnId column = query_.newColumn("guard", booleanType, false);
      input = addColumn(std::move(input), column, makeTest(ExprKind::IsTrue, std::move(condition)));
      return column;
   }

   void replaceOne(ExprPtr& expr, RelPtr& input, ColumnId guard = noColumn) {
      auto& subquery = expr->as<scalar::Subquery>();
      visit(subquery.query);
      for (ExprPtr& arg : expr->args) {
         replaceAll(arg, input, guard);
         if (guard != noColumn && (mayFail(*arg) || isVolatile(*arg))) arg = query_.onlyWhere(guard, std::move(arg));
      }
      carryOuter(*subquery.query, input, query_);
      if (guard != noColumn) guardSubquery(*subquery.query, input, guard, query_);
      switch (subquery.kind) {
      case SubqueryKind::Scalar: {
         ensureMade(subquery.query, subquery.columns);
         // Two rows are an error only where the value is asked for.
         ExprPtr asked = guard == noColumn || isAtMostOneRow(*subquery.query) ? nullptr : query_.ref(guard);
         input = dependentJoin(JoinKind::Single, std::move(input), std::move(subquery.query), std::move(asked));
         expr = makeColumn(subquery.columns[0], expr->type);
         return;
      }
      case SubqueryKind::Array: replaceArray(expr, input); return;
      case SubqueryKind::Exists:
      case SubqueryKind::Any:
      case SubqueryKind::All: break;
      }
      const bool exists = subquery.kind == SubqueryKind::Exists, isAll = subquery.kind == SubqueryKind::All;
      ExprPtr predicate = exists ? nullptr : comparison(*expr, input);
      input = dependentJoin(JoinKind::Mark, std::move(input), std::move(subquery.query), std::move(predicate));
      const ColumnId mark = input->as<op::Join>().markColumn = query_.newColumn("mark", booleanType, !exists);
      expr = query_.ref(mark);
      if (isAll) expr = makeNot(std::move(expr));
   }

   /// ARRAY(q): array_agg over q in q's order. Without rows the result is an empty array instead of NULL.
   void replaceArray(ExprPtr& expr, RelPtr& input) {
      auto& subquery = expr->as<scalar::Subquery>();
      ensureMade(subquery.query, subquery.columns);
      const SqlType element = query_.columns[subquery.columns[0]].type;
      const Oid argument = catalog::builtins().isArray(element.oid) ? oid::anyarray : oid::anynonarray;
      AggregateCall call;
      call.function = catalog::builtins().findFunction("array_agg", std::span<const Oid>(&argument, 1));
      call.type = expr->type;
      call.args.push_back(makeColumn(subquery.columns[0], element));
      call.column = query_.newColumn("array", expr->type);
      const Rel* ordered = subquery.query.get();
      while (ordered->kind == RelKind::Map || ordered->kind == RelKind::Limit || ordered->kind == RelKind::With)
         ordered = ordered->inputs[0].get();
      if (const auto* sort = ordered->getIf<op::Sort>())
         for (const SortKey& key : sort->keys)
            call.orderBy.push_back({clone(*key.expr), key.descending, key.nullsFirst});
      const ColumnId result = call.column;
      op::GroupBy group;
      group.aggregates.push_back(std::move(call));
      input = dependentJoin(JoinKind::Single, std::move(input),
                            makeRel(RelKind::GroupBy, std::move(group), std::move(subquery.query)), nullptr);

      auto value = std::make_unique<Expr>(ExprKind::Coalesce, expr->type);
      value->args.push_back(makeColumn(result, expr->type));
      value->args.push_back(makeConstant(expr->type, Value::string(emptyArray(expr->type.oid))));
      expr = std::move(value);
   }

   static std::string emptyArray(Oid arrayType);

   void removeFromJoin(RelPtr& rel) {
      auto& join = rel->as<op::Join>();
      std::vector<ExprPtr> conjuncts = conjunctsOf(std::move(join.predicate)), withSubquery, plain;
      for (ExprPtr& conjunct : conjuncts)
         (hasSubquery(*conjunct) ? withSubquery : plain).push_back(std::move(conjunct));
      if (join.kind == JoinKind::Right) {
         std::swap(rel->inputs[0], rel->inputs[1]);
         join.kind = JoinKind::Left;
      }
      if (join.kind == JoinKind::Inner) {
         join.predicate = plain.empty() ? nullptr : makeAnd(std::move(plain));
         rel = makeSelect(std::move(rel), std::move(withSubquery));
         removeFromSelect(rel);
         return;
      }
      if (join.kind == JoinKind::Full) {
         removeFromFullJoin(*rel, plain, withSubquery);
         return;
      }
      // ON of a one-sided join: the conjuncts filter the right side for each left row, as with LATERAL.
      for (ExprPtr& conjunct : withSubquery)
         plain.push_back(std::move(conjunct));
      rel->inputs[1] = makeSelect(std::move(rel->inputs[1]), std::move(plain));
      removeFromSelect(rel->inputs[1]);
      join.dependent = true;
   }

   /// ON of a FULL join: a subquery is computed on the one side whose columns it reads.
   void removeFromFullJoin(Rel& rel, std::vector<ExprPtr>& plain, std::vector<ExprPtr>& withSubquery) {
      const ColumnSet right(outputColumns(*rel.inputs[1])), left(outputColumns(*rel.inputs[0]));
      const std::function<void(ExprPtr&)> replace = [&](ExprPtr& expr) {
         if (expr->kind == ExprKind::Subquery) {
            std::vector<ColumnId> used;
            collectColumns(*expr, used);
            const bool usesLeft = left.containsAny(used), usesRight = right.containsAny(used);
            if (usesLeft && usesRight) throwNotSupported("FULL JOIN with a subquery that depends on both sides");
            replaceOne(expr, rel.inputs[usesRight ? 1 : 0]);
            return;
         }
         for (ExprPtr& arg : expr->args)
            replace(arg);
      };
      for (ExprPtr& conjunct : withSubquery) {
         replace(conjunct);
         plain.push_back(std::move(conjunct));
      }
      rel.as<op::Join>().predicate = makeAnd(std::move(plain));
   }

   /// LIMIT (SELECT ...): a second input computes the bounds.
   void removeFromLimit(Rel& rel) {
      auto& limit = rel.as<op::Limit>();
      RelPtr input = oneRow();
      std::vector<ComputedColumn> computed;
      for (ExprPtr* bound : {&limit.limit, &limit.offset}) {
         if (!*bound || !hasSubquery(**bound)) continue;
         replaceAll(*bound, input);
         const ColumnId column = query_.newColumn(bound == &limit.limit ? "limit" : "offset", int8Type);
         computed.push_back({column, std::move(*bound)});
         *bound = query_.ref(column);
      }
      rel.inputs.push_back(makeMap(std::move(input), std::move(computed)));
   }

   /// VALUES with subqueries: each row is computed over a row without columns, and UNION ALL puts the rows together.
   void removeFromValues(RelPtr& rel) {
      auto& values = rel->as<op::Values>();
      RelPtr all;
      std::vector<ColumnId> allColumns;
      for (std::vector<ExprPtr>& row : values.rows) {
         RelPtr input = oneRow();
         std::vector<ComputedColumn> computed;
         std::vector<ColumnId> columns;
         for (size_t i = 0; i < row.size(); ++i) {
            replaceAll(row[i], input);
            const bool single = values.rows.size() == 1;
            columns.push_back(single ? values.columns[i] : query_.copyColumn(values.columns[i]));
            computed.push_back({columns.back(), std::move(row[i])});
         }
         RelPtr one = makeMap(std::move(input), std::move(computed));
         if (!all) {
            all = std::move(one);
            allColumns = columns;
            continue;
         }
         op::SetOp setOp;
         setOp.all = true;
         setOp.inputColumns = {allColumns, columns};
         const bool last = &row == &values.rows.back();
         for (size_t i = 0; i < columns.size(); ++i)
            setOp.columns.push_back(last ? values.columns[i] : query_.copyColumn(values.columns[i]));
         allColumns = setOp.columns;
         all = makeRel(RelKind::SetOp, std::move(setOp), std::move(all), std::move(one));
      }
      rel = std::move(all);
   }

   /// f((select ...)): an input computes the arguments, and the function runs per row of this input.
   void removeFromFunction(RelPtr& rel) {
      RelPtr input = rel->inputs.empty() ? oneRow() : std::move(rel->inputs[0]);
      for (ExprPtr& arg : rel->as<op::TableFunction>().args)
         replaceAll(arg, input);
      rel->inputs.clear();
      rel->inputs.push_back(std::move(input));
   }

   /// The arguments of an aggregate are computed for the rows that pass its FILTER.
   void removeFromGroupBy(Rel& rel) {
      for (AggregateCall& call : rel.as<op::GroupBy>().aggregates) {
         const bool guards = call.filter && std::any_of(call.args.begin(), call.args.end(),
                                                        [](const ExprPtr& arg) { return hasGuardedSubquery(*arg); });
         if (!guards) continue;
         replaceAll(call.filter, rel.inputs[0]);
         const ColumnId passes = narrow(rel.inputs[0], noColumn, std::move(call.filter));
         call.filter = query_.ref(passes);
         for (ExprPtr& arg : call.args)
            replaceAll(arg, rel.inputs[0], passes);
      }
      forEachOwnExpr(rel, [&](ExprPtr& expr) { replaceAll(expr, rel.inputs[0]); });
   }

   Query& query_;
};

std::string SubqueryRemover::emptyArray(Oid arrayType) {
   const Oid element = arrayElementType(arrayType);
   return makeArray(element ? element : Oid{oid::text}, {});
}

} // namespace

void removeSubqueries(RelPtr& root, Query& query) {
   SubqueryRemover(query).visit(root);
}

} // namespace ouzel::optimizer
