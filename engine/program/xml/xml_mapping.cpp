#include "engine/program/xml/xml_mapping.hpp"

#include "catalog/builtin/builtin.hpp"
#include "catalog/object/search_path.hpp"
#include "common/thread/stack.hpp"
#include "common/type/row.hpp"
#include "engine/core/session_services.hpp"
#include "engine/program/xml/xml_schema.hpp"
#include "engine/query/command_tag.hpp"
#include "engine/query/query_execution.hpp"
#include "engine/query/statement_runner.hpp"
#include "executor/function/xml/xml_value.hpp"
#include "sql/parse/node_access.hpp"

// Tables, queries, cursors, schemas and the database as XML (SQL/XML, 9.11 ff.): table_to_xml() and its kin.

namespace ouzel::engine {

namespace {

void appendStart(std::string& out, const std::string& name, const std::string* schema, const XmlMapping& mapping,
                 bool isTop) {
   out += "<" + name;
   if (isTop) out += " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"";
   const std::string& target = mapping.targetNamespace;
   if (isTop && !target.empty()) out += " xmlns=\"" + target + "\"";
   if (schema && target.empty()) out += " xsi:noNamespaceSchemaLocation=\"#\"";
   if (schema && !target.empty()) out += " xsi:schemaLocation=\"" + target + " #\"";
   out += ">\n";
}

void appendEnd(std::string& out, const std::string& name) {
   out += "</" + name + ">\n";
}

/// Makes an element of each row.
class XmlRows final : public ResultSink {
public:
   /// `table`: the name of its element; empty: the rows are those of a query.
   XmlRows(SessionCore& core, std::string table, const XmlMapping& mapping, bool isTop)
      : context_(core.functionContext()), core_(core), mapping_(mapping), isTop_(isTop),
        rowName_(!table.empty()     ? std::move(table)
                 : mapping.isForest ? "row"
                                    : "table") {}

   void begin(const std::vector<ResultColumn>& columns) override {
      columns_ = columns;
      names_.clear();
      for (const ResultColumn& column : columns)
         names_.push_back(xmlElementName(column.name));
   }
   void rows(const Batch& batch) override {
      core_.checkInterrupts();
      forEachRow(batch.selection, [&](uint32_t row) { append(batch, row); });
      if (text.size() > StringView::lengthMax)
         throw SqlError(sqlstate::programLimitExceeded, "out of memory").detail("The XML value exceeds 1 GB.");
   }
   std::vector<XmlColumn> columns() const {
      std::vector<XmlColumn> columns;
      for (const ResultColumn& column : columns_)
         columns.push_back({column.name, column.type});
      return columns;
   }

   std::string text;

private:
   void append(const Batch& batch, uint32_t row) {
      if (mapping_.isForest)
         appendStart(text, rowName_, nullptr, mapping_, isTop_);
      else
         text += "<row>\n";
      for (size_t i = 0; i < columns_.size(); ++i) {
         if (batch.columns[i].isNull(row)) {
            if (mapping_.hasNulls) text += "  <" + names_[i] + " xsi:nil=\"true\"/>\n";
            continue;
         }
         text += "  <" + names_[i] + ">";
         executor::appendXmlValue(text, context_, columns_[i].type, columns_[i].representation, batch.columns[i], row,
                                  true);
         text += "</" + names_[i] + ">\n";
      }
      if (mapping_.isForest) appendEnd(text, rowName_);
      text += mapping_.isForest ? "\n" : "</row>\n\n";
   }

   const executor::FunctionContext context_;
   SessionCore& core_;
   const XmlMapping& mapping_;
   const bool isTop_;
   const std::string rowName_;
   std::vector<ResultColumn> columns_;
   std::vector<std::string> names_;
};

class Mapper {
public:
   Mapper(SessionCore& core, XmlMapping mapping) : core_(core), mapping_(std::move(mapping)) {}

   std::string table(Oid oid, const std::string* schema, bool isTop) {
      const catalog::RelationPtr relation = requireTable(oid);
      const std::string name = catalog::displayName(core_.transaction.catalog(), core_.searchPath(), *relation);
      return query("SELECT * FROM " + name, xmlElementName(relation->name), schema, isTop);
   }

   std::string tableSchema(Oid oid) {
      const catalog::RelationPtr relation = requireTable(oid);
      return xmlSchemaOf(core_, relation.get(), xmlColumnsOf(*relation), mapping_);
   }

