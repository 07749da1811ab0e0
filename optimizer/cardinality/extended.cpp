#include "optimizer/cardinality/extended.hpp"

#include <algorithm>

#include "common/number/scaled_value.hpp"
#include "common/type/order_key.hpp"
#include "optimizer/cardinality/estimator.hpp"

namespace ouzel::optimizer {

using namespace sql;

namespace {

using catalog::StatisticsData;

/// The expression without casts that keep different values different.
const Expr& withoutRelabels(const Expr& expr) {
   const Expr* inner = &expr;
   while (inner->kind == ExprKind::Relabel || inner->kind == ExprKind::Convert)
      inner = inner->args[0].get();
   return *inner;
}

bool isInteger(Oid type) {
   return type == oid::int2 || type == oid::int4 || type == oid::int8;
}
bool isText(Oid type) {
   return type == oid::text || type == oid::varchar;
}

/// The order key of a constant as a value of a type; empty if it is of a type that compares in another way.
std::optional<std::string> keyOf(const Expr& constant, const SqlType& type) {
   const Value* known = knownValue(constant);
   const Oid given = constant.type.oid;
   const bool isAlike =
       given == type.oid || (isInteger(given) && isInteger(type.oid)) || (isText(given) && isText(type.oid));
   if (!known || known->isNull || !isAlike) return std::nullopt;
   std::string key;
   Value value = withOwnScale(*known, type.oid, constant.repr);
   if (isInteger(given)) value = Value::integer(storedRepresentation({type.oid, -1, invalidOid}).physical, value.i64);
   appendValueKey(key, {type.oid, -1, invalidOid}, value);
   return key;
}

bool has(const std::vector<int16_t>& list, int16_t number) {
   return std::find(list.begin(), list.end(), number) != list.end();
}

} // namespace

void ExtendedEstimates::addTable(const op::Get& get, std::shared_ptr<const ExtendedStatistics> statistics) {
   Table table{std::move(statistics), {}};
   for (const GetColumn& column : get.columns) {
      if (column.attribute <= 0) continue;
      table.attributes.emplace(column.column, column.attribute);
      known_.insert_or_assign(column.column, Dimension{tables_.size(), column.attribute, {}, {}});
   }
   tables_.push_back(std::move(table));
}

void ExtendedEstimates::addComputed(ColumnId column, const Expr& expr) {
   if (isEmpty() || known_.contains(column)) return;
   if (auto dimension = dimensionOf(expr)) known_.emplace(column, *std::move(dimension));
}

std::optional<ExtendedEstimates::Dimension> ExtendedEstimates::dimensionOf(const Expr& expr) const {
   if (isEmpty()) return std::nullopt;
   const Expr& inner = withoutRelabels(expr);
   if (inner.kind == ExprKind::Column) {
      const auto found = known_.find(columnOf(inner));
      if (found == known_.end()) return std::nullopt;
      Dimension dimension = found->second;
      dimension.type = inner.type;
      return dimension;
   }
   std::vector<ColumnId> used;
   collectColumns(expr, used);
   const auto first = used.empty() ? known_.end() : known_.find(used[0]);
   if (first == known_.end()) return std::nullopt;
   const Table& table = tables_[first->second.table];
   for (const ColumnId column : used)
      if (!table.attributes.contains(column)) return std::nullopt;
   ExprPtr own = clone(expr); // over attributes
   rewriteExpr(own, [&](ExprPtr& node) {
      if (auto* column = node->getIf<scalar::Column>())
         column->column = static_cast<ColumnId>(table.attributes.at(column->column));
   });
   Dimension dimension{first->second.table, 0, {}, expr.type};
   bool isKnown = false;
   for (const auto& object : table.statistics->objects) {
      int16_t number = 0;
      for (size_t i = 0; i < object.expressions.size() && number == 0; ++i)
         if (object.expressions[i] && equal(*object.expressions[i], *own)) number = static_cast<int16_t>(-1 - int(i));
      dimension.byObject.push_back(number);
      isKnown = isKnown || number != 0;
   }
   return isKnown ? std::optional(std::move(dimension)) : std::nullopt;
}

std::optional<double> ExtendedEstimates::groups(const std::vector<const Expr*>& keys, std::vector<bool>& isTaken,
                                                double rows) const {
   std::vector<std::optional<Dimension>> dimensions;
   for (size_t i = 0; i < keys.size(); ++i)
      dimensions.push_back(isTaken[i] ? std::nullopt : dimensionOf(*keys[i]));
   const StatisticsData::DistinctCount* best = nullptr;
   size_t bestTable = 0, bestObject = 0;
   for (size_t t = 0; t < tables_.size(); ++t)
      for (size_t o = 0; o < tables_[t].statistics->objects.size(); ++o)
         for (const auto& entry : tables_[t].statistics->objects[o].data->distinctCounts) {
            if (best && entry.dimensions.size() <= best->dimensions.size()) continue;
            const bool isMet = std::all_of(entry.dimensions.begin(), entry.dimensions.end(), [&](int16_t wanted) {
               return std::any_of(dimensions.begin(), dimensions.end(),
                                  [&](const auto& d) { return d && d->table == t && d->in(o) == wanted; });
            });
            if (!isMet) continue;
            best = &entry;
            bestTable = t;
            bestObject = o;
         }
   if (!best) return std::nullopt;
   for (size_t i = 0; i < keys.size(); ++i) {
      const auto& d = dimensions[i];
      if (d && d->table == bestTable && has(best->dimensions, d->in(bestObject))) isTaken[i] = true;
   }
   return Estimator::distinctAfter(best->count, std::max(tables_[bestTable].statistics->tableRows, best->count), rows);
}

std::optional<double> ExtendedEstimates::distinct(const Expr& expr) const {
   const auto dimension = dimensionOf(expr);
   if (!dimension || dimension->attribute) return std::nullopt;
   const ExtendedStatistics& statistics = *tables_[dimension->table].statistics;
   for (size_t o = 0; o < statistics.objects.size(); ++o) {
      const auto index = static_cast<size_t>(-1 - dimension->in(o));
      const auto& found = statistics.objects[o].data->expressions;
      if (dimension->in(o) == 0 || index >= found.size() || found[index].distinct == 0) continue;
      const double count = found[index].distinct;
      return count > 0 ? count : -count * statistics.tableRows;
   }
   return std::nullopt;
}

std::optional<double> ExtendedEstimates::equality(const Expr& expr, const Expr& constant) const {
   const auto dimension = dimensionOf(expr);
   if (!dimension || dimension->attribute) return std::nullopt;
   const auto key = keyOf(constant, dimension->type);
   const ExtendedStatistics& statistics = *tables_[dimension->table].statistics;
   for (size_t o = 0; o < statistics.objects.size(); ++o) {
      const auto index = static_cast<size_t>(-1 - dimension->in(o));
      const auto& all = statistics.objects[o].data->expressions;
      if (dimension->in(o) == 0 || index >= all.size() || all[index].distinct == 0) continue;
      const auto& found = all[index];
      double common = 0;
      for (size_t i = 0; i < found.commonValues.size(); ++i) {
         if (key && found.commonValues[i].key == *key) return found.commonFrequencies[i];
         common += found.commonFrequencies[i];
      }
      const double count = found.distinct > 0 ? found.distinct : -found.distinct * statistics.tableRows;
      if (!key) return (1 - found.nullFraction) / std::max(1.0, count);
      const double others = count - static_cast<double>(found.commonValues.size());
      return std::max(0.0, 1 - common - found.nullFraction) / std::max(1.0, others);
   }
   return std::nullopt;
}

std::optional<ExtendedEstimates::Clause> ExtendedEstimates::clauseOf(const Expr& conjunct) const {
   Clause clause{0, {}, {}, conjunct.kind == ExprKind::IsNull};
   const Expr* value = nullptr;
   std::vector<const Expr*> constants;
   if (compareOf(conjunct) == CompareOp::Eq) {
      const size_t side = knownValue(*conjunct.args[1]) ? 0 : 1;
      value = conjunct.args[side].get();
      constants.push_back(conjunct.args[1 - side].get());
   } else if (const auto* in = conjunct.getIf<scalar::InList>(); in && !in->negated) {
      value = conjunct.args[0].get();
      for (size_t i = 1; i < conjunct.args.size(); ++i)
         constants.push_back(conjunct.args[i].get());
   } else if (clause.isNull) {
      value = conjunct.args[0].get();
   } else {
      return std::nullopt;
   }
   auto dimension = dimensionOf(*value);
   if (!dimension) return std::nullopt;
   for (const Expr* constant : constants) {
      auto key = keyOf(*constant, dimension->type);
      if (!key) return std::nullopt;
      clause.keys.push_back(*std::move(key));
   }
   clause.dimension = *std::move(dimension);
   return clause;
}

std::vector<std::vector<ExtendedEstimates::Clause>>
ExtendedEstimates::clausesOf(const std::vector<const Expr*>& conjuncts, const std::vector<bool>& isTaken) const {
   std::vector<std::vector<Clause>> byTable(tables_.size());
   for (size_t i = 0; i < conjuncts.size(); ++i) {
      auto clause = isTaken[i] ? std::nullopt : clauseOf(*conjuncts[i]);
      if (!clause) continue;
      clause->conjunct = i;
      byTable[clause->dimension.table].push_back(*std::move(clause));
   }
   return byTable;
}

/// The list with most of the clauses tells of their combinations; of others the product of the shares is corrected.
/// PostgreSQL's mcv_combine_selectivities().
double ExtendedEstimates::fromCommonValues(std::vector<Clause>& clauses, const std::vector<const Expr*>& conjuncts,
                                           std::vector<bool>& isTaken,
                                           const std::function<double(const Expr&)>& alone) const {
   if (clauses.size() < 2) return 1;
   const ExtendedStatistics& statistics = *tables_[clauses[0].dimension.table].statistics;
   size_t best = 0, mostMet = 1;
   const auto isIn = [&](const Clause& clause, size_t object) {
      const catalog::Statistics& own = *statistics.objects[object].statistics;
      const int16_t number = clause.dimension.in(object);
      return number < 0 || has(own.columns, number);
   };
   for (size_t o = 0; o < statistics.objects.size(); ++o) {
      if (statistics.objects[o].data->commonValues.empty()) continue;
      const auto met = static_cast<size_t>(std::count_if(clauses.begin(), clauses.end(), [&](const Clause& clause) {
         return clause.dimension.in(o) != 0 && isIn(clause, o);
      }));
      if (met <= mostMet) continue;
      mostMet = met;
      best = o;
   }
   if (mostMet < 2) return 1;
   const catalog::Statistics& own = *statistics.objects[best].statistics;
   double simple = 1;
   std::vector<std::pair<size_t, const Clause*>> tests; // place in the list's values
   for (const Clause& clause : clauses) {
      const int16_t number = clause.dimension.in(best);
      if (number == 0 || !isIn(clause, best)) continue;
      size_t place = 0;
      while (own.dimension(place) != number)
         ++place;
      tests.emplace_back(place, &clause);
      simple *= alone(*conjuncts[clause.conjunct]);
      isTaken[clause.conjunct] = true;
   }
   double total = 0, matching = 0, matchingBase = 0;
   for (const auto& common : statistics.objects[best].data->commonValues) {
      total += common.frequency;
      const bool isMatch = std::all_of(tests.begin(), tests.end(), [&](const auto& test) {
         const StatisticsData::Datum& datum = common.values[test.first];
         if (datum.isNull || test.second->isNull) return datum.isNull && test.second->isNull;
         const auto& keys = test.second->keys;
         return std::find(keys.begin(), keys.end(), datum.key) != keys.end();
      });
      if (!isMatch) continue;
      matching += common.frequency;
      matchingBase += common.baseFrequency;
   }
   std::erase_if(clauses, [&](const Clause& clause) { return isTaken[clause.conjunct]; });
   const double others = std::min(std::clamp(simple - matchingBase, 0.0, 1.0), std::max(0.0, 1 - total));
   return std::clamp(matching + others, 0.0, 1.0);
}

/// P(a, b) = P(a) (f + (1 - f) P(b)) where a says b in the share f of rows; PostgreSQL's
/// clauselist_apply_dependencies().
double ExtendedEstimates::fromDependencies(const std::vector<Clause>& clauses,
                                           const std::vector<const Expr*>& conjuncts, std::vector<bool>& isTaken,
                                           const std::function<double(const Expr&)>& alone) const {
   if (clauses.size() < 2) return 1;
   const ExtendedStatistics& statistics = *tables_[clauses[0].dimension.table].statistics;
   struct Applied {
      std::vector<size_t> from;
      size_t to;
      double degree;
   };
   std::vector<Applied> applied;
   std::vector<bool> isImplied(clauses.size(), false), isUsed(clauses.size(), false);
   for (;;) {
      const StatisticsData::FunctionalDependency* best = nullptr;
      Applied next;
      for (size_t o = 0; o < statistics.objects.size(); ++o)
         for (const auto& dependency : statistics.objects[o].data->dependencies) {
            const auto find = [&](int16_t number) {
               size_t i = 0;
               while (i < clauses.size() && (isImplied[i] || clauses[i].isNull || clauses[i].dimension.in(o) != number))
                  ++i;
               return i;
            };
            const bool isBetter = !best || dependency.from.size() > best->from.size() ||
                                  (dependency.from.size() == best->from.size() && dependency.degree > best->degree);
            Applied candidate{{}, find(dependency.to), dependency.degree};
            for (const int16_t number : dependency.from)
               candidate.from.push_back(find(number));
            const bool isMet =
                candidate.to < clauses.size() &&
                std::all_of(candidate.from.begin(), candidate.from.end(), [&](size_t i) { return i < clauses.size(); });
            if (!isBetter || !isMet) continue;
            best = &dependency;
            next = std::move(candidate);
         }
      if (!best) break;
      isImplied[next.to] = true;
      isUsed[next.to] = true;
      for (const size_t i : next.from)
         isUsed[i] = true;
      applied.push_back(std::move(next));
   }
   std::vector<double> shares;
   for (const Clause& clause : clauses)
      shares.push_back(alone(*conjuncts[clause.conjunct]));
   for (auto each = applied.rbegin(); each != applied.rend(); ++each) {
      double from = 1;
      for (const size_t i : each->from)
         from *= shares[i];
      double& to = shares[each->to];
      const double f = each->degree;
      to = from <= to ? f + (1 - f) * to : f * to / from + (1 - f) * to;
   }
   double product = 1;
   for (size_t i = 0; i < clauses.size(); ++i) {
      if (!isUsed[i]) continue;
      product *= shares[i];
      isTaken[clauses[i].conjunct] = true;
   }
   return product;
}

double ExtendedEstimates::conjunction(const std::vector<const Expr*>& conjuncts, std::vector<bool>& isTaken,
                                      const std::function<double(const Expr&)>& alone) const {
   double product = 1;
   if (isEmpty()) return product;
   for (std::vector<Clause>& clauses : clausesOf(conjuncts, isTaken)) {
      product *= fromCommonValues(clauses, conjuncts, isTaken, alone);
      product *= fromDependencies(clauses, conjuncts, isTaken, alone);
   }
   return product;
}

bool ExtendedEstimates::coversAll(const std::vector<const Expr*>& conjuncts) const {
   if (isEmpty()) return false;
   if (conjuncts.size() == 1 && compareOf(*conjuncts[0]) == CompareOp::Eq) {
      const size_t side = knownValue(*conjuncts[0]->args[1]) ? 0 : 1;
      return equality(*conjuncts[0]->args[side], *conjuncts[0]->args[1 - side]).has_value();
   }
   std::vector<bool> isTaken(conjuncts.size(), false);
   conjunction(conjuncts, isTaken, [](const Expr&) { return 1.0; });
   return std::find(isTaken.begin(), isTaken.end(), false) == isTaken.end();
}

} // namespace ouzel::optimizer
