#include "sql/algebra/prune_parts.hpp"

#include <algorithm>

#include "common/number/scaled_value.hpp"
#include "common/thread/stack.hpp"
#include "common/type/order_key.hpp"

namespace ouzel::sql {

namespace {

using Kept = std::vector<bool>;

void keepBelow(const TableParts& parts, const PartitionNode& node, const PartConditions& conditions, Kept& kept) {
   checkStack();
   std::vector<catalog::PartitionCondition> byColumn;
   for (const int16_t attribute : node.key) {
      const auto found = conditions.find(attribute);
      byColumn.push_back(found == conditions.end() ? catalog::PartitionCondition() : found->second);
   }
   Kept children;
   node.map->choose(byColumn, children);
   for (size_t i = 0; i < children.size(); ++i) {
      if (!children[i]) continue;
      const PartitionNode::Child& child = node.children[i];
      if (child.node >= 0)
         keepBelow(parts, parts.nodes[static_cast<size_t>(child.node)], conditions, kept);
      else
         kept[child.first] = true;
   }
}

void narrow(TableRef& table, const Kept& kept) {
   std::vector<uint32_t> left;
   if (table.keptParts) {
      for (const uint32_t part : *table.keptParts)
         if (kept[part]) left.push_back(part);
      if (left.size() == table.keptParts->size()) return;
   } else {
      for (uint32_t i = 0; i < kept.size(); ++i)
         if (kept[i]) left.push_back(i);
      if (left.size() == kept.size()) return;
   }
   table.keptParts = std::make_shared<const std::vector<uint32_t>>(std::move(left));
}

bool isInteger(Oid type) {
   return type == oid::int2 || type == oid::int4 || type == oid::int8;
}
bool isText(Oid type) {
   return type == oid::text || type == oid::varchar;
}

/// A constant in the form of the key's type; nothing if it is of a type that compares in another way.
std::optional<Value> keyValue(const Expr& constant, const SqlType& type) {
   const Value* known = knownValue(constant);
   if (!known || known->isNull) return std::nullopt;
   const Oid given = constant.type.oid;
   if (given != type.oid && !(isInteger(given) && isInteger(type.oid)) && !(isText(given) && isText(type.oid)))
      return std::nullopt;
   return withOwnScale(*known, type.oid, constant.repr);
}

bool isBefore(const SqlType& type, const Value& a, const Value& b) {
   std::string keyA, keyB;
   appendValueKey(keyA, type, a);
   appendValueKey(keyB, type, b);
   return keyA < keyB;
}

/// Collects what conjuncts say of columns of partition keys.
class ConditionReader {
public:
   ConditionReader(const TableParts& parts, std::span<const GetColumn> columns) : parts_(parts), columns_(columns) {}

   Kept keptBy(const Expr& predicate) const;

private:
   std::optional<int16_t> attributeOf(const Expr& expr) const {
      const Expr* at = &expr;
      while (at->kind == ExprKind::Relabel && !at->as<scalar::Relabel>().isCollate)
         at = at->args[0].get();
      if (at->kind != ExprKind::Column) return expressionNumber(*at);
      const ColumnId id = sql::columnOf(*at);
      for (const GetColumn& column : columns_)
         if (column.column == id && column.attribute > 0 && isPartitionKey(parts_, column.attribute))
            return column.attribute;
      return std::nullopt;
   }
   /// The number of the key's expression that this is over the columns.
   std::optional<int16_t> expressionNumber(const Expr& expr) const {
      for (size_t i = 0; i < parts_.expressions.size(); ++i) {
         if (!parts_.expressions[i].expr) continue;
         ExprPtr own = clone(*parts_.expressions[i].expr);
         ExprPtr column;
         substituteColumns(own, [&](ColumnId attribute) -> const Expr* {
            for (const GetColumn& given : columns_)
               if (given.attribute == static_cast<int16_t>(static_cast<uint32_t>(attribute))) {
                  column = makeColumn(given.column, typeOf(given.attribute));
                  return column.get();
               }
            return nullptr;
         });
         if (equal(*own, expr)) return static_cast<int16_t>(KeyExpression::firstNumber + i);
      }
      return std::nullopt;
   }
   const SqlType& typeOf(int16_t attribute) const {
      if (attribute >= KeyExpression::firstNumber)
         return parts_.expressions[static_cast<size_t>(attribute - KeyExpression::firstNumber)].type;
      return parts_.table->columns[static_cast<size_t>(attribute - 1)].type;
   }
   void read(const Expr& expr, PartConditions& conditions) const;
   void readCompare(const Expr& expr, PartConditions& conditions) const;
   void readList(const Expr& expr, PartConditions& conditions) const;

