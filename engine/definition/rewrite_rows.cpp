#include "engine/definition/rewrite_rows.hpp"

#include <algorithm>

#include "common/error/check.hpp"
#include "engine/constraint/unique_keys.hpp"
#include "engine/definition/definition.hpp"
#include "engine/query/query_execution.hpp"
#include "sql/algebra/build.hpp"

namespace ouzel::engine {

namespace {

/// A column above the query's root that holds `column` as an assignment to `target` casts it.
sql::ColumnId assigned(SessionCore& core, sql::BoundQuery& query, sql::ColumnId column, const catalog::Column& target) {
   const catalog::SearchPath path = core.searchPath();
   std::vector<sql::ComputedColumn> computed(1);
   try {
      computed[0].expr = sql::castForAssignment(sql::makeColumn(column, query.columns[column].type), target.type,
                                                target.name, core.bindContext(path, nullptr));
   } catch (const SqlError& error) {
      if (error.state() != sqlstate::datatypeMismatch) throw;
      throw SqlError(sqlstate::datatypeMismatch, "result of USING clause for column \"" + target.name +
                                                     "\" cannot be cast automatically to type " +
                                                     formatType({target.type.oid, -1, invalidOid}))
          .hint("You might need to add an explicit cast.");
   }
   sql::ColumnInfo info;
   info.name = target.name;
   info.type = target.type;
   info.repr = storedRepresentation(target.type);
   computed[0].column = query.columns.add(std::move(info));
   const sql::ColumnId result = computed[0].column;
   query.root = sql::makeMap(std::move(query.root), std::move(computed));
   return result;
}

} // namespace

RowRewrite::RowRewrite(SessionCore& core, const catalog::Relation& table, std::vector<NewValue> values,
                       const std::string& order)
   : core_(core), values_(std::move(values)), oldStorage_(table.storage) {
   std::vector<int16_t> attributes;
   for (const catalog::Column& column : table.columns)
      if (!column.isDropped) attributes.push_back(column.attribute);
   for (const NewValue& value : values_)
      if (!table.column(value.attribute)) attributes.push_back(value.attribute);
   std::string select;
   for (const int16_t attribute : attributes) {
      const NewValue* value = valueOf(attribute);
      select +=
          (select.empty() ? "" : ", ") + (value ? value->sql : catalog::quoteIdentifier(table.column(attribute)->name));
   }
   // In the server's name: policies of the table, which FORCE applies to its owner, do not say which rows stay.
   const SessionCore::AsServer asServer(core);
   const catalog::SearchPath path = core.searchPath();
   const std::string text = "SELECT " + select + " FROM " + quotedTable(core.transaction.editor().snapshot(), table) +
                            (order.empty() ? "" : " ORDER BY " + order);
   const auto script = sql::ParsedScript::parse(text);
   // PostgreSQL gives no positions here.
   query_ = sql::bindQuery(*script.statements()[0].node, core.bindContext(path, nullptr));
   for (size_t i = 0; i < attributes.size(); ++i)
      columns_.emplace_back(attributes[i], query_.output[i].column);
}

const NewValue* RowRewrite::valueOf(int16_t attribute) const {
   const auto found = std::find_if(values_.rbegin(), values_.rend(),
                                   [&](const NewValue& value) { return value.attribute == attribute; });
   return found == values_.rend() ? nullptr : &*found;
}

void RowRewrite::run(catalog::Relation changed) {
   std::vector<storage::ColumnDefinition> definitions;
   auto dml = std::make_unique<sql::Dml>();
   for (const catalog::Column& target : changed.columns) {
      definitions.push_back(storage::ColumnDefinition::of(target.type));
      if (target.isDropped) continue;
      const auto found = std::find_if(columns_.begin(), columns_.end(),
                                      [&](const auto& column) { return column.first == target.attribute; });
      DCHECK(found != columns_.end());
      const bool isNew = valueOf(target.attribute) != nullptr;
      dml->target.push_back({isNew ? assigned(core_, query_, found->second, target) : found->second, target.attribute});
   }
   const auto fresh = core_.transaction.createStorage(std::move(definitions));
   dml->table.storageId = static_cast<uint64_t>(fresh->id());
   dml->table.relation = changed.oid;
   dml->table.name = changed.name;
   query_.root = sql::makeRel(sql::RelKind::Insert, sql::op::Write{std::move(dml)}, std::move(query_.root));
   query_.output.clear();
   query_.kind = sql::StatementKind::Insert;
   query_.readOnly = false;
   const NewestSnapshot newest(core_.transaction); // the table is locked: no others come
   QueryExecution execution(core_, std::move(query_));
   execution.run(0, nullptr);
   if (const auto old = core_.database.storage->find(oldStorage_)) fresh->takeUse(*old);
   core_.database.storage->dropTable(core_.transaction.storage(), oldStorage_);
   changed.storage = fresh->id();
   const Oid table = changed.oid;
   catalog::CatalogEditor& editor = core_.transaction.editor();
   editor.replaceRelation(std::move(changed));
   if (!values_.empty() && hasCheckedIndexes(editor.snapshot(), table))
      checkUniqueKeysOfTable(core_, table, true); // as indexes are built anew
}

} // namespace ouzel::engine
