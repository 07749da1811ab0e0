#pragma once
#include <vector>

#include "catalog/object/snapshot.hpp"

// What publications say of tables.

namespace ouzel::catalog {

/// The publications of the snapshot's database, in the order in which they were made.
const std::vector<Publication>& publicationsOf(const Snapshot& snapshot);
/// Null if there is none.
const Publication* findPublication(const Snapshot& snapshot, std::string_view name);

/// Whether a publication may have the relation: a permanent table of users that has rows, or whose partitions have.
bool isPublishable(const Relation& relation);

/// A table of which a publication publishes changes.
struct PublishedTable {
   RelationPtr table;
   const PublicationTable* named; ///< by which the publication names the table; null: it is published as a whole
};
/// The tables whose changes a publication publishes, as pg_get_publication_tables() lists them: of a partitioned table
/// the partitions that have rows, or the table alone for publish_via_partition_root. `publication` is the snapshot's.
std::vector<PublishedTable> publishedTables(const Snapshot& snapshot, const Publication& publication);

/// A publication by which changes of a table's own rows are published.
struct TablePublication {
   const Publication* publication;
   const Relation* as;            ///< the table in whose name they are: itself, or one that it is a partition of
   const PublicationTable* named; ///< by which the publication names that table; null: it names it not, or all tables
};
/// The pointers live as long as the snapshot and the table.
std::vector<TablePublication> publicationsOfTable(const Snapshot& snapshot, const Relation& table);

} // namespace ouzel::catalog
