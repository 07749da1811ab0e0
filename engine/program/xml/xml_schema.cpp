#include "engine/program/xml/xml_schema.hpp"

#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "common/type/session_format.hpp"
#include "common/xml/names.hpp"

namespace ouzel::engine {

namespace {

std::string fullName(std::string_view identifier) {
   return xml::nameFromSql(identifier, xml::NameEscapes::WithPeriods);
}

/// TableType.database.schema.table
std::string typeNameOf(std::string kind, std::initializer_list<std::string_view> parts) {
   for (const std::string_view part : parts)
      kind += "." + fullName(part);
   return kind;
}

/// The names of types, and what these are in terms of XML Schema.
class XmlTypes {
public:
   explicit XmlTypes(SessionCore& core)
      : core_(core), catalog_(core.transaction.catalog()), database_(core.options.database) {}

   std::string nameOf(const SqlType& type) const {
      if (type.domain) return named(isDomain(type) ? "Domain" : "UDT", type.domain);
      if (const char* name = standardName(type.oid)) {
         if ((type.oid == oid::bpchar || type.oid == oid::varchar) && type.typmod >= 4)
            return std::string(name) + "_" + std::to_string(type.typmod - 4);
         if (isTime(type.oid) && type.typmod >= 0) return std::string(name) + "_" + std::to_string(type.typmod);
         if (type.oid == oid::numeric && type.typmod >= 4) {
            const NumericModifier modifier = numericModifier(type.typmod);
            return std::string(name) + "_" + std::to_string(modifier.precision) + "_" + std::to_string(modifier.scale);
         }
         return name;
      }
      return named("UDT", type.oid);
   }

   /// The types of the columns, then those that domains among them are of.
   void collect(const std::vector<XmlColumn>& columns) {
      for (const XmlColumn& column : columns)
         add({column.type.oid, -1, invalidOid, column.type.domain});
   }
   std::string definitions() {
      for (size_t i = 0; i < types_.size(); ++i)
         if (isDomain(types_[i])) add({types_[i].oid, -1, invalidOid});
      std::string text;
      for (const SqlType& type : types_)
         text += definition(type) + "\n";
      return text;
   }

private:
   /// Not an array of a domain.
   static bool isDomain(const SqlType& type) {
      return type.domain != invalidOid && arrayElementType(type.domain) == invalidOid;
   }
   static bool isTime(Oid type) {
      return type == oid::time || type == oid::timetz || type == oid::timestamp || type == oid::timestamptz;
   }
   static const char* standardName(Oid type) {
      switch (type) {
      case oid::bpchar: return "CHAR";
      case oid::varchar: return "VARCHAR";
      case oid::numeric: return "NUMERIC";
      case oid::int4: return "INTEGER";
      case oid::int2: return "SMALLINT";
      case oid::int8: return "BIGINT";
      case oid::float4: return "REAL";
      case oid::float8: return "DOUBLE";
      case oid::boolean: return "BOOLEAN";
      case oid::time: return "TIME";
      case oid::timetz: return "TIME_WTZ";
      case oid::timestamp: return "TIMESTAMP";
      case oid::timestamptz: return "TIMESTAMP_WTZ";
      case oid::date: return "DATE";
      case oid::xml: return "XML";
      default: return nullptr;
      }
   }

   std::string named(const char* kind, Oid type) const {
      if (const catalog::TypeInfo* info = catalog::builtins().type(type))
         return typeNameOf(kind, {database_, "pg_catalog", info->name});
      const Oid element = arrayElementType(type);
      const auto relation = catalog_.relationOfType(element ? element : type);
      const std::string prefix = element ? "_" : "";
      const auto schema = relation ? catalog_.schema(relation->schema) : nullptr;
      if (!schema) throw SqlError(sqlstate::internalError, "cache lookup failed for type " + std::to_string(type));
      return typeNameOf(kind, {database_, schema->name, prefix + relation->name});
   }

   void add(const SqlType& type) {
      const auto isSame = [&](const SqlType& other) { return other.named() == type.named(); };
      if (std::none_of(types_.begin(), types_.end(), isSame)) types_.push_back(type);
   }

