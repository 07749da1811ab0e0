#include <algorithm>

#include "common/number/decimal.hpp"
#include "common/thread/stack.hpp"
#include "optimizer/cardinality/estimator.hpp"
#include "optimizer/rewrite/grouping/inner_joins.hpp"
#include "optimizer/rewrite/grouping/partial_aggregates.hpp"
#include "optimizer/rewrite/rules.hpp"

// Groups before it joins (Yan & Larson 1995, "Eager aggregation and lazy aggregation"). A query that sums sales for
// each customer and groups them by the customer's names hashes all the names for every sale. Grouped by the number of
// the customer first, it hashes the names once for each customer:
//
//    GroupBy names, year: sum(price)            GroupBy names, year: sum(s)
//      Join sale.customer = customer.id    ->     Join c = customer.id
//        sale, customer                             GroupBy sale.customer as c, year: sum(price) as s
//                                                     sale
//                                                   customer
//
// The conditions of sum(CASE WHEN customer.kind = 1 THEN price END) may be above, too: they hold for all sales of one
// group below, or for none. The upper GroupBy goes if the names are a key of the customers. The sides are called
// `below`, with all that aggregates read, and `above`. Estimates decide.

namespace ouzel::optimizer {

using namespace sql;

namespace {

using RelationBits = uint64_t;
constexpr size_t relationsMax = 64;
/// Fewer rows are not worth another operator.
constexpr double rowsMin = 10'000;
/// The groups of a hash table beyond this size are no longer in the processor's caches.
constexpr double cachedGroups = 100'000;

/// Whether parts can be aggregated for rows that the joins above would leave out.
bool canComeFirst(const AggregateCall& call) {
   if (!isDecomposable(call) || (call.filter && mayFailBesidesOverflow(*call.filter))) return false;
   return std::ranges::none_of(call.args, [](const ExprPtr& arg) { return mayFailBesidesOverflow(*arg); });
}

class EarlyGrouping {
public:
   EarlyGrouping(RelPtr& rel, Query& query) : rel_(rel), group_(rel->as<op::GroupBy>()), query_(query) {}

   /// Rewrites the GroupBy if it pays, and gives the join above the new one; null: it stays as it is.
   Rel* run() {
      if (!isCandidate()) return nullptr;
      std::optional<Split> best;
      for (size_t i = 0; i < region_.relations.size(); ++i) {
         std::optional<Split> split = splitAt(i);
         if (split && (!best || split->gain > best->gain)) best = std::move(split);
      }
      return best ? rewrite(*best) : nullptr;
   }

private:
   struct Split {
      RelationBits above = 0;
      std::vector<const Expr*> across; ///< equalities of a column below with an expression above
      bool isGroupedOnce = false;      ///< the groups below are those of the query
      double gain = 0;                 ///< costs of the query as it is, as a multiple of those of the split one
   };

   bool isCandidate() {
      if (group_.keys.empty()) return false;
      if (rel_->inputs[0]->kind != RelKind::Join || !region_.collect(rel_->inputs[0])) return false;
      if (region_.relations.size() < 2 || region_.relations.size() > relationsMax) return false;
      if (!std::ranges::all_of(group_.aggregates, canComeFirst)) return false;
      for (const ComputedColumn& key : group_.keys)
         if (isVolatile(*key.expr) || mayFailBesidesOverflow(*key.expr)) return false;
      for (RelPtr* relation : region_.relations)
         columns_.emplace_back(outputColumns(**relation));
      for (const ExprPtr* predicate : region_.predicates)
         for (const Expr* conjunct : conjunctList(predicate->get()))
            conjuncts_.push_back({conjunct, relationsOf(*conjunct)});
      for (const AggregateCall& call : group_.aggregates) {
         const bool isConditional = mayBeConditional(call);
         for (const ExprPtr& arg : call.args)
            aggregated_ |= relationsOf(isConditional ? *arg->args[1] : *arg);
         if (call.filter) aggregated_ |= relationsOf(*call.filter);
      }
      if (aggregated_ == 0) aggregated_ = largestRelation();
      return true;
   }

