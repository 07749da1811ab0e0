#include <algorithm>

#include "sql/bind/binder.hpp"
#include "sql/deparse/resolver.hpp"

// Queries: SELECT with its clauses, and the select list.

namespace ouzel::sql::deparse {

bool areSame(const Term& a, const Term& b) {
   if (a.kind != b.kind || a.type.named() != b.type.named() || a.name != b.name || a.isNegated != b.isNegated ||
       a.isNull != b.isNull || a.function != b.function || a.source != b.source || a.number != b.number ||
       a.argNames != b.argNames || a.args.size() != b.args.size() || a.query || b.query)
      return false;
   for (size_t i = 0; i < a.args.size(); ++i)
      if ((a.args[i] == nullptr) != (b.args[i] == nullptr) || (a.args[i] && !areSame(*a.args[i], *b.args[i])))
         return false;
   return true;
}

std::shared_ptr<Query> Resolver::view(const ::SelectStmt& select) {
   return this->select(select, nullptr, nullptr, false, true);
}

TermPtr Resolver::expression(Query& query, const ::Node* node, const catalog::RelationPtr& table,
                             const SqlType* target) {
   Level level;
   level.query = &query;
   if (table) {
      Source* source = addSource(query, SourceKind::Relation);
      relationSource(*source, table);
      level.visible.push_back({source});
   }
   auto result = term(node, level);
   return target ? cast(std::move(result), *target, CoercionContext::Assignment, Form::Implicit)
                 : knownTerm(std::move(result));
}

std::shared_ptr<Query> Resolver::select(const ::SelectStmt& node, Level* parent, Cte* self, bool keepUnknown,
                                        bool hasRuleRows) {
   const DepthGuard guard(state_);
   auto query = std::make_shared<Query>();
   Level level;
   level.parent = parent;
   level.query = query.get();
   if (hasRuleRows) addRuleRows(*query, level);
   with(node.withClause, *query, level);
   if (node.op != SETOP_NONE) {
      setOperation(node, *query, level, self);
   } else if (node.valuesLists) {
      values(node, *query, level, keepUnknown);
   } else {
      plainSelect(node, *query, level, keepUnknown);
   }
   orderAndLimit(node, *query, level);
   locks(node, *query, level);
   return query;
}

void Resolver::expandStar(const ::ColumnRef& node, Level& level, std::vector<Target>& targets) {
   const ListOf<> parts(node.fields);
   const auto all = [&](Source& source) {
      for (size_t i = 0; i < source.columns.size(); ++i)
         targets.push_back({columnAt(source, i), source.columnName(i)});
   };
   if (parts.size() == 1) {
      for (const Visible& item : level.visible)
         if (item.byColumn) all(*item.source);
      return;
   }
   const Visible* item = findSource(stringOf(parts[parts.size() - 2]), level);
   if (item == nullptr) giveUp();
   all(*item->source);
}

std::vector<Target> Resolver::targets(const ::List* list, Level& level, bool keepUnknown) {
   std::vector<Target> result;
   for (const auto* item : ListOf<ResTarget>(list)) {
      if (isNode(item->val, T_ColumnRef) && isNode(ListOf<>(as<ColumnRef>(item->val)->fields).back(), T_A_Star)) {
         expandStar(*as<ColumnRef>(item->val), level, result);
         continue;
      }
      if (isNode(item->val, T_A_Indirection) &&
          isNode(ListOf<>(as<A_Indirection>(item->val)->indirection).back(), T_A_Star)) {
         const auto row = term(as<A_Indirection>(item->val)->arg, level);
         const auto relation = context_.catalog.relationOfType(row->type.oid);
         if (!relation) giveUp();
         for (const catalog::Column& column : relation->columns)
            if (!column.isDropped) result.push_back({fieldOf(row, column.name), column.name});
         continue;
      }
      Target target;
      target.term = keepUnknown ? term(item->val, level) : known(item->val, level);
      target.hasName = item->name != nullptr;
      target.name = item->name ? item->name : outputName(item->val, context_.catalog);
      if (!item->name && target.name == "?column?" && target.term->kind == TermKind::Subquery &&
          target.term->link == Link::Value)
         target.name = target.term->query->targets[0].name;
      result.push_back(std::move(target));
   }
   return result;
}

TermPtr Resolver::orderTerm(const ::Node* node, Query& query, Level& level, bool inputFirst, int32_t* number) {
   const auto output = [&](size_t i) {
      if (number) *number = static_cast<int32_t>(i + 1);
      return query.targets[i].term;
   };
   if (isNode(node, T_A_Const) && !as<A_Const>(node)->isnull && as<A_Const>(node)->val.node.type == T_Integer) {
      const auto ordinal = static_cast<size_t>(as<A_Const>(node)->val.ival.ival);
      if (ordinal >= 1 && ordinal <= query.targets.size()) return output(ordinal - 1);
   }
   if (isNode(node, T_ColumnRef) && ListOf<>(as<ColumnRef>(node)->fields).size() == 1 &&
       !isNode(ListOf<>(as<ColumnRef>(node)->fields)[0], T_A_Star)) {
      const auto name = stringOf(ListOf<>(as<ColumnRef>(node)->fields)[0]);
      if (inputFirst)
         if (auto column = findColumn(name, level, true)) return column;
      for (size_t i = 0; i < query.targets.size(); ++i)
         if (query.targets[i].name == name && !query.targets[i].isHidden) return output(i);
   }
   return known(node, level);
}

std::vector<SortItem> Resolver::sortItems(const ::List* list, Query* query, Level& level) {
   std::vector<SortItem> result;
   for (const auto* node : ListOf<SortBy>(list)) {
      SortItem item;
      item.term = query ? orderTerm(node->node, *query, level, false, &item.target) : known(node->node, level);
      bool isDescending = node->sortby_dir == SORTBY_DESC;
      if (node->sortby_dir == SORTBY_USING) {
         item.usingOperator = stringOf(ListOf<>(node->useOp).back());
         isDescending = item.usingOperator == ">";
         item.order = isDescending                ? SortItem::Order::Descending
                      : item.usingOperator == "<" ? SortItem::Order::Ascending
                                                  : SortItem::Order::Operator;
      } else if (isDescending) {
         item.order = SortItem::Order::Descending;
      }
      item.nullsFirst =
          node->sortby_nulls == SORTBY_NULLS_DEFAULT ? isDescending : node->sortby_nulls == SORTBY_NULLS_FIRST;
      result.push_back(std::move(item));
   }
   return result;
}

GroupingItem Resolver::groupingItem(const ::Node* node, Query& query, Level& level) {
   GroupingItem item;
   const auto children = [&](const ::List* list) {
      for (const ::Node* child : ListOf<>(list))
         item.items.push_back(groupingItem(child, query, level));
   };
   if (isNode(node, T_GroupingSet)) {
      const auto* set = as<GroupingSet>(node);
      switch (set->kind) {
      case GROUPING_SET_EMPTY: item.kind = GroupingItem::Kind::Empty; break;
      case GROUPING_SET_ROLLUP: item.kind = GroupingItem::Kind::Rollup; break;
      case GROUPING_SET_CUBE: item.kind = GroupingItem::Kind::Cube; break;
      case GROUPING_SET_SETS: item.kind = GroupingItem::Kind::Sets; break;
      default: giveUp();
      }
      children(set->content);
      return item;
   }
   if (isNode(node, T_RowExpr) && as<RowExpr>(node)->row_format == COERCE_IMPLICIT_CAST) {
      for (const ::Node* arg : ListOf<>(as<RowExpr>(node)->args))
         item.terms.push_back(orderTerm(arg, query, level, true, nullptr));
      return item;
   }
   item.terms.push_back(orderTerm(node, query, level, true, nullptr));
   return item;
}

void Resolver::plainSelect(const ::SelectStmt& node, Query& query, Level& level, bool keepUnknown) {
   fromItems(node.fromClause, query, level);
   query.targets = targets(node.targetList, level, keepUnknown);
   if (node.whereClause) query.where = condition(node.whereClause, level);
   if (node.havingClause) query.having = condition(node.havingClause, level);
   query.groupsDistinct = node.groupDistinct;
   bool hasSets = false;
   for (const ::Node* item : ListOf<>(node.groupClause))
      hasSets |= isNode(item, T_GroupingSet);
   for (const ::Node* item : ListOf<>(node.groupClause)) {
      if (hasSets) {
         query.groupingSets.push_back(groupingItem(item, query, level));
         continue;
      }
      const GroupingItem plain = groupingItem(item, query, level);
      query.groupBy.insert(query.groupBy.end(), plain.terms.begin(), plain.terms.end());
   }
   if (node.distinctClause) {
      query.isDistinct = true;
      for (const ::Node* item : ListOf<>(node.distinctClause))
         if (item) query.distinctOn.push_back(orderTerm(item, query, level, false, nullptr));
   }
   for (const auto* window : ListOf<WindowDef>(node.windowClause))
      query.windows.push_back(windowSpec(*window, level));
}

void Resolver::orderAndLimit(const ::SelectStmt& node, Query& query, Level& level) {
   query.order = sortItems(node.sortClause, &query, level);
   // DISTINCT ON takes the order of ORDER BY.
   std::vector<TermPtr> sorted;
   for (const SortItem& item : query.order) {
      const auto found = std::find_if(query.distinctOn.begin(), query.distinctOn.end(),
                                      [&](const TermPtr& term) { return areSame(*term, *item.term); });
      if (found == query.distinctOn.end()) break;
      sorted.push_back(std::move(*found));
      query.distinctOn.erase(found);
   }
   query.distinctOn.insert(query.distinctOn.begin(), sorted.begin(), sorted.end());
   const auto count = [&](const ::Node* value) -> TermPtr {
      if (value == nullptr) return nullptr;
      return cast(term(value, level), plainType(oid::int8), CoercionContext::Assignment, Form::Implicit);
   };
   query.offset = count(node.limitOffset);
   query.limit = count(node.limitCount);
   query.limitAll = query.limit && query.limit->kind == TermKind::Constant && query.limit->isNull;
   query.withTies = static_cast<int>(node.limitOption) == limitOptionWithTies;
}

void Resolver::locks(const ::SelectStmt& node, Query& query, Level& level) {
   for (const auto* clause : ListOf<LockingClause>(node.lockingClause)) {
      RowLock lock;
      static constexpr const char* strengths[] = {"", "KEY SHARE", "SHARE", "NO KEY UPDATE", "UPDATE"};
      lock.strength = strengths[clause->strength];
      lock.wait = clause->waitPolicy == LockWaitError  ? " NOWAIT"
                  : clause->waitPolicy == LockWaitSkip ? " SKIP LOCKED"
                                                       : "";
      for (const Visible& item : level.visible) {
         Source& source = *item.source;
         if (source.kind != SourceKind::Relation && source.kind != SourceKind::Subquery) continue;
         bool isMeant = clause->lockedRels == nullptr;
         for (const auto* name : ListOf<RangeVar>(clause->lockedRels))
            isMeant |= (source.alias.empty() ? source.name : source.alias) == name->relname;
         if (!isMeant) continue;
         lock.source = &source;
         query.locks.push_back(lock);
      }
   }
}

} // namespace ouzel::sql::deparse
