#include "tests/unit/optimizer/plan_interpreter.hpp"

#include <algorithm>
#include <set>

#include "common/error/sql_error.hpp"

namespace ouzel::test {

using namespace sql;
using plan::Node;
using plan::NodeKind;

namespace {

Row restrict(const Row& row, const std::vector<ColumnId>& output) {
   Row result;
   for (const ColumnId column : output)
      result[column] = row.at(column);
   return result;
}

void sortRows(Interpreter& exprs, std::vector<Row>& rows, const std::vector<SortKey>& keys) {
   std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
      for (const SortKey& key : keys) {
         const Cell x = exprs.evaluate(*key.expr, a), y = exprs.evaluate(*key.expr, b);
         if (x == y) continue;
         if (!x || !y) return !x == key.nullsFirst;
         return key.descending ? *x > *y : *x < *y;
      }
      return false;
   });
}

} // namespace

bool PlanInterpreter::holds(const std::vector<ExprPtr>& predicates, const Row& row) {
   return std::all_of(predicates.begin(), predicates.end(),
                      [&](const ExprPtr& predicate) { return exprs_.evaluate(*predicate, row) == Cell(1); });
}

std::vector<Row> PlanInterpreter::run(const Node& node) {
   std::vector<Row> input, result;
   const bool readsFirst = !node.children.empty() && node.kind != NodeKind::HashJoin &&
                           node.kind != NodeKind::NestedLoopJoin && node.kind != NodeKind::Append &&
                           node.kind != NodeKind::Materialize;
   if (readsFirst) input = run(*node.children[0]);
   switch (node.kind) {
   case NodeKind::TableScan:
      for (const std::vector<Cell>& cells : tables_.at(node.table.relation)) {
         Row row;
         for (const plan::ScanColumn& column : node.scanColumns)
            row[column.column] = cells[static_cast<size_t>(column.attribute - 1)];
         if (holds(node.predicates, row)) result.push_back(row);
      }
      break;
   case NodeKind::Values:
      for (const auto& exprs : node.rows) {
         Row row;
         for (size_t i = 0; i < exprs.size(); ++i)
            row[node.output[i]] = exprs_.evaluate(*exprs[i], {});
         result.push_back(row);
      }
      break;
   case NodeKind::Filter:
      for (const Row& row : input)
         if (holds(node.predicates, row)) result.push_back(row);
      break;
   case NodeKind::Project:
      for (const Row& row : input) {
         Row out = row;
         for (const ComputedColumn& computed : node.computed)
            out[computed.column] = exprs_.evaluate(*computed.expr, row);
         result.push_back(out);
      }
      break;
   case NodeKind::HashJoin:
   case NodeKind::NestedLoopJoin: result = join(node); break;
   case NodeKind::Aggregate: result = aggregate(node); break;
   case NodeKind::Sort:
      result = input;
      sortRows(exprs_, result, node.sortKeys);
      break;
   case NodeKind::TopN:
   case NodeKind::Limit: {
      if (node.kind == NodeKind::TopN) sortRows(exprs_, input, node.sortKeys);
      const Cell limit = node.limit ? exprs_.evaluate(*node.limit, {}) : std::nullopt;
      const size_t skip = node.offset ? static_cast<size_t>(exprs_.evaluate(*node.offset, {}).value_or(0)) : 0;
      for (size_t i = skip; i < input.size() && (!limit || i < skip + static_cast<size_t>(*limit)); ++i)
         result.push_back(input[i]);
      break;
   }
   case NodeKind::Window: {
      sortRows(exprs_, input, node.windowSpec.orderBy);
      std::map<std::vector<Cell>, int64_t> counts;
      for (Row& row : input) {
         std::vector<Cell> key;
         for (const ExprPtr& expr : node.windowSpec.partitionBy)
            key.push_back(exprs_.evaluate(*expr, row));
         const int64_t number = ++counts[key];
         for (const WindowCall& call : node.windowCalls)
            row[call.column] = number;
         result.push_back(row);
      }
      break;
   }
   case NodeKind::Append:
      for (size_t child = 0; child < node.children.size(); ++child)
         for (const Row& row : run(*node.children[child])) {
            Row out;
            for (size_t i = 0; i < node.output.size(); ++i)
               out[node.output[i]] = row.at(node.appendInputs[child][i]);
            result.push_back(out);
         }
      break;
   case NodeKind::Materialize:
      for (const plan::CtePlan& cte : node.ctes)
         ctes_[cte.id] = run(*cte.plan);
      result = run(*node.children[0]);
      break;
   case NodeKind::CteScan:
      for (const Row& from : ctes_.at(node.cte)) {
         Row row;
         for (size_t i = 0; i < node.output.size(); ++i)
            row[node.output[i]] = from.at(node.cteColumns[i]);
         result.push_back(row);
      }
      break;
   default: throwInternal("test: unknown node");
   }
   for (Row& row : result)
      row = restrict(row, node.output);
   return result;
}

