#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sql/deparse/deparse.hpp"

// The texts of rules and triggers: as the catalog keeps them, with the names that the catalog has, and as
// pg_get_ruledef() and pg_get_triggerdef() show them.

namespace ouzel::sql::deparse {

/// A condition or a command as the catalog keeps it: relations have their schemas, stars are expanded.
struct StoredText {
   std::string text;
   std::vector<catalog::Dependency> dependsOn; ///< relations and columns, those of OLD and NEW included
   bool usesOld = false, usesNew = false;
   bool readsRelations = false; ///< other ones than OLD and NEW
};
/// In a condition, columns without a name before them are those of the row that `event` has.
StoredText storedCondition(const ::Node& condition, const catalog::RelationPtr& table, catalog::RuleEvent event,
                           const BindContext& context);
StoredText storedAction(const ::Node& action, const catalog::RelationPtr& table, const BindContext& context);

/// A relation (attribute 0) or a column that gets another name.
struct NewName {
   Oid relation = invalidOid;
   int16_t attribute = 0;
   std::string name;
};
/// The rule of `table` after the change. The context's catalog is the one before it.
catalog::Rule renamedRule(const catalog::Rule& rule, const catalog::RelationPtr& table, const NewName& change,
                          const BindContext& context);

/// CREATE RULE ...; `layout.isPretty`: with the table's schema only where search_path asks for it.
std::string ruleText(const catalog::Rule& rule, const catalog::RelationPtr& table, const BindContext& context,
                     const Layout& layout);

/// CREATE TRIGGER ..., likewise.
std::string triggerText(const catalog::Trigger& trigger, const catalog::RelationPtr& table, const BindContext& context,
                        const Layout& layout);
/// The trigger of `table` after the change.
catalog::Trigger renamedTrigger(const catalog::Trigger& trigger, const catalog::RelationPtr& table,
                                const NewName& change, const BindContext& context);

} // namespace ouzel::sql::deparse
