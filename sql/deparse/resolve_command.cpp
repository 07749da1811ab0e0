#include <algorithm>

#include "sql/bind/binder.hpp"
#include "sql/deparse/resolver.hpp"

// INSERT, UPDATE and DELETE: the commands of rules, with the rows OLD and NEW, and those of functions' bodies.

namespace ouzel::sql::deparse {

void Resolver::addRuleRows(Query& query, Level& level) {
   for (const char* name : {"old", "new"}) {
      Source* source = addSource(query, SourceKind::Row);
      if (ruleTable_) relationSource(*source, ruleTable_);
      source->alias = name;
      if (ruleTable_) level.visible.push_back({source, true, false});
   }
}

TermPtr Resolver::ruleCondition(Query& query, const ::Node* node, const catalog::RelationPtr& table,
                                catalog::RuleEvent event) {
   ruleTable_ = table;
   Level level;
   level.query = &query;
   addRuleRows(query, level);
   if (event != catalog::RuleEvent::Insert) level.visible.front().byColumn = true;
   if (event != catalog::RuleEvent::Delete) level.visible.back().byColumn = true;
   return condition(node, level);
}

std::shared_ptr<Query> Resolver::ruleAction(const ::Node* node, const catalog::RelationPtr& table) {
   ruleTable_ = table;
   if (isNode(node, T_SelectStmt)) return select(*as<SelectStmt>(node), nullptr, nullptr, false, true);
   auto query = std::make_shared<Query>();
   Level level;
   level.query = query.get();
   addRuleRows(*query, level);
   command(node, *query, level);
   return query;
}

std::shared_ptr<Query> Resolver::bodyStatement(const ::Node* node, const catalog::Function& function) {
   function_ = &function;
   if (isNode(node, T_SelectStmt)) return select(*as<SelectStmt>(node), nullptr);
   auto query = std::make_shared<Query>();
   Level level;
   level.query = query.get();
   command(node, *query, level);
   return query;
}

void Resolver::command(const ::Node* node, Query& query, Level& level) {
   switch (node->type) {
   case T_InsertStmt: insert(*as<InsertStmt>(node), query, level); break;
   case T_UpdateStmt: update(*as<UpdateStmt>(node), query, level); break;
   case T_DeleteStmt: remove(*as<DeleteStmt>(node), query, level); break;
   default: giveUp();
   }
}

Source* Resolver::targetSource(const ::RangeVar& name, Query& query) {
   const auto relation =
       catalog::requireRelation(context_.catalog, state_.uncheckedPath(), qualifiedName(name, context_));
   Source* target = addSource(query, SourceKind::Relation);
   relationSource(*target, relation);
   target->isOnly = !name.inh;
   applyAlias(*target, name.alias);
   query.target = target;
   return target;
}

void Resolver::insert(const ::InsertStmt& node, Query& query, Level& level) {
   query.command = Command::Insert;
   if (node.onConflictClause) giveUp();
   with(node.withClause, query, level);
   Source& target = *targetSource(*node.relation, query);
   query.overriding = node.override == OVERRIDING_SYSTEM_VALUE ? "OVERRIDING SYSTEM VALUE "
                      : node.override == OVERRIDING_USER_VALUE ? "OVERRIDING USER VALUE "
                                                               : "";
   std::vector<const catalog::Column*> columns;
   for (const auto* item : ListOf<ResTarget>(node.cols)) {
      if (item->indirection) giveUp();
      columns.push_back(&catalog::requireColumn(*target.relation, item->name));
   }
   if (!node.cols)
      for (const catalog::Column& column : target.relation->columns)
         if (!column.isDropped) columns.push_back(&column);
   const auto assign = [&](TermPtr& value, size_t i) {
      if (value->kind != TermKind::Default && i < columns.size())
         value = cast(std::move(value), columns[i]->type, CoercionContext::Assignment, Form::Implicit);
   };
   size_t count = 0;
   const auto* source = as<SelectStmt>(node.selectStmt);
   if (source && source->valuesLists && !source->sortClause && !source->limitCount && !source->limitOffset) {
      query.rows = rows(source->valuesLists, level, true, false);
      for (auto& row : query.rows)
         for (size_t i = 0; i < row.size(); ++i)
            assign(row[i], i);
      count = query.rows[0].size();
   } else if (source) {
      Level outer; // of the command's names only those of WITH
      outer.ctes = level.ctes;
      query.selectSource = select(*source, &outer, nullptr, true, true);
      for (const Target& item : query.selectSource->targets)
         count += !item.isHidden;
   }
   for (size_t i = 0; i < count && i < columns.size(); ++i)
      query.written.push_back({columns[i]->name, nullptr});
   returning(node.returningList, query, level, target);
}

void Resolver::update(const ::UpdateStmt& node, Query& query, Level& level) {
   query.command = Command::Update;
   with(node.withClause, query, level);
   Source& target = *targetSource(*node.relation, query);
   level.visible.push_back({&target});
   fromItems(node.fromClause, query, level);
   for (const auto* item : ListOf<ResTarget>(node.targetList)) {
      if (item->indirection) giveUp();
      const catalog::Column& column = catalog::requireColumn(*target.relation, item->name);
      const ::Node* value = item->val;
      if (isNode(value, T_MultiAssignRef)) {
         const auto* part = as<MultiAssignRef>(value);
         if (!isNode(part->source, T_RowExpr)) giveUp();
         value = ListOf<>(as<RowExpr>(part->source)->args)[static_cast<uint32_t>(part->colno - 1)];
      }
      auto assigned = term(value, level);
      if (assigned->kind != TermKind::Default)
         assigned = cast(std::move(assigned), column.type, CoercionContext::Assignment, Form::Implicit);
      query.written.push_back({column.name, std::move(assigned)});
   }
   if (node.whereClause) query.where = condition(node.whereClause, level);
   returning(node.returningList, query, level, target);
}

void Resolver::remove(const ::DeleteStmt& node, Query& query, Level& level) {
   query.command = Command::Delete;
   with(node.withClause, query, level);
   Source& target = *targetSource(*node.relation, query);
   level.visible.push_back({&target});
   fromItems(node.usingClause, query, level);
   if (node.whereClause) query.where = condition(node.whereClause, level);
   returning(node.returningList, query, level, target);
}

void Resolver::returning(const ::List* list, Query& query, Level& level, Source& target) {
   if (list == nullptr) return;
   const bool isSeen = std::any_of(level.visible.begin(), level.visible.end(),
                                   [&](const Visible& item) { return item.source == &target; });
   if (!isSeen) level.visible.push_back({&target});
   query.returning = targets(list, level, false);
}

} // namespace ouzel::sql::deparse
