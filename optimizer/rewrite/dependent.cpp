#include "optimizer/rewrite/dependent.hpp"

#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "common/error/sql_error.hpp"
#include "common/thread/stack.hpp"
#include "optimizer/query/not_null.hpp"
#include "optimizer/query/order_key.hpp"
#include "optimizer/rewrite/ctes.hpp"
#include "sql/algebra/row_bound.hpp"

namespace ouzel::optimizer {

using namespace sql;

namespace {

bool computesWhatMayFail(const Rel& rel) {
   const auto* map = rel.getIf<op::Map>();
   return map && std::any_of(map->computed.begin(), map->computed.end(),
                             [](const ComputedColumn& computed) { return mayFailBesidesOverflow(*computed.expr); });
}

/// Whether a predicate on an input decides for which rows the join computes what may fail.
bool joinsWhatMayFail(const Rel& rel, const ColumnSet& outer) {
   const auto& join = rel.as<op::Join>();
   if (join.kind != JoinKind::Inner && join.predicate && mayFailBesidesOverflow(*join.predicate)) return true;
   return std::any_of(rel.inputs.begin(), rel.inputs.end(), [&](const RelPtr& input) {
      return outer.containsAny(freeColumns(*input)) && hasEffects(*input);
   });
}

} // namespace

void pullPredicates(RelPtr& rel, const ColumnSet& outer, std::vector<ExprPtr>& pulled, bool isExact) {
   checkStack();
   if (isExact && computesWhatMayFail(*rel)) return;
   // False if a conjunct that may fail stays: it must see only rows for which the others below hold.
   const auto take = [&](ExprPtr& predicate, bool exact) {
      if (!predicate) return true;
      const auto isPulled = [&outer](const ExprPtr& conjunct) {
         std::vector<ColumnId> used;
         collectColumns(*conjunct, used);
         return outer.containsAny(used) && !isVolatile(*conjunct);
      };
      std::vector<ExprPtr> conjuncts = conjunctsOf(std::move(predicate));
      const bool failingStays = exact && std::any_of(conjuncts.begin(), conjuncts.end(), [&](const ExprPtr& conjunct) {
                                   return mayFailBesidesOverflow(*conjunct) && !isPulled(conjunct);
                                });
      if (failingStays) {
         predicate = makeAnd(std::move(conjuncts));
         return false;
      }
      std::vector<ExprPtr> stay;
      for (ExprPtr& conjunct : conjuncts)
         (isPulled(conjunct) ? pulled : stay).push_back(std::move(conjunct));
      predicate = stay.empty() ? nullptr : makeAnd(std::move(stay));
      return true;
   };
   switch (rel->kind) {
   case RelKind::Select:
      take(rel->as<op::Select>().predicate, false);
      pullPredicates(rel->inputs[0], outer, pulled, isExact);
      if (!rel->as<op::Select>().predicate) {
         RelPtr input = std::move(rel->inputs[0]);
         rel = std::move(input);
      }
      return;
   case RelKind::Get:
   case RelKind::VirtualGet: take(rel->as<op::Get>().predicate, false); return;
   case RelKind::Join: {
      auto& join = rel->as<op::Join>();
      if (join.kind == JoinKind::Full || join.kind == JoinKind::Right) return;
      if (isExact && joinsWhatMayFail(*rel, outer)) return;
      if (join.kind == JoinKind::Inner) {
         if (!take(join.predicate, isExact)) return;
         pullPredicates(rel->inputs[1], outer, pulled, isExact);
      }
      pullPredicates(rel->inputs[0], outer, pulled, isExact);
      return;
   }
   case RelKind::Map:
   case RelKind::ProjectSet:
   case RelKind::Sort:
   case RelKind::With: pullPredicates(rel->inputs[0], outer, pulled, isExact); return;
   default: return;
   }
}

std::vector<ComputedColumn> emptyGroupDefaults(op::GroupBy& group, Query& query) {
   std::vector<ComputedColumn> defaults;
   for (AggregateCall& call : group.aggregates) {
      const std::string_view name = call.function ? call.function->name : std::string_view();
      ExprPtr value;
      if (name == "count" || name == "regr_count")
         value = makeInt8(0);
      else if (name == "rank" || name == "dense_rank")
         value = makeInt8(1);
      else if (name == "percent_rank")
         value = makeConstant(call.type, Value::real(PhysicalType::F64, 0));
      else if (name == "cume_dist")
         value = makeConstant(call.type, Value::real(PhysicalType::F64, 1));
      else
         continue;
      const ColumnId column = call.column;
      call.column = query.copyColumn(column);
      auto coalesce = std::make_unique<Expr>(ExprKind::Coalesce, call.type);
      coalesce->args.push_back(makeColumn(call.column, call.type));
      coalesce->args.push_back(std::move(value));
      defaults.push_back({column, std::move(coalesce)});
   }
   for (GroupingCall& call : group.groupingCalls) { // no key is in the empty set
      const ColumnId column = std::exchange(call.column, query.copyColumn(call.column));
      auto coalesce = std::make_unique<Expr>(ExprKind::Coalesce, query.columns[column].type);
      coalesce->args.push_back(query.ref(call.column));
      coalesce->args.push_back(makeConstant(query.columns[column].type,
                                            Value::integer(PhysicalType::I32, (int64_t{1} << call.keys.size()) - 1)));
      defaults.push_back({column, std::move(coalesce)});
   }
   return defaults;
}

Dependence::Dependence(Rel& join, const std::vector<ColumnId>& columns, Query& query)
   : join_(join), query_(query), columns_(columns), outer_(columns), notNull_(notNullColumns(*join.inputs[0], query)) {}

std::vector<ColumnId> Dependence::read(const Rel& rel) const {
   return intersection(freeColumns(rel), outer_);
}

std::vector<ColumnId> Dependence::asDomain(std::vector<ColumnId> needed) const {
   return isExact_ && !needed.empty() ? columns_ : std::move(needed);
}

std::vector<ColumnId> Dependence::readHere(const Rel& rel) const {
   std::vector<ColumnId> used;
   forEachOwnExpr(rel, [&used](const Expr& expr) { collectColumns(expr, used); });
   return intersection(used, outer_);
}

std::vector<ColumnId> Dependence::read(const std::vector<ExprPtr>& exprs) const {
   std::vector<ColumnId> used;
   for (const ExprPtr& expr : exprs)
      collectColumns(*expr, used);
   return intersection(used, outer_);
}

void Dependence::substitute(ExprPtr& expr, const ColumnMapping& mapping) const {
   ExprPtr replacement;
   substituteColumns(expr, [&](ColumnId column) -> const Expr* {
      const MappedColumn* mapped = mapping.find(column);
      if (!mapped) return nullptr;
      replacement = query_.ref(mapped->inner);
      return replacement.get();
   });
}

void Dependence::substituteOwn(Rel& rel, const ColumnMapping& mapping) const {
   forEachOwnExpr(rel, [&](ExprPtr& expr) { substitute(expr, mapping); });
}

ExprPtr Dependence::same(const MappedColumn& a, const MappedColumn& b) const {
   return makeCompare(a.notNull || b.notNull ? CompareOp::Eq : CompareOp::IsNotDistinctFrom, domainValue(a.inner),
                      domainValue(b.inner));
}

/// A column as the domain distinguishes its values: arrays and bpchar by their bytes, since the right side may show
/// them.
ExprPtr Dependence::domainValue(ColumnId column) const {
   ExprPtr value = query_.ref(column);
   if (!isKeyed(value->type, {})) return value; // texts compare by their bytes, whatever their collation
   auto bytes = std::make_unique<Expr>(ExprKind::Relabel, SqlType{oid::bytea, -1, invalidOid});
   bytes->args.push_back(std::move(value));
   return bytes;
}

ExprPtr Dependence::joinPredicate(const ColumnMapping& mapping, const std::vector<ColumnId>& columns) const {
   ExprPtr predicate;
   for (const ColumnId column : columns)
      if (const MappedColumn* mapped = mapping.find(column))
         predicate = conjunction(std::move(predicate), same({column, column, notNull_.contains(column)}, *mapped));
   return predicate;
}

RelPtr Dependence::finish(RelPtr join) {
   if (!shared_) return join;
   DCHECK(!join->as<op::Join>().dependent);
   op::CteScan scan;
   scan.cte = shared_->id;
   for (const ColumnId column : outputColumns(*join->inputs[0])) {
      scan.columns.push_back(column);
      scan.cteColumns.push_back(sharedColumns_.at(column));
   }
   join->inputs[0] = makeRel(RelKind::CteScan, std::move(scan));
   op::With with;
   with.ctes.push_back(std::move(*shared_));
   shared_.reset();
   return makeRel(RelKind::With, std::move(with), std::move(join));
}

RelPtr Dependence::copyLeft(ColumnMap& renamed) {
   const Rel& left = *join_.inputs[0];
   const Rel* base = &left;
   while (base->kind == RelKind::Select || base->kind == RelKind::Map)
      base = base->inputs[0].get();
   const bool cheap = base->kind == RelKind::Get || base->kind == RelKind::VirtualGet ||
                      base->kind == RelKind::Values || base->kind == RelKind::CteScan ||
                      base->kind == RelKind::RecursiveScan;
   bool isVolatileLeft = false;
   forEachRel(*join_.inputs[0], [&](Rel& rel) { isVolatileLeft = isVolatileLeft || callsVolatile(rel); });
   // A left input with free columns cannot become a CTE: unnesting the enclosing dependent join will change it.
   if ((cheap && !isVolatileLeft) || !freeColumns(left).empty()) return cloneRenamed(left, query_, renamed);
   if (!shared_) {
      shared_ = std::make_unique<Cte>();
      shared_->id = query_.nextCte++;
      shared_->name = "domain";
      shared_->materialized = true;
      shared_->query = cloneRenamed(left, query_, sharedColumns_);
      for (const ColumnId column : outputColumns(left)) {
         sharedColumns_.try_emplace(column, column);
         shared_->columns.push_back(sharedColumns_.at(column));
      }
   }
   op::CteScan scan;
   scan.cte = shared_->id;
   for (const ColumnId column : outputColumns(left)) {
      const ColumnId copy = query_.copyColumn(column);
      renamed[column] = copy;
      scan.columns.push_back(copy);
      scan.cteColumns.push_back(sharedColumns_.at(column));
   }
   ++shared_->references;
   return makeRel(RelKind::CteScan, std::move(scan));
}

RelPtr Dependence::makeDomain(const std::vector<ColumnId>& columns, ColumnMapping& mapping) {
   DCHECK(!columns.empty());
   ColumnMap renamed;
   RelPtr left = copyLeft(renamed);
   op::GroupBy group;
   for (const ColumnId column : columns) {
      const ColumnId key = query_.copyColumn(column);
      query_.columns[key].nullable = !notNull_.contains(column);
      const auto source = renamed.find(column);
      group.keys.push_back({key, query_.ref(source == renamed.end() ? column : source->second)});
      mapping.add(column, key, notNull_.contains(column));
   }
   return makeRel(RelKind::GroupBy, std::move(group), std::move(left));
}

RelPtr Dependence::provide(RelPtr rel, ColumnMapping& mapping, const std::vector<ColumnId>& needed) {
   const bool complete =
       std::all_of(needed.begin(), needed.end(), [&](ColumnId column) { return mapping.find(column) != nullptr; });
   if (complete) return rel;
   ColumnMapping domainMapping;
   RelPtr domain = makeDomain(asDomain(needed), domainMapping);
   ExprPtr predicate;
   for (const MappedColumn& mapped : domainMapping.columns()) {
      if (const MappedColumn* existing = mapping.find(mapped.outer))
         predicate = conjunction(std::move(predicate), same(mapped, *existing));
      else
         mapping.add(mapped.outer, mapped.inner, mapped.notNull);
   }
   if (isUnit(*rel)) return domain;
   return makeJoin(JoinKind::Inner, std::move(rel), std::move(domain), std::move(predicate));
}

bool Dependence::eliminate(ExprPtr& conjunct, RelPtr& rel, ColumnMapping& mapping) {
   if (isExact_ || compareOf(*conjunct) != CompareOp::Eq) return false;
   for (int side = 0; side < 2; ++side) {
      const Expr* outer = conjunct->args[side].get();
      while (outer->kind == ExprKind::Relabel)
         outer = outer->args[0].get();
      const ColumnId outerColumn = columnOf(*outer);
      if (outerColumn == noColumn || !outer_.contains(outerColumn) || mapping.find(outerColumn)) continue;
      ExprPtr& inner = conjunct->args[1 - side];
      std::vector<ColumnId> used;
      collectColumns(*inner, used);
      const bool local = !used.empty() && ColumnSet(outputColumns(*rel)).containsAll(used);
      if (!local || isVolatile(*inner)) continue;
      const SqlType type = query_.columns[outerColumn].type;
      ColumnId column;
      while (inner->kind == ExprKind::Relabel && inner->args[0]->type.oid == type.oid) {
         ExprPtr below = std::move(inner->args[0]);
         inner = std::move(below);
      }
      // The length of a bpchar tells its blanks, in which equal values may differ.
      const bool isAlike =
          inner->type.oid == type.oid && (type.oid != oid::bpchar || inner->type.typmod == type.typmod);
      if (inner->kind == ExprKind::Column && isAlike) {
         column = columnOf(*inner);
      } else {
         if (!isAlike) {
            auto relabel = std::make_unique<Expr>(ExprKind::Relabel, type);
            relabel->args.push_back(std::move(inner));
            inner = std::move(relabel);
         }
         column = query_.newColumn("", type);
         std::vector<ComputedColumn> computed;
         computed.push_back({column, std::move(inner)});
         rel = makeMap(std::move(rel), std::move(computed));
      }
      mapping.add(outerColumn, column, true);
      conjunct = makeTest(ExprKind::IsNotNull, query_.ref(column));
      return true;
   }
   return false;
}

RelPtr Dependence::applyPredicates(RelPtr rel, std::vector<ExprPtr> conjuncts, ColumnMapping& mapping) {
   // An equality may become usable when the correlated columns of its other side are mapped.
   for (bool again = true; again;) {
      again = false;
      for (ExprPtr& conjunct : conjuncts)
         if (eliminate(conjunct, rel, mapping)) again = true;
   }
   std::vector<ColumnId> needed = read(conjuncts);
   const bool isMapped =
       std::all_of(needed.begin(), needed.end(), [&](ColumnId column) { return mapping.find(column) != nullptr; });
   if (!isMapped) // a domain of the rest alone would be joined with all rows; what is mapped is a key of that join
      for (const MappedColumn& mapped : mapping.columns())
         if (std::find(needed.begin(), needed.end(), mapped.outer) == needed.end()) needed.push_back(mapped.outer);
   rel = provide(std::move(rel), mapping, needed);
   for (ExprPtr& conjunct : conjuncts)
      substitute(conjunct, mapping);
   return makeSelect(std::move(rel), std::move(conjuncts));
}

RelPtr Dependence::push(RelPtr rel, ColumnMapping& mapping) {
   checkStack();
   std::vector<ExprPtr> pulled;
   pullPredicates(rel, outer_, pulled, isExact_);
   if (!read(*rel).empty()) rel = pushOperator(std::move(rel), mapping);
   if (pulled.empty()) return rel;
   return applyPredicates(std::move(rel), std::move(pulled), mapping);
}

RelPtr Dependence::pushInput(RelPtr input, ColumnMapping& mapping) {
   return read(*input).empty() ? std::move(input) : push(std::move(input), mapping);
}

RelPtr Dependence::pushOperator(RelPtr rel, ColumnMapping& mapping) {
   switch (rel->kind) {
   case RelKind::Select: {
      RelPtr input = push(std::move(rel->inputs[0]), mapping);
      return applyPredicates(std::move(input), conjunctsOf(std::move(rel->as<op::Select>().predicate)), mapping);
   }
   case RelKind::Map:
   case RelKind::ProjectSet:
      rel->inputs[0] = provide(pushInput(std::move(rel->inputs[0]), mapping), mapping, readHere(*rel));
      substituteOwn(*rel, mapping);
      return rel;
   case RelKind::TableFunction:
      if (rel->inputs.empty()) {
         rel->inputs.push_back(makeDomain(asDomain(readHere(*rel)), mapping));
      } else {
         rel->inputs[0] = provide(pushInput(std::move(rel->inputs[0]), mapping), mapping, readHere(*rel));
      }
      substituteOwn(*rel, mapping);
      return rel;
   case RelKind::Window:
      rel->inputs[0] = provide(pushInput(std::move(rel->inputs[0]), mapping), mapping, readHere(*rel));
      substituteOwn(*rel, mapping);
      for (const MappedColumn& mapped : mapping.columns())
         rel->as<op::Window>().spec.partitionBy.push_back(query_.ref(mapped.inner));
      return rel;
   case RelKind::Sort: // a join does not keep the order of its input, so the Sort is dropped
      return pushInput(std::move(rel->inputs[0]), mapping);
   case RelKind::LockRows:
   case RelKind::Barrier: rel->inputs[0] = pushInput(std::move(rel->inputs[0]), mapping); return rel;
   case RelKind::Join: return pushJoin(std::move(rel), mapping);
   case RelKind::GroupBy: return pushGrouping(std::move(rel), mapping);
   case RelKind::Limit: return pushLimit(std::move(rel), mapping);
   case RelKind::Distinct: return pushDistinct(std::move(rel), mapping);
   case RelKind::SetOp: return pushSetOp(std::move(rel), mapping);
   case RelKind::Values: return pushValues(std::move(rel), mapping);
   case RelKind::With: return pushWith(std::move(rel), mapping);
   default: throwInternal("operator that cannot be correlated");
   }
}

RelPtr Dependence::pushJoin(RelPtr rel, ColumnMapping& mapping) {
   auto& join = rel->as<op::Join>();
   if (join.kind == JoinKind::Right) {
      std::swap(rel->inputs[0], rel->inputs[1]);
      join.kind = JoinKind::Left;
   }
   if (join.kind == JoinKind::Full) return pushFullJoin(std::move(rel), mapping);
   if (join.kind != JoinKind::Inner) return pushOuterJoin(std::move(rel), mapping);

   ColumnMapping right;
   rel->inputs[0] = pushInput(std::move(rel->inputs[0]), mapping);
   rel->inputs[1] = pushInput(std::move(rel->inputs[1]), right);
   std::vector<ExprPtr> conjuncts = conjunctsOf(std::move(join.predicate)), plain, correlated;
   for (const MappedColumn& mapped : right.columns()) {
      if (const MappedColumn* left = mapping.find(mapped.outer))
         plain.push_back(same(*left, mapped));
      else
         mapping.add(mapped.outer, mapped.inner, mapped.notNull);
   }
   for (ExprPtr& conjunct : conjuncts) {
      std::vector<ColumnId> used;
      collectColumns(*conjunct, used);
      (outer_.containsAny(used) ? correlated : plain).push_back(std::move(conjunct));
   }
   join.predicate = plain.empty() ? nullptr : makeAnd(std::move(plain));
   return applyPredicates(std::move(rel), std::move(correlated), mapping);
}

RelPtr Dependence::pushOuterJoin(RelPtr rel, ColumnMapping& mapping) {
   auto& join = rel->as<op::Join>();
   std::vector<ExprPtr> conjuncts = conjunctsOf(std::move(join.predicate)), pulled;
   pullPredicates(rel->inputs[1], outer_, pulled, isExact_);
   for (ExprPtr& conjunct : pulled) {
      if (join.kind == JoinKind::Mark) conjunct = makeTest(ExprKind::IsTrue, std::move(conjunct));
      conjuncts.push_back(std::move(conjunct));
   }
   std::vector<ColumnId> needed = read(conjuncts);
   for (const ColumnId column : read(*rel->inputs[1]))
      if (std::find(needed.begin(), needed.end(), column) == needed.end()) needed.push_back(column);
   rel->inputs[0] = provide(pushInput(std::move(rel->inputs[0]), mapping), mapping, needed);
   for (ExprPtr& conjunct : conjuncts)
      substitute(conjunct, mapping);
   ColumnMapping right;
   rel->inputs[1] = pushInput(std::move(rel->inputs[1]), right);
   for (const MappedColumn& mapped : right.columns()) {
      ExprPtr conjunct = same(*mapping.find(mapped.outer), mapped);
      if (join.kind == JoinKind::Mark) conjunct = makeTest(ExprKind::IsTrue, std::move(conjunct));
      conjuncts.push_back(std::move(conjunct));
   }
   join.predicate = conjuncts.empty() ? nullptr : makeAnd(std::move(conjuncts));
   return rel;
}

RelPtr Dependence::pushFullJoin(RelPtr rel, ColumnMapping& mapping) {
   auto& join = rel->as<op::Join>();
   const std::vector<ColumnId> needed = asDomain(read(*rel));
   ColumnMapping sides[2];
   for (int side = 0; side < 2; ++side)
      rel->inputs[side] = provide(pushInput(std::move(rel->inputs[side]), sides[side]), sides[side], needed);
   std::vector<ExprPtr> conjuncts = conjunctsOf(std::move(join.predicate));
   for (ExprPtr& conjunct : conjuncts)
      substitute(conjunct, sides[0]);
   std::vector<ComputedColumn> merged;
   for (const ColumnId column : needed) {
      conjuncts.push_back(same(*sides[0].find(column), *sides[1].find(column)));
      auto either = std::make_unique<Expr>(ExprKind::Coalesce, query_.columns[column].type);
      either->args.push_back(query_.ref(sides[0].find(column)->inner));
      either->args.push_back(query_.ref(sides[1].find(column)->inner));
      const ColumnId result = query_.copyColumn(column);
      query_.columns[result].nullable = true;
      merged.push_back({result, std::move(either)});
      mapping.add(column, result, sides[0].find(column)->notNull && sides[1].find(column)->notNull);
   }
   join.predicate = makeAnd(std::move(conjuncts));
   return makeMap(std::move(rel), std::move(merged));
}

RelPtr Dependence::pushGroup(RelPtr rel, ColumnMapping& mapping) {
   auto& group = rel->as<op::GroupBy>();
   ColumnMapping below;
   rel->inputs[0] = provide(pushInput(std::move(rel->inputs[0]), below), below, readHere(*rel));
   substituteOwn(*rel, below);
   for (const MappedColumn& mapped : below.columns()) {
      const ColumnId key = query_.copyColumn(mapped.inner);
      query_.columns[key].nullable = !mapped.notNull;
      for (std::vector<uint32_t>& set : group.groupingSets)
         set.push_back(static_cast<uint32_t>(group.keys.size()));
      group.keys.push_back({key, query_.ref(mapped.inner)});
      mapping.add(mapped.outer, key, mapped.notNull);
   }
   return rel;
}

RelPtr Dependence::pushGrouping(RelPtr rel, ColumnMapping& mapping) {
   auto& group = rel->as<op::GroupBy>();
   const bool isStatic = group.keys.empty() && group.groupingSets.size() <= 1;
   const auto emptySets = std::count_if(group.groupingSets.begin(), group.groupingSets.end(),
                                        [](const std::vector<uint32_t>& set) { return set.empty(); });
   if (!isStatic && emptySets == 0) return pushGroup(std::move(rel), mapping);
   if (emptySets > 1) throwNotSupported("correlated subquery with several empty grouping sets");
   // Values of the domain without input rows also need the one row of the empty set: join the domain with the groups.
   const std::vector<ColumnId> columns = asDomain(read(*rel));
   std::vector<ComputedColumn> defaults = emptyGroupDefaults(group, query_);
   ColumnMapping grouped;
   if (isStatic) group.groupingSets.clear();
   RelPtr groups = pushGroup(std::move(rel), grouped);
   RelPtr domain = makeDomain(columns, mapping);
   ExprPtr predicate;
   for (const MappedColumn& mapped : grouped.columns())
      predicate = conjunction(std::move(predicate), same(*mapping.find(mapped.outer), mapped));
   RelPtr join = makeJoin(JoinKind::Left, std::move(domain), std::move(groups), std::move(predicate));
   return makeMap(std::move(join), std::move(defaults));
}

namespace {

/// The number of rows of a LIMIT or OFFSET, where a negative one is an error.
ExprPtr checkedCount(ExprPtr count, bool isOffset) {
   const Value* known = knownValue(*count);
   if (isNullConstant(*count) || (known && known->i64 >= 0)) return count;
   constexpr Oid types[] = {oid::int8, oid::boolean};
   std::vector<ExprPtr> args;
   args.push_back(std::move(count));
   args.push_back(makeBoolean(isOffset));
   return makeCall(catalog::builtins().findFunction("ouzel_row_count", types), int8Type, std::move(args));
}

} // namespace

RelPtr Dependence::pushLimit(RelPtr rel, ColumnMapping& mapping) {
   auto& limit = rel->as<op::Limit>();
   // The limit applies to each value of the domain: a window numbers the rows, and row_number() <= limit.
   std::vector<SortKey> order;
   RelPtr lock; // of the rows that the limit leaves
   if (rel->inputs[0]->kind == RelKind::LockRows) {
      lock = std::move(rel->inputs[0]);
      rel->inputs[0] = std::move(lock->inputs[0]);
   }
   Rel* sort = rel->inputs[0].get();
   while (sort->kind == RelKind::Map)
      sort = sort->inputs[0].get();
   if (const auto* ordered = sort->getIf<op::Sort>())
      for (const SortKey& key : ordered->keys)
         order.push_back({clone(*key.expr), key.descending, key.nullsFirst});
   if (rel->inputs.size() > 1) { // each row gets the bounds
      rel->inputs[0] = makeJoin(JoinKind::Inner, std::move(rel->inputs[0]), std::move(rel->inputs[1]), nullptr);
      rel->inputs.pop_back();
   }
   RelPtr input = pushInput(std::move(rel->inputs[0]), mapping);
   std::vector<ExprPtr> own;
   for (const SortKey& key : order)
      own.push_back(clone(*key.expr));
   if (limit.limit) own.push_back(clone(*limit.limit));
   if (limit.offset) own.push_back(clone(*limit.offset));
   input = provide(std::move(input), mapping, read(own));
   for (ExprPtr* count : {&limit.limit, &limit.offset})
      if (*count) *count = checkedCount(std::move(*count), count == &limit.offset);
   op::Window window;
   for (const MappedColumn& mapped : mapping.columns())
      window.spec.partitionBy.push_back(query_.ref(mapped.inner));
   for (SortKey& key : order)
      substitute(key.expr, mapping);
   window.spec.orderBy = std::move(order);
   const auto number = [&](const char* name) {
      WindowCall call;
      call.function = catalog::builtins().findFunction(name, {});
      call.column = query_.newColumn(name, int8Type, false);
      call.type = int8Type;
      window.calls.push_back(std::move(call));
      return window.calls.back().column;
   };
   std::vector<ExprPtr> conjuncts;
   if (limit.limit && !isNullConstant(*limit.limit)) {
      const ColumnId position = number(limit.withTies ? "rank" : "row_number");
      substitute(limit.limit, mapping);
      ExprPtr last = std::move(limit.limit);
      if (limit.offset) {
         ExprPtr offset = clone(*limit.offset);
         substitute(offset, mapping);
         last = rowBound(std::move(last), std::move(offset));
      }
      if (last->kind == ExprKind::Constant) {
         conjuncts.push_back(makeCompare(CompareOp::Le, query_.ref(position), std::move(last)));
      } else {
         std::vector<ExprPtr> either;
         either.push_back(makeTest(ExprKind::IsNull, clone(*last)));
         either.push_back(makeCompare(CompareOp::Le, query_.ref(position), std::move(last)));
         conjuncts.push_back(makeOr(std::move(either)));
      }
   }
   if (limit.offset) {
      substitute(limit.offset, mapping);
      auto offset = std::make_unique<Expr>(ExprKind::Coalesce, int8Type);
      offset->args.push_back(std::move(limit.offset));
      offset->args.push_back(makeInt8(0));
      conjuncts.push_back(makeCompare(CompareOp::Gt, query_.ref(number("row_number")), std::move(offset)));
   }
   if (!window.calls.empty())
      input = makeSelect(makeRel(RelKind::Window, std::move(window), std::move(input)), std::move(conjuncts));
   if (!lock) return input;
   lock->inputs[0] = std::move(input);
   return lock;
}

RelPtr Dependence::pushDistinct(RelPtr rel, ColumnMapping& mapping) {
   auto& distinct = rel->as<op::Distinct>();
   // A correlated column in the list has one value for all rows of a value of the domain.
   std::vector<ColumnId> needed = readHere(*rel);
   for (const ColumnId column : intersection(distinct.columns, outer_))
      if (std::find(needed.begin(), needed.end(), column) == needed.end()) needed.push_back(column);
   rel->inputs[0] = provide(pushInput(std::move(rel->inputs[0]), mapping), mapping, needed);
   std::erase_if(distinct.columns, [&](ColumnId column) { return outer_.contains(column); });
   std::vector<SortKey> order;
   for (const MappedColumn& mapped : mapping.columns()) {
      const bool listed =
          std::find(distinct.columns.begin(), distinct.columns.end(), mapped.inner) != distinct.columns.end();
      if (!listed) distinct.columns.push_back(mapped.inner);
      if (!distinct.sortKeys.empty()) order.push_back({query_.ref(mapped.inner), false, false});
   }
   for (SortKey& key : distinct.sortKeys) {
      substitute(key.expr, mapping);
      order.push_back(std::move(key));
   }
   distinct.sortKeys = std::move(order);
   return rel;
}

RelPtr Dependence::pushSetOp(RelPtr rel, ColumnMapping& mapping) {
   auto& setOp = rel->as<op::SetOp>();
   const std::vector<ColumnId> needed = asDomain(read(*rel));
   ColumnMapping sides[2];
   for (int side = 0; side < 2; ++side) {
      RelPtr input = std::move(rel->inputs[side]);
      std::vector<ComputedColumn> copies; // for inputs that are correlated columns
      for (ColumnId& column : setOp.inputColumns[side]) {
         if (!outer_.contains(column)) continue;
         copies.push_back({query_.copyColumn(column), query_.ref(column)});
         column = copies.back().column;
      }
      input = makeMap(std::move(input), std::move(copies));
      rel->inputs[side] = provide(pushInput(std::move(input), sides[side]), sides[side], needed);
   }
   for (const ColumnId column : needed) {
      const ColumnId result = query_.copyColumn(column);
      const bool notNull = sides[0].find(column)->notNull && sides[1].find(column)->notNull;
      query_.columns[result].nullable = !notNull;
      setOp.columns.push_back(result);
      for (int side = 0; side < 2; ++side)
         setOp.inputColumns[side].push_back(sides[side].find(column)->inner);
      mapping.add(column, result, notNull);
   }
   return rel;
}

RelPtr Dependence::pushValues(RelPtr rel, ColumnMapping& mapping) {
   auto& values = rel->as<op::Values>();
   const auto asMap = [&](std::vector<ExprPtr>& row, const std::vector<ColumnId>& columns) {
      std::vector<ComputedColumn> computed;
      for (size_t i = 0; i < row.size(); ++i)
         computed.push_back({columns[i], std::move(row[i])});
      return makeMap(oneRow(), std::move(computed));
   };
   if (values.rows.size() == 1) return push(asMap(values.rows[0], values.columns), mapping);
   RelPtr all;
   std::vector<ColumnId> soFar;
   for (size_t r = 0; r < values.rows.size(); ++r) {
      std::vector<ColumnId> columns;
      for (const ColumnId column : values.columns)
         columns.push_back(query_.copyColumn(column));
      RelPtr one = asMap(values.rows[r], columns);
      if (all) {
         op::SetOp setOp;
         setOp.all = true;
         setOp.inputColumns = {soFar, columns};
         columns.clear();
         for (const ColumnId column : values.columns)
            columns.push_back(r + 1 == values.rows.size() ? column : query_.copyColumn(column));
         setOp.columns = columns;
         one = makeRel(RelKind::SetOp, std::move(setOp), std::move(all), std::move(one));
      }
      all = std::move(one);
      soFar = columns;
   }
   return push(std::move(all), mapping);
}

/// Makes a recursive CTE run once for all values of the domain: additional columns carry the values of each row. A
/// Select over each scan of the CTE compares the correlated columns with the additional columns. The scans remain
/// correlated through this Select, so pushing the domain into their operators unnests them.
void Dependence::pushRecursion(Rel& with, size_t position, const std::vector<ColumnId>& needed) {
   std::vector<Cte>& ctes = with.as<op::With>().ctes;
   Cte& cte = ctes[position];
   std::vector<ColumnId> carried;
   const auto extend = [&](RelPtr& term, std::vector<ColumnId>& columns) {
      ColumnMapping mapping;
      term = provide(pushInput(std::move(term), mapping), mapping, needed);
      std::vector<ComputedColumn> computed;
      for (const ColumnId column : needed) {
         const ColumnId copy = query_.copyColumn(column);
         computed.push_back({copy, query_.ref(mapping.find(column)->inner)});
         columns.push_back(copy);
      }
      term = makeMap(std::move(term), std::move(computed));
   };
   const auto restrict = [&](RelPtr& rel) {
      auto& scan = rel->as<op::CteScan>();
      std::vector<ExprPtr> conjuncts;
      for (size_t i = 0; i < needed.size(); ++i) {
         const ColumnId copy = query_.copyColumn(needed[i]);
         scan.columns.push_back(copy);
         scan.cteColumns.push_back(carried[i]);
         conjuncts.push_back(makeCompare(notNull_.contains(needed[i]) ? CompareOp::Eq : CompareOp::IsNotDistinctFrom,
                                         domainValue(needed[i]), domainValue(copy)));
      }
      rel = makeSelect(std::move(rel), std::move(conjuncts));
   };
   const size_t width = cte.columns.size();
   extend(cte.query, cte.columns);
   carried.assign(cte.columns.begin() + static_cast<std::ptrdiff_t>(width), cte.columns.end());
   forEachCteScan(cte.recursive, cte.id, restrict);
   extend(cte.recursive, cte.recursiveColumns);
   for (RelPtr& input : with.inputs)
      forEachCteScan(input, cte.id, restrict);
   for (size_t i = position + 1; i < ctes.size(); ++i) {
      forEachCteScan(ctes[i].query, cte.id, restrict);
      if (ctes[i].recursive) forEachCteScan(ctes[i].recursive, cte.id, restrict);
   }
}

RelPtr Dependence::pushWith(RelPtr rel, ColumnMapping& mapping) {
   std::vector<Cte>& ctes = rel->as<op::With>().ctes;
   for (size_t i = 0; i < ctes.size();) {
      std::vector<ColumnId> needed = read(*ctes[i].query);
      if (ctes[i].recursive)
         for (const ColumnId column : read(*ctes[i].recursive))
            if (std::find(needed.begin(), needed.end(), column) == needed.end()) needed.push_back(column);
      if (needed.empty()) {
         ++i;
         continue;
      }
      if (ctes[i].recursive) {
         pushRecursion(*rel, i++, asDomain(std::move(needed)));
         continue;
      }
      replaceCteScans(*rel, ctes[i], query_);
      ctes.erase(ctes.begin() + static_cast<std::ptrdiff_t>(i));
   }
   RelPtr body = pushInput(std::move(rel->inputs[0]), mapping);
   if (ctes.empty()) return body;
   rel->inputs[0] = std::move(body);
   return rel;
}

} // namespace ouzel::optimizer
