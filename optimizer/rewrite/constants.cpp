#include "optimizer/rewrite/constants.hpp"

#include <algorithm>
#include <unordered_set>

#include "catalog/builtin/builtin.hpp"
#include "common/base_type/type_form.hpp"
#include "common/error/sql_error.hpp"
#include "common/json/jsonpath.hpp"
#include "common/thread/interruption.hpp"
#include "common/thread/stack.hpp"
#include "common/value/range_types.hpp"
#include "optimizer/query/expr_lowering.hpp"

// Expressions that PostgreSQL's planner computes: its eval_const_expressions(). They are calls of immutable functions
// with constant arguments, casts, comparisons, and what is made of these. CASE, COALESCE, AND and OR leave out what a
// constant before decides about. Expressions without readers are left out as well: PostgreSQL drops them first.

namespace ouzel::optimizer {

using namespace sql;

bool isPureText(Oid type) {
   if (const TypeForm* form = findTypeForm(type)) return form->appendRounded == nullptr;
   switch (type) {
   case oid::boolean:
   case oid::int2:
   case oid::int4:
   case oid::int8:
   case oid::float4:
   case oid::float8:
   case oid::numeric:
   case oid::text:
   case oid::varchar:
   case oid::bpchar:
   case oid::name:
   case oid::cstring:
   case oid::json:
   case oid::jsonb:
   case oid::jsonpath:
   case oid::uuid: return true;
   default: break;
   }
   const RangeType* range = findRangeType(type);
   if (!range) range = findMultirangeType(type);
   return range && isPureText(range->subtype);
}

ExprPtr constantValue(const Expr& expr, Query& query) {
   if (!query.context.evaluator) return nullptr;
   ExprPtr lowered = clone(expr);
   ExprLowering(query).lowerToGeneric(lowered);
   Value value = query.context.evaluator->evaluate(*lowered);
   const Representation repr = ExprLowering::genericRepresentation(expr.type);
   if (!value.isNull && value.type != repr.physical) return nullptr;
   value.type = repr.physical;
   ExprPtr constant = makeConstant(expr.type, std::move(value));
   constant->repr = repr;
   constant->position = expr.position;
   return constant;
}

bool mayReplace(const Expr& expr, const Expr& constant) {
   const Value* value = knownValue(constant);
   size_t bytes = 512;
   for (const ExprPtr& arg : expr.args)
      bytes += knownValue(*arg) ? knownValue(*arg)->bytes.size() : 0;
   return !value || value->bytes.size() <= 2 * bytes; // repeat('x', 1000000) stays a call
}

namespace {

class ConstantErrors {
public:
   explicit ConstantErrors(Query& query) : query_(query) {}

   void need(ColumnId column) { needed_.add(column); }

   void visit(Rel& rel) {
      checkStack();
      checkInterrupted();
      switch (rel.kind) {
      case RelKind::Map: visitMap(rel.as<op::Map>()); break;
      case RelKind::GroupBy: visitGroups(rel.as<op::GroupBy>()); break;
      case RelKind::Window: visitWindow(rel.as<op::Window>()); break;
      case RelKind::Values: visitValues(rel.as<op::Values>()); break;
      case RelKind::With: break;
      case RelKind::CteScan: {
         auto& scan = rel.as<op::CteScan>();
         readCtes_.insert(scan.cte);
         for (size_t i = 0; i < scan.columns.size(); ++i)
            if (needed_.contains(scan.columns[i])) needed_.add(scan.cteColumns[i]);
         break;
      }
      default:
         forEachOwnExpr(rel, [this](ExprPtr& expr) { check(expr); });
         forEachOwnColumn(static_cast<const Rel&>(rel), [this](ColumnId column, ColumnRole role) {
            if (role == ColumnRole::Read) needed_.add(column);
         });
      }
      // The right side of a join may read columns of the left side.
      for (auto input = rel.inputs.rbegin(); input != rel.inputs.rend(); ++input)
         visit(**input);
      if (rel.kind == RelKind::With) visitCtes(rel.as<op::With>());
   }

private:
   // ---- operators: what is read is checked ----

   void visitMap(op::Map& map) {
      for (auto computed = map.computed.rbegin(); computed != map.computed.rend(); ++computed)
         if (needed_.contains(computed->column) || isVolatile(*computed->expr)) check(computed->expr);
   }

