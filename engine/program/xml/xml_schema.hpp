#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/session_core.hpp"

// XML Schema documents that describe what tables, queries, schemas and the database become (SQL/XML, 9.7 and 9.11).

namespace ouzel::engine {

/// How rows become elements: the arguments of table_to_xml() and its kin.
struct XmlMapping {
   bool hasNulls = false; ///< NULLs are elements with xsi:nil; else they are left out
   bool isForest = false; ///< each row has an element of its own, named as the table
   std::string targetNamespace;
};

struct XmlColumn {
   std::string name;
   SqlType type;
};

/// An element's name, for an identifier of SQL.
std::string xmlElementName(std::string_view identifier);

/// Of a table. `relation` null: of a query.
std::string xmlSchemaOf(SessionCore& core, const catalog::Relation* relation, const std::vector<XmlColumn>& columns,
                        const XmlMapping& mapping);
/// The columns that a table shows.
std::vector<XmlColumn> xmlColumnsOf(const catalog::Relation& relation);

/// A schema with the tables that the user may read.
struct XmlSchemaTables {
   std::string name;
   std::vector<catalog::RelationPtr> tables;
};
std::string xmlSchemaOf(SessionCore& core, const XmlSchemaTables& schema, const XmlMapping& mapping);
/// Of the database, with these schemas.
std::string xmlSchemaOf(SessionCore& core, const std::vector<XmlSchemaTables>& schemas, const XmlMapping& mapping);

} // namespace ouzel::engine