   /// `table`: see XmlRows. `schema`: of the rows, to stand before them; null: it stands elsewhere.
   std::string query(const std::string& text, const std::string& table, const std::string* schema, bool isTop) {
      const std::string name = table.empty() ? "table" : table;
      XmlRows rows(core_, table, mapping_, isTop);
      startRoot(rows.text, name, schema, isTop);
      run(text, rows);
      if (!mapping_.isForest) appendEnd(rows.text, name);
      return std::move(rows.text);
   }

   std::string querySchema(const std::string& text) {
      const auto script = sql::ParsedScript::parse(text);
      if (script.statements().size() != 1 || !isSelect(script.statements()[0]))
         throw SqlError(sqlstate::invalidCursorDefinition,
                        script.statements().size() == 1
                            ? "cannot open " + std::string(commandTag(script.statements()[0].node)) + " query as cursor"
                            : std::string("cannot open multi-query plan as cursor"));
      const auto execution = startQuery(core_, script, *script.statements()[0].node, {});
      std::vector<XmlColumn> columns;
      for (const ResultColumn& column : execution->columns())
         columns.push_back({column.name, column.type});
      return xmlSchemaOf(core_, nullptr, columns, mapping_);
   }

   std::string cursor(const std::string& name, int64_t count) {
      XmlRows rows(core_, {}, mapping_, true);
      startRoot(rows.text, "table", nullptr, true);
      CursorStep step;
      step.count = count;
      core_.services.fetchCursor(name, step, &rows);
      if (!mapping_.isForest) appendEnd(rows.text, "table");
      return std::move(rows.text);
   }

   std::string cursorSchema(const std::string& name) {
      XmlRows rows(core_, {}, mapping_, true);
      CursorStep here; // gives the columns, and the cursor stays
      here.direction = CursorStep::Direction::Relative;
      here.count = 0;
      core_.services.fetchCursor(name, here, &rows);
      return xmlSchemaOf(core_, nullptr, rows.columns(), mapping_);
   }

   std::string schema(const XmlSchemaTables& tables, const std::string* description, bool isTop) {
      const std::string name = xmlElementName(tables.name);
      std::string text;
      appendStart(text, name, description, mapping_, isTop);
      text += '\n';
      if (description) text += *description + "\n\n";
      for (const catalog::RelationPtr& relation : tables.tables)
         text += table(relation->oid, nullptr, false) + "\n";
      appendEnd(text, name);
      return text;
   }

   std::string database(const std::vector<XmlSchemaTables>& schemas, const std::string* description) {
      const std::string name = xmlElementName(core_.options.database);
      std::string text;
      appendStart(text, name, description, mapping_, true);
      text += '\n';
      if (description) text += *description + "\n\n";
      for (const XmlSchemaTables& one : schemas)
         text += schema(one, nullptr, false) + "\n";
      appendEnd(text, name);
      return text;
   }

   XmlSchemaTables schemaNamed(const std::string& name) {
      const catalog::Snapshot& snapshot = core_.transaction.catalog();
      const catalog::SearchPath path = core_.searchPath();
      const Oid oid = catalog::requireSchema(snapshot, path, name);
      catalog::requirePrivilege(snapshot, path, *snapshot.schema(oid), catalog::privilege::usage);
      return tablesOf(oid);
   }
   std::vector<XmlSchemaTables> visibleSchemas() {
      std::vector<XmlSchemaTables> schemas;
      for (const Oid oid :
           oids("SELECT oid FROM pg_catalog.pg_namespace WHERE pg_catalog.has_schema_privilege(oid, "
                "'USAGE') AND NOT (nspname ~ '^pg_' OR nspname = 'information_schema') ORDER BY nspname"))
         schemas.push_back(tablesOf(oid));
      return schemas;
   }
   const XmlMapping& mapping() const { return mapping_; }

private:
   static bool isSelect(const sql::ParsedStatement& statement) {
      return sql::isNode(statement.node, T_SelectStmt) && !sql::as<::SelectStmt>(statement.node)->intoClause;
   }

   catalog::RelationPtr requireTable(Oid oid) {
      catalog::RelationPtr relation = core_.transaction.catalog().relation(oid);
      if (!relation) throw SqlError(sqlstate::internalError, "could not open relation with OID " + std::to_string(oid));
      return relation;
   }

   void startRoot(std::string& out, const std::string& name, const std::string* schema, bool isTop) {
      if (!mapping_.isForest) {
         appendStart(out, name, schema, mapping_, isTop);
         out += '\n';
      }
      if (schema) out += *schema + "\n\n";
   }

