#include "tests/unit/optimizer/interpreter.hpp"

#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel::test {

using namespace sql;

namespace {

Row merged(const Row& a, const Row& b) {
   Row both = a;
   for (const auto& [column, cell] : b)
      both[column] = cell;
   return both;
}

Cell compare(CompareOp op, Cell a, Cell b) {
   if (op == CompareOp::IsDistinctFrom) return a != b;
   if (op == CompareOp::IsNotDistinctFrom) return a == b;
   if (!a || !b) return std::nullopt;
   switch (op) {
   case CompareOp::Eq: return *a == *b;
   case CompareOp::Ne: return *a != *b;
   case CompareOp::Lt: return *a < *b;
   case CompareOp::Le: return *a <= *b;
   case CompareOp::Gt: return *a > *b;
   default: return *a >= *b;
   }
}

Cell both(Cell a, Cell b) {
   if ((a && !*a) || (b && !*b)) return 0;
   return a && b ? Cell(1) : std::nullopt;
}
Cell negate(Cell a) {
   return a ? Cell(!*a) : std::nullopt;
}
Cell either(Cell a, Cell b) {
   return negate(both(negate(a), negate(b)));
}

} // namespace

Cell Interpreter::evaluate(const Expr& e, const Row& row) {
   const auto arg = [&](size_t i) { return evaluate(*e.args[i], row); };
   switch (e.kind) {
   case ExprKind::Column: {
      const ColumnId column = columnOf(e);
      const auto it = row.find(column);
      if (it == row.end()) throwInternal("test: unknown column " + std::to_string(static_cast<uint32_t>(column)));
      return it->second;
   }
   case ExprKind::Constant: return knownValue(e) ? Cell(knownValue(e)->i64) : std::nullopt;
   case ExprKind::Compare: return compare(*compareOf(e), arg(0), arg(1));
   case ExprKind::And: {
      Cell all = 1;
      for (size_t i = 0; i < e.args.size(); ++i)
         all = both(all, arg(i));
      return all;
   }
   case ExprKind::Or: {
      Cell any = 0;
      for (size_t i = 0; i < e.args.size(); ++i)
         any = either(any, arg(i));
      return any;
   }
   case ExprKind::Not: return negate(arg(0));
   case ExprKind::IsNull: return !arg(0);
   case ExprKind::IsNotNull: return arg(0).has_value();
   case ExprKind::IsTrue: return arg(0) == Cell(1);
   case ExprKind::IsNotTrue: return arg(0) != Cell(1);
   case ExprKind::IsFalse: return arg(0) == Cell(0);
   case ExprKind::IsNotFalse: return arg(0) != Cell(0);
   case ExprKind::Case:
      for (size_t i = 0; i + 1 < e.args.size(); i += 2)
         if (arg(i) == Cell(1)) return arg(i + 1);
      return e.args.size() % 2 ? arg(e.args.size() - 1) : std::nullopt;
   case ExprKind::Coalesce:
      for (size_t i = 0; i < e.args.size(); ++i)
         if (const Cell value = arg(i)) return value;
      return std::nullopt;
   case ExprKind::InList: {
      Cell any = 0;
      for (size_t i = 1; i < e.args.size(); ++i)
         any = either(any, compare(CompareOp::Eq, arg(0), arg(i)));
      return e.as<scalar::InList>().negated ? negate(any) : any;
   }
   case ExprKind::Call: {
      const std::string_view name = functionOf(e)->source;
      const Cell a = arg(0);
      if (name == "numeric_int8") return a;
      const Cell b = arg(1);
      const bool isLeast = name == "ouzel_least";
      if (isLeast || name == "ouzel_greatest") return !a ? b : !b ? a : isLeast ? std::min(a, b) : std::max(a, b);
      if (!a || !b) return std::nullopt;
      if (name == "int8pl") return *a + *b;
      if (name == "int8mi") return *a - *b;
      throwInternal("test: unknown function");
   }
   case ExprKind::Subquery: return subquery(e, row);
   default: throwInternal("test: unknown expression");
   }
}

