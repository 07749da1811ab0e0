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
std::span<const NamedProducer> relationProducers();         ///< pg_class, pg_attribute, pg_index, pg_constraint, ...
std::span<const NamedProducer> clusterProducers();          ///< pg_database, pg_authid, pg_namespace, pg_type, ...
std::span<const NamedProducer> stateProducers();            ///< pg_settings, pg_stat_activity, pg_locks, ...
std::span<const NamedProducer> statisticsProducers();       ///< pg_statistic_ext, pg_stats_ext, ...
std::span<const NamedProducer> collationProducers();        ///< pg_collation
std::span<const NamedProducer> textSearchProducers();       ///< pg_ts_config, pg_ts_dict, ...
std::span<const NamedProducer> functionProducers();         ///< pg_proc, pg_aggregate
std::span<const NamedProducer> operatorProducers();         ///< pg_operator, pg_cast
std::span<const NamedProducer> triggerProducers();          ///< pg_trigger, pg_event_trigger
std::span<const NamedProducer> dependencyProducers();       ///< pg_depend
std::span<const NamedProducer> sharedDependencyProducers(); ///< pg_shdepend
std::span<const NamedProducer> extensionProducers();        ///< pg_extension, pg_available_extensions, ...
std::span<const NamedProducer> useProducers();              ///< pg_stat_all_tables, pg_stat_database
std::span<const NamedProducer> largeObjectProducers();      ///< pg_largeobject, pg_largeobject_metadata
std::span<const NamedProducer> publicationProducers();      ///< pg_publication, pg_publication_rel, ...
std::span<const NamedProducer> foreignProducers();          ///< pg_foreign_server, pg_foreign_table, ...

/// The rows that a relation's constraint triggers have in pg_constraint.
void constraintTriggerRows(const Relation& relation, RowBuilder& row);
/// What a relation's triggers need: trigger; class, OID and attribute; kind of the dependency.
using TriggerUse =
    std::function<void(Oid trigger, Oid referencedClass, Oid referenced, int32_t referencedAttribute, char kind)>;
void forEachTriggerUse(const Relation& relation, const TriggerUse& use);

/// A dependency of an object on one that is no table: class, OID and attribute; class and OID.
using CollationUse =
    std::function<void(Oid classOid, Oid object, int32_t attribute, Oid referencedClass, Oid referenced)>;
/// What the collations of users need, and what needs them (collation_tables.cpp).
void forEachCollationUse(const Snapshot& snapshot, const CollationUse& use);

/// What extensions need, and what they have: class and OID; class and OID; kind of the dependency.
using ExtensionUse = std::function<void(Oid classOid, Oid object, Oid referencedClass, Oid referenced, char kind)>;
void forEachExtensionUse(const Snapshot& snapshot, const ExtensionUse& use);

/// What publications need: class and OID; class, OID and attribute; kind of the dependency.
using PublicationUse = std::function<void(Oid classOid, Oid object, Oid referencedClass, Oid referenced,
                                          int32_t referencedAttribute, char kind)>;
void forEachPublicationUse(const Snapshot& snapshot, const PublicationUse& use);

/// What foreign data need: class and OID; class and OID (foreign_tables.cpp).
using ForeignUse = std::function<void(Oid classOid, Oid object, Oid referencedClass, Oid referenced)>;
void forEachForeignUse(const Snapshot& snapshot, const ForeignUse& use);
/// The same of objects of full text search (text_search_tables.cpp).
void forEachTextSearchUse(const Snapshot& snapshot, const ForeignUse& use);
/// The next column of the row: options as an array of "name=value", or NULL.
void foreignOptions(RowBuilder& row, const ForeignOptions& options);

/// The built-in relations and the relations of the snapshot's database, in OID order.
std::vector<RelationPtr> allRelations(const Snapshot& snapshot);
/// The same, but only those that the scan wants in the column that has their OIDs; and without the built-in ones.
std::vector<RelationPtr> allRelations(const SystemContext& context, std::string_view column);
std::vector<RelationPtr> ownRelations(const SystemContext& context, std::string_view column);
/// Those of allRelations() that have one of the names, in any schema.
std::vector<RelationPtr> relationsNamed(const SystemContext& context, const std::vector<std::string>& names);

} // namespace ouzel::catalog