   /// sum or avg of CASE WHEN condition THEN value [ELSE NULL, or 0 for a sum] END.
   static bool mayBeConditional(const AggregateCall& call) {
      const bool isSum = call.function->name == "sum";
      if ((!isSum && call.function->name != "avg") || call.args[0]->kind != ExprKind::Case) return false;
      const std::vector<ExprPtr>& parts = call.args[0]->args;
      if (parts.size() == 2) return true;
      return parts.size() == 3 && (isNullConstant(*parts[2]) || (isSum && isZeroConstant(*parts[2])));
   }
   static bool isZeroConstant(const Expr& expr) {
      const Value* value = knownValue(expr);
      if (!value || value->isNull) return false;
      if (value->type == PhysicalType::Decimal) return decimal::sign(StringView(value->bytes)) == 0;
      const bool isInteger =
          value->type == PhysicalType::I16 || value->type == PhysicalType::I32 || value->type == PhysicalType::I64;
      return isInteger && value->i64 == 0;
   }
   /// Whether the condition of the aggregate is above. False also where there is none.
   bool isConditionAbove(const AggregateCall& call, RelationBits above) const {
      return mayBeConditional(call) && (relationsOf(*call.args[0]->args[0]) & above) != 0;
   }

   RelationBits relationsOf(const Expr& expr) const {
      std::vector<ColumnId> used;
      collectColumns(expr, used);
      RelationBits bits = 0;
      for (size_t i = 0; i < columns_.size(); ++i)
         if (std::ranges::any_of(used, [&](ColumnId column) { return columns_[i].contains(column); }))
            bits |= RelationBits{1} << i;
      return bits;
   }

   RelationBits largestRelation() {
      size_t largest = 0;
      for (size_t i = 1; i < region_.relations.size(); ++i)
         if (estimator_.rows(**region_.relations[i]) > estimator_.rows(**region_.relations[largest])) largest = i;
      return RelationBits{1} << largest;
   }

   /// What equalities join with the relations of `seeds`, directly or not, without the relations of `without`.
   RelationBits reached(RelationBits seeds, RelationBits without) const {
      for (bool grows = true; grows;) {
         grows = false;
         for (const Conjunct& conjunct : conjuncts_) {
            const RelationBits bits = conjunct.relations;
            if (!isEquality(*conjunct.expr) || (bits & without) != 0) continue;
            if ((bits & seeds) == 0 || (bits & ~seeds) == 0) continue;
            seeds |= bits;
            grows = true;
         }
      }
      return seeds;
   }

   /// The split with relation `i`, and all that it alone joins with the rest, above.
   std::optional<Split> splitAt(size_t i) {
      const RelationBits all = ~RelationBits{0} >> (relationsMax - columns_.size()), one = RelationBits{1} << i;
      if ((aggregated_ & one) != 0) return std::nullopt;
      const RelationBits first = aggregated_ & ~(aggregated_ - 1);
      const RelationBits below = reached(first, one);
      if ((aggregated_ & ~below) != 0) return std::nullopt;
      Split split;
      split.above = all & ~below;
      for (const Conjunct& conjunct : conjuncts_) {
         if ((conjunct.relations & split.above) == 0 || (conjunct.relations & below) == 0) continue;
         if (!columnBelow(*conjunct.expr, split.above)) return std::nullopt;
         split.across.push_back(conjunct.expr);
      }
      if (split.across.empty()) return std::nullopt;
      bool hasConditionAbove = false;
      for (const AggregateCall& call : group_.aggregates) {
         if (!isConditionAbove(call, split.above)) continue;
         if ((relationsOf(*call.args[0]->args[0]) & below) != 0) return std::nullopt;
         hasConditionAbove = true;
      }
      ColumnSet keysAbove;
      bool hasKeyAbove = false;
      for (const ComputedColumn& key : group_.keys) {
         const RelationBits bits = relationsOf(*key.expr);
         if ((bits & split.above) == 0) continue;
         if ((bits & below) != 0) return std::nullopt;
         hasKeyAbove = true;
         if (const ColumnId column = columnOf(*key.expr); column != noColumn) keysAbove.add(column);
      }
      if (!hasKeyAbove && !hasConditionAbove) return std::nullopt;
      split.isGroupedOnce = !hasConditionAbove && group_.groupingSets.empty() && group_.groupingCalls.empty();
      for (size_t r = 0; r < columns_.size(); ++r)
         if ((split.above >> r & 1) != 0 && !isUniqueOn(**region_.relations[r], keysAbove, query_))
            split.isGroupedOnce = false;
      const bool isWanted = query_.context.settings.seed != 0 || pays(split);
      return isWanted ? std::optional(split) : std::nullopt;
   }

   /// The side of the equality that is a column below, if the other side is above; null: it is not such an equality.
   const Expr* columnBelow(const Expr& conjunct, RelationBits above) const {
      if (compareOf(conjunct) != CompareOp::Eq) return nullptr;
      for (int side = 0; side < 2; ++side) {
         const Expr &one = *conjunct.args[side], &other = *conjunct.args[1 - side];
         if (one.kind == ExprKind::Column && (relationsOf(one) & above) == 0 && (relationsOf(other) & ~above) == 0)
            return &one;
      }
      return nullptr;
   }