   void visitGroups(op::GroupBy& group) {
      for (AggregateCall& call : group.aggregates)
         if (needed_.contains(call.column)) {
            for (ExprPtr& arg : call.directArgs)
               check(arg);
            checkCall(call.args, call.filter, call.orderBy);
         }
      for (ComputedColumn& key : group.keys)
         check(key.expr);
   }

   void visitWindow(op::Window& window) {
      std::vector<SortKey> none;
      bool isRead = false;
      for (WindowCall& call : window.calls) {
         if (!needed_.contains(call.column)) continue;
         isRead = true;
         checkCall(call.args, call.filter, none);
      }
      for (ExprPtr& expr : window.spec.partitionBy)
         check(expr);
      for (SortKey& key : window.spec.orderBy)
         check(key.expr);
      for (FrameBound* bound : {&window.spec.start, &window.spec.end})
         if (isRead && bound->offset) check(bound->offset);
   }

   void checkCall(std::vector<ExprPtr>& args, ExprPtr& filter, std::vector<SortKey>& orderBy) {
      for (ExprPtr& arg : args)
         check(arg);
      if (filter) check(filter);
      for (SortKey& key : orderBy)
         check(key.expr);
   }

   /// A single row is part of the query that reads it.
   void visitValues(op::Values& values) {
      for (std::vector<ExprPtr>& row : values.rows)
         for (size_t i = 0; i < row.size(); ++i)
            if (values.rows.size() > 1 || needed_.contains(values.columns[i])) check(row[i]);
   }

   /// A CTE that is read once is part of its reader, another one gives all its columns. One without readers is dropped,
   /// unless it writes.
   void visitCtes(op::With& with) {
      for (auto cte = with.ctes.rbegin(); cte != with.ctes.rend(); ++cte) {
         const bool writes = isDml(cte->query->kind);
         if (!readCtes_.contains(cte->id) && !writes) continue;
         const bool isInlined = !cte->recursive && !writes && !hasVolatile(*cte->query) &&
                                (cte->materialized ? !*cte->materialized : cte->references <= 1);
         if (!isInlined) needed_.add(cte->columns);
         if (cte->recursive) {
            needed_.add(cte->recursiveColumns);
            visit(*cte->recursive);
         }
         visit(*cte->query);
      }
   }

   static bool hasVolatile(Rel& rel) {
      bool found = false;
      forEachRel(rel, [&found](const Rel& at) { found = found || callsVolatile(at); });
      return found;
   }

   // ---- expressions ----

   void check(ExprPtr& root) {
      addColumns(*root, needed_);
      if (mayFail(*root)) fold(root);
   }

   /// The constant that the expression is equal to, or null.
   const Expr* fold(ExprPtr& expr) {
      checkStack();
      checkInterrupted();
      switch (expr->kind) {
      case ExprKind::Constant: return expr.get();
      case ExprKind::Column:
      case ExprKind::Parameter: return nullptr;
      case ExprKind::And:
      case ExprKind::Or: return foldList(*expr);
      case ExprKind::Case: return foldCase(*expr);
      case ExprKind::Coalesce: return foldCoalesce(*expr);
      case ExprKind::Subquery:
         for (ExprPtr& arg : expr->args)
            fold(arg);
         needed_.add(expr->as<scalar::Subquery>().columns);
         visit(*expr->as<scalar::Subquery>().query);
         return nullptr;
      default: return foldOperator(expr);
      }
   }

   const Expr* foldList(Expr& list) {
      const bool isAnd = list.kind == ExprKind::And;
      bool isOpen = false, hasNull = false;
      for (ExprPtr& arg : list.args) {
         const Expr* known = fold(arg);
         if (!known)
            isOpen = true;
         else if (isNullConstant(*known))
            hasNull = true;
         else if (isConstantTrue(*known) != isAnd)
            return known;
      }
      if (isOpen) return nullptr;
      return keep(hasNull ? makeNull(booleanType) : makeBoolean(isAnd));
   }