   /// Runs the statements of a text for the user; the sink gets the rows of the last one.
   void run(const std::string& text, ResultSink& sink) {
      checkStack();
      core_.checkInterrupts();
      const auto script = sql::ParsedScript::parse(text);
      const auto& statements = script.statements();
      if (statements.empty()) throw SqlError(sqlstate::dataException, "invalid query");
      for (const sql::ParsedStatement& statement : statements) {
         if (!isSelect(statement))
            throw SqlError(
                sqlstate::featureNotSupported,
                (sql::isNode(statement.node, T_SelectStmt) ? "SELECT INTO" : std::string(commandTag(statement.node))) +
                    " is not allowed in a non-volatile function");
         const auto execution = startQuery(core_, script, *statement.node, {});
         execution->run(0, &statement == &statements.back() ? &sink : nullptr);
         finishQuery(core_, *execution);
      }
   }

   std::vector<Oid> oids(const std::string& text) {
      class Oids final : public ResultSink {
      public:
         void begin(const std::vector<ResultColumn>&) override {}
         void rows(const Batch& batch) override {
            forEachRow(batch.selection, [&](uint32_t row) {
               found.push_back(static_cast<Oid>(Value::fromVector(batch.columns[0], row).i64));
            });
         }
         std::vector<Oid> found;
      } sink;
      run(text, sink);
      return std::move(sink.found);
   }

   /// Tables, views and materialized views that the user may read.
   XmlSchemaTables tablesOf(Oid schema) {
      XmlSchemaTables tables{core_.transaction.catalog().schema(schema)->name, {}};
      for (const Oid oid : oids("SELECT oid FROM pg_catalog.pg_class WHERE relnamespace = " + std::to_string(schema) +
                                " AND relkind IN ('r', 'm', 'v') AND pg_catalog.has_table_privilege(oid, 'SELECT') "
                                "ORDER BY relname"))
         if (auto relation = core_.transaction.catalog().relation(oid)) tables.tables.push_back(std::move(relation));
      return tables;
   }

   SessionCore& core_;
   const XmlMapping mapping_;
};

/// What the name of a function says: WHAT_to_FORM.
struct MappingCall {
   std::string_view subject; ///< table, query, cursor, schema, database
   bool givesData = false, givesSchema = false;
};

MappingCall mappingCall(std::string_view name) {
   const size_t at = name.find("_to_xml");
   if (at == std::string_view::npos) return {};
   const std::string_view form = name.substr(at + 4);
   return {name.substr(0, at), form != "xmlschema", form != "xml"};
}

std::string mapped(Mapper& mapper, const MappingCall& call, SessionCore& core, const std::vector<Value>& args) {
   std::string description;
   const auto described = [&](auto&& describe, auto&& give) {
      if (call.givesSchema) description = describe();
      return call.givesData ? give(call.givesSchema ? &description : nullptr) : std::move(description);
   };
   if (call.subject == "table") {
      const auto oid = static_cast<Oid>(args[0].i64);
      return described([&] { return mapper.tableSchema(oid); },
                       [&](const std::string* schema) { return mapper.table(oid, schema, true); });
   }
   if (call.subject == "query") {
      const std::string& text = args[0].bytes;
      return described([&] { return mapper.querySchema(text); },
                       [&](const std::string* schema) { return mapper.query(text, {}, schema, true); });
   }
   if (call.subject == "cursor")
      return call.givesData ? mapper.cursor(args[0].bytes, args[1].i64) : mapper.cursorSchema(args[0].bytes);
   if (call.subject == "schema") {
      const XmlSchemaTables tables = mapper.schemaNamed(args[0].bytes);
      return described([&] { return xmlSchemaOf(core, tables, mapper.mapping()); },
                       [&](const std::string* schema) { return mapper.schema(tables, schema, true); });
   }
   const std::vector<XmlSchemaTables> schemas = mapper.visibleSchemas();
   return described([&] { return xmlSchemaOf(core, schemas, mapper.mapping()); },
                    [&](const std::string* schema) { return mapper.database(schemas, schema); });
}

} // namespace

bool isXmlMapping(Oid function) {
   const catalog::FunctionInfo* info = catalog::builtins().function(function);
   return info && !mappingCall(info->name).subject.empty();
}

std::string runXmlMapping(SessionCore& core, Oid function, std::string_view args) {
   std::vector<Value> values;
   const RowView row(args);
   for (RowView::Cursor field(row); field.next();)
      values.push_back(valueOfField(*field));
   XmlMapping mapping; // the last three arguments, of all functions
   const size_t count = values.size();
   mapping.hasNulls = values[count - 3].i64 != 0;
   mapping.isForest = values[count - 2].i64 != 0;
   mapping.targetNamespace = values[count - 1].bytes;
   Mapper mapper(core, std::move(mapping));
   return mapped(mapper, mappingCall(catalog::builtins().function(function)->name), core, values);
}

} // namespace ouzel::engine