   // ---- estimates ----

   /// The rows of the relations of `bits`, joined with `from`, which has the relations of `done`.
   RelEstimate joined(RelEstimate from, RelationBits done, RelationBits bits) {
      for (size_t i = 0; i < columns_.size(); ++i) {
         const RelationBits one = RelationBits{1} << i;
         if ((bits & one) == 0) continue;
         const RelEstimate& right = estimator_.estimate(**region_.relations[i]);
         std::vector<const Expr*> due;
         for (const Conjunct& conjunct : conjuncts_)
            if ((conjunct.relations & one) != 0 && (conjunct.relations & ~(done | one)) == 0)
               due.push_back(conjunct.expr);
         const double rows = from.rows * right.rows * estimator_.joinSelectivity(due, from, right);
         from.columns.insert(right.columns.begin(), right.columns.end());
         from.rows = std::max(1.0, rows);
         done |= one;
      }
      return from;
   }

   static double keyCost(const Expr& key) { return isVariableSize(storedRepresentation(key.type).physical) ? 4 : 1; }
   /// Of grouping rows by keys that cost so much to hash and to compare.
   static double groupingCost(double rows, double groups, double keysCost) {
      return rows * ((groups > cachedGroups ? 4 : 2) + keysCost);
   }

   bool pays(Split& split) {
      const RelationBits below = ~split.above & (~RelationBits{0} >> (relationsMax - columns_.size()));
      const RelEstimate input = joined({}, 0, below);
      if (input.rows < rowsMin) return false;
      const RelEstimate whole = joined(input, below, split.above);
      if (whole.rows < 0.5 * input.rows) return false; // the joins above leave out what would be grouped in vain
      std::vector<const Expr*> keys, early;
      double keysCost = 0, earlyCost = 0;
      const auto addEarly = [&](const Expr& expr) {
         early.push_back(&expr);
         earlyCost += keyCost(expr);
      };
      for (const ComputedColumn& key : group_.keys) {
         keys.push_back(key.expr.get());
         keysCost += keyCost(*key.expr);
         if ((relationsOf(*key.expr) & split.above) == 0) addEarly(*key.expr);
      }
      for (const Expr* equality : split.across)
         addEarly(*columnBelow(*equality, split.above));
      const double groups = estimator_.groups(whole, keys), parts = estimator_.groups(input, early);
      constexpr double probe = 2;
      const auto sets = static_cast<double>(std::max<size_t>(1, group_.groupingSets.size()));
      const double before = input.rows * probe + sets * groupingCost(whole.rows, groups, keysCost);
      double after = groupingCost(input.rows, parts, earlyCost) + parts * probe;
      if (!split.isGroupedOnce) after += sets * groupingCost(parts, groups, keysCost);
      split.gain = before / after;
      return split.gain > 1.25;
   }

   // ---- the new tree ----