std::vector<Row> PlanInterpreter::join(const Node& node) {
   const std::vector<Row> probes = run(*node.children[0]), builds = run(*node.children[1]);
   const JoinKind kind = node.joinKind;
   std::vector<bool> buildMatched(builds.size());
   Row noProbe, noBuild;
   for (const ColumnId column : node.children[0]->output)
      noProbe[column] = std::nullopt;
   for (const ColumnId column : node.children[1]->output)
      noBuild[column] = std::nullopt;
   const auto merge = [](Row a, const Row& b) {
      for (const auto& [column, cell] : b)
         a[column] = cell;
      return a;
   };
   std::vector<Row> result;
   for (const Row& probe : probes) {
      uint32_t matches = 0;
      bool unknown = false;
      for (size_t i = 0; i < builds.size(); ++i) {
         bool equalKeys = true, nullKeys = false;
         for (const plan::JoinKey& key : node.joinKeys) {
            const Cell a = exprs_.evaluate(*key.probe, probe), b = exprs_.evaluate(*key.build, builds[i]);
            equalKeys = equalKeys && (key.nullsEqual ? a == b : a && b && *a == *b);
            nullKeys = nullKeys || !a || !b;
         }
         if (node.nullAware && nullKeys) unknown = true;
         if (!equalKeys) continue;
         const Row pair = merge(probe, builds[i]);
         Cell match = 1;
         for (const ExprPtr& predicate : node.predicates) {
            const Cell one = exprs_.evaluate(*predicate, pair);
            if (match != Cell(0)) match = one == Cell(0) ? Cell(0) : !one ? std::nullopt : match;
         }
         if (!match) unknown = true;
         if (match != Cell(1)) continue;
         ++matches;
         buildMatched[i] = true;
         if (kind == JoinKind::Inner || kind == JoinKind::Left || kind == JoinKind::Right || kind == JoinKind::Full ||
             kind == JoinKind::Single)
            result.push_back(pair);
      }
      if (kind == JoinKind::Single && matches > 1) throwInternal("test: more than one row");
      if (!matches && (kind == JoinKind::Left || kind == JoinKind::Full || kind == JoinKind::Single))
         result.push_back(merge(probe, noBuild));
      if (kind == JoinKind::Semi && matches) result.push_back(probe);
      if (kind == JoinKind::Anti && !matches && !(node.nullAware && unknown)) result.push_back(probe);
      if (kind == JoinKind::Mark) {
         Row row = probe;
         row[node.markColumn] = matches ? Cell(1) : unknown ? std::nullopt : Cell(0);
         result.push_back(row);
      }
   }
   for (size_t i = 0; i < builds.size(); ++i) {
      if (!buildMatched[i] && (kind == JoinKind::Right || kind == JoinKind::Full))
         result.push_back(merge(noProbe, builds[i]));
      if (buildMatched[i] && kind == JoinKind::RightSemi) result.push_back(builds[i]);
      if (!buildMatched[i] && kind == JoinKind::RightAnti) result.push_back(builds[i]);
   }
   return result;
}

std::vector<Row> PlanInterpreter::aggregate(const Node& node) {
   // Runs the logical operator over the child's rows as a table.
   Rel group(RelKind::GroupBy);
   for (const ComputedColumn& key : node.keys)
      group.keys.push_back({key.column, clone(*key.expr)});
   for (const AggregateCall& call : node.aggregates) {
      AggregateCall copy;
      copy.column = call.column;
      copy.function = call.function;
      copy.distinct = call.distinct;
      copy.star = call.star;
      for (const ExprPtr& arg : call.args)
         copy.args.push_back(clone(*arg));
      group.aggregates.push_back(std::move(copy));
   }
   auto input = std::make_unique<Rel>(RelKind::Values);
   input->columns = node.children[0]->output;
   for (const Row& row : run(*node.children[0])) {
      std::vector<ExprPtr> cells;
      for (const ColumnId column : input->columns) {
         const Cell cell = row.at(column);
         cells.push_back(cell ? makeConstant({oid::int8}, Value::integer(PhysicalType::I64, *cell))
                              : makeNull({oid::int8}));
      }
      input->rows.push_back(std::move(cells));
   }
   group.inputs.push_back(std::move(input));
   return exprs_.run(group);
}

} // namespace ouzel::test
