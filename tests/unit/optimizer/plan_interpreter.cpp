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
   case NodeKind::TableScan: {
      const auto& scan = node.as<plan::TableScan>();
      for (const std::vector<Cell>& cells : tables_.at(scan.table.relation)) {
         Row row;
         for (const plan::ScanColumn& column : scan.columns)
            row[column.column] = cells[static_cast<size_t>(column.attribute - 1)];
         if (holds(scan.predicates, row)) result.push_back(row);
      }
      break;
   }
   case NodeKind::Values:
      for (const auto& exprs : node.as<plan::Values>().rows) {
         Row row;
         for (size_t i = 0; i < exprs.size(); ++i)
            row[node.output[i]] = exprs_.evaluate(*exprs[i], {});
         result.push_back(row);
      }
      break;
   case NodeKind::Filter:
      for (const Row& row : input)
         if (holds(node.as<plan::Filter>().predicates, row)) result.push_back(row);
      break;
   case NodeKind::Project:
      for (const Row& row : input) {
         Row out = row;
         for (const ComputedColumn& computed : node.as<plan::Project>().computed)
            out[computed.column] = exprs_.evaluate(*computed.expr, row);
         result.push_back(out);
      }
      break;
   case NodeKind::HashJoin:
   case NodeKind::NestedLoopJoin: result = join(node); break;
   case NodeKind::Aggregate: result = aggregate(node); break;
   case NodeKind::Sort:
      result = input;
      sortRows(exprs_, result, node.as<plan::Sort>().keys);
      break;
   case NodeKind::TopN:
   case NodeKind::Limit: {
      const auto* top = node.getIf<plan::TopN>();
      if (top) sortRows(exprs_, input, top->keys);
      const ExprPtr& limited = top ? top->limit : node.as<plan::Limit>().limit;
      const ExprPtr& offset = top ? top->offset : node.as<plan::Limit>().offset;
      const Cell limit = limited ? exprs_.evaluate(*limited, {}) : std::nullopt;
      const size_t skip = offset ? static_cast<size_t>(exprs_.evaluate(*offset, {}).value_or(0)) : 0;
      for (size_t i = skip; i < input.size() && (!limit || i < skip + static_cast<size_t>(*limit)); ++i)
         result.push_back(input[i]);
      break;
   }
   case NodeKind::Window: {
      const auto& window = node.as<plan::Window>();
      sortRows(exprs_, input, window.spec.orderBy);
      std::map<std::vector<Cell>, int64_t> counts;
      for (Row& row : input) {
         std::vector<Cell> key;
         for (const ExprPtr& expr : window.spec.partitionBy)
            key.push_back(exprs_.evaluate(*expr, row));
         const int64_t number = ++counts[key];
         for (const WindowCall& call : window.calls)
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
               out[node.output[i]] = row.at(node.as<plan::Append>().inputs[child][i]);
            result.push_back(out);
         }
      break;
   case NodeKind::Materialize:
      for (const plan::CtePlan& cte : node.ctes())
         ctes_[cte.id] = run(*cte.plan);
      result = run(*node.children[0]);
      break;
   case NodeKind::CteScan: {
      const auto& scan = node.as<plan::CteScan>();
      for (const Row& from : ctes_.at(scan.cte)) {
         Row row;
         for (size_t i = 0; i < node.output.size(); ++i)
            row[node.output[i]] = from.at(scan.columns[i]);
         result.push_back(row);
      }
      break;
   }
   default: throwInternal("test: unknown node");
   }
   for (Row& row : result)
      row = restrict(row, node.output);
   return result;
}

std::vector<Row> PlanInterpreter::join(const Node& node) {
   const std::vector<Row> probes = run(*node.children[0]), builds = run(*node.children[1]);
   const auto& join = node.as<plan::Join>();
   const auto* hashed = node.getIf<plan::HashJoin>();
   const bool nullAware = hashed && hashed->nullAware;
   const JoinKind kind = join.kind;
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
         for (const plan::JoinKey& key : hashed ? std::span(hashed->keys) : std::span<const plan::JoinKey>()) {
            const Cell a = exprs_.evaluate(*key.probe, probe), b = exprs_.evaluate(*key.build, builds[i]);
            equalKeys = equalKeys && (key.nullsEqual ? a == b : a && b && *a == *b);
            nullKeys = nullKeys || !a || !b;
         }
         if (nullAware && nullKeys) unknown = true;
         if (!equalKeys) continue;
         const Row pair = merge(probe, builds[i]);
         Cell match = 1;
         for (const ExprPtr& predicate : join.predicates) {
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
      if (kind == JoinKind::Anti && !matches && !(nullAware && unknown)) result.push_back(probe);
      if (kind == JoinKind::Mark) {
         Row row = probe;
         row[join.markColumn] = matches ? Cell(1) : unknown ? std::nullopt : Cell(0);
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
   Rel rel(RelKind::GroupBy);
   auto& group = rel.as<sql::op::GroupBy>();
   const auto& planned = node.as<plan::Aggregate>();
   for (const ComputedColumn& key : planned.keys)
      group.keys.push_back({key.column, clone(*key.expr)});
   for (const AggregateCall& call : planned.aggregates) {
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
   input->as<op::Values>().columns = node.children[0]->output;
   for (const Row& row : run(*node.children[0])) {
      std::vector<ExprPtr> cells;
      for (const ColumnId column : input->as<op::Values>().columns) {
         const Cell cell = row.at(column);
         cells.push_back(cell ? makeConstant({oid::int8}, Value::integer(PhysicalType::I64, *cell))
                              : makeNull({oid::int8}));
      }
      input->as<op::Values>().rows.push_back(std::move(cells));
   }
   rel.inputs.push_back(std::move(input));
   return exprs_.run(rel);
}

} // namespace ouzel::test
