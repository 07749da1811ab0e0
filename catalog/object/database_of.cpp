#include "catalog/object/database_of.hpp"

#include "catalog/object/collation.hpp"
#include "catalog/object/prepared_transaction.hpp"
#include "catalog/object/statistics.hpp"
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
   case ObjectKind::Server: return static_cast<const ForeignServer&>(object).database;
   case ObjectKind::Statistics: return static_cast<const Statistics&>(object).database;
   case ObjectKind::Collation: return static_cast<const Collation&>(object).database;
   case ObjectKind::PreparedTransaction: return static_cast<const PreparedTransaction&>(object).database;
   }
   CHECK(false);
}

} // namespace ouzel::catalog
