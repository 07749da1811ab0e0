#pragma once
#include <functional>

#include "catalog/pg_catalog/row_builder.hpp"

namespace ouzel::catalog {

/// A function that builds every row of one system table with `row`.
using Producer = void (*)(const SystemContext& context, RowBuilder& row);

struct NamedProducer {
   std::string_view table;
   Producer produce;
};

// Producers by subject; virtual_table.cpp finds a producer by the table's name.
std::span<const NamedProducer> relationProducers();   ///< pg_class, pg_attribute, pg_index, pg_constraint, ...
std::span<const NamedProducer> clusterProducers();    ///< pg_database, pg_authid, pg_namespace, pg_type, pg_proc, ...
std::span<const NamedProducer> stateProducers();      ///< pg_settings, pg_stat_activity, pg_locks, ...
std::span<const NamedProducer> statisticsProducers(); ///< pg_statistic_ext, pg_stats_ext, ...
std::span<const NamedProducer> collationProducers();  ///< pg_collation

/// A dependency of an object on one that is no table: class, OID and attribute; class and OID.
using CollationUse =
    std::function<void(Oid classOid, Oid object, int32_t attribute, Oid referencedClass, Oid referenced)>;
/// What the collations of users need, and what needs them (collation_tables.cpp).
void forEachCollationUse(const Snapshot& snapshot, const CollationUse& use);

/// The built-in relations and the relations of the snapshot's database, in OID order.
std::vector<RelationPtr> allRelations(const Snapshot& snapshot);

} // namespace ouzel::catalog
