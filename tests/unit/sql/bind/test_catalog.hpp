#pragma once
#include <string>
#include <string_view>

#include "catalog/editor/editor.hpp"
#include "catalog/object/search_path.hpp"
#include "common/error/sql_error.hpp"
#include "common/type/session_format.hpp"
#include "sql/bind/binder.hpp"

namespace ouzel::sql {

/// A catalog for binder tests, filled by a small subset of DDL, without storage or engine.
class TestCatalog {
public:
   TestCatalog();
   /// Runs CREATE TABLE (columns, NOT NULL, DEFAULT, CHECK, PRIMARY KEY, GENERATED ... STORED), CREATE VIEW or CREATE
   /// SCHEMA.
   void run(std::string_view sql);

   const catalog::Snapshot& snapshot() const { return editor_.snapshot(); }
   BoundQuery bind(std::string_view sql) const;
   /// The bound tree as text, or "ERROR 42703 @8: message [hint]".
   std::string describe(std::string_view sql) const;
   /// The output columns only, as "a integer, b text", or the error.
   std::string outputs(std::string_view sql) const;
   BindContext context(const SourceText* source) const;

private:
   void createTable(const ::Node& statement, const BindContext& context);
   void createView(const ::Node& statement, const ParsedScript& script, const BindContext& context);

   Oid nextOid_ = 16384;
   catalog::CatalogEditor editor_;
   catalog::SearchPath path_;
   SessionFormat format_;
   catalog::Snapshot current_;
};

std::string errorText(const SqlError& error);

} // namespace ouzel::sql
