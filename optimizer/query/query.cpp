#include "optimizer/query/query.hpp"

#include <algorithm>

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

ExprPtr sameValue(const Query& query, ColumnId a, ColumnId b) {
   DCHECK(query.columns[a].type.oid == query.columns[b].type.oid);
   const bool nullable = query.columns[a].nullable && query.columns[b].nullable;
   return makeCompare(nullable ? CompareOp::IsNotDistinctFrom : CompareOp::Eq, query.ref(a), query.ref(b));
}

ExprPtr makeInt8(int64_t value) {
   return makeConstant(int8Type, Value::integer(PhysicalType::I64, value));
}

namespace {

/// Visits every ColumnId in the operator's own fields, not those in its expressions.
void forEachField(Rel& rel, const std::function<void(ColumnId&)>& visit) {
   const auto all = [&visit](std::vector<ColumnId>& list) {
      for (ColumnId& column : list)
         visit(column);
   };
   const auto one = [&visit](ColumnId& column) {
      if (column != noColumn) visit(column);
   };
   for (GetColumn& column : rel.getColumns)
      visit(column.column);
   all(rel.columns);
   one(rel.ordinality);
   for (ComputedColumn& computed : rel.computed)
      visit(computed.column);
   one(rel.markColumn);
   for (ComputedColumn& key : rel.keys)
      visit(key.column);
   for (AggregateCall& call : rel.aggregates)
      visit(call.column);
   for (Rel::GroupingCall& call : rel.groupingCalls)
      visit(call.column);
   for (WindowCall& call : rel.windowCalls)
      visit(call.column);
   all(rel.setOpInputs[0]);
   all(rel.setOpInputs[1]);
   all(rel.cteColumns);
   for (Cte& cte : rel.ctes) {
      all(cte.columns);
      all(cte.recursiveColumns);
   }
   for (sql::RowLock& lock : rel.rowLocks)
      one(lock.rowId);
   if (rel.dml) {
      one(rel.dml->rowId);
      one(rel.dml->clause);
      one(rel.dml->inputLine);
      for (GetColumn& column : rel.dml->target)
         visit(column.column);
      for (GetColumn& column : rel.dml->proposed)
         visit(column.column);
      for (ComputedColumn& computed : rel.dml->returning)
         visit(computed.column);
   }
}

void replaceInRel(Rel& rel, const std::function<void(ColumnId&)>& replace);

void replaceInExpr(Expr& expr, const std::function<void(ColumnId&)>& replace) {
   if (expr.kind == ExprKind::Column) replace(expr.column);
   for (ExprPtr& arg : expr.args)
      replaceInExpr(*arg, replace);
   if (expr.subquery) {
      if (expr.subqueryColumn != noColumn) replace(expr.subqueryColumn);
      for (ColumnId& column : expr.subqueryColumns)
         replace(column);
      replaceInRel(*expr.subquery, replace);
   }
}

void replaceInRel(Rel& rel, const std::function<void(ColumnId&)>& replace) {
   forEachField(rel, replace);
   forEachOwnExpr(rel, [&replace](ExprPtr& expr) { replaceInExpr(*expr, replace); });
   for (RelPtr& input : rel.inputs)
      replaceInRel(*input, replace);
   for (Cte& cte : rel.ctes) {
      replaceInRel(*cte.query, replace);
      if (cte.recursive) replaceInRel(*cte.recursive, replace);
   }
}

/// Collects the column ids in the fields of the subtree's operators, and its CTE ids; subqueries included.
void collectMade(const Rel& rel, std::vector<ColumnId>& made, std::vector<uint32_t>& ctes) {
   Rel& mutableRel = const_cast<Rel&>(rel); // forEachField takes a mutable Rel; the visitor changes nothing
   if (rel.kind != RelKind::Distinct) forEachField(mutableRel, [&made](ColumnId& column) { made.push_back(column); });
   forEachOwnExpr(rel, [&](const Expr& root) {
      forEachExpr(root, [&](const Expr& expr) {
         if (expr.subquery) collectMade(*expr.subquery, made, ctes);
         return true;
      });
   });
   for (const RelPtr& input : rel.inputs)
      collectMade(*input, made, ctes);
   for (const Cte& cte : rel.ctes) {
      ctes.push_back(cte.id);
      collectMade(*cte.query, made, ctes);
      if (cte.recursive) collectMade(*cte.recursive, made, ctes);
   }
}

} // namespace

