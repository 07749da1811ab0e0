#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "executor/operator/aggregate/aggregate.hpp"
#include "executor/operator/aggregate/constant_quotient.hpp"
#include "executor/operator/fold/fold_program.hpp"

// What an aggregation computes and how its groups lie in memory: the plan's aggregates are compiled when the operator
// is made, the grouping sets are laid out when its input begins.

namespace ouzel::executor {

void GroupingSet::initialize(std::byte* const* rows, uint32_t count) const {
   for (size_t a = 0; a < aggregates->size(); ++a) {
      if ((*aggregates)[a].isShared) continue;
      const auto init = (*aggregates)[a].kernel->initialize;
      const uint32_t offset = stateOffsets[a];
      for (uint32_t i = 0; i < count; ++i)
         init(rows[i] + offset);
   }
}

bool GroupingSet::needsIndex() const {
   return std::any_of(aggregates->begin(), aggregates->end(),
                      [](const CompiledAggregate& aggregate) { return aggregate.isDistinct || aggregate.isCollected; });
}

bool GroupingSet::isSpilled() const {
   if (keys.empty()) return false; // one group, always in memory
   return groups.isSpilled() ||
          std::any_of(distinct.begin(), distinct.end(),
                      [](const auto& values) { return values && values->groups.isSpilled(); }) ||
          std::any_of(collected.begin(), collected.end(),
                      [](const auto& rows) { return rows && !rows->pages.spilled().empty(); });
}

namespace {

std::string signatureOf(const sql::AggregateCall& call) {
   std::string text(call.function->name);
   text += "(";
   for (size_t i = 0; i < call.args.size(); ++i)
      text += (i ? ", " : "") + formatType(call.args[i]->type);
   return text + ")";
}

} // namespace

CompiledAggregate AggregateSink::compile(PlanBuilder& builder, const sql::AggregateCall& call,
                                         const ColumnSlots& slots) {
   CompiledAggregate out;
   out.call = &call;
   out.result = columns_[call.column].repr;
   std::vector<const sql::Expr*> exprs;
   // WITHIN GROUP orders by the aggregate's arguments, so there are no order columns.
   const auto* info = catalog::builtins().aggregate(call.function->oid);
   const bool withinGroup = info && info->kind != catalog::AggregateKind::Normal;
   const std::vector<sql::ExprPtr> quotient = constantQuotient(call);
   for (const sql::ExprPtr& arg : quotient.empty() ? call.args : quotient)
      exprs.push_back(arg.get());
   for (const sql::ExprPtr& arg : call.directArgs)
      exprs.push_back(arg.get());
   for (const sql::Expr* expr : exprs) {
      out.argTypes.push_back(expr->type);
      out.argReprs.push_back(expr->repr);
   }
   out.argCount = static_cast<uint32_t>(exprs.size());
   if (call.fold)
      out.fold = std::make_shared<FoldProgram>(*call.fold, builder.context().functions(), builder.context().memory());
   out.kernel =
       out.fold ? &FoldProgram::kernel() : findAggregate(call.function->name, out.argTypes, out.argReprs, out.result);
   if (!out.kernel) throwNotSupported("aggregate " + signatureOf(call));
   out.isCollected = out.kernel->ordered || !call.orderBy.empty();
   out.isDistinct = call.distinct && !out.isCollected;
   // All built-in aggregates of one argument that need no order leave NULLs out.
   out.dropsNulls = out.isDistinct && out.argReprs.size() == 1 && !out.fold;
   for (const sql::SortKey& key : call.orderBy) {
      out.descending.push_back(key.descending);
      out.nullsFirst.push_back(key.nullsFirst);
      if (withinGroup) continue;
      exprs.push_back(key.expr.get());
      out.argReprs.push_back(key.expr->repr);
      ++out.orderCount;
   }
   if (!exprs.empty()) out.args = ExpressionProgram::compile(std::span(exprs), slots, builder.context().columns());
   if (call.filter) out.filter = ExpressionProgram::compile(*call.filter, slots, builder.context().columns());
   return out;
}

namespace {
/// Whether both aggregates have the same state after the same rows.
bool accumulateAlike(const CompiledAggregate& a, const CompiledAggregate& b) {
   const auto isPlain = [](const CompiledAggregate& aggregate) {
      return aggregate.kernel->accumulation && !aggregate.isCollected && !aggregate.isDistinct && !aggregate.filter;
   };
   return isPlain(a) && isPlain(b) && a.kernel->accumulation == b.kernel->accumulation &&
          std::equal(a.call->args.begin(), a.call->args.end(), b.call->args.begin(), b.call->args.end(),
                     [](const sql::ExprPtr& x, const sql::ExprPtr& y) { return !isVolatile(*x) && equal(*x, *y); });
}
} // namespace

void AggregateSink::addAggregate(CompiledAggregate aggregate) {
   aggregate.stateOf = aggregates_.size();
   for (const CompiledAggregate& other : aggregates_)
      if (!aggregate.isShared && accumulateAlike(other, aggregate)) {
         aggregate.stateOf = other.stateOf;
         aggregate.isShared = true;
      }
   aggregates_.push_back(std::move(aggregate));
}

AggregateSink::AggregateSink(PlanBuilder& builder, const sql::plan::Node& node)
   : node_(node), columns_(builder.context().columns()), grant_(builder.context().budget()) {
   const auto& plan = node.as<sql::plan::Aggregate>();
   groupsWanted_ = static_cast<uint64_t>(plan.groupsWanted);
   const ColumnSlots slots{std::span(node.children[0]->output)};
   std::vector<const sql::Expr*> keys;
   for (const sql::ComputedColumn& key : plan.keys) {
      keys.push_back(key.expr.get());
      keyReprs_.push_back(key.expr->repr);
   }
   if (!keys.empty()) keys_ = ExpressionProgram::compile(std::span(keys), slots, columns_);
   for (const sql::AggregateCall& call : plan.aggregates)
      addAggregate(compile(builder, call, slots));
   // Distinct values and collected rows are stored with the keys of their groups.
   const bool areStored = std::any_of(aggregates_.begin(), aggregates_.end(), [](const CompiledAggregate& aggregate) {
      return aggregate.isDistinct || aggregate.isCollected;
   });
   if (!plan.groupingSets.empty() || areStored) return;
   determined_ = determinedKeys(node);
   for (const sql::plan::Node* join : determined_.joins)
      areUnique_.push_back(builder.buildIsUnique.at(join));
}

/// When the pipelines below have run as far as the input, so that it is known which keys determine others.
void AggregateSink::makeSets() {
   sets_.clear();
   const auto& plan = node_.as<sql::plan::Aggregate>();
   for (const std::vector<uint32_t>& indexes : plan.groupingSets)
      sets_.emplace_back().keys = indexes;
   if (plan.groupingSets.empty()) {
      const bool isKnown = std::all_of(areUnique_.begin(), areUnique_.end(), [](const auto& is) { return is(); });
      const auto isDetermined = [&](uint32_t key) {
         return isKnown && std::find(determined_.keys.begin(), determined_.keys.end(), key) != determined_.keys.end();
      };
      const auto isGiven = [&](uint32_t key) {
         return std::find(node_.output.begin(), node_.output.end(), plan.keys[key].column) != node_.output.end();
      };
      GroupingSet& set = sets_.emplace_back();
      for (uint32_t key = 0; key < plan.keys.size(); ++key)
         if (!isDetermined(key)) set.keys.push_back(key);
      set.keysCompared = static_cast<uint32_t>(set.keys.size());
      for (uint32_t key = 0; key < plan.keys.size(); ++key)
         if (isDetermined(key) && isGiven(key)) set.keys.push_back(key);
   }
   for (GroupingSet& set : sets_) {
      if (!plan.groupingSets.empty()) set.keysCompared = static_cast<uint32_t>(set.keys.size());
      layOut(set);
   }
}

void AggregateSink::layOut(GroupingSet& set) {
   set.aggregates = &aggregates_;
   for (const uint32_t key : set.keys)
      set.layout.addColumn(keyReprs_[key].physical);
   set.layout.setHashedColumns(set.keysCompared);
   const bool isNeverNull = node_.as<sql::plan::Aggregate>().keysAreNeverNull;
   if (isNeverNull) set.layout.setNeverNull();
   std::vector<uint32_t> extras;
   for (const CompiledAggregate& aggregate : aggregates_) {
      const uint32_t size = aggregate.kernel->stateSize;
      extras.push_back(aggregate.isShared ? extras[aggregate.stateOf]
                                          : set.layout.addExtra(size, size % 16 == 0 ? 16 : 8));
      if (aggregate.isShared) continue;
      for (const uint32_t offset : aggregate.kernel->strings)
         set.layout.addExtraString(extras.back(), offset);
   }
   set.layout.seal();
   for (const uint32_t extra : extras)
      set.stateOffsets.push_back(set.layout.extraOffset(extra));
   set.groups.init(set.layout, set.keysCompared, set.needsIndex());
   set.distinct.resize(aggregates_.size());
   set.collected.resize(aggregates_.size());
   for (size_t a = 0; a < aggregates_.size(); ++a) {
      if (aggregates_[a].isCollected) {
         RowLayout& layout = (set.collected[a] = std::make_unique<GroupingSet::CollectedRows>())->layout;
         for (const uint32_t key : set.keys)
            layout.addColumn(keyReprs_[key].physical);
         layout.setHashedColumns(layout.columnCount());
         for (const Representation& arg : aggregates_[a].argReprs)
            layout.addColumn(arg.physical);
         layout.seal();
      }
      if (!aggregates_[a].isDistinct) continue;
      auto& values = *(set.distinct[a] = std::make_unique<GroupingSet::DistinctValues>());
      for (const uint32_t key : set.keys)
         values.layout.addColumn(keyReprs_[key].physical);
      for (const Representation& arg : aggregates_[a].argReprs)
         values.layout.addColumn(arg.physical);
      if (aggregates_[a].dropsNulls && (isNeverNull || set.keys.empty())) values.layout.setNeverNull();
      values.layout.seal();
      values.groups.init(values.layout, values.layout.columnCount(), false);
   }
}

} // namespace ouzel::executor