Cell Interpreter::subquery(const Expr& e, const Row& row) {
   const auto& subquery = e.as<scalar::Subquery>();
   const std::vector<Row> rows = run(*subquery.query, row);
   const auto value = [&](const Row& r, ColumnId column) { return merged(row, r).at(column); };
   switch (subquery.kind) {
   case SubqueryKind::Exists: return !rows.empty();
   case SubqueryKind::Scalar:
      if (rows.size() > 1) throw SqlError(sqlstate::internalError, "more than one row");
      return rows.empty() ? std::nullopt : value(rows[0], subquery.columns[0]);
   case SubqueryKind::Any:
   case SubqueryKind::All: {
      const bool all = subquery.kind == SubqueryKind::All;
      Cell result = all ? 1 : 0;
      for (const Row& r : rows) {
         Cell match = 1;
         for (size_t i = 0; i < e.args.size(); ++i)
            match = both(match, compare(subquery.op, evaluate(*e.args[i], row), value(r, subquery.columns[i])));
         result = all ? both(result, match) : either(result, match);
      }
      return result;
   }
   default: throwInternal("test: unknown subquery");
   }
}

bool Interpreter::holds(const ExprPtr& predicate, const Row& row) {
   return !predicate || evaluate(*predicate, row) == Cell(1);
}

void Interpreter::sort(std::vector<Row>& rows, const std::vector<SortKey>& keys) {
   std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
      for (const SortKey& key : keys) {
         const Cell x = evaluate(*key.expr, a), y = evaluate(*key.expr, b);
         if (x == y) continue;
         if (!x || !y) return !x == key.nullsFirst;
         return key.descending ? *x > *y : *x < *y;
      }
      return false;
   });
}

std::vector<Row> Interpreter::run(const Rel& rel, const Row& outer) {
   std::vector<Row> result;
   const auto visible = [&](const Row& row) { return merged(outer, row); };
   switch (rel.kind) {
   case RelKind::Get: {
      const auto& get = rel.as<op::Get>();
      for (const std::vector<Cell>& cells : tables_.at(get.table.relation)) {
         Row row;
         for (const GetColumn& column : get.columns)
            row[column.column] = cells[static_cast<size_t>(column.attribute - 1)];
         if (holds(get.predicate, visible(row))) result.push_back(std::move(row));
      }
      return result;
   }
   case RelKind::Values: {
      const auto& values = rel.as<op::Values>();
      for (const auto& exprs : values.rows) {
         Row row;
         for (size_t i = 0; i < exprs.size(); ++i)
            row[values.columns[i]] = evaluate(*exprs[i], outer);
         result.push_back(std::move(row));
      }
      return result;
   }
   case RelKind::Barrier: return run(*rel.inputs[0], outer);
   case RelKind::Select:
      for (Row& row : run(*rel.inputs[0], outer))
         if (holds(rel.as<op::Select>().predicate, visible(row))) result.push_back(std::move(row));
      return result;
   case RelKind::Map:
      result = run(*rel.inputs[0], outer);
      for (Row& row : result) {
         const Row before = visible(row);
         for (const ComputedColumn& computed : rel.as<op::Map>().computed)
            row[computed.column] = evaluate(*computed.expr, before);
      }
      return result;
   case RelKind::Join: return join(rel, outer);
   case RelKind::GroupBy: return groupBy(rel, outer);
   case RelKind::Window: return window(rel, outer);
   case RelKind::Distinct: {
      const auto& distinct = rel.as<op::Distinct>();
      std::vector<Row> rows = run(*rel.inputs[0], outer);
      std::vector<Row> extended;
      for (const Row& row : rows)
         extended.push_back(visible(row));
      sort(extended, distinct.sortKeys);
      std::vector<std::vector<Cell>> seen;
      for (const Row& row : extended) {
         std::vector<Cell> key;
         for (const ColumnId column : distinct.columns)
            key.push_back(row.at(column));
         if (std::find(seen.begin(), seen.end(), key) != seen.end()) continue;
         seen.push_back(key);
         result.push_back(row);
      }
      return result;
   }
   case RelKind::Sort:
      for (const Row& row : run(*rel.inputs[0], outer))
         result.push_back(visible(row));
      sort(result, rel.as<op::Sort>().keys);
      return result;
   case RelKind::Limit: {
      const auto& fields = rel.as<op::Limit>();
      std::vector<Row> rows = run(*rel.inputs[0], outer);
      const Cell limit = fields.limit ? evaluate(*fields.limit, outer) : std::nullopt;
      const size_t skip = fields.offset ? static_cast<size_t>(evaluate(*fields.offset, outer).value_or(0)) : 0;
      for (size_t i = skip; i < rows.size() && (!limit || i < skip + static_cast<size_t>(*limit)); ++i)
         result.push_back(rows[i]);
      return result;
   }
   case RelKind::SetOp: return setOp(rel, outer);
   case RelKind::With:
      for (const Cte& cte : rel.as<op::With>().ctes)
         ctes_[cte.id] = run(*cte.query, outer);
      return run(*rel.inputs[0], outer);
   case RelKind::CteScan: {
      const auto& scan = rel.as<op::CteScan>();
      for (const Row& from : ctes_.at(scan.cte)) {
         Row row;
         for (size_t i = 0; i < scan.columns.size(); ++i)
            row[scan.columns[i]] = from.at(scan.cteColumns[i]);
         result.push_back(std::move(row));
      }
      return result;
   }
   default: throwInternal("test: unknown operator");
   }
}