   const Expr* foldCase(Expr& cases) {
      const size_t whens = cases.args.size() / 2;
      bool isOpen = false;
      for (size_t i = 0; i < whens; ++i) {
         const Expr* condition = fold(cases.args[2 * i]);
         if (condition && isConstantFalseOrNull(*condition)) continue;
         const Expr* result = fold(cases.args[2 * i + 1]);
         if (condition) return isOpen ? nullptr : result;
         isOpen = true;
      }
      const bool hasElse = cases.args.size() % 2 == 1;
      const Expr* otherwise = hasElse ? fold(cases.args.back()) : nullptr;
      if (isOpen) return nullptr;
      return hasElse ? otherwise : keep(makeNull(cases.type));
   }

   const Expr* foldCoalesce(Expr& coalesce) {
      bool isOpen = false;
      for (ExprPtr& arg : coalesce.args) {
         const Expr* known = fold(arg);
         if (known && isNullConstant(*known)) continue;
         if (known) return isOpen ? nullptr : known;
         isOpen = true;
      }
      return isOpen ? nullptr : keep(makeNull(coalesce.type));
   }

   const Expr* foldOperator(ExprPtr& expr) {
      std::vector<const Expr*> args;
      for (ExprPtr& arg : expr->args)
         args.push_back(fold(arg));
      const auto isNull = [](const Expr* arg) { return arg && isNullConstant(*arg); };
      const auto* function = functionOf(*expr);
      if (expr->kind == ExprKind::Call && (!function || function->returnsSet)) return nullptr;
      if (function && function->isStrict && std::any_of(args.begin(), args.end(), isNull))
         return keep(makeNull(expr->type));
      if (!isComputed(*expr) || std::find(args.begin(), args.end(), nullptr) != args.end()) return nullptr;
      return evaluate(expr, args);
   }

   /// Whether the planner computes such an expression when all its operands are constants.
   static bool isComputed(const Expr& expr) {
      switch (expr.kind) {
      case ExprKind::Compare:
      case ExprKind::Not:
      case ExprKind::IsNull:
      case ExprKind::IsNotNull:
      case ExprKind::IsTrue:
      case ExprKind::IsNotTrue:
      case ExprKind::IsFalse:
      case ExprKind::IsNotFalse:
      case ExprKind::InList:
      case ExprKind::Relabel:
      case ExprKind::TypmodCast:
      case ExprKind::Array:
      case ExprKind::SubscriptRef: return true;
      case ExprKind::TextCast: return isPureText(expr.type.oid) && isPureText(expr.args[0]->type.oid);
      case ExprKind::AnyArray: {
         const auto* function = expr.as<scalar::AnyArray>().function;
         return !function || function->volatility == catalog::Volatility::Immutable;
      }
      case ExprKind::Call: return functionOf(expr)->volatility == catalog::Volatility::Immutable;
      default: return false;
      }
   }

   const Expr* evaluate(ExprPtr& expr, const std::vector<const Expr*>& args) {
      ExprPtr copy;
      const bool isReady = std::equal(args.begin(), args.end(), expr->args.begin(),
                                      [](const Expr* arg, const ExprPtr& own) { return arg == own.get(); });
      if (!isReady) {
         copy = clone(*expr);
         for (size_t i = 0; i < args.size(); ++i)
            copy->args[i] = clone(*args[i]);
      }
      ExprPtr value;
      try {
         value = constantValue(copy ? *copy : *expr, query_);
      } catch (const SqlError& error) {
         // What is not built, or too large for the memory of a plan, fails only if a row asks for it.
         const SqlState state = error.state();
         if (state != sqlstate::featureNotSupported && state != sqlstate::outOfMemory &&
             state != sqlstate::programLimitExceeded)
            throw;
         return nullptr;
      }
      if (!value || !mayReplace(*expr, *value)) return nullptr;
      if (!query_.context.settings.enabled) return keep(std::move(value));
      expr = std::move(value);
      return expr.get();
   }

   const Expr* keep(ExprPtr constant) {
      kept_.push_back(std::move(constant));
      return kept_.back().get();
   }

   Query& query_;
   ColumnSet needed_;
   std::unordered_set<uint32_t> readCtes_;
   std::vector<ExprPtr> kept_; ///< constants that do not stand in the tree
};

} // namespace

void raiseConstantErrors(Rel& root, const std::vector<OutputColumn>& output, Query& query) {
   if (!query.context.evaluator) return;
   ConstantErrors errors(query);
   for (const OutputColumn& column : output)
      errors.need(column.column);
   errors.visit(root);
}

} // namespace ouzel::optimizer
