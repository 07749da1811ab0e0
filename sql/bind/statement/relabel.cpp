#include "sql/bind/relabel.hpp"

#include "sql/bind/query/select.hpp"
#include "sql/bind/statement/standalone.hpp"

namespace ouzel::sql {

std::string relabelView(std::string_view definition, const LiteralText& textFor, const BindContext& context) {
   const auto script = ParsedScript::parse(definition);
   BindState state(context);
   ViewTextRecorder recorder;
   recorder.relabel(textFor, script.source().text());
   state.recorder = &recorder;
   state.source = &script.source();
   bindSelect(state, *as<SelectStmt>(script.statements().at(0).node), nullptr);
   return recorder.apply(script.source().text(), 0, static_cast<uint32_t>(script.source().text().size()));
}

std::string relabelExpression(std::string_view expression, ExpressionUse use, const catalog::Relation* table,
                              std::optional<SqlType> target, const LiteralText& textFor, const BindContext& context) {
   constexpr uint32_t prefix = 7; // parseExpression puts "SELECT " before the expression
   const auto script = ParsedScript::parseExpression(expression);
   BindState state(context);
   ViewTextRecorder recorder;
   recorder.relabel(textFor, script.source().text());
   state.recorder = &recorder;
   state.source = &script.source();
   bindStandalone(state, *script.expression(), clauseOf(use), table, target, {});
   return recorder.apply(script.source().text(), prefix, static_cast<uint32_t>(script.source().text().size()) - prefix);
}

} // namespace ouzel::sql
