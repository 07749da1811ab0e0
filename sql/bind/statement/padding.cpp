#include "catalog/builtin/builtin.hpp"
#include "common/thread/stack.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/binder.hpp"

// The padding of character(n) in results. Values are stored without padding; the length in their type tells the output
// how to pad. An expression that mixes lengths, such as coalesce(c, 'none'), has a type without a length, but
// PostgreSQL pads each of its values. If such an expression is an output of the whole query and no operator compares
// it, the blanks are added inside the expression, where the lengths are known.

namespace ouzel::sql {

namespace {

constexpr Oid rpadFunction = 874; // rpad(text, integer, text)

bool isWithoutLength(const SqlType& type) {
   return type.oid == oid::bpchar && type.typmod < 0;
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

void padExpr(ExprPtr& expr) {
   checkStack();
   if (expr->type.oid != oid::bpchar) return;
   if (expr->type.typmod > 4) {
      expr = padded(std::move(expr));
   } else if (expr->kind == ExprKind::Coalesce) {
      for (ExprPtr& arg : expr->args)
         padExpr(arg);
   } else if (expr->kind == ExprKind::Case) {
      for (size_t i = 0; i < expr->args.size(); ++i)
         if (i % 2 == 1 || i + 1 == expr->args.size()) padExpr(expr->args[i]);
   }
}

class OutputPadding {
public:
   explicit OutputPadding(BoundQuery& query) : query_(query) {}

   void pad(RelPtr& rel, ColumnId column) {
      checkStack();
      switch (rel->kind) {
      case RelKind::Map:
         for (ComputedColumn& computed : rel->as<op::Map>().computed) {
            if (computed.column != column) continue;
            const ColumnId source = columnOf(*computed.expr);
            if (source == noColumn) return padExpr(computed.expr);
            if (readers(*rel, source) == 1) pad(rel->inputs[0], source);
            return;
         }
         if (readers(*rel, column) == 0) pad(rel->inputs[0], column);
         return;
      case RelKind::Select:
         if (readers(*rel, column) == 0) pad(rel->inputs[0], column);
         return;
      case RelKind::Sort: // blanks at the end rarely change an order
      case RelKind::Limit: return pad(rel->inputs[0], column);
      case RelKind::SetOp: { // UNION ALL only: all other set operations compare the values
         const auto& setOp = rel->as<op::SetOp>();
         if (setOp.kind != SetOpKind::Union || !setOp.all) return;
         for (size_t i = 0; i < setOp.columns.size(); ++i)
            if (setOp.columns[i] == column)
               for (int side = 0; side < 2; ++side)
                  padSide(*rel, side, i);
         return;
      }
      default: return;
      }
   }

private:
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
      if (isWithoutLength(type)) return pad(rel.inputs[static_cast<size_t>(side)], source);
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
   for (const OutputColumn& output : query.output)
      if (isWithoutLength(output.type)) OutputPadding(query).pad(query.root, output.column);
}

} // namespace ouzel::sql
