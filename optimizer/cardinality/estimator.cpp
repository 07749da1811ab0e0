#include "optimizer/cardinality/estimator.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "common/error/sql_error.hpp"
#include "common/thread/stack.hpp"
#include "io/format/external_table.hpp"
#include "optimizer/cardinality/aggregates.hpp"
#include "optimizer/cardinality/predicates.hpp"
#include "optimizer/cardinality/samples.hpp"
#include "optimizer/query/expr_lowering.hpp"
#include "optimizer/query/not_null.hpp"

namespace ouzel::optimizer {

using namespace sql;

namespace {

constexpr double sampleHitsMin = 4; ///< fewer matches of a sample say little
constexpr double unknownTableRows = 1000;

ColumnEstimate columnEstimate(const storage::ColumnStatistics& column, double rows, Representation repr) {
   ColumnEstimate estimate;
   estimate.isKnown = true;
   estimate.distinct = std::max(1.0, column.distinct);
   estimate.baseDistinct = estimate.distinct;
   estimate.baseRows = rows;
   estimate.nullFraction = column.nullFraction;
   estimate.averageWidth = column.averageWidth;
   if (column.min && column.max) {
      const auto low = asNumber(*column.min, repr.scale), high = asNumber(*column.max, repr.scale);
      if (low && high) {
         estimate.min = *low;
         estimate.max = *high;
         estimate.hasBounds = true;
      }
   }
   return estimate;
}

/// Whether the predicate asks of nothing but paths whether they are there, which summaries tell: no sample is needed.
bool asksOnlyForPaths(const op::Get& get) {
   const auto isKnown = [&](const Expr* conjunct) {
      if (conjunct->kind != ExprKind::IsNotNull || conjunct->args[0]->kind != ExprKind::Column) return false;
      const ColumnId column = columnOf(*conjunct->args[0]);
      return std::any_of(get.paths.begin(), get.paths.end(),
                         [&](const GetPath& path) { return path.column == column && path.present >= 0; });
   };
   const auto conjuncts = conjunctList(get.predicate.get());
   return std::all_of(conjuncts.begin(), conjuncts.end(), isKnown);
}

} // namespace

const ColumnEstimate& RelEstimate::column(ColumnId id) const {
   static const ColumnEstimate unknown;
   const auto it = columns.find(id);
   return it == columns.end() ? unknown : it->second;
}

double RelEstimate::distinct(ColumnId id) const {
   const auto it = columns.find(id);
   if (it != columns.end()) return std::max(1.0, std::min(it->second.distinct, rows));
   return std::max(1.0, std::min(rows, std::max(10.0, rows / 10)));
}

const RelEstimate& Estimator::estimate(const Rel& rel) {
   checkStack();
   if (const auto it = known_.find(&rel); it != known_.end()) return it->second;
   RelEstimate result = compute(rel);
   DCHECK(!std::isnan(result.rows));
   DCHECK(result.rows >= 0);
   return known_.emplace(&rel, std::move(result)).first->second;
}

double Estimator::distinctAfter(double distinct, double total, double rows) {
   if (rows >= total || distinct <= 1 || total <= 0) return std::min(distinct, std::max(1.0, total));
   // Cardenas: each value is missed with probability (1 - rows/total)^(total/distinct).
   const double perValue = total / distinct;
   return std::max(1.0, distinct * (1 - std::pow(1 - rows / total, perValue)));
}

void Estimator::scaleTo(RelEstimate& estimate, double rows) {
   rows = std::max(rows, 1.0);
   if (rows < estimate.rows)
      for (auto& entry : estimate.columns)
         entry.second.distinct = distinctAfter(entry.second.distinct, estimate.rows, rows);
   estimate.rows = rows;
}

RelEstimate Estimator::compute(const Rel& rel) {
   switch (rel.kind) {
   case RelKind::Get: return get(rel.as<op::Get>());
   case RelKind::Join: return join(rel);
   case RelKind::GroupBy: return groupBy(rel);
   default: break;
   }
   RelEstimate result;
   if (!rel.inputs.empty() && rel.kind != RelKind::With) result = estimate(*rel.inputs[0]);
   switch (rel.kind) {
   case RelKind::VirtualGet: {
      const auto& get = rel.as<op::Get>();
      result.rows = get.table.external          ? get.table.external->estimatedRows()
                    : query_.context.statistics ? query_.context.statistics->virtualRows(get.table)
                                                : 500;
      setKeysDistinct(get, result);
      if (get.predicate) result.rows *= selectivity(*get.predicate, result);
      break;
   }
   case RelKind::Values: result.rows = static_cast<double>(rel.as<op::Values>().rows.size()); break;
   case RelKind::TableFunction: result.rows = rel.inputs.empty() ? 100 : result.rows * 10; break;
   case RelKind::ProjectSet: result.rows *= 10; break;
   case RelKind::Select:
      if (const ExprPtr& predicate = rel.as<op::Select>().predicate) {
         const double fraction = selectivity(*predicate, result);
         scaleTo(result, result.rows * fraction);
         narrowColumns(*predicate, result);
      }
      break;
   case RelKind::Map:
      for (const ComputedColumn& computed : rel.as<op::Map>().computed) {
         ColumnEstimate column;
         if (const auto* reference = computed.expr->getIf<scalar::Column>()) column = result.column(reference->column);
         column.distinct = distinctOf(*computed.expr, result);
         result.columns[computed.column] = column;
         extended_.addComputed(computed.column, *computed.expr);
      }
      break;
   case RelKind::Window: break;
   case RelKind::Distinct: {
      std::vector<ExprPtr> refs;
      std::vector<const Expr*> keys;
      for (const ColumnId column : rel.as<op::Distinct>().columns) {
         refs.push_back(query_.ref(column));
         keys.push_back(refs.back().get());
      }
      scaleTo(result, groups(result, keys));
      break;
   }
   case RelKind::Limit: {
      const ExprPtr &limit = rel.as<op::Limit>().limit, &offset = rel.as<op::Limit>().offset;
      if (rel.inputs.size() > 1) estimate(*rel.inputs[1]);
      if (const Value* skipped = offset ? knownValue(*offset) : nullptr)
         scaleTo(result, std::max(1.0, result.rows - static_cast<double>(skipped->i64)));
      if (const Value* wanted = limit ? knownValue(*limit) : nullptr)
         scaleTo(result, std::min(result.rows, static_cast<double>(std::max<int64_t>(wanted->i64, 0))));
      break;
   }
   case RelKind::SetOp: {
      const auto& setOp = rel.as<op::SetOp>();
      const RelEstimate& other = estimate(*rel.inputs[1]);
      RelEstimate combined;
      const double sum = result.rows + other.rows;
      combined.rows = setOp.kind == SetOpKind::Union       ? (setOp.all ? sum : sum * 0.8)
                      : setOp.kind == SetOpKind::Intersect ? std::min(result.rows, other.rows) * 0.5
                                                           : result.rows * 0.5;
      for (size_t i = 0; i < setOp.columns.size(); ++i) {
         ColumnEstimate column = result.column(setOp.inputColumns[0][i]);
         column.distinct = result.distinct(setOp.inputColumns[0][i]) + other.distinct(setOp.inputColumns[1][i]);
         column.baseDistinct = column.distinct;
         column.baseRows = sum;
         column.hasBounds = false;
         combined.columns[setOp.columns[i]] = column;
      }
      return combined;
   }
   case RelKind::With:
      for (const Cte& cte : rel.as<op::With>().ctes) {
         RelEstimate one = estimate(*cte.query);
         if (cte.recursive) one.rows *= 10;
         setCte(cte.id, one);
         if (cte.recursive) estimate(*cte.recursive);
      }
      result = estimate(*rel.inputs[0]);
      break;
   case RelKind::CteScan: {
      const auto& scan = rel.as<op::CteScan>();
      const auto it = ctes_.find(scan.cte);
      if (it == ctes_.end()) {
         result.rows = unknownTableRows;
         break;
      }
      result.rows = it->second.rows;
      for (size_t i = 0; i < scan.columns.size(); ++i) {
         ColumnEstimate column = it->second.column(scan.cteColumns[i]);
         column.scan = 0; // other scans of the CTE have other rows
         result.columns[scan.columns[i]] = column;
      }
      break;
   }
   case RelKind::RecursiveScan: {
      const auto it = ctes_.find(rel.as<op::CteScan>().cte);
      result.rows = it == ctes_.end() ? 100 : std::max(1.0, it->second.rows / 10);
      break;
   }
   default: break;
   }
   return result;
}

/// Each value of a key of one column is another one.
void Estimator::setKeysDistinct(const op::Get& get, RelEstimate& estimate) {
   if (!query_.context.statistics || get.table.external) return;
   for (const std::vector<int16_t>& key : query_.context.statistics->uniqueKeys(get.table))
      for (const GetColumn& column : get.columns)
         if (key.size() == 1 && column.attribute == key[0])
            estimate.columns[column.column].distinct = std::max(1.0, estimate.rows);
}

/// Whether an equality of a unique column with a constant leaves one row: a sample says nothing about it, and lookups
/// are planned often.
bool Estimator::findsOneRow(const op::Get& get) const {
   for (const std::vector<int16_t>& key : query_.context.statistics->uniqueKeys(get.table)) {
      if (key.size() != 1) continue;
      const auto column = std::find_if(get.columns.begin(), get.columns.end(),
                                       [&](const GetColumn& one) { return one.attribute == key[0]; });
      if (column == get.columns.end()) continue;
      const auto isKey = [&](const Expr& side) {
         return side.kind == ExprKind::Column && columnOf(side) == column->column;
      };
      for (const Expr* conjunct : conjunctList(get.predicate.get())) {
         if (compareOf(*conjunct) != CompareOp::Eq) continue;
         const Expr &left = *conjunct->args[0], &right = *conjunct->args[1];
         if ((isKey(left) && right.kind == ExprKind::Constant) || (isKey(right) && left.kind == ExprKind::Constant))
            return true;
      }
   }
   return false;
}

RelEstimate Estimator::get(const op::Get& get) {
   RelEstimate result = getColumns(get);
   const uint32_t scan = get.columns.empty() ? 0 : static_cast<uint32_t>(get.columns[0].column) + 1;
   for (auto& entry : result.columns) {
      entry.second.scan = scan;
      entry.second.scanRows = result.rows;
   }
   return result;
}

RelEstimate Estimator::getColumns(const op::Get& get) {
   RelEstimate result;
   result.rows = unknownTableRows;
   std::shared_ptr<const storage::TableStatistics> statistics;
   if (query_.context.statistics) statistics = query_.context.statistics->statistics(get.table);
   if (statistics) {
      result.rows = std::max(1.0, static_cast<double>(statistics->rowCount));
      for (const GetColumn& column : get.columns) {
         const size_t index = static_cast<size_t>(column.attribute - 1);
         if (column.attribute <= 0 || index >= statistics->columns.size()) continue;
         result.columns[column.column] = columnEstimate(statistics->columns[index], result.rows,
                                                        storedRepresentation(query_.columns[column.column].type));
      }
      std::vector<ColumnId> filtered;
      if (get.predicate && !get.paths.empty()) collectColumns(*get.predicate, filtered);
      if (statistics->sample)
         for (const GetPath& path : get.paths) {
            const auto [known, isNew] = query_.paths.try_emplace(path.column);
            const bool isFiltered = std::find(filtered.begin(), filtered.end(), path.column) != filtered.end();
            if (isNew) known->second = pathEstimate(statistics->sample->batch, path, result.rows, isFiltered);
            result.columns[path.column] = known->second;
         }
   }
   if (query_.context.statistics && !extended_.knows(get)) // it may be estimated again
      if (auto extended = query_.context.statistics->extended(get.table)) extended_.addTable(get, std::move(extended));
   if (!get.predicate) return result;
   double fraction = -1, floor = 0;
   const bool isKnown = extended_.coversAll(conjunctList(get.predicate.get()));
   if (statistics && !isKnown && !findsOneRow(get) && !asksOnlyForPaths(get)) {
      const auto [known, isNew] =
          query_.samples.try_emplace(structuralHash(*get.predicate) ^ get.table.relation, -1, 0);
      if (isNew) known->second.first = sampled(get, *statistics, *get.predicate, known->second.second);
      std::tie(fraction, floor) = known->second;
   }
   if (fraction >= 0 && get.paths.empty())
      fraction =
          reconciled(fraction, std::min(statistics->sample->batch.rowCount, evaluatedRowsMax), *get.predicate, result);
   if (fraction >= 0 && (get.paths.empty() || fraction * evaluatedRowsMax >= sampleHitsMin)) {
      if (!get.paths.empty()) fraction = std::min(fraction, narrowPaths(get, result));
   } else if (!get.paths.empty()) {
      // A sample has few documents of a rare kind. Which paths are there is known exactly.
      const double present = narrowPaths(get, result);
      fraction = present * selectivity(*get.predicate, result);
   } else {
      fraction = selectivity(*get.predicate, result);
      if (floor > 0) // no row of the sample matched
         fraction = std::min(fraction, reconciledWithNone(floor, fraction, *get.predicate, result));
   }
   scaleTo(result, result.rows * fraction);
   narrowColumns(*get.predicate, result);
   return result;
}

/// The fraction of rows that have the rarest of the paths which the predicate needs. Afterwards `rows` knows that these
/// paths are there, and so are others as far as that can be: documents of one kind have the same paths.
double Estimator::narrowPaths(const op::Get& get, RelEstimate& rows) {
   const ColumnSet needed = rejectedColumns(*get.predicate);
   double present = 1;
   for (const GetPath& path : get.paths)
      if (needed.contains(path.column)) present = std::min(present, 1 - rows.column(path.column).nullFraction);
   for (const GetPath& path : get.paths) {
      double& nulls = rows.columns[path.column].nullFraction;
      nulls = needed.contains(path.column) ? 0 : 1 - std::min(1.0, (1 - nulls) / std::max(present, 1e-12));
   }
   return present;
}

double Estimator::joinSelectivity(const std::vector<const Expr*>& conjuncts, const RelEstimate& left,
                                  const RelEstimate& right) {
   double fraction = 1;
   struct Equality {
      const ColumnEstimate* columns[2];
      double distinct[2];
   };
   std::vector<Equality> equalities;
   for (const Expr* conjunct : conjuncts) {
      const Expr* test = conjunct;
      while (test->kind == ExprKind::IsTrue || test->kind == ExprKind::IsNotFalse)
         test = test->args[0].get();
      if (isEquality(*test)) {
         Equality found{};
         for (const ExprPtr& arg : test->args) {
            std::vector<ColumnId> used;
            collectColumns(*arg, used);
            if (used.empty()) continue;
            const int side = left.columns.contains(used[0])    ? 0
                             : right.columns.contains(used[0]) ? 1
                             : arg == test->args[0]            ? 0
                                                               : 1;
            const RelEstimate& rel = side == 0 ? left : right;
            found.columns[side] = &rel.column(arg->kind == ExprKind::Column ? columnOf(*arg) : used[0]);
            found.distinct[side] = distinctOf(*arg, rel);
         }
         if (found.columns[0] && found.columns[1]) {
            equalities.push_back(found);
            continue;
         }
      }
      RelEstimate both = left;
      both.columns.insert(right.columns.begin(), right.columns.end());
      both.rows = std::max(left.rows, right.rows);
      fraction *= selectivity(*test, both);
   }
   if (equalities.empty()) return fraction;
   for (const Equality& e : equalities)
      fraction *= (1 - e.columns[0]->nullFraction) * (1 - e.columns[1]->nullFraction);
   if (equalities.size() == 1) return fraction / std::max({1.0, equalities[0].distinct[0], equalities[0].distinct[1]});
   // Several columns: if the base distinct counts of one side multiply to at least its table's rows, the columns count
   // as a key of that table. The number of combinations is then the table's number of rows.
   double products[2] = {1, 1}, baseProducts[2] = {1, 1}, baseRows[2] = {1, 1};
   for (const Equality& e : equalities)
      for (int side = 0; side < 2; ++side) {
         products[side] *= e.distinct[side];
         baseProducts[side] *= e.columns[side]->baseDistinct;
         baseRows[side] = std::max(baseRows[side], e.columns[side]->baseRows);
      }
   double combinations = std::max(std::min(products[0], left.rows), std::min(products[1], right.rows));
   double keyRows = INFINITY;
   for (int side = 0; side < 2; ++side)
      if (baseProducts[side] >= baseRows[side]) keyRows = std::min(keyRows, baseRows[side]);
   if (keyRows < INFINITY) combinations = keyRows;
   return fraction / std::max(1.0, combinations);
}

/// The fraction of the rows of `left` that have a partner among those of `right`.
double Estimator::matchedFraction(const Expr* predicate, const RelEstimate& left, const RelEstimate& right,
                                  double matches) {
   double fraction = std::min(1.0, matches / std::max(1.0, left.rows));
   for (const Expr* conjunct : conjunctList(predicate)) {
      if (compareOf(*conjunct) != CompareOp::Eq) continue;
      for (int side = 0; side < 2; ++side) {
         const ColumnId a = columnOf(*conjunct->args[side]), b = columnOf(*conjunct->args[1 - side]);
         if (a != noColumn && left.columns.contains(a) && b != noColumn)
            fraction = std::min(fraction, right.distinct(b) / std::max(1.0, left.distinct(a)));
      }
   }
   return fraction;
}

RelEstimate Estimator::join(const Rel& rel) {
   const auto& join = rel.as<op::Join>();
   const RelEstimate& left = estimate(*rel.inputs[0]);
   const RelEstimate& right = estimate(*rel.inputs[1]);
   const double cross = left.rows * right.rows;
   const double matches = cross * joinSelectivity(conjunctList(join.predicate.get()), left, right);
   RelEstimate result = left;
   const bool both = join.kind != JoinKind::Semi && join.kind != JoinKind::Anti && join.kind != JoinKind::Mark;
   if (both) result.columns.insert(right.columns.begin(), right.columns.end());
   double rows = matches;
   switch (join.kind) {
   case JoinKind::Left: {
      rows = std::max(left.rows, matches);
      const double padded = 1 - matchedFraction(join.predicate.get(), left, right, matches);
      for (const auto& entry : right.columns) {
         double& nulls = result.columns.at(entry.first).nullFraction;
         nulls = std::max(nulls, std::min(1.0, padded * left.rows / rows));
      }
      break;
   }
   case JoinKind::Right: rows = std::max(right.rows, matches); break;
   case JoinKind::Full: rows = std::max({left.rows, right.rows, matches}); break;
   case JoinKind::Mark:
   case JoinKind::Single: rows = left.rows; break;
   case JoinKind::Semi:
   case JoinKind::Anti: {
      const double fraction = matchedFraction(join.predicate.get(), left, right, matches);
      rows = left.rows * (join.kind == JoinKind::Semi ? fraction : std::max(0.05, 1 - fraction));
      break;
   }
   default: break;
   }
   rows = std::max(1.0, rows);
   result.rows = std::max(left.rows, both ? right.rows : 1.0);
   for (auto& entry : result.columns)
      entry.second.distinct = std::min(entry.second.distinct, rows);
   if (!both) {
      result.rows = left.rows;
      scaleTo(result, rows);
   }
   result.rows = rows;
   return result;
}

RelEstimate Estimator::groupBy(const Rel& rel) {
   const auto& group = rel.as<op::GroupBy>();
   const RelEstimate& input = estimate(*rel.inputs[0]);
   RelEstimate result;
   std::vector<const Expr*> keys;
   for (const ComputedColumn& key : group.keys)
      keys.push_back(key.expr.get());
   result.rows = keys.empty() ? 1 : groups(input, keys);
   if (group.groupingSets.size() > 1) result.rows *= 1 + 0.3 * static_cast<double>(group.groupingSets.size() - 1);
   for (const ComputedColumn& key : group.keys) {
      ColumnEstimate column;
      if (const auto* reference = key.expr->getIf<scalar::Column>()) column = input.column(reference->column);
      column.distinct = std::min(result.rows, distinctOf(*key.expr, input));
      if (group.keys.size() == 1) { // the column is a key of the result
         column.baseDistinct = column.distinct;
         column.baseRows = result.rows;
      }
      result.columns[key.column] = column;
   }
   for (const AggregateCall& call : group.aggregates) {
      ColumnEstimate column;
      column.distinct = std::max(1.0, result.rows / 3);
      column.baseDistinct = column.distinct;
      column.baseRows = result.rows;
      if (!keys.empty()) setSpread(column, call, input, input.rows / result.rows);
      result.columns[call.column] = column;
   }
   return result;
}

} // namespace ouzel::optimizer