   Rel* rewrite(const Split& split) {
      std::vector<RelPtr> relations[2]; // below and above
      std::vector<ExprPtr> predicates[2], across;
      for (ExprPtr* predicate : region_.predicates)
         for (ExprPtr& conjunct : conjunctsOf(std::move(*predicate))) {
            const RelationBits bits = relationsOf(*conjunct);
            const bool isAbove = (bits & split.above) != 0, isBelow = (bits & ~split.above) != 0;
            (isAbove && isBelow ? across : predicates[isAbove ? 1 : 0]).push_back(std::move(conjunct));
         }
      for (size_t i = 0; i < columns_.size(); ++i)
         relations[split.above >> i & 1].push_back(std::move(*region_.relations[i]));

      op::GroupBy early, late;
      std::vector<ComputedColumn> results; // computed above all
      for (ComputedColumn& key : group_.keys) {
         const bool isAbove = (relationsOf(*key.expr) & split.above) != 0;
         if (split.isGroupedOnce) {
            DCHECK(columnOf(*key.expr) != key.column);
            (isAbove ? results : early.keys).push_back(std::move(key));
         } else if (isAbove) {
            late.keys.push_back(std::move(key));
         } else {
            const ColumnId part = query_.copyColumn(key.column);
            early.keys.push_back({part, std::move(key.expr)});
            late.keys.push_back({key.column, query_.ref(part)});
         }
      }
      for (ExprPtr& equality : across) {
         ExprPtr& column = equality->args[columnBelow(*equality, split.above) == equality->args[0].get() ? 0 : 1];
         const ColumnId key = query_.copyColumn(columnOf(*column));
         early.keys.push_back({key, std::exchange(column, query_.ref(key))});
      }
      for (AggregateCall& call : group_.aggregates) {
         if (split.isGroupedOnce) {
            early.aggregates.push_back(std::move(call));
            continue;
         }
         const bool isConditional = isConditionAbove(call, split.above);
         ExprPtr choice;
         if (isConditional) {
            choice = std::move(call.args[0]);
            call.args[0] = std::move(choice->args[1]);
         }
         std::vector<ColumnId> totals;
         for (AggregateCall& part : partsOf(call, query_)) {
            AggregateCall total = totalOf(call, part.column, query_);
            if (isConditional) total.args[0] = chosen(*choice, std::move(total.args[0]));
            totals.push_back(total.column);
            late.aggregates.push_back(std::move(total));
            early.aggregates.push_back(std::move(part));
         }
         // The empty set has a row even where there are no parts.
         results.push_back({call.column, valueOf(call, totals, !group_.groupingSets.empty(), query_)});
      }

      RelPtr grouped = makeRel(RelKind::GroupBy, std::move(early), joinAll(relations[0], predicates[0]));
      RelPtr result = makeJoin(JoinKind::Inner, std::move(grouped), joinAll(relations[1], predicates[1]),
                               makeAnd(std::move(across)));
      Rel* join = result.get();
      late.groupingSets = std::move(group_.groupingSets);
      late.groupingCalls = std::move(group_.groupingCalls);
      if (!split.isGroupedOnce) result = makeRel(RelKind::GroupBy, std::move(late), std::move(result));
      rel_ = makeMap(std::move(result), std::move(results));
      return join;
   }

   /// `choice`, a CASE whose value is taken out, with `value` in its place, and the ELSE in the value's type.
   static ExprPtr chosen(const Expr& choice, ExprPtr value) {
      auto result = std::make_unique<Expr>(ExprKind::Case, value->type);
      result->args.push_back(clone(*choice.args[0]));
      const SqlType type = value->type;
      result->args.push_back(std::move(value));
      if (choice.args.size() == 3 && !isNullConstant(*choice.args[2])) result->args.push_back(zeroOf(type));
      return result;
   }
   static ExprPtr zeroOf(const SqlType& type) {
      if (type.oid == oid::float8) return makeConstant(type, Value::real(PhysicalType::F64, 0));
      if (type.oid != oid::numeric) return makeConstant(type, Value::integer(PhysicalType::I64, 0));
      return makeConstant(type, Value::string(std::string(decimal::fromInt64(0).view()), PhysicalType::Decimal));
   }

   static RelPtr joinAll(std::vector<RelPtr>& relations, std::vector<ExprPtr>& conjuncts) {
      RelPtr all;
      ColumnSet columns;
      for (RelPtr& relation : relations) {
         columns.add(outputColumns(*relation));
         if (!all) {
            all = std::move(relation);
            continue;
         }
         std::vector<ExprPtr> due;
         for (ExprPtr& conjunct : conjuncts) {
            if (!conjunct) continue;
            std::vector<ColumnId> used;
            collectColumns(*conjunct, used);
            if (columns.containsAll(used)) due.push_back(std::move(conjunct));
         }
         all = makeJoin(JoinKind::Inner, std::move(all), std::move(relation),
                        due.empty() ? nullptr : makeAnd(std::move(due)));
      }
      std::erase_if(conjuncts, [](const ExprPtr& conjunct) { return !conjunct; });
      return makeSelect(std::move(all), std::move(conjuncts)); // of one relation, or of none
   }

   struct Conjunct {
      const Expr* expr;
      RelationBits relations;
   };

   RelPtr& rel_;
   op::GroupBy& group_;
   Query& query_;
   Estimator estimator_{query_};
   InnerJoins region_;
   std::vector<ColumnSet> columns_; ///< of each relation
   std::vector<Conjunct> conjuncts_;
   RelationBits aggregated_ = 0; ///< the relations that aggregates read
};

} // namespace

void groupEarly(RelPtr& root, Query& query) {
   checkStack();
   Rel* top = root.get();
   if (root->kind == RelKind::GroupBy)
      if (Rel* join = EarlyGrouping(root, query).run()) top = join; // the upper GroupBy is done
   forEachChild(*top, [&](RelPtr& child) { groupEarly(child, query); });
}

} // namespace ouzel::optimizer
