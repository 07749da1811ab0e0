#include <algorithm>

#include "catalog/editor/editor.hpp"
#include "catalog/object/statistics.hpp"
#include "common/error/sql_error.hpp"

// Extended statistics. They go with their table and with each of the columns that they need.

namespace ouzel::catalog {

namespace {

/// What a name that nobody chose says of the definition: "a_b_expr".
std::string nameParts(const Relation& table, const Statistics& statistics) {
   std::string parts;
   const auto add = [&](const std::string& part) { parts += (parts.empty() ? "" : "_") + part; };
   for (const int16_t attribute : statistics.columns)
      add(table.columns[static_cast<size_t>(attribute) - 1].name);
   for (size_t i = 0; i < statistics.expressions.size(); ++i)
      add("expr");
   return parts;
}

void refuseName(const Statistics& statistics) {
   throw SqlError(sqlstate::duplicateObject, "statistics object \"" + statistics.name + "\" already exists");
}

} // namespace

Oid CatalogEditor::createStatistics(Statistics draft) {
   draft.database = working_.database();
   if (draft.owner == bootstrapRole) draft.owner = creator_;
   const RelationPtr table = working_.relation(draft.table);
   if (!table) throwInternal("the table of new statistics does not exist");
   if (draft.name.empty())
      draft.name = chooseFree(table->name, nameParts(*table, draft), "stat",
                              [&](const std::string& name) { return !working_.findStatistics(draft.schema, name); });
   if (working_.findStatistics(draft.schema, draft.name)) refuseName(draft);
   draft.oid = oids_();
   const Oid oid = draft.oid;
   put(std::make_shared<const Statistics>(std::move(draft)));
   return oid;
}

void CatalogEditor::replaceStatistics(Statistics changed) {
   const StatisticsPtr holder = working_.findStatistics(changed.schema, changed.name);
   if (holder && holder->oid != changed.oid) refuseName(changed);
   put(std::make_shared<const Statistics>(std::move(changed)));
}

void CatalogEditor::dropStatistics(const Statistics& statistics) {
   removeComments(class_oid::pgStatisticExt, statistics.oid);
   remove(keyOf(statistics));
}

void CatalogEditor::dropStatisticsOn(Oid relation, int16_t attribute) {
   for (const StatisticsPtr& statistics : working_.statisticsOf(relation))
      if (attribute == 0 || statistics->reads(attribute)) dropStatistics(*statistics);
}

void CatalogEditor::forgetStatistics(Oid relation, int16_t attribute) {
   for (const StatisticsPtr& statistics : working_.statisticsOf(relation)) {
      if (!statistics->reads(attribute) || statistics->data.empty()) continue;
      Statistics changed = *statistics;
      changed.data.clear();
      put(std::make_shared<const Statistics>(std::move(changed)));
   }
}

void CatalogEditor::rewriteStatistics(Oid relation, int16_t attribute, const SqlRewriter& rewriteExpr) {
   for (const StatisticsPtr& statistics : working_.statisticsOf(relation)) {
      const auto& read = statistics->columnsRead;
      if (std::find(read.begin(), read.end(), attribute) == read.end()) continue;
      if (!rewriteExpr) throwNotSupported("renaming a column that an expression uses");
      Statistics changed = *statistics;
      for (std::string& expression : changed.expressions)
         expression = rewriteExpr(expression);
      put(std::make_shared<const Statistics>(std::move(changed)));
   }
}

} // namespace ouzel::catalog
