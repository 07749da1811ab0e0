#include <functional>

#include "common/error/check.hpp"
#include "sql/bind/binder.hpp"
#include "sql/bind/dml/view_target.hpp"
#include "sql/bind/query/select.hpp"
#include "sql/bind/state/view_text.hpp"
#include "sql/bind/statement/standalone.hpp"
#include "sql/bind/statement/statement.hpp"
#include "sql/bind/stored_expression.hpp"

// CREATE VIEW and the text of stored expressions, and the new text when a relation or column that they read gets
// another name.

namespace ouzel::sql {

namespace {

std::string whyNotUpdatable(const BindState& state, const ::Node& query, const BoundQuery& bound) {
   std::vector<ColumnId> shown;
   for (const auto& output : bound.output)
      shown.push_back(output.column);
   return whyNotUpdatable(state.context.catalog, *as<SelectStmt>(&query), *bound.root, shown);
}

BoundView bindViewQuery(BindState& state, const ::Node& query, uint32_t offset, uint32_t length) {
   ViewTextRecorder recorder;
   recorder.nameRelationsByOid();
   state.recorder = &recorder;
   BoundView view;
   view.query = bindStatement(state, query);
   state.recorder = nullptr;
   if (!view.query.readOnly)
      throw SqlError(sqlstate::featureNotSupported, "views must not contain data-modifying statements in WITH");
   if (!view.query.parameters.empty())
      throw SqlError(sqlstate::featureNotSupported, "views must not contain parameters");
   if (state.source) view.definition = recorder.apply(state.source->text(), offset, length);
   view.dependsOn = recorder.dependencies();
   view.notUpdatable = whyNotUpdatable(state, query, view.query);
   return view;
}

/// Binds a view's text, to collect what `begin` asks the recorder for, and gives the text with the replacements.
std::string changedQuery(BindState& state, std::string_view query,
                         const std::function<void(ViewTextRecorder&, std::string_view source)>& begin) {
   const auto script = ParsedScript::parse(query);
   ViewTextRecorder recorder;
   begin(recorder, script.source().text());
   state.recorder = &recorder;
   state.source = nullptr;
   bindSelect(state, *as<SelectStmt>(script.statements().at(0).node), nullptr);
   state.recorder = nullptr;
   return recorder.apply(script.source().text(), 0, static_cast<uint32_t>(script.source().text().size()));
}

std::string renameInExpression(BindState& state, std::string_view expression, const catalog::Relation& table,
                               int16_t attribute, std::string_view name) {
   constexpr uint32_t prefix = 7; // parseExpression puts "SELECT " before the expression
   const auto script = ParsedScript::parseExpression(expression);
   ViewTextRecorder recorder;
   recorder.rename({table.oid, attribute, std::string(name)}, script.source().text());
   recorder.standalone(script.source().text());
   state.recorder = &recorder;
   state.source = nullptr;
   bindStandalone(state, *script.expression(), Clause::Generated, &table, std::nullopt, {});
   state.recorder = nullptr;
   return recorder.apply(script.source().text(), prefix, static_cast<uint32_t>(script.source().text().size()) - prefix);
}

/// Binds the expression once more, to record its text.
StoredExpression textOf(BindState& state, const ::Node& expression, Clause clause, const catalog::Relation* table,
                        std::optional<SqlType> target, uint32_t offset, uint32_t length) {
   CHECK(state.source != nullptr);
   ViewTextRecorder recorder;
   recorder.standalone(state.source->text());
   if (clause == Clause::Default) recorder.nameRelationsByOid();
   state.recorder = &recorder;
   bindStandalone(state, expression, clause, table, target, {});
   state.recorder = nullptr;
   return {recorder.apply(state.source->text(), offset, length), recorder.readsRow()};
}

} // namespace

// ---- stored_expression.hpp ----

StoredExpression storedExpression(const ::Node& expression, ExpressionUse use, const catalog::Relation* table,
                                  std::optional<SqlType> target, const BindContext& context, uint32_t offset,
                                  uint32_t length) {
   BindState state(context);
   return textOf(state, expression, clauseOf(use), table, target, offset, length);
}

StoredExpression storedAgain(std::string_view stored, ExpressionUse use, const catalog::Relation& table,
                             const BindContext& context) {
   constexpr uint32_t prefix = 7; // parseExpression puts "SELECT " before the expression
   const auto script = ParsedScript::parseExpression(stored);
   BindState state(context);
   state.source = &script.source();
   const auto length = static_cast<uint32_t>(script.source().text().size()) - prefix;
   return textOf(state, *script.expression(), clauseOf(use), &table, std::nullopt, prefix, length);
}

// ---- binder.hpp ----

std::string renameInView(std::string_view definition, Oid relation, int16_t attribute, std::string_view name,
                         const BindContext& context) {
   BindState state(context);
   return changedQuery(state, definition, [&](ViewTextRecorder& recorder, std::string_view source) {
      recorder.rename({relation, attribute, std::string(name)}, source);
   });
}

std::string moveInView(std::string_view definition, const std::set<Oid>& relations, std::string_view schema,
                       const BindContext& context) {
   BindState state(context);
   return changedQuery(state, definition, [&](ViewTextRecorder& recorder, std::string_view source) {
      recorder.move(relations, std::string(schema), source);
   });
}

std::string renameInExpression(std::string_view expression, const catalog::Relation& table, int16_t attribute,
                               std::string_view name, const BindContext& context) {
   BindState state(context);
   return renameInExpression(state, expression, table, attribute, name);
}

std::string whyNotUpdatable(const catalog::Relation& view, const BindContext& context) {
   const auto script = ParsedScript::parse(view.definition);
   const ::Node& query = *script.statements().at(0).node;
   BindState state(context);
   ViewTextRecorder recorder; // so that the views that it reads are not looked into
   state.recorder = &recorder;
   state.source = nullptr;
   const BoundQuery bound = bindStatement(state, query);
   return whyNotUpdatable(state, query, bound);
}

std::vector<bool> writableColumns(const catalog::Relation& view, const BindContext& context) {
   BindState state(context);
   Scope scope(nullptr);
   ViewTarget target;
   const auto bound = std::make_shared<catalog::Relation>(view);
   try {
      bindTargetView(state, scope, ::RangeVar{}, bound, "INSERT", target);
   } catch (const SqlError& error) {
      if (error.state() == sqlstate::objectNotInPrerequisiteState) return {};
      throw;
   }
   std::vector<bool> result;
   for (const catalog::Column& column : bound->columns)
      result.push_back(!column.isDropped && columnBehind(target, column) != nullptr);
   return result;
}

BoundView bindView(const ::Node& query, const BindContext& context, uint32_t queryOffset, uint32_t queryLength) {
   BindState state(context);
   return bindViewQuery(state, query, queryOffset, queryLength);
}

} // namespace ouzel::sql