std::vector<Row> Interpreter::join(const Rel& rel, const Row& outer) {
   const auto& fields = rel.as<op::Join>();
   std::vector<Row> result;
   const std::vector<Row> lefts = run(*rel.inputs[0], outer);
   std::vector<Row> rightRows;
   if (!fields.dependent) rightRows = run(*rel.inputs[1], outer);
   std::vector<bool> rightMatched(rightRows.size());
   Row leftNulls, rightNulls;
   for (const ColumnId column : outputColumns(*rel.inputs[1]))
      rightNulls[column] = std::nullopt;
   for (const ColumnId column : outputColumns(*rel.inputs[0]))
      leftNulls[column] = std::nullopt;
   for (const Row& left : lefts) {
      const Row scope = merged(outer, left);
      if (fields.dependent) rightRows = run(*rel.inputs[1], scope);
      uint32_t matches = 0;
      Cell mark = 0;
      for (size_t i = 0; i < rightRows.size(); ++i) {
         const Row pair = merged(left, rightRows[i]);
         const Cell match = fields.predicate ? evaluate(*fields.predicate, merged(outer, pair)) : Cell(1);
         mark = either(mark, match);
         if (match != Cell(1)) continue;
         ++matches;
         if (!fields.dependent) rightMatched[i] = true;
         if (fields.kind == JoinKind::Inner || fields.kind == JoinKind::Left || fields.kind == JoinKind::Full ||
             fields.kind == JoinKind::Right || fields.kind == JoinKind::Single)
            result.push_back(pair);
      }
      if (fields.kind == JoinKind::Single && matches > 1) throw SqlError(sqlstate::internalError, "more than one row");
      const bool pads =
          fields.kind == JoinKind::Left || fields.kind == JoinKind::Full || fields.kind == JoinKind::Single;
      if (pads && matches == 0) result.push_back(merged(left, rightNulls));
      if (fields.kind == JoinKind::Semi && matches) result.push_back(left);
      if (fields.kind == JoinKind::Anti && !matches) result.push_back(left);
      if (fields.kind == JoinKind::Mark) {
         Row row = left;
         row[fields.markColumn] = mark;
         result.push_back(std::move(row));
      }
   }
   if (fields.kind == JoinKind::Right || fields.kind == JoinKind::Full)
      for (size_t i = 0; i < rightRows.size(); ++i)
         if (!rightMatched[i]) result.push_back(merged(leftNulls, rightRows[i]));
   return result;
}

std::vector<Row> Interpreter::groupBy(const Rel& rel, const Row& outer) {
   const auto& fields = rel.as<op::GroupBy>();
   std::vector<uint32_t> all;
   for (uint32_t i = 0; i < fields.keys.size(); ++i)
      all.push_back(i);
   const std::vector<Row> inputs = run(*rel.inputs[0], outer);
   if (fields.groupingSets.empty()) return groupingSet(fields, all, inputs, outer);
   std::vector<Row> result;
   for (const std::vector<uint32_t>& set : fields.groupingSets)
      for (Row& row : groupingSet(fields, set, inputs, outer))
         result.push_back(std::move(row));
   return result;
}