   const TableParts& parts_;
   const std::span<const GetColumn> columns_;
};

void ConditionReader::readCompare(const Expr& expr, PartConditions& conditions) const {
   CompareOp op = expr.as<scalar::Compare>().op;
   const Expr *column = expr.args[0].get(), *constant = expr.args[1].get();
   if (!knownValue(*constant)) {
      std::swap(column, constant);
      op = commuted(op);
   }
   const auto attribute = attributeOf(*column);
   if (!attribute) return;
   const SqlType& type = typeOf(*attribute);
   auto value = keyValue(*constant, type);
   if (!value) return;
   catalog::PartitionCondition& condition = conditions[*attribute];
   switch (op) {
   case CompareOp::Eq:
   case CompareOp::IsNotDistinctFrom:
      if (!condition.equal || condition.equal->size() > 1) condition.equal = std::vector<Value>{std::move(*value)};
      return;
   case CompareOp::Lt:
   case CompareOp::Le:
      if (condition.upper && !isBefore(type, *value, *condition.upper) &&
          (isBefore(type, *condition.upper, *value) || op == CompareOp::Le))
         return;
      condition.upper = std::move(value);
      condition.excludesUpper = op == CompareOp::Lt;
      return;
   case CompareOp::Gt:
   case CompareOp::Ge:
      if (condition.lower && !isBefore(type, *condition.lower, *value) &&
          (isBefore(type, *value, *condition.lower) || op == CompareOp::Ge))
         return;
      condition.lower = std::move(value);
      condition.excludesLower = op == CompareOp::Gt;
      return;
   default: return;
   }
}

void ConditionReader::readList(const Expr& expr, PartConditions& conditions) const {
   if (expr.as<scalar::InList>().negated) return;
   const auto attribute = attributeOf(*expr.args[0]);
   if (!attribute) return;
   std::vector<Value> values;
   for (size_t i = 1; i < expr.args.size(); ++i) {
      const Value* known = knownValue(*expr.args[i]);
      if (known && known->isNull) continue; // it equals nothing
      auto value = keyValue(*expr.args[i], typeOf(*attribute));
      if (!value) return;
      values.push_back(std::move(*value));
   }
   catalog::PartitionCondition& condition = conditions[*attribute];
   if (!condition.equal || condition.equal->size() > values.size()) condition.equal = std::move(values);
}

void ConditionReader::read(const Expr& expr, PartConditions& conditions) const {
   const auto isTrue = [&](const Expr& column, bool wanted) {
      if (column.type.oid != oid::boolean) return;
      if (const auto attribute = attributeOf(column); attribute && !conditions[*attribute].equal)
         conditions[*attribute].equal = std::vector<Value>{Value::boolean(wanted)};
   };
   switch (expr.kind) {
   case ExprKind::Compare: return readCompare(expr, conditions);
   case ExprKind::InList: return readList(expr, conditions);
   case ExprKind::IsNull:
      if (const auto attribute = attributeOf(*expr.args[0])) conditions[*attribute].isNull = true;
      return;
   case ExprKind::Column: return isTrue(expr, true);
   case ExprKind::IsTrue: return isTrue(*expr.args[0], true);
   case ExprKind::Not: return isTrue(*expr.args[0], false);
   case ExprKind::IsFalse: return isTrue(*expr.args[0], false);
   default: return;
   }
}

/// The parts that may have rows for which the predicate is true.
Kept ConditionReader::keptBy(const Expr& predicate) const {
   checkStack();
   if (predicate.kind == ExprKind::Or) {
      Kept kept(parts_.parts.size(), false);
      for (const ExprPtr& arg : predicate.args) {
         const Kept own = keptBy(*arg);
         for (size_t i = 0; i < kept.size(); ++i)
            kept[i] = kept[i] || own[i];
      }
      return kept;
   }
   Kept kept(parts_.parts.size(), true);
   PartConditions conditions;
   const auto both = [&](const Kept& other) {
      for (size_t i = 0; i < kept.size(); ++i)
         kept[i] = kept[i] && other[i];
   };
   if (predicate.kind == ExprKind::And) {
      for (const ExprPtr& arg : predicate.args)
         if (arg->kind == ExprKind::Or || arg->kind == ExprKind::And)
            both(keptBy(*arg));
         else
            read(*arg, conditions);
   } else {
      read(predicate, conditions);
   }
   if (conditions.empty()) return kept;
   Kept chosen(parts_.parts.size(), false);
   keepBelow(parts_, parts_.nodes[0], conditions, chosen);
   both(chosen);
   return kept;
}

} // namespace

bool isPartitionKey(const TableParts& parts, int16_t attribute) {
   return std::any_of(parts.nodes.begin(), parts.nodes.end(), [&](const PartitionNode& node) {
      return std::find(node.key.begin(), node.key.end(), attribute) != node.key.end();
   });
}

void pruneParts(TableRef& table, const PartConditions& conditions) {
   const TableParts& parts = *table.parts;
   if (parts.nodes.empty() || conditions.empty()) return;
   Kept kept(parts.parts.size(), false);
   keepBelow(parts, parts.nodes[0], conditions, kept);
   narrow(table, kept);
}

void pruneParts(TableRef& table, std::span<const GetColumn> columns, std::span<const ExprPtr> predicates) {
   if (table.parts->nodes.empty()) return;
   const ConditionReader reader(*table.parts, columns);
   Expr all(ExprKind::And, {oid::boolean, -1, invalidOid});
   for (const ExprPtr& predicate : predicates)
      all.args.push_back(clone(*predicate));
   narrow(table, reader.keptBy(all));
}

} // namespace ouzel::sql
