#include "sql/deparse/deparse.hpp"

#include "sql/deparse/resolver.hpp"
#include "sql/deparse/writer.hpp"

namespace ouzel::sql::deparse {

namespace {

bool isWrittenAsCall(const Term& term) {
   switch (term.kind) {
   case TermKind::Call:
   case TermKind::Coalesce:
   case TermKind::Greatest:
   case TermKind::Least:
   case TermKind::NullIf:
   case TermKind::SqlValue:
   case TermKind::Xml:
   case TermKind::IsDocument: return true;
   default: return false;
   }
}

} // namespace

std::string viewText(const catalog::Relation& view, const BindContext& context, const Layout& layout) {
   const auto script = ParsedScript::parse(view.definition);
   const auto& statement = *as<SelectStmt>(script.statements().at(0).node);
   std::vector<std::string> names;
   for (const catalog::Column& column : view.columns)
      if (!column.isDropped) names.push_back(column.name);
   Resolver resolver(context);
   const auto query = resolver.view(statement);
   Writer writer({context.catalog, context.searchPath}, layout);
   writer.query(*query, &names, true, 0);
   return std::move(writer.text()) + ";";
}

Expression expressionText(std::string_view stored, const catalog::RelationPtr& table, const SqlType* target,
                          const BindContext& context, const Layout& layout) {
   const auto script = ParsedScript::parseExpression(stored);
   Resolver resolver(context);
   Query query;
   const auto term = resolver.expression(query, script.expression(), table, target);
   Writer writer({context.catalog, context.searchPath}, layout);
   writer.expression(query, *term, false);
   return {std::move(writer.text()), isWrittenAsCall(*term)};
}

} // namespace ouzel::sql::deparse
