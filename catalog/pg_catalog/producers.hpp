#pragma once
#include "catalog/pg_catalog/row_builder.hpp"

namespace ouzel::catalog {

/// Gives every row of one system table to `row`.
using Producer = void (*)(const SystemContext& context, RowBuilder& row);

struct NamedProducer {
   std::string_view table;
   Producer produce;
};

// By subject; virtual_table.cpp finds them by name.
std::span<const NamedProducer> relationProducers(); ///< pg_class, pg_attribute, pg_index, pg_constraint, ...
std::span<const NamedProducer> clusterProducers();  ///< pg_database, pg_authid, pg_namespace, pg_type, pg_proc, ...
std::span<const NamedProducer> stateProducers();    ///< pg_settings, pg_stat_activity, pg_locks, ...

/// Built-in relations and those of the snapshot's database, in OID order.
std::vector<RelationPtr> allRelations(const Snapshot& snapshot);
/// The default btree operator class of a type (pg_index.indclass), invalidOid if there is none.
Oid defaultOperatorClass(Oid type);

} // namespace ouzel::catalog
