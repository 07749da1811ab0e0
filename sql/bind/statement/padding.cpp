#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "common/thread/stack.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/binder.hpp"

// The padding of character(n) in results. Values are stored without padding; the length in their type tells the output
// how to pad. An expression that mixes lengths, such as coalesce(c, 'none'), has a type without a length, but
// PostgreSQL pads each of its values. If such an expression is an output of the whole query, the blanks are added
// inside the expression, where the lengths are known. If operators between compare it, the output gets a copy of the
// column.

namespace ouzel::sql {

namespace {

constexpr Oid rpadFunction = 874; // rpad(text, integer, text)

/// Whether the type does not tell how long the values are. The elements of an array print without its length.
bool isWithoutLength(const SqlType& type) {
   return (type.oid == oid::bpchar && type.typmod < 0) || type.oid == oid::bpcharArray;
}

/// Whether the value may be computed twice.
bool isCopyable(const Expr& expr) {
   bool hasSubquery = false;
   forEachExpr(expr, [&hasSubquery](const Expr& part) {
      hasSubquery = hasSubquery || part.kind == ExprKind::Subquery;
      return !hasSubquery;
   });
   return !hasSubquery && !isVolatile(expr);
}

ExprPtr padded(ExprPtr expr) {
   const int32_t length = expr->type.typmod - 4;
   const SqlType text{oid::text, -1, expr->type.collation};
   auto relabelled = std::make_unique<Expr>(ExprKind::Relabel, text);
   relabelled->args.push_back(std::move(expr));
   std::vector<ExprPtr> args;
   args.push_back(std::move(relabelled));
   args.push_back(makeConstant({oid::int4, -1, invalidOid}, Value::integer(PhysicalType::I32, length)));
   args.push_back(makeConstant(text, Value::string(" ")));
   auto call = makeCall(catalog::builtins().function(rpadFunction), text, std::move(args));
   auto result = std::make_unique<Expr>(ExprKind::Relabel, SqlType{oid::bpchar, -1, text.collation});
   result->args.push_back(std::move(call));
   return result;
}

/// The function of GREATEST and LEAST, which compares character values without their blanks.
bool isExtreme(const Expr& expr) {
   const auto* call = expr.getIf<scalar::Call>();
   return call && call->function && (call->function->name == "ouzel_greatest" || call->function->name == "ouzel_least");
}

void padExpr(ExprPtr& expr) {
   checkStack();
   if (expr->type.oid == oid::bpcharArray && expr->kind == ExprKind::Array) {
      for (ExprPtr& element : expr->args)
         padExpr(element);
      return;
   }
   if (expr->type.oid != oid::bpchar) return;
   if (expr->type.typmod > 4) {
      expr = padded(std::move(expr));
   } else if (expr->kind == ExprKind::Coalesce) {
      for (ExprPtr& arg : expr->args)
         padExpr(arg);
   } else if (expr->kind == ExprKind::Case) {
      for (size_t i = 0; i < expr->args.size(); ++i)
         if (i % 2 == 1 || i + 1 == expr->args.size()) padExpr(expr->args[i]);
   } else if (isExtreme(*expr)) {
      for (ExprPtr& arg : expr->args)
         padExpr(arg);
   }
}

class OutputPadding {
public:
   explicit OutputPadding(BoundQuery& query) : query_(query) {}

   /// A column of `rel` that has the values of `column` with their blanks; `column` itself where nothing can be padded.
   /// `isRead`: an operator above compares `column`, which so has to stay without blanks.
   ColumnId shown(RelPtr& rel, ColumnId column, bool isRead) {
      checkStack();
      const bool isReadHere = isRead || readers(*rel, column) > 0;
      switch (rel->kind) {
      case RelKind::Map:
         for (ComputedColumn& computed : rel->as<op::Map>().computed)
            if (computed.column == column) return shownByMap(*rel, computed, isRead);
         return shown(rel->inputs[0], column, isReadHere);
      case RelKind::Select:
      case RelKind::Window: return shown(rel->inputs[0], column, isReadHere);
      case RelKind::Sort: // blanks at the end rarely change an order
      case RelKind::LockRows:
      case RelKind::Limit: return shown(rel->inputs[0], column, isRead);
      case RelKind::Join:
         for (RelPtr& input : rel->inputs) {
            const std::vector<ColumnId> given = outputColumns(*input);
            if (std::find(given.begin(), given.end(), column) != given.end()) return shown(input, column, isReadHere);
         }
         return column;
      case RelKind::Values: return shownByValues(rel->as<op::Values>(), column, isRead);
      case RelKind::GroupBy: return shownByGroup(*rel, column);
      case RelKind::SetOp: { // UNION ALL only: all other set operations compare the values
         const auto& setOp = rel->as<op::SetOp>();
         if (setOp.kind != SetOpKind::Union || !setOp.all || isRead) return column;
         for (size_t n = 0; n < setOp.columns.size(); ++n)
            if (setOp.columns[n] == column)
               for (int side = 0; side < 2; ++side)
                  padSide(*rel, side, n);
         return column;
      }
      default: return column;
      }
   }

private:
   ColumnId copyOf(ColumnId column) {
      ColumnInfo info = query_.columns[column];
      info.type.typmod = -1;
      return query_.columns.add(std::move(info));
   }