   static std::string restriction(const std::string& base, const std::string& facets = {}) {
      return "  <xsd:restriction base=\"" + base + "\">\n" + facets + "  </xsd:restriction>\n";
   }
   static std::string emptyRestriction(const char* base) {
      return std::string("  <xsd:restriction base=\"") + base + "\"></xsd:restriction>\n";
   }
   static std::string pattern(const char* base, const std::string& text) {
      return restriction(base, "    <xsd:pattern value=\"" + text + "\"/>\n");
   }
   static std::string range(const char* base, int64_t max, int64_t min) {
      return restriction(base, "    <xsd:maxInclusive value=\"" + std::to_string(max) +
                                   "\"/>\n    <xsd:minInclusive value=\"" + std::to_string(min) + "\"/>\n");
   }

   /// What is known of a type besides its name; empty: nothing.
   std::string facets(Oid type) {
      static const std::string date = R"(\p{Nd}{4}-\p{Nd}{2}-\p{Nd}{2})";
      static const std::string time = R"(\p{Nd}{2}:\p{Nd}{2}:\p{Nd}{2}(.\p{Nd}+)?)";
      static const std::string zone = R"((\+|-)\p{Nd}{2}:\p{Nd}{2})";
      switch (type) {
      case oid::bpchar:
      case oid::varchar:
      case oid::text: return restriction("xsd:string");
      case oid::bytea:
         return restriction(core_.format().xmlBinary == XmlBinary::Hex ? "xsd:hexBinary" : "xsd:base64Binary");
      case oid::int2: return range("xsd:short", INT16_MAX, INT16_MIN);
      case oid::int4: return range("xsd:int", INT32_MAX, INT32_MIN);
      case oid::int8: return range("xsd:long", INT64_MAX, INT64_MIN);
      case oid::float4: return emptyRestriction("xsd:float");
      case oid::float8: return emptyRestriction("xsd:double");
      case oid::boolean: return emptyRestriction("xsd:boolean");
      case oid::time: return pattern("xsd:time", time);
      case oid::timetz: return pattern("xsd:time", time + zone);
      case oid::timestamp: return pattern("xsd:dateTime", date + "T" + time);
      case oid::timestamptz: return pattern("xsd:dateTime", date + "T" + time + zone);
      case oid::date: return pattern("xsd:date", date);
      default: return {};
      }
   }

   /// With its length or precision.
   SqlType baseOf(const SqlType& type) const {
      const auto relation = catalog_.relationOfType(type.domain);
      SqlType base = relation ? relation->columns[0].type : type;
      base.domain = invalidOid;
      return base;
   }

   std::string definition(const SqlType& type) {
      if (type.oid == oid::xml && !type.domain)
         return "<xsd:complexType mixed=\"true\">\n  <xsd:sequence>\n    <xsd:any name=\"element\" minOccurs=\"0\" "
                "maxOccurs=\"unbounded\" processContents=\"skip\"/>\n  </xsd:sequence>\n</xsd:complexType>\n";
      const std::string content = isDomain(type) ? "  <xsd:restriction base=\"" + nameOf(baseOf(type)) + "\"/>\n"
                                  : type.domain  ? std::string()
                                                 : facets(type.oid);
      return "<xsd:simpleType name=\"" + nameOf(type) + "\">\n" + content + "</xsd:simpleType>\n";
   }

