#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "common/error/sql_error.hpp"
#include "common/number/decimal_spread.hpp"
#include "io/format/external_table.hpp"
#include "optimizer/lower/lowering.hpp"
#include "optimizer/query/not_null.hpp"
#include "sql/algebra/fold.hpp"
#include "sql/algebra/representation.hpp"
#include "sql/plan/remote_query.hpp"

// Lowers GroupBy, Window, Distinct, Sort and Limit.

namespace ouzel::optimizer {

using namespace sql;
using plan::NodeKind;

namespace {

constexpr int64_t topRowsMax = 1 << 17; ///< for more rows a full sort is as good as TopN's heap

void addKeyColumns(const std::vector<SortKey>& keys, ColumnSet& set) {
   for (const SortKey& key : keys)
      addColumns(*key.expr, set);
}

bool isCount(std::string_view name) {
   return name == "count";
}

bool isSpread(std::string_view name) {
   constexpr std::string_view names[] = {"stddev", "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp"};
   return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// Aggregates with kernels over scaled numerics.
bool takesScaled(std::string_view name) {
   return name == "sum" || name == "avg" || name == "min" || name == "max" || isCount(name) || isSpread(name);
}

/// Whether the kernels of the spread can add the squares of all values.
bool fitsMoments(const std::optional<Bounds>& bounds) {
   constexpr int128 limit = int128{1} << decimal::Moments::valueBits;
   return bounds && bounds->min > -limit && bounds->max < limit;
}

/// The expressions of an aggregate of a user in the representations that they run in, the generic ones.
FoldPtr lowered(const Fold& fold) {
   auto copy = std::make_shared<Fold>();
   copy->aggregate = fold.aggregate;
   copy->isMoving = fold.isMoving;
   copy->columns = fold.columns;
   for (uint32_t i = 0; i < copy->columns.size(); ++i) {
      ColumnInfo& column = copy->columns[ColumnId{i}];
      column.repr = ExprLowering::genericRepresentation(column.type);
   }
   copy->state = fold.state;
   copy->inputs = fold.inputs;
   copy->isStrict = fold.isStrict;
   const Representation state = copy->columns[fold.state].repr;
   const auto lower = [&](const ExprPtr& expr) {
      if (!expr) return ExprPtr();
      ExprPtr made = clone(*expr);
      lowerAlone(made, copy->columns);
      ExprLowering::convert(made, state);
      return made;
   };
   copy->transition = lower(fold.transition);
   copy->inverse = lower(fold.inverse);
   copy->initial = lower(fold.initial);
   copy->first = lower(fold.first);
   return copy;
}

std::optional<int64_t> constantCount(const ExprPtr& expr) {
   const Value* value = expr ? knownValue(*expr) : nullptr;
   return value ? std::optional(value->i64) : std::nullopt;
}

} // namespace

void Lowering::lowerSortKeys(std::vector<SortKey>& keys) {
   for (SortKey& key : keys)
      exprs_.lower(key.expr);
}

void Lowering::lowerAggregate(AggregateCall& call, double rowsMax) {
   const std::string_view name = call.function ? call.function->name : std::string_view();
   std::optional<Bounds> bounds;
   for (ExprPtr& arg : call.args) {
      bounds = exprs_.lower(arg);
      // A constant gets the generic representation of its type.
      if (!takesScaled(name) || arg->kind == ExprKind::Constant)
         ExprLowering::convert(arg, ExprLowering::genericRepresentation(arg->type));
   }
   const auto sumOf = [rowsMax](const Bounds& b) -> std::optional<Bounds> {
      const double most = std::max(std::abs(static_cast<double>(b.min)), std::abs(static_cast<double>(b.max)));
      if (most * rowsMax > 1e37) return std::nullopt;
      const auto rows = static_cast<int128>(rowsMax) + 1;
      return Bounds{std::min<int128>(b.min, 0) * rows, std::max<int128>(b.max, 0) * rows};
   };
   if (name == "sum" && call.type.oid == oid::numeric && call.args[0]->repr.physical == PhysicalType::I128) {
      // The kernel of 128-bit sums does not check for overflow, so bounds must prove that no overflow can happen.
      if (!bounds || !sumOf(*bounds))
         ExprLowering::convert(call.args[0], {PhysicalType::Decimal, 0});
      else
         exprs_.noteBoundsUsed();
   }
   if (isSpread(name) && call.args[0]->repr.physical == PhysicalType::I128) {
      if (!fitsMoments(bounds))
         ExprLowering::convert(call.args[0], {PhysicalType::Decimal, 0});
      else
         exprs_.noteBoundsUsed();
   }
   for (ExprPtr& arg : call.directArgs)
      exprs_.lowerToGeneric(arg);
   lowerSortKeys(call.orderBy);
   if (call.filter) exprs_.lower(call.filter);

   std::vector<Representation> args;
   for (const ExprPtr& arg : call.args)
      args.push_back(arg->repr);
   const Representation repr = aggregateResult(name, call.type, args);
   std::optional<Bounds> result;
   if (isCount(name))
      result = Bounds{0, static_cast<int128>(std::min(rowsMax, 9e18))};
   else if ((name == "min" || name == "max") && args.size() == 1)
      result = bounds;
   else if (name == "sum" && bounds && (repr.physical == PhysicalType::I128 || repr.physical == PhysicalType::I64))
      result = sumOf(*bounds);
   exprs_.setColumn(call.column, repr, result);
   if (call.fold) call.fold = lowered(*call.fold);
}

Lowered Lowering::lowerGroupBy(Rel& rel, const ColumnSet& need) {
   auto& group = rel.as<op::GroupBy>();
   plan::NodePtr node = makeNode(plan::Aggregate{}, rel);
   std::erase_if(group.aggregates, [&need](const AggregateCall& call) { return !need.contains(call.column); });
   const bool isStatic = group.keys.empty() && group.groupingSets.size() <= 1;
   if (isStatic && group.aggregates.empty() && group.groupingCalls.empty()) { // one row for any input
      plan::Values values;
      values.rows.emplace_back();
      return {makeNode(std::move(values), rel), 1};
   }
   ColumnSet below;
   for (const ComputedColumn& key : group.keys)
      addColumns(*key.expr, below);
   for (const AggregateCall& call : group.aggregates) {
      addColumns(call.args, below);
      addColumns(call.directArgs, below);
      addKeyColumns(call.orderBy, below);
      if (call.filter) addColumns(*call.filter, below);
   }
   if (!group.keys.empty()) {
      const ColumnSet notNull = notNullColumns(*rel.inputs[0], query_);
      node->as<plan::Aggregate>().keysAreNeverNull =
          std::all_of(group.keys.begin(), group.keys.end(),
                      [&notNull](const ComputedColumn& key) { return isNeverNull(*key.expr, notNull); });
   }
   Lowered child = lower(*rel.inputs[0], below);
   for (ComputedColumn& key : group.keys) {
      const std::optional<Bounds> bounds = exprs_.lower(key.expr);
      exprs_.setColumn(key.column, key.expr->repr, bounds);
      if (need.contains(key.column)) node->output.push_back(key.column);
   }
   for (AggregateCall& call : group.aggregates) {
      lowerAggregate(call, child.rowsMax);
      node->output.push_back(call.column);
   }
   for (const GroupingCall& call : group.groupingCalls) {
      exprs_.setColumn(call.column, {PhysicalType::I32, 0}, std::nullopt);
      if (need.contains(call.column)) node->output.push_back(call.column);
   }
   const double sets = static_cast<double>(std::max<size_t>(1, group.groupingSets.size()));
   auto& aggregate = node->as<plan::Aggregate>();
   aggregate.keys = std::move(group.keys);
   aggregate.aggregates = std::move(group.aggregates);
   aggregate.groupingSets = std::move(group.groupingSets);
   aggregate.groupingCalls = std::move(group.groupingCalls);
   node->children.push_back(std::move(child.node));
   return {std::move(node), isStatic ? 1 : child.rowsMax * sets};
}

double Lowering::partitionsOf(const Rel& input, const WindowSpec& spec) {
   std::vector<const Expr*> keys;
   for (const ExprPtr& key : spec.partitionBy)
      keys.push_back(key.get());
   return estimator_.groups(estimator_.estimate(input), keys);
}

Lowered Lowering::lowerWindow(Rel& rel, const ColumnSet& need) {
   auto& window = rel.as<op::Window>();
   plan::NodePtr node = makeNode(plan::Window{}, rel);
   std::erase_if(window.calls, [&need](const WindowCall& call) { return !need.contains(call.column); });
   if (window.calls.empty()) return lower(*rel.inputs[0], need);
   ColumnSet below = need;
   WindowSpec& spec = window.spec;
   addColumns(spec.partitionBy, below);
   addKeyColumns(spec.orderBy, below);
   for (const FrameBound* bound : {&spec.start, &spec.end})
      if (bound->offset) addColumns(*bound->offset, below);
   for (const WindowCall& call : window.calls) {
      addColumns(call.args, below);
      if (call.filter) addColumns(*call.filter, below);
   }
   const double partitions = partitionsOf(*rel.inputs[0], spec);
   Lowered child = lower(*rel.inputs[0], below);
   for (ExprPtr& expr : spec.partitionBy)
      exprs_.lower(expr);
   // RANGE with an offset adds the offset to the key: both need the generic representation.
   const bool addsOffset = spec.mode == FrameMode::Range && (spec.start.offset || spec.end.offset);
   for (SortKey& key : spec.orderBy) {
      if (addsOffset)
         exprs_.lowerToGeneric(key.expr);
      else
         exprs_.lower(key.expr);
   }
   for (FrameBound* bound : {&spec.start, &spec.end})
      if (bound->offset) exprs_.lowerToGeneric(bound->offset);
   node->children.push_back(std::move(child.node));
   passThrough(*node, need);
   for (WindowCall& call : window.calls) {
      const bool isAggregate = call.function && call.function->kind == catalog::FunctionKind::Aggregate;
      const std::string_view name = call.function ? call.function->name : std::string_view();
      std::vector<Representation> args;
      for (ExprPtr& arg : call.args) {
         exprs_.lower(arg);
         const bool keepScaled = isAggregate && takesScaled(name) && arg->repr.physical == PhysicalType::I64;
         if (!keepScaled) ExprLowering::convert(arg, ExprLowering::genericRepresentation(arg->type));
         args.push_back(arg->repr);
      }
      if (call.filter) exprs_.lower(call.filter);
      const Representation repr =
          isAggregate ? aggregateResult(name, call.type, args) : ExprLowering::genericRepresentation(call.type);
      exprs_.setColumn(call.column, repr, std::nullopt);
      if (call.fold) call.fold = lowered(*call.fold);
      node->output.push_back(call.column);
   }
   auto& lowered = node->as<plan::Window>();
   lowered.spec = std::move(spec);
   lowered.calls = std::move(window.calls);
   lowered.partitions = partitions;
   return {std::move(node), child.rowsMax};
}

Lowered Lowering::lowerDistinct(Rel& rel, const ColumnSet& need) {
   auto& distinct = rel.as<op::Distinct>();
   if (distinct.sortKeys.empty()) {
      plan::NodePtr node = distinct.columns.empty() ? makeNode(plan::Limit{}, rel) : makeNode(plan::Aggregate{}, rel);
      ColumnSet below(distinct.columns);
      const bool isNeverNull = notNullColumns(*rel.inputs[0], query_).containsAll(distinct.columns);
      Lowered child = lower(*rel.inputs[0], below);
      if (distinct.columns.empty()) { // rows without columns are all equal: at most one row remains
         node->as<plan::Limit>().limit = makeInt8(1);
         node->children.push_back(std::move(child.node));
         return {std::move(node), 1};
      }
      ColumnSet seen;
      for (const ColumnId column : distinct.columns) {
         if (seen.contains(column)) continue; // one column with two output names
         seen.add(column);
         ExprPtr key = query_.ref(column);
         exprs_.lower(key);
         node->as<plan::Aggregate>().keys.push_back({column, std::move(key)});
         if (need.contains(column)) node->output.push_back(column);
      }
      node->as<plan::Aggregate>().keysAreNeverNull = isNeverNull;
      node->children.push_back(std::move(child.node));
      return {std::move(node), child.rowsMax};
   }
   // DISTINCT ON needs sorted input, so that the rows of a group are adjacent. PostgreSQL requires that ORDER BY begins
   // with the columns of DISTINCT ON.
   plan::NodePtr node = makeNode(plan::DistinctOn{distinct.columns}, rel);
   const ColumnSet columns(distinct.columns);
   ColumnSet covered;
   bool isPrefix = true;
   size_t position = 0;
   for (; position < distinct.sortKeys.size() && isPrefix && !covered.containsAll(distinct.columns); ++position) {
      const ColumnId key = columnOf(*distinct.sortKeys[position].expr);
      if (key != noColumn && columns.contains(key))
         covered.add(key);
      else
         isPrefix = false;
   }
   std::vector<SortKey> order;
   if (!isPrefix || !covered.containsAll(distinct.columns))
      for (const ColumnId column : distinct.columns)
         order.push_back({query_.ref(column), false, false});
   for (SortKey& key : distinct.sortKeys)
      order.push_back(std::move(key));
   ColumnSet below = need;
   below.add(distinct.columns);
   addKeyColumns(order, below);
   Lowered child = sortBy(lower(*rel.inputs[0], below), std::move(order));
   const double rowsMax = child.rowsMax;
   node->children.push_back(std::move(child.node));
   passThrough(*node, need);
   return {std::move(node), rowsMax};
}

Lowered Lowering::sortBy(Lowered input, std::vector<SortKey> keys) {
   lowerSortKeys(keys);
   std::vector<ComputedColumn> computed;
   std::vector<SortKey> columns;
   for (SortKey& key : keys) {
      if (key.expr->kind == ExprKind::Constant) continue;
      const SqlType type = key.expr->type;
      const ColumnId column = asColumn(std::move(key.expr), computed);
      const bool repeated = std::any_of(columns.begin(), columns.end(),
                                        [column](const SortKey& other) { return columnOf(*other.expr) == column; });
      if (repeated) continue;
      ExprPtr ref = makeColumn(column, type);
      exprs_.lower(ref);
      columns.push_back({std::move(ref), key.descending, key.nullsFirst});
   }
   std::vector<ColumnId> output = input.node->output;
   if (!computed.empty()) {
      for (const ComputedColumn& column : computed)
         output.push_back(column.column);
      input = project(std::move(input), std::move(computed), output);
   }
   if (columns.empty()) return input;
   auto node = std::make_unique<plan::Node>(plan::Sort{std::move(columns)});
   node->estimatedRows = input.node->estimatedRows;
   node->output = std::move(output);
   node->children.push_back(std::move(input.node));
   return {std::move(node), input.rowsMax};
}

Lowered Lowering::lowerSort(Rel& rel, const ColumnSet& need) {
   auto& sort = rel.as<op::Sort>();
   ColumnSet below = need;
   addKeyColumns(sort.keys, below);
   Lowered sorted = sortBy(lower(*rel.inputs[0], below), std::move(sort.keys));
   std::erase_if(sorted.node->output,
                 [&](ColumnId column) { return sorted.node->kind == NodeKind::Sort && !need.contains(column); });
   return sorted;
}

namespace {
/// An operator above takes so many rows, whichever they are.
void wantGroups(plan::Node& node, int64_t count) {
   plan::Node* at = &node;
   while (at->kind == plan::NodeKind::Project)
      at = at->children[0].get();
   auto* aggregate = at->getIf<plan::Aggregate>();
   if (!aggregate || !aggregate->aggregates.empty() || !aggregate->groupingSets.empty()) return;
   if (!aggregate->groupingCalls.empty() || aggregate->keys.empty()) return;
   aggregate->groupsWanted = count;
}
} // namespace

namespace {

/// Asks another server for no more rows than a LIMIT takes, if it evaluates all predicates.
void limitRemoteScan(plan::Node& node, int64_t limit, int64_t offset) {
   auto* scan = node.getIf<plan::VirtualScan>();
   if (!scan || !scan->table.external || !scan->table.external->remote()) return;
   if (limit > INT64_MAX - offset) return;
   const bool isWhole = std::all_of(scan->predicates.begin(), scan->predicates.end(),
                                    [&](const ExprPtr& one) { return plan::isRemote(*scan, *one); });
   if (isWhole) scan->rowsMax = static_cast<uint64_t>(limit + offset);
}

} // namespace

Lowered Lowering::lowerLimit(Rel& rel, const ColumnSet& need) {
   auto& fields = rel.as<op::Limit>();
   plan::NodePtr node = makeNode(plan::Limit{}, rel);
   const auto known = [](const ExprPtr& expr) { return !expr || expr->kind == ExprKind::Constant; };
   const bool unlimited = !fields.limit || isNullConstant(*fields.limit);
   if (fields.offset && isNullConstant(*fields.offset)) fields.offset.reset();
   const int64_t offset = constantCount(fields.offset).value_or(0);
   const int64_t limit = constantCount(fields.limit).value_or(0);
   const bool isTop = rel.inputs[0]->kind == RelKind::Sort && known(fields.limit) && known(fields.offset) &&
                      !unlimited && !fields.withTies && limit >= 0 && offset >= 0 && limit <= topRowsMax &&
                      offset <= topRowsMax && limit + offset <= topRowsMax && query_.context.settings.enabled;
   ColumnSet below = need;
   std::vector<SortKey> ties;
   if (fields.withTies) ties = std::move(fields.sortKeys);
   DCHECK(fields.withTies == !ties.empty());
   addKeyColumns(ties, below);
   Lowered child = lower(*rel.inputs[0], below), bounds;
   if (known(fields.limit) && known(fields.offset) && !unlimited && !fields.withTies && limit > 0 && offset >= 0 &&
       limit <= topRowsMax && offset <= topRowsMax)
      wantGroups(*child.node, limit + offset);
   if (known(fields.limit) && known(fields.offset) && !unlimited && !fields.withTies && limit > 0 && offset >= 0)
      limitRemoteScan(*child.node, limit, offset);
   if (rel.inputs.size() > 1) {
      ColumnSet read;
      for (const ExprPtr* bound : {&fields.limit, &fields.offset})
         if (*bound) addColumns(**bound, read);
      bounds = lower(*rel.inputs[1], read);
   }
   if (fields.limit) exprs_.lower(fields.limit);
   if (fields.offset) exprs_.lower(fields.offset);
   if (auto* sorted = child.node->getIf<plan::Sort>(); isTop && sorted) {
      auto top = std::make_unique<plan::Node>(
          plan::TopN{std::move(sorted->keys), std::move(fields.limit), std::move(fields.offset)});
      top->children = std::move(child.node->children);
      top->output = std::move(child.node->output);
      top->estimatedRows = node->estimatedRows;
      return {std::move(top), static_cast<double>(limit)};
   }
   lowerSortKeys(ties);
   const double rowsMax = constantCount(fields.limit) && !fields.withTies
                              ? std::min(child.rowsMax, static_cast<double>(std::max<int64_t>(limit, 0)))
                              : child.rowsMax;
   node->as<plan::Limit>() = {std::move(fields.limit), std::move(fields.offset), fields.withTies, std::move(ties)};
   node->children.push_back(std::move(child.node));
   passThrough(*node, need);
   if (rel.inputs.size() > 1) node->children.push_back(std::move(bounds.node));
   return {std::move(node), rowsMax};
}

} // namespace ouzel::optimizer
