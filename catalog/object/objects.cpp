#include "catalog/object/objects.hpp"

#include <cstdlib>

#include "catalog/object/cast.hpp"
#include "catalog/object/collation.hpp"
#include "catalog/object/extension.hpp"
#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "catalog/object/function.hpp"
#include "catalog/object/large_object.hpp"
#include "catalog/object/operator.hpp"
#include "catalog/object/prepared_transaction.hpp"
#include "catalog/object/statistics.hpp"
#include "catalog/object/text_search/text_search.hpp"
#include "common/error/check.hpp"

namespace ouzel::catalog {

CatalogObject::~CatalogObject() = default;

const Column* Relation::findColumn(std::string_view columnName) const {
   for (const Column& candidate : columns)
      if (!candidate.isDropped && candidate.name == columnName) return &candidate;
   return nullptr;
}

const Column* Relation::column(int16_t attribute) const {
   if (attribute < 1 || static_cast<size_t>(attribute) > columns.size()) return nullptr;
   const Column& candidate = columns[static_cast<size_t>(attribute) - 1];
   return candidate.isDropped ? nullptr : &candidate;
}

const Constraint* Relation::findConstraint(std::string_view constraintName) const {
   for (const Constraint& candidate : constraints)
      if (candidate.name == constraintName) return &candidate;
   return nullptr;
}

const Constraint* Relation::primaryKey() const {
   for (const Constraint& candidate : constraints)
      if (candidate.kind == ConstraintKind::PrimaryKey) return &candidate;
   return nullptr;
}

const Policy* Relation::findPolicy(std::string_view policyName) const {
   const auto found =
       std::find_if(policies.begin(), policies.end(), [&](const Policy& policy) { return policy.name == policyName; });
   return found == policies.end() ? nullptr : &*found;
}

const Trigger* Relation::findTrigger(std::string_view triggerName) const {
   const auto found = std::find_if(triggers.begin(), triggers.end(),
                                   [&](const Trigger& trigger) { return trigger.name == triggerName; });
   return found == triggers.end() ? nullptr : &*found;
}

const Rule* Relation::findRule(std::string_view ruleName) const {
   const auto found = std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) { return rule.name == ruleName; });
   return found == rules.end() ? nullptr : &*found;
}

const Constraint* Relation::constraintOf(Oid ownIndex) const {
   DCHECK(ownIndex != invalidOid);
   for (const Constraint& candidate : constraints)
      if (candidate.index == ownIndex) return &candidate;
   return nullptr;
}

const ForeignServer::Mapping* ForeignServer::mappingOf(Oid role) const {
   for (const Mapping& mapping : mappings)
      if (mapping.role == role) return &mapping;
   return nullptr;
}

ObjectKey keyOf(const CatalogObject& object) {
   switch (object.kind) {
   case ObjectKind::Database: return {object.kind, static_cast<const Database&>(object).oid};
   case ObjectKind::Role: return {object.kind, static_cast<const Role&>(object).oid};
   case ObjectKind::Schema: {
      const auto& schema = static_cast<const Schema&>(object);
      return {object.kind, schema.database, schema.oid};
   }
   case ObjectKind::Relation: return {object.kind, static_cast<const Relation&>(object).oid};
   case ObjectKind::Server: return {object.kind, static_cast<const ForeignServer&>(object).oid};
   case ObjectKind::ForeignWrapper: return {object.kind, static_cast<const ForeignWrapper&>(object).oid};
   case ObjectKind::Statistics: return {object.kind, static_cast<const Statistics&>(object).oid};
   case ObjectKind::Function: {
      const auto& function = static_cast<const Function&>(object);
      return {object.kind, function.database, function.oid};
   }
   case ObjectKind::Operator: {
      const auto& op = static_cast<const Operator&>(object);
      return {object.kind, op.database, op.oid};
   }
   case ObjectKind::Cast: {
      const auto& cast = static_cast<const Cast&>(object);
      return {object.kind, cast.database, cast.oid};
   }
   case ObjectKind::Extension: {
      const auto& extension = static_cast<const Extension&>(object);
      return {object.kind, extension.database, extension.oid};
   }
   case ObjectKind::LargeObject: {
      const auto& large = static_cast<const LargeObject&>(object);
      return {object.kind, large.database, large.oid};
   }
   case ObjectKind::LargeObjectPages: return {object.kind, static_cast<const LargeObjectPages&>(object).database};
   case ObjectKind::Collation: {
      const auto& collation = static_cast<const Collation&>(object);
      return {object.kind, collation.database, collation.oid};
   }
   case ObjectKind::TextSearchConfiguration:
   case ObjectKind::TextSearchDictionary:
   case ObjectKind::TextSearchParser:
   case ObjectKind::TextSearchTemplate: {
      const auto& part = static_cast<const TextSearchObject&>(object);
      return {object.kind, part.database, part.oid};
   }
   case ObjectKind::PreparedTransaction: return {object.kind, static_cast<const PreparedTransaction&>(object).oid};
   case ObjectKind::Comment: return static_cast<const Comment&>(object).object;
   case ObjectKind::Settings: {
      const auto& settings = static_cast<const Settings&>(object);
      return {object.kind, settings.database, settings.role};
   }
   case ObjectKind::DefaultAcl: {
      const auto& defaults = static_cast<const DefaultAcl&>(object);
      return {object.kind, defaults.database, defaults.role, defaults.schema, defaults.objects};
   }
   case ObjectKind::SystemAcl: {
      const auto& privileges = static_cast<const SystemAcl&>(object);
      return {object.kind, privileges.database, privileges.classOid, privileges.object};
   }
   }
   CHECK(false);
}

bool isUserType(const Relation& relation) {
   return relation.relationKind == RelationKind::Composite || relation.isOnlyType();
}

std::string_view relationKindName(const Relation& relation) {
   switch (relation.relkind()) {
   case 'v': return "view";
   case 'f': return "foreign table";
   case 'm': return "materialized view";
   case 'S': return "sequence";
   case 'i':
   case 'I': return "index";
   case 'c':
   case 'd':
   case 'e':
   case 'R':
   case 'M':
   case 's': return "type";
   default: return "table";
   }
}

std::optional<double> Column::declaredDistinct(bool withHeirs) const {
   const std::string_view wanted = withHeirs ? "n_distinct_inherited=" : "n_distinct=";
   for (const std::string& option : options) {
      if (!option.starts_with(wanted)) continue;
      const double number = std::strtod(option.c_str() + wanted.size(), nullptr); // checked when it was set
      return number == 0 ? std::nullopt : std::optional(number);
   }
   return std::nullopt;
}

} // namespace ouzel::catalog