   SessionCore& core_;
   const catalog::Snapshot& catalog_;
   const std::string database_;
   std::vector<SqlType> types_;
};

std::string document(const std::string& content, const XmlMapping& mapping) {
   std::string text = "<xsd:schema\n    xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\"";
   if (!mapping.targetNamespace.empty())
      text += "\n    targetNamespace=\"" + mapping.targetNamespace + "\"\n    elementFormDefault=\"qualified\"";
   return text + ">\n\n" + content + "</xsd:schema>";
}

std::string complexType(const std::string& name, const char* group, const std::string& content) {
   const std::string tag = std::string("xsd:") + group;
   return "<xsd:complexType name=\"" + name + "\">\n  <" + tag + ">\n" + content + "  </" + tag +
          ">\n</xsd:complexType>\n\n";
}

std::string element(const std::string& name, const std::string& type) {
   return "<xsd:element name=\"" + name + "\" type=\"" + type + "\"/>\n\n";
}

/// The type of a schema, and its element.
std::string schemaType(const std::string& database, const XmlSchemaTables& schema, const XmlMapping& mapping) {
   std::string content;
   for (const catalog::RelationPtr& table : schema.tables)
      content += "    <xsd:element name=\"" + xmlElementName(table->name) + "\" type=\"" +
                 typeNameOf(mapping.isForest ? "RowType" : "TableType", {database, schema.name, table->name}) +
                 (mapping.isForest ? "\" minOccurs=\"0\" maxOccurs=\"unbounded\"/>\n" : "\"/>\n");
   const std::string type = typeNameOf("SchemaType", {database, schema.name});
   return complexType(type, mapping.isForest ? "sequence" : "all", content) +
          element(xmlElementName(schema.name), type);
}

std::string rowType(const XmlTypes& types, const std::string& name, const std::vector<XmlColumn>& columns,
                    const XmlMapping& mapping) {
   std::string content;
   for (const XmlColumn& column : columns)
      content += "    <xsd:element name=\"" + xmlElementName(column.name) + "\" type=\"" +
                 types.nameOf({column.type.oid, -1, invalidOid, column.type.domain}) + "\"" +
                 (mapping.hasNulls ? " nillable=\"true\"" : " minOccurs=\"0\"") + "></xsd:element>\n";
   return complexType(name, "sequence", content);
}

} // namespace

std::string xmlElementName(std::string_view identifier) {
   return xml::nameFromSql(identifier, xml::NameEscapes::Fully);
}

std::vector<XmlColumn> xmlColumnsOf(const catalog::Relation& relation) {
   std::vector<XmlColumn> columns;
   for (const catalog::Column& column : relation.columns)
      if (!column.isDropped) columns.push_back({column.name, column.type});
   return columns;
}

std::string xmlSchemaOf(SessionCore& core, const catalog::Relation* relation, const std::vector<XmlColumn>& columns,
                        const XmlMapping& mapping) {
   std::string name = mapping.isForest ? "row" : "table", tableTypeName = "TableType", rowTypeName = "RowType";
   if (relation) {
      const auto schema = core.transaction.catalog().schema(relation->schema);
      const std::string_view schemaName = schema ? std::string_view(schema->name) : std::string_view();
      name = xmlElementName(relation->name);
      tableTypeName = typeNameOf(tableTypeName, {core.options.database, schemaName, relation->name});
      rowTypeName = typeNameOf(rowTypeName, {core.options.database, schemaName, relation->name});
   }
   XmlTypes types(core);
   types.collect(columns);
   std::string content = types.definitions() + rowType(types, rowTypeName, columns, mapping);
   if (!mapping.isForest)
      content += complexType(tableTypeName, "sequence",
                             "    <xsd:element name=\"row\" type=\"" + rowTypeName +
                                 "\" minOccurs=\"0\" maxOccurs=\"unbounded\"/>\n");
   return document(content + element(name, mapping.isForest ? rowTypeName : tableTypeName), mapping);
}

std::string xmlSchemaOf(SessionCore& core, const XmlSchemaTables& schema, const XmlMapping& mapping) {
   XmlTypes types(core);
   for (const catalog::RelationPtr& table : schema.tables)
      types.collect(xmlColumnsOf(*table));
   return document(types.definitions() + schemaType(core.options.database, schema, mapping), mapping);
}

std::string xmlSchemaOf(SessionCore& core, const std::vector<XmlSchemaTables>& schemas, const XmlMapping& mapping) {
   XmlTypes types(core);
   std::string content;
   const std::string& database = core.options.database;
   for (const XmlSchemaTables& schema : schemas) {
      for (const catalog::RelationPtr& table : schema.tables)
         types.collect(xmlColumnsOf(*table));
      content += "    <xsd:element name=\"" + xmlElementName(schema.name) + "\" type=\"" +
                 typeNameOf("SchemaType", {database, schema.name}) + "\"/>\n";
   }
   const std::string type = typeNameOf("CatalogType", {database});
   return document(types.definitions() + complexType(type, "all", content) + element(xmlElementName(database), type),
                   mapping);
}

} // namespace ouzel::engine
