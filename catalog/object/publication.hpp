#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "common/value/sql_type.hpp"

namespace ouzel::catalog {

/// A table that a publication names, and what of it is published: a row of pg_publication_rel.
struct PublicationTable {
   Oid oid = invalidOid;
   Oid table = invalidOid;
   std::vector<int16_t> columns;     ///< attnums of the column list, ascending; empty: all columns
   std::string filter;               ///< SQL of WHERE; empty: all rows
   std::vector<int16_t> filterReads; ///< attnums that the filter reads, ascending
   bool needs(int16_t attribute) const {
      return std::binary_search(columns.begin(), columns.end(), attribute) ||
             std::binary_search(filterReads.begin(), filterReads.end(), attribute);
   }
};

/// A schema of TABLES IN SCHEMA: a row of pg_publication_namespace.
struct PublicationSchema {
   Oid oid = invalidOid;
   Oid schema = invalidOid;
};

/// CREATE PUBLICATION. Its database has it. Nobody can subscribe to it: the server has no logical replication.
struct Publication {
   Oid oid = invalidOid;
   std::string name;
   Oid owner = invalidOid;
   bool hasAllTables = false; ///< FOR ALL TABLES
   bool insert = true, update = true, del = true, truncate = true;
   bool viaRoot = false; ///< publish_via_partition_root
   std::vector<PublicationTable> tables;
   std::vector<PublicationSchema> schemas;
};

} // namespace ouzel::catalog
