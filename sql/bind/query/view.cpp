#include "sql/bind/query/view_text.hpp"
#include "sql/bind/query_binder.hpp"

// Views: their text is bound anew wherever they are used; and what becomes of a query that shall be one.

namespace ouzel::sql {

FromItem QueryBinder::bindView(Scope& scope, const catalog::RelationPtr& view, const ::Alias* alias,
                               uint32_t position) {
   const auto script = ParsedScript::parse(view->definition);
   // The definition sees nothing of the query it is used in, and positions in it mean nothing to the client.
   const SourceText* outerSource = std::exchange(source_, nullptr);
   ViewTextRecorder* outerRecorder = std::exchange(recorder_, nullptr);
   const auto outerRecursion = std::exchange(recursion_, {});
   const auto* select = as<SelectStmt>(script.statements().at(0).node);
   auto query = bindSelect(*select, nullptr);
   requireNoRows(query);
   source_ = outerSource;
   recorder_ = outerRecorder;
   recursion_ = outerRecursion;

   NamespaceItem item;
   item.alias = view->name;
   item.relation = view.get();
   item.rowType = view->rowType;
   size_t next = 0;
   for (const catalog::Column& column : view->columns) {
      if (column.isDropped) continue;
      if (next >= query.output.size()) break;
      const OutputColumn& output = query.output[next++];
      adopt(scope, output.column);
      item.columns.push_back({column.name, output.column, output.type, view->oid, column.attribute});
   }
   applyAlias(item, alias, position);
   addEntry(scope, item);
   FromItem result;
   result.rel = std::move(query.rel);
   result.items.push_back(std::move(item));
   return result;
}

BoundView QueryBinder::bindViewQuery(const ::Node& query, uint32_t offset, uint32_t length) {
   ViewTextRecorder recorder;
   recorder_ = &recorder;
   BoundView view;
   view.query = bindStatement(query);
   recorder_ = nullptr;
   if (!view.query.readOnly)
      throw SqlError(sqlstate::featureNotSupported, "views must not contain data-modifying statements in WITH");
   if (!view.query.parameters.empty())
      throw SqlError(sqlstate::featureNotSupported, "views must not contain parameters");
   if (source_) view.definition = recorder.apply(source_->text(), offset, length);
   view.dependsOn = recorder.dependencies();
   return view;
}

std::string QueryBinder::renameInQuery(std::string_view query, Oid relation, int16_t attribute, std::string_view name) {
   const auto script = ParsedScript::parse(query);
   ViewTextRecorder recorder;
   recorder.rename({relation, attribute, std::string(name)}, script.source().text());
   recorder_ = &recorder;
   source_ = nullptr;
   bindSelect(*as<SelectStmt>(script.statements().at(0).node), nullptr);
   recorder_ = nullptr;
   return recorder.apply(script.source().text(), 0, static_cast<uint32_t>(script.source().text().size()));
}

std::string QueryBinder::renameInExpression(std::string_view expression, const catalog::Relation& table,
                                            int16_t attribute, std::string_view name) {
   constexpr uint32_t prefix = 7; // parseExpression puts "SELECT " before it
   const auto script = ParsedScript::parseExpression(expression);
   ViewTextRecorder recorder;
   recorder.rename({table.oid, attribute, std::string(name)}, script.source().text());
   recorder_ = &recorder;
   source_ = nullptr;
   bindStandalone(*script.expression(), Clause::Generated, &table, std::nullopt, {});
   recorder_ = nullptr;
   return recorder.apply(script.source().text(), prefix, static_cast<uint32_t>(script.source().text().size()) - prefix);
}

// ---- binder.hpp ----

std::string renameInView(std::string_view definition, Oid relation, int16_t attribute, std::string_view name,
                         const BindContext& context) {
   return QueryBinder(context).renameInQuery(definition, relation, attribute, name);
}

std::string renameInExpression(std::string_view expression, const catalog::Relation& table, int16_t attribute,
                               std::string_view name, const BindContext& context) {
   return QueryBinder(context).renameInExpression(expression, table, attribute, name);
}

} // namespace ouzel::sql
