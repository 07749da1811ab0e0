#include "optimizer/query/query.hpp"

#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "common/number/decimal.hpp"
#include "common/thread/stack.hpp"

namespace ouzel::optimizer {

using namespace sql;

ColumnId Query::newColumn(std::string name, const SqlType& type, bool nullable) {
   ColumnInfo info;
   info.name = std::move(name);
   info.type = type;
   info.repr = storedRepresentation(type);
   info.nullable = nullable;
   return columns.add(std::move(info));
}

ColumnId Query::copyColumn(ColumnId column) {
   ColumnInfo info = columns[column];
   return columns.add(std::move(info));
}

ExprPtr Query::onlyWhere(ColumnId condition, ExprPtr value) const {
   if (condition == noColumn) return value;
   auto expr = std::make_unique<Expr>(ExprKind::Case, value->type);
   expr->args.push_back(ref(condition));
   expr->args.push_back(std::move(value));
   return expr;
}

ExprPtr sameValue(const Query& query, ColumnId a, ColumnId b) {
   DCHECK(query.columns[a].type.oid == query.columns[b].type.oid);
   const bool nullable = query.columns[a].nullable && query.columns[b].nullable;
   return makeCompare(nullable ? CompareOp::IsNotDistinctFrom : CompareOp::Eq, query.ref(a), query.ref(b));
}

ExprPtr makeInt8(int64_t value) {
   return makeConstant(int8Type, Value::integer(PhysicalType::I64, value));
}

namespace {

void replaceInRel(Rel& rel, const std::function<void(ColumnId&)>& replace);

void replaceInExpr(Expr& expr, const std::function<void(ColumnId&)>& replace) {
   checkStack();
   if (auto* reference = expr.getIf<scalar::Column>()) replace(reference->column);
   for (ExprPtr& arg : expr.args)
      replaceInExpr(*arg, replace);
   if (auto* subquery = expr.getIf<scalar::Subquery>()) {
      for (ColumnId& column : subquery->columns)
         replace(column);
      replaceInRel(*subquery->query, replace);
   }
}

void replaceInRel(Rel& rel, const std::function<void(ColumnId&)>& replace) {
   forEachOwnColumn(rel, [&replace](ColumnId& column, ColumnRole) { replace(column); });
   forEachOwnExpr(rel, [&replace](ExprPtr& expr) { replaceInExpr(*expr, replace); });
   forEachChild(rel, [&replace](RelPtr& child) { replaceInRel(*child, replace); });
}

/// Collects the columns and the CTEs that the subtree makes; subqueries included.
void collectMade(const Rel& rel, std::vector<ColumnId>& made, std::vector<uint32_t>& ctes) {
   forEachOwnColumn(rel, [&made](ColumnId column, ColumnRole role) {
      if (role == ColumnRole::Made) made.push_back(column);
   });
   forEachOwnExpr(rel, [&](const Expr& root) {
      forEachExpr(root, [&](const Expr& expr) {
         if (const Rel* subquery = subqueryOf(expr)) collectMade(*subquery, made, ctes);
         return true;
      });
   });
   if (const auto* with = rel.getIf<op::With>())
      for (const Cte& cte : with->ctes)
         ctes.push_back(cte.id);
   forEachChild(rel, [&](const RelPtr& child) { collectMade(*child, made, ctes); });
}

} // namespace

RelPtr cloneRenamed(const Rel& rel, Query& query, ColumnMap& renamed) {
   RelPtr copy = clone(rel);
   std::vector<ColumnId> made;
   std::vector<uint32_t> ctes;
   collectMade(*copy, made, ctes);
   DCHECK(renamed.empty());
   for (const ColumnId column : made)
      if (!renamed.contains(column)) renamed.emplace(column, query.copyColumn(column));
   std::unordered_map<uint32_t, uint32_t> cteIds;
   for (const uint32_t id : ctes)
      cteIds.emplace(id, query.nextCte++);
   replaceInRel(*copy, [&renamed](ColumnId& column) {
      if (const auto it = renamed.find(column); it != renamed.end()) column = it->second;
   });
   const std::function<void(Rel&)> renumber = [&](Rel& node) {
      forEachRel(node, [&](Rel& inner) {
         if (auto* scan = inner.getIf<op::CteScan>())
            if (const auto it = cteIds.find(scan->cte); it != cteIds.end()) scan->cte = it->second;
         if (auto* with = inner.getIf<op::With>())
            for (Cte& cte : with->ctes)
               cte.id = cteIds.at(cte.id);
         forEachOwnExpr(inner, [&](ExprPtr& root) {
            forEachExpr(*root, [&](const Expr& expr) {
               if (auto* subquery = expr.getIf<scalar::Subquery>()) renumber(*subquery->query);
               return true;
            });
         });
      });
   };
   renumber(*copy);
   return copy;
}

void replaceColumns(Rel& rel, const std::function<ColumnId(ColumnId)>& replacement) {
   replaceInRel(rel, [&replacement](ColumnId& column) { column = replacement(column); });
}

void forEachRel(Rel& rel, const std::function<void(Rel&)>& visit) {
   visit(rel);
   forEachChild(rel, [&visit](RelPtr& child) { forEachRel(*child, visit); });
}

namespace {

bool isStatic(const op::GroupBy& group) {
   return group.keys.empty() && group.groupingSets.size() <= 1;
}

} // namespace

bool isAtMostOneRow(const Rel& rel) {
   checkStack();
   switch (rel.kind) {
   case RelKind::GroupBy: return isStatic(rel.as<op::GroupBy>());
   case RelKind::Values: return rel.as<op::Values>().rows.size() <= 1;
   case RelKind::Limit: {
      const auto& fields = rel.as<op::Limit>();
      const ExprPtr& limit = fields.limit;
      const Value* known = limit ? knownValue(*limit) : nullptr;
      if (known && !fields.withTies && (known->i64 == 0 || known->i64 == 1)) return true;
      return isAtMostOneRow(*rel.inputs[0]);
   }
   case RelKind::Select:
   case RelKind::Map:
   case RelKind::Window:
   case RelKind::Sort:
   case RelKind::Distinct:
   case RelKind::With:
   case RelKind::LockRows:
   case RelKind::Barrier: return isAtMostOneRow(*rel.inputs[0]);
   case RelKind::Join: {
      const JoinKind kind = rel.as<op::Join>().kind;
      if (kind == JoinKind::Full || kind == JoinKind::Right || !isAtMostOneRow(*rel.inputs[0])) return false;
      return (kind != JoinKind::Inner && kind != JoinKind::Left) || isAtMostOneRow(*rel.inputs[1]);
   }
   default: return false;
   }
}

bool isExactlyOneRow(const Rel& rel) {
   checkStack();
   switch (rel.kind) {
   case RelKind::GroupBy: return isStatic(rel.as<op::GroupBy>());
   case RelKind::Values: return rel.as<op::Values>().rows.size() == 1;
   case RelKind::Map:
   case RelKind::Window:
   case RelKind::Sort:
   case RelKind::Distinct:
   case RelKind::With: return isExactlyOneRow(*rel.inputs[0]);
   case RelKind::Join: {
      const auto& join = rel.as<op::Join>();
      if (!isExactlyOneRow(*rel.inputs[0])) return false;
      if (join.kind == JoinKind::Inner) return !join.predicate && isExactlyOneRow(*rel.inputs[1]);
      if (join.kind == JoinKind::Left) return isAtMostOneRow(*rel.inputs[1]);
      return join.kind == JoinKind::Mark || join.kind == JoinKind::Single;
   }
   default: return false;
   }
}

bool hasEffects(const Rel& rel) {
   checkStack();
   bool found = rel.kind == RelKind::TableFunction || rel.kind == RelKind::ProjectSet || rel.kind == RelKind::LockRows;
   forEachOwnExpr(rel, [&found](const Expr& expr) { found = found || mayFail(expr) || isVolatile(expr); });
   forEachChild(rel, [&found](const RelPtr& child) { found = found || hasEffects(*child); });
   return found;
}

namespace {

bool isNonZeroConstant(const Expr& expr) {
   const Value* value = knownValue(expr);
   if (!value || value->isNull) return false;
   switch (value->type) {
   case PhysicalType::I16:
   case PhysicalType::I32:
   case PhysicalType::I64: return value->i64 != 0;
   case PhysicalType::Decimal: return decimal::sign(StringView(value->bytes)) != 0;
   default: return false;
   }
}

/// + - and * of numbers, and their division by a constant.
bool onlyOverflows(const Expr& call) {
   const auto* function = functionOf(call);
   if (!function) return false;
   const std::string_view source = function->source;
   const bool isDivision = source == "numeric_div" || source == "int2div" || source == "int4div" || source == "int8div";
   if (isDivision) return isNonZeroConstant(*call.args[1]);
   const bool isInteger = source.starts_with("int") && (source.ends_with("pl") || source.ends_with("mi") ||
                                                        source.ends_with("mul") || source.ends_with("um"));
   return isInteger || source == "numeric_add" || source == "numeric_sub" || source == "numeric_mul" ||
          source == "float8pl" || source == "float8mi" || source == "float8mul";
}

} // namespace

bool mayFailBesidesOverflow(const Expr& expr) {
   checkStack();
   if (!mayFail(expr)) return false;
   switch (expr.kind) {
   case ExprKind::Call:
      if (!onlyOverflows(expr)) return true;
      break;
   case ExprKind::Compare:
   case ExprKind::And:
   case ExprKind::Or:
   case ExprKind::Not:
   case ExprKind::IsNull:
   case ExprKind::IsNotNull:
   case ExprKind::Case:
   case ExprKind::Coalesce:
   case ExprKind::Relabel:
   case ExprKind::Convert: break;
   default: return true;
   }
   return std::any_of(expr.args.begin(), expr.args.end(),
                      [](const ExprPtr& arg) { return mayFailBesidesOverflow(*arg); });
}

bool isUniqueOn(const Rel& rel, const ColumnSet& columns, const Query& query) {
   checkStack();
   if (isAtMostOneRow(rel)) return true;
   switch (rel.kind) {
   case RelKind::Select:
   case RelKind::Map:
   case RelKind::Window:
   case RelKind::Sort:
   case RelKind::Limit:
   case RelKind::LockRows:
   case RelKind::Barrier: return isUniqueOn(*rel.inputs[0], columns, query);
   case RelKind::Join: {
      const JoinKind kind = rel.as<op::Join>().kind;
      if (kind == JoinKind::Full) return false; // padded rows may equal other rows
      if (kind == JoinKind::Semi || kind == JoinKind::Anti || kind == JoinKind::Mark || kind == JoinKind::Single)
         return isUniqueOn(*rel.inputs[0], columns, query);
      return isUniqueOn(*rel.inputs[0], columns, query) && isUniqueOn(*rel.inputs[1], columns, query);
   }
   case RelKind::Distinct: return columns.containsAll(rel.as<op::Distinct>().columns);
   case RelKind::GroupBy: {
      const auto& group = rel.as<op::GroupBy>();
      return group.groupingSets.size() <= 1 &&
             std::all_of(group.keys.begin(), group.keys.end(),
                         [&columns](const ComputedColumn& key) { return columns.contains(key.column); });
   }
   case RelKind::SetOp: return !rel.as<op::SetOp>().all && columns.containsAll(rel.as<op::SetOp>().columns);
   case RelKind::Get:
   case RelKind::VirtualGet: {
      const auto& get = rel.as<op::Get>();
      if (!query.context.statistics) return false;
      for (const std::vector<int16_t>& key : query.context.statistics->uniqueKeys(get.table)) {
         const bool covered = std::all_of(key.begin(), key.end(), [&](int16_t attribute) {
            return std::any_of(get.columns.begin(), get.columns.end(), [&](const GetColumn& column) {
               return column.attribute == attribute && columns.contains(column.column);
            });
         });
         if (covered) return true;
      }
      return false;
   }
   default: return false;
   }
}

void addColumns(const Expr& expr, ColumnSet& set) {
   forEachExpr(expr, [&set](const Expr& e) {
      if (const auto* reference = e.getIf<scalar::Column>()) set.add(reference->column);
      return true;
   });
}

void addOwnReads(const Rel& rel, ColumnSet& set) {
   forEachOwnExpr(rel, [&set](const Expr& expr) { addColumns(expr, set); });
   forEachOwnColumn(rel, [&set](ColumnId column, ColumnRole role) {
      if (role == ColumnRole::Read) set.add(column);
   });
}

void addColumns(const std::vector<ExprPtr>& exprs, ColumnSet& set) {
   for (const ExprPtr& expr : exprs)
      addColumns(*expr, set);
}

} // namespace ouzel::optimizer
