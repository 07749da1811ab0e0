#include "sql/deparse/rule.hpp"

#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "catalog/object/function_text.hpp"
#include "sql/deparse/resolver.hpp"
#include "sql/deparse/tree_walk.hpp"
#include "sql/deparse/writer.hpp"

namespace ouzel::sql::deparse {

namespace {

/// Names with all schemas, for texts that last.
catalog::NameContext qualifying(const BindContext& context) {
   static const catalog::SearchPath empty;
   return {context.catalog, empty};
}

void collect(StoredText& stored, TreeVisitor& visitor) {
   const auto add = [&](Oid relation, int16_t attribute) {
      const catalog::Dependency read{relation, attribute};
      if (relation >= firstUserOid &&
          std::find(stored.dependsOn.begin(), stored.dependsOn.end(), read) == stored.dependsOn.end())
         stored.dependsOn.push_back(read);
   };
   visitor.source = [&stored, add](Source& source) {
      if (source.kind != SourceKind::Relation) return;
      stored.readsRelations = true;
      add(source.relation->oid, 0);
   };
   visitor.query = [add](Query& query) {
      if (query.target)
         for (const Written& column : query.written)
            if (const auto* named = query.target->relation->findColumn(column.name))
               add(query.target->relation->oid, named->attribute);
   };
   visitor.term = [&stored, add](Term& term) {
      if (term.kind != TermKind::Column || term.source == nullptr) return;
      if (term.source->kind == SourceKind::Row) (term.source->alias == "old" ? stored.usesOld : stored.usesNew) = true;
      if (!term.source->relation) return;
      if (term.number >= 0) {
         add(term.source->relation->oid, term.source->columns[static_cast<size_t>(term.number)].attribute);
         return;
      }
      for (const SourceColumn& column : term.source->columns) // the whole row
         add(term.source->relation->oid, column.attribute);
   };
}

/// Puts the new name into the tree.
void rename(TreeVisitor& visitor, const NewName& change) {
   visitor.query = [&change](Query& query) {
      if (!query.target || query.target->relation->oid != change.relation || change.attribute == 0) return;
      const std::string old = query.target->relation->column(change.attribute)->name;
      for (Written& column : query.written)
         if (column.name == old) column.name = change.name;
   };
   visitor.source = [&change](Source& source) {
      if (!source.relation || source.relation->oid != change.relation) return;
      if (change.attribute == 0) {
         auto renamed = std::make_shared<catalog::Relation>(*source.relation);
         renamed->name = change.name;
         source.relation = std::move(renamed);
         if (source.alias.empty() && source.kind == SourceKind::Relation) source.name = change.name;
      }
      for (SourceColumn& column : source.columns)
         if (change.attribute != 0 && column.attribute == change.attribute) column.name = change.name;
   };
}

std::string written(Query& action, const catalog::NameContext& names, const Layout& layout) {
   Writer writer(names, layout);
   writer.query(action, nullptr, true, 0);
   return std::move(writer.text());
}

std::string written(Query& rows, const Term& condition, const catalog::NameContext& names, const Layout& layout) {
   Writer writer(names, layout);
   constexpr int conditionIndent = 8;
   writer.expression(rows, condition, true, conditionIndent);
   return std::move(writer.text());
}

} // namespace

StoredText storedCondition(const ::Node& condition, const catalog::RelationPtr& table, catalog::RuleEvent event,
                           const BindContext& context) {
   Resolver resolver(context);
   Query rows;
   const auto term = resolver.ruleCondition(rows, &condition, table, event);
   StoredText stored;
   TreeVisitor visitor;
   collect(stored, visitor);
   walk(*term, visitor);
   stored.text = written(rows, *term, qualifying(context), {});
   return stored;
}

StoredText storedAction(const ::Node& action, const catalog::RelationPtr& table, const BindContext& context) {
   Resolver resolver(context);
   const auto query = resolver.ruleAction(&action, table);
   StoredText stored;
   TreeVisitor visitor;
   collect(stored, visitor);
   walk(*query, visitor);
   stored.text = written(*query, qualifying(context), {});
   return stored;
}

catalog::Rule renamedRule(const catalog::Rule& rule, const catalog::RelationPtr& table, const NewName& change,
                          const BindContext& context) {
   catalog::Rule renamed = rule;
   TreeVisitor visitor;
   rename(visitor, change);
   if (!rule.condition.empty()) {
      const auto script = ParsedScript::parseExpression(rule.condition);
      Resolver resolver(context);
      Query rows;
      const auto term = resolver.ruleCondition(rows, script.expression(), table, rule.event);
      walk(rows, visitor);
      walk(*term, visitor);
      renamed.condition = written(rows, *term, qualifying(context), {});
   }
   for (std::string& action : renamed.actions) {
      const auto script = ParsedScript::parse(action);
      Resolver resolver(context);
      const auto query = resolver.ruleAction(script.statements().at(0).node, table);
      walk(*query, visitor);
      action = written(*query, qualifying(context), {});
   }
   return renamed;
}

std::string ruleText(const catalog::Rule& rule, const catalog::RelationPtr& table, const BindContext& context,
                     const Layout& layout) {
   const catalog::NameContext names{context.catalog, context.searchPath};
   static constexpr const char* events[] = {"SELECT", "UPDATE", "INSERT", "DELETE"};
   std::string text =
       "CREATE RULE " + catalog::quoteIdentifier(rule.name) + " AS\n    ON " +
       events[static_cast<char>(rule.event) - '1'] + " TO " +
       catalog::displayName(context.catalog, layout.isPretty ? names.path : qualifying(context).path, *table);
   if (!rule.condition.empty()) {
      const auto script = ParsedScript::parseExpression(rule.condition);
      Resolver resolver(context);
      Query rows;
      const auto term = resolver.ruleCondition(rows, script.expression(), table, rule.event);
      text += "\n   WHERE " + written(rows, *term, names, layout);
   }
   text += rule.isInstead ? " DO INSTEAD " : " DO ";
   if (rule.actions.empty()) return text + "NOTHING;";
   if (rule.actions.size() > 1) text += '(';
   for (const std::string& action : rule.actions) {
      const auto script = ParsedScript::parse(action);
      Resolver resolver(context);
      const auto query = resolver.ruleAction(script.statements().at(0).node, table);
      text += written(*query, names, layout);
      text += rule.actions.size() > 1 ? ";\n" : ";";
   }
   return rule.actions.size() > 1 ? text + ");" : text;
}

namespace {

/// A condition of the catalog over OLD and NEW, where no column stands without one of them.
std::string rewritten(const std::string& condition, const catalog::RelationPtr& table, const BindContext& context,
                      const catalog::NameContext& names, const Layout& layout, const NewName* change) {
   const auto script = ParsedScript::parseExpression(condition);
   Resolver resolver(context);
   Query rows;
   const auto term = resolver.ruleCondition(rows, script.expression(), table, catalog::RuleEvent::Update);
   if (change) {
      TreeVisitor visitor;
      rename(visitor, *change);
      walk(rows, visitor);
      walk(*term, visitor);
   }
   return written(rows, *term, names, layout);
}

std::string literal(const std::string& text) {
   const bool isEscaped = text.find('\\') != std::string::npos;
   std::string out = isEscaped ? "E'" : "'";
   for (const char c : text)
      out.append(c == '\'' || c == '\\' ? 2 : 1, c);
   return out + '\'';
}

} // namespace

catalog::Trigger renamedTrigger(const catalog::Trigger& trigger, const catalog::RelationPtr& table,
                                const NewName& change, const BindContext& context) {
   catalog::Trigger renamed = trigger;
   if (!renamed.condition.empty())
      renamed.condition = rewritten(trigger.condition, table, context, qualifying(context), {}, &change);
   return renamed;
}

std::string triggerText(const catalog::Trigger& trigger, const catalog::RelationPtr& table, const BindContext& context,
                        const Layout& layout) {
   namespace bit = catalog::trigger_bit;
   using catalog::quoteIdentifier;
   const catalog::NameContext names{context.catalog, context.searchPath};
   const catalog::SearchPath& path = layout.isPretty ? names.path : qualifying(context).path;
   std::string text = trigger.isConstraint() ? "CREATE CONSTRAINT TRIGGER " : "CREATE TRIGGER ";
   text += quoteIdentifier(trigger.name);
   text += trigger.has(bit::before) ? " BEFORE" : trigger.has(bit::insteadOf) ? " INSTEAD OF" : " AFTER";
   const char* separator = " ";
   for (const auto& [event, name] : {std::pair(bit::insert, "INSERT"), std::pair(bit::del, "DELETE"),
                                     std::pair(bit::update, "UPDATE"), std::pair(bit::truncate, "TRUNCATE")}) {
      if (!trigger.has(event)) continue;
      text += std::string(separator) + name;
      separator = " OR ";
      if (event != bit::update) continue;
      for (size_t i = 0; i < trigger.columns.size(); ++i)
         text += (i == 0 ? " OF " : ", ") + quoteIdentifier(table->column(trigger.columns[i])->name);
   }
   text += " ON " + catalog::displayName(context.catalog, path, *table);
   if (const auto referenced = context.catalog.relation(trigger.constraintRelation))
      text += " FROM " + catalog::displayName(context.catalog, path, *referenced);
   if (trigger.isConstraint())
      text += std::string(trigger.isDeferrable ? " DEFERRABLE" : " NOT DEFERRABLE") +
              (trigger.isDeferred ? " INITIALLY DEFERRED" : " INITIALLY IMMEDIATE");
   if (trigger.hasTransitionTables()) text += " REFERENCING";
   if (!trigger.oldTable.empty()) text += " OLD TABLE AS " + quoteIdentifier(trigger.oldTable);
   if (!trigger.newTable.empty()) text += " NEW TABLE AS " + quoteIdentifier(trigger.newTable);
   text += trigger.has(bit::row) ? " FOR EACH ROW" : " FOR EACH STATEMENT";
   if (!trigger.condition.empty()) {
      std::string condition = rewritten(trigger.condition, table, context, names, layout, nullptr);
      text += " WHEN (" + condition + ")";
   }
   const auto function = context.catalog.function(trigger.function);
   const catalog::FunctionInfo* builtin = function ? nullptr : catalog::builtins().function(trigger.function);
   const std::string signature = function  ? catalog::signatureOf(context.catalog, names.path, *function)
                                 : builtin ? std::string(builtin->name) + "()"
                                           : "?()";
   text += " EXECUTE FUNCTION " + signature.substr(0, signature.rfind('(') + 1);
   for (size_t i = 0; i < trigger.arguments.size(); ++i)
      text += (i == 0 ? "" : ", ") + literal(trigger.arguments[i]);
   return text + ")";
}

} // namespace ouzel::sql::deparse