RelPtr cloneRenamed(const Rel& rel, Query& query, ColumnMap& renamed) {
   RelPtr copy = clone(rel);
   std::vector<ColumnId> fields;
   std::vector<uint32_t> ctes;
   collectMade(*copy, fields, ctes);
   // Fields also hold columns that are read (inputs of set operations, CTE columns). Free columns keep their ids.
   ColumnSet outside(freeColumns(rel));
   const std::function<void(Rel&)> addOutside = [&](Rel& node) {
      forEachRel(node, [&](Rel& inner) {
         if (inner.kind == RelKind::CteScan && std::find(ctes.begin(), ctes.end(), inner.cte) == ctes.end())
            outside.add(inner.cteColumns);
         forEachOwnExpr(inner, [&](ExprPtr& root) {
            forEachExpr(*root, [&](const Expr& expr) {
               if (expr.subquery) addOutside(*expr.subquery);
               return true;
            });
         });
      });
   };
   addOutside(*copy);
   DCHECK(renamed.empty());
   for (const ColumnId column : fields)
      if (!outside.contains(column) && !renamed.contains(column)) renamed.emplace(column, query.copyColumn(column));
   std::unordered_map<uint32_t, uint32_t> cteIds;
   for (const uint32_t id : ctes)
      cteIds.emplace(id, query.nextCte++);
   replaceInRel(*copy, [&renamed](ColumnId& column) {
      if (const auto it = renamed.find(column); it != renamed.end()) column = it->second;
   });
   const std::function<void(Rel&)> renumber = [&](Rel& node) {
      forEachRel(node, [&](Rel& inner) {
         if (inner.kind == RelKind::CteScan || inner.kind == RelKind::RecursiveScan)
            if (const auto it = cteIds.find(inner.cte); it != cteIds.end()) inner.cte = it->second;
         for (Cte& cte : inner.ctes)
            cte.id = cteIds.at(cte.id);
         forEachOwnExpr(inner, [&](ExprPtr& root) {
            forEachExpr(*root, [&](const Expr& expr) {
               if (expr.subquery) renumber(*expr.subquery);
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
   for (RelPtr& input : rel.inputs)
      forEachRel(*input, visit);
   for (Cte& cte : rel.ctes) {
      forEachRel(*cte.query, visit);
      if (cte.recursive) forEachRel(*cte.recursive, visit);
   }
}

namespace {

bool isStaticGroup(const Rel& rel) {
   return rel.kind == RelKind::GroupBy && rel.keys.empty() && rel.groupingSets.size() <= 1;
}

} // namespace

bool isAtMostOneRow(const Rel& rel) {
   switch (rel.kind) {
   case RelKind::GroupBy: return isStaticGroup(rel);
   case RelKind::Values: return rel.rows.size() <= 1;
   case RelKind::Limit:
      if (rel.limit && !rel.withTies && rel.limit->kind == ExprKind::Constant && !rel.limit->constant.isNull &&
          rel.limit->constant.i64 <= 1)
         return true;
      return isAtMostOneRow(*rel.inputs[0]);
   case RelKind::Select:
   case RelKind::Map:
   case RelKind::Window:
   case RelKind::Sort:
   case RelKind::Distinct:
   case RelKind::With:
   case RelKind::LockRows: return isAtMostOneRow(*rel.inputs[0]);
   case RelKind::Join:
      if (rel.joinKind == JoinKind::Full || rel.joinKind == JoinKind::Right) return false;
      if (!isAtMostOneRow(*rel.inputs[0])) return false;
      return (rel.joinKind != JoinKind::Inner && rel.joinKind != JoinKind::Left) || isAtMostOneRow(*rel.inputs[1]);
   default: return false;
   }
}

bool isExactlyOneRow(const Rel& rel) {
   switch (rel.kind) {
   case RelKind::GroupBy: return isStaticGroup(rel);
   case RelKind::Values: return rel.rows.size() == 1;
   case RelKind::Map:
   case RelKind::Window:
   case RelKind::Sort:
   case RelKind::Distinct:
   case RelKind::With: return isExactlyOneRow(*rel.inputs[0]);
   case RelKind::Join:
      if (!isExactlyOneRow(*rel.inputs[0])) return false;
      if (rel.joinKind == JoinKind::Inner) return !rel.predicate && isExactlyOneRow(*rel.inputs[1]);
      if (rel.joinKind == JoinKind::Left) return isAtMostOneRow(*rel.inputs[1]);
      return rel.joinKind == JoinKind::Mark || rel.joinKind == JoinKind::Single;
   default: return false;
   }
}

bool isUniqueOn(const Rel& rel, const ColumnSet& columns, const Query& query) {
   if (isAtMostOneRow(rel)) return true;
   switch (rel.kind) {
   case RelKind::Select:
   case RelKind::Map:
   case RelKind::Window:
   case RelKind::Sort:
   case RelKind::Limit:
   case RelKind::LockRows: return isUniqueOn(*rel.inputs[0], columns, query);
   case RelKind::Join:
      if (rel.joinKind == JoinKind::Full) return false; // padded rows may equal other rows
      if (rel.joinKind == JoinKind::Semi || rel.joinKind == JoinKind::Anti || rel.joinKind == JoinKind::Mark ||
          rel.joinKind == JoinKind::Single)
         return isUniqueOn(*rel.inputs[0], columns, query);
      return isUniqueOn(*rel.inputs[0], columns, query) && isUniqueOn(*rel.inputs[1], columns, query);
   case RelKind::Distinct: return columns.containsAll(rel.columns);
   case RelKind::GroupBy: {
      if (rel.groupingSets.size() > 1) return false;
      for (const ComputedColumn& key : rel.keys)
         if (!columns.contains(key.column)) return false;
      return true;
   }
   case RelKind::SetOp:
      return (!rel.all || rel.setOpKind != SetOpKind::Union) && !rel.all && columns.containsAll(rel.columns);
   case RelKind::Get: {
      if (!query.context.statistics) return false;
      for (const std::vector<int16_t>& key : query.context.statistics->uniqueKeys(rel.table)) {
         const bool covered = std::all_of(key.begin(), key.end(), [&](int16_t attribute) {
            return std::any_of(rel.getColumns.begin(), rel.getColumns.end(), [&](const GetColumn& column) {
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
      if (e.kind == ExprKind::Column) set.add(e.column);
      return true;
   });
}

void addColumns(const std::vector<ExprPtr>& exprs, ColumnSet& set) {
   for (const ExprPtr& expr : exprs)
      addColumns(*expr, set);
}

} // namespace ouzel::optimizer