   ColumnId shownByMap(Rel& map, ComputedColumn& computed, bool isRead) {
      const ColumnId source = columnOf(*computed.expr);
      if (source != noColumn) {
         const ColumnId inner = shown(map.inputs[0], source, isRead || readers(map, source) > 1);
         if (inner == source) return computed.column;
         const ColumnId copy = copyOf(computed.column);
         map.as<op::Map>().computed.push_back({copy, makeColumn(inner, query_.columns[inner].type)});
         return copy;
      }
      auto* subquery = computed.expr->getIf<scalar::Subquery>();
      if (subquery && subquery->kind == SubqueryKind::Scalar && !isRead) {
         subquery->columns[0] = shown(subquery->query, subquery->columns[0], false);
         return computed.column;
      }
      if (!isRead) {
         padExpr(computed.expr);
         return computed.column;
      }
      if (subquery || isVolatile(*computed.expr)) return computed.column; // computed once only
      ExprPtr padded = clone(*computed.expr);
      padExpr(padded);
      const ColumnId copy = copyOf(computed.column);
      map.as<op::Map>().computed.push_back({copy, std::move(padded)});
      return copy;
   }

   ColumnId shownByValues(op::Values& values, ColumnId column, bool isRead) {
      const auto it = std::find(values.columns.begin(), values.columns.end(), column);
      if (it == values.columns.end()) return column;
      const auto number = static_cast<size_t>(it - values.columns.begin());
      if (!isRead) {
         for (std::vector<ExprPtr>& row : values.rows)
            padExpr(row[number]);
         return column;
      }
      for (const std::vector<ExprPtr>& row : values.rows)
         if (!isCopyable(*row[number])) return column;
      for (std::vector<ExprPtr>& row : values.rows) {
         row.push_back(clone(*row[number]));
         padExpr(row.back());
      }
      values.columns.push_back(copyOf(column));
      return values.columns.back();
   }

   /// A group shows one of its values: the least.
   ColumnId shownByGroup(Rel& rel, ColumnId column) {
      if (query_.columns[column].type.oid != oid::bpchar) return column;
      auto& group = rel.as<op::GroupBy>();
      if (!group.groupingSets.empty()) return column;
      for (const ComputedColumn& key : group.keys) {
         if (key.column != column || isVolatile(*key.expr) || key.expr->kind == ExprKind::Subquery) continue;
         ExprPtr value = clone(*key.expr);
         if (const ColumnId source = columnOf(*value); source != noColumn) {
            const ColumnId inner = shown(rel.inputs[0], source, true);
            if (inner == source) return column;
            value = makeColumn(inner, query_.columns[inner].type);
         } else {
            padExpr(value);
         }
         constexpr Oid types[] = {oid::bpchar};
         AggregateCall call;
         call.function = catalog::builtins().findFunction("min", types);
         call.column = copyOf(column);
         call.type = query_.columns[call.column].type;
         call.args.push_back(std::move(value));
         group.aggregates.push_back(std::move(call));
         return group.aggregates.back().column;
      }
      return column;
   }

   /// Number of the operator's own expressions that read a column and so would see the blanks.
   static uint32_t readers(const Rel& rel, ColumnId column) {
      uint32_t found = 0;
      forEachOwnExpr(rel, [&](const Expr& root) {
         bool reads = false;
         forEachExpr(root, [&](const Expr& expr) {
            reads = reads || columnOf(expr) == column || expr.kind == ExprKind::Subquery;
            return !reads;
         });
         found += reads ? 1 : 0;
      });
      return found;
   }

   void padSide(Rel& rel, int side, size_t number) {
      ColumnId& source = rel.as<op::SetOp>().inputColumns[side][number];
      const SqlType type = query_.columns[source].type;
      if (isWithoutLength(type)) {
         source = shown(rel.inputs[static_cast<size_t>(side)], source, false);
         return;
      }
      if (type.oid != oid::bpchar) return;
      ColumnInfo info = query_.columns[source];
      info.type.typmod = -1;
      const ColumnId wide = query_.columns.add(std::move(info));
      std::vector<ComputedColumn> computed;
      computed.push_back({wide, makeColumn(source, type)});
      padExpr(computed[0].expr);
      RelPtr& input = rel.inputs[static_cast<size_t>(side)];
      input = makeMap(std::move(input), std::move(computed));
      source = wide;
   }

   BoundQuery& query_;
};

} // namespace

void padOutput(BoundQuery& query) {
   for (OutputColumn& output : query.output)
      if (isWithoutLength(output.type)) output.column = OutputPadding(query).shown(query.root, output.column, false);
}

} // namespace ouzel::sql