std::vector<Row> Interpreter::groupingSet(const op::GroupBy& fields, const std::vector<uint32_t>& set,
                                          const std::vector<Row>& inputs, const Row& outer) {
   const auto isAbsent = [&set](uint32_t key) { return std::find(set.begin(), set.end(), key) == set.end(); };
   std::vector<std::pair<std::vector<Cell>, std::vector<Row>>> groups;
   for (const Row& input : inputs) {
      const Row row = merged(outer, input);
      std::vector<Cell> key;
      for (uint32_t k = 0; k < fields.keys.size(); ++k)
         key.push_back(isAbsent(k) ? Cell() : evaluate(*fields.keys[k].expr, row));
      auto it = std::find_if(groups.begin(), groups.end(), [&key](const auto& group) { return group.first == key; });
      if (it == groups.end()) it = groups.insert(groups.end(), {key, {}});
      it->second.push_back(row);
   }
   if (set.empty() && groups.empty()) groups.push_back({std::vector<Cell>(fields.keys.size()), {}});
   std::vector<Row> result;
   for (const auto& [key, rows] : groups) {
      Row row;
      for (size_t i = 0; i < key.size(); ++i)
         row[fields.keys[i].column] = key[i];
      for (const AggregateCall& call : fields.aggregates) {
         std::vector<Cell> values;
         for (const Row& input : rows) {
            const Cell value = call.star ? Cell(1) : evaluate(*call.args[0], input);
            const bool repeated = call.distinct && std::find(values.begin(), values.end(), value) != values.end();
            if (value && !repeated) values.push_back(value);
         }
         const std::string_view name = call.function->name;
         Cell state;
         if (name == "count") state = static_cast<int64_t>(values.size());
         for (const Cell value : values) {
            if (name == "sum") state = state.value_or(0) + *value;
            if (name == "min") state = state ? std::min(*state, *value) : value;
            if (name == "max") state = state ? std::max(*state, *value) : value;
         }
         row[call.column] = state;
      }
      for (const GroupingCall& call : fields.groupingCalls) {
         int64_t mask = 0;
         for (const uint32_t k : call.keys)
            mask = mask * 2 + isAbsent(k);
         row[call.column] = mask;
      }
      result.push_back(std::move(row));
   }
   return result;
}

std::vector<Row> Interpreter::window(const Rel& rel, const Row& outer) {
   const auto& fields = rel.as<op::Window>();
   std::vector<Row> rows;
   for (const Row& row : run(*rel.inputs[0], outer))
      rows.push_back(merged(outer, row));
   sort(rows, fields.spec.orderBy);
   std::map<std::vector<Cell>, int64_t> counts;
   for (Row& row : rows) {
      std::vector<Cell> key;
      for (const ExprPtr& expr : fields.spec.partitionBy)
         key.push_back(evaluate(*expr, row));
      const int64_t number = ++counts[key];
      for (const WindowCall& call : fields.calls)
         row[call.column] = number; // random_query makes no other window function
   }
   return rows;
}

std::vector<Row> Interpreter::setOp(const Rel& rel, const Row& outer) {
   const auto& fields = rel.as<op::SetOp>();
   std::vector<std::vector<Cell>> sides[2];
   for (int side = 0; side < 2; ++side)
      for (const Row& row : run(*rel.inputs[side], outer)) {
         const Row scope = merged(outer, row);
         std::vector<Cell> cells;
         for (const ColumnId column : fields.inputColumns[side])
            cells.push_back(scope.at(column));
         sides[side].push_back(std::move(cells));
      }
   std::vector<std::vector<Cell>> kept;
   if (fields.kind == SetOpKind::Union) {
      kept = sides[0];
      kept.insert(kept.end(), sides[1].begin(), sides[1].end());
   } else {
      const bool wanted = fields.kind == SetOpKind::Intersect;
      for (const auto& cells : sides[0]) {
         const auto it = std::find(sides[1].begin(), sides[1].end(), cells);
         const bool found = it != sides[1].end();
         if (found && fields.all) sides[1].erase(it);
         if (found == wanted) kept.push_back(cells);
      }
   }
   std::vector<Row> result;
   for (size_t i = 0; i < kept.size(); ++i) {
      if (!fields.all && std::find(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(i), kept[i]) !=
                             kept.begin() + static_cast<std::ptrdiff_t>(i))
         continue;
      Row row;
      for (size_t c = 0; c < kept[i].size(); ++c)
         row[fields.columns[c]] = kept[i][c];
      result.push_back(std::move(row));
   }
   return result;
}

std::vector<std::vector<Cell>> canonical(const std::vector<Row>& rows, const std::vector<ColumnId>& columns) {
   std::vector<std::vector<Cell>> result;
   for (const Row& row : rows) {
      std::vector<Cell> cells;
      for (const ColumnId column : columns)
         cells.push_back(row.at(column));
      result.push_back(std::move(cells));
   }
   std::sort(result.begin(), result.end());
   return result;
}

} // namespace ouzel::test
