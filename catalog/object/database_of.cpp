#include "catalog/object/database_of.hpp"

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

Oid databaseOf(const CatalogObject& object) {
   switch (object.kind) {
   case ObjectKind::Database:
   case ObjectKind::Role: return invalidOid;
   case ObjectKind::Schema: return static_cast<const Schema&>(object).database;
   case ObjectKind::Relation: return static_cast<const Relation&>(object).database;
   case ObjectKind::Comment: return static_cast<const Comment&>(object).object.a;
   case ObjectKind::Settings: return static_cast<const Settings&>(object).database;
   case ObjectKind::DefaultAcl: return static_cast<const DefaultAcl&>(object).database;
   case ObjectKind::SystemAcl: return static_cast<const SystemAcl&>(object).database;
   case ObjectKind::Server: return static_cast<const ForeignServer&>(object).database;
   case ObjectKind::ForeignWrapper: return static_cast<const ForeignWrapper&>(object).database;
   case ObjectKind::Statistics: return static_cast<const Statistics&>(object).database;
   case ObjectKind::Collation: return static_cast<const Collation&>(object).database;
   case ObjectKind::TextSearchConfiguration:
   case ObjectKind::TextSearchDictionary:
   case ObjectKind::TextSearchParser:
   case ObjectKind::TextSearchTemplate: return static_cast<const TextSearchObject&>(object).database;
   case ObjectKind::Function: return static_cast<const Function&>(object).database;
   case ObjectKind::Operator: return static_cast<const Operator&>(object).database;
   case ObjectKind::Cast: return static_cast<const Cast&>(object).database;
   case ObjectKind::Extension: return static_cast<const Extension&>(object).database;
   case ObjectKind::LargeObject: return static_cast<const LargeObject&>(object).database;
   case ObjectKind::LargeObjectPages: return static_cast<const LargeObjectPages&>(object).database;
   case ObjectKind::PreparedTransaction: return static_cast<const PreparedTransaction&>(object).database;
   }
   CHECK(false);
}

} // namespace ouzel::catalog
