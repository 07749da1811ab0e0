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

std::string_view nodeOfCast(const Term& cast) {
   if (cast.isFunction) return "FUNCEXPR";
   const Term& value = *cast.args[0];
   if (cast.type.domain && cast.type.domain != value.type.domain) return "COERCETODOMAIN";
   switch (cast.path) {
   case CoercionPath::Array: return "ARRAYCOERCEEXPR";
   case CoercionPath::InOut: return "COERCEVIAIO";
   default: return "RELABELTYPE";
   }
}

/// PostgreSQL's node of a term, as outfuncs.c writes its name.
std::string_view nodeOf(const Term& term) {
   switch (term.kind) {
   case TermKind::Column: return "VAR";
   case TermKind::Constant: return "CONST";
   case TermKind::Parameter: return "PARAM";
   case TermKind::Call: return "FUNCEXPR";
   case TermKind::Cast: return nodeOfCast(term);
   case TermKind::Operator: return "OPEXPR";
   case TermKind::AnyArray: return "SCALARARRAYOPEXPR";
   case TermKind::Distinct: return "DISTINCTEXPR";
   case TermKind::NullIf: return "NULLIFEXPR";
   case TermKind::And:
   case TermKind::Or:
   case TermKind::Not: return "BOOLEXPR";
   case TermKind::NullTest: return "NULLTEST";
   case TermKind::BoolTest: return "BOOLEANTEST";
   case TermKind::Collate: return "COLLATEEXPR";
   case TermKind::Case: return "CASEEXPR";
   case TermKind::Tested: return "CASETESTEXPR";
   case TermKind::Array: return "ARRAYEXPR";
   case TermKind::Row: return "ROWEXPR";
   case TermKind::RowCompare: return "ROWCOMPAREEXPR";
   case TermKind::Coalesce: return "COALESCEEXPR";
   case TermKind::Greatest:
   case TermKind::Least: return "MINMAXEXPR";
   case TermKind::SqlValue: return "SQLVALUEFUNCTION";
   case TermKind::Subquery: return "SUBLINK";
   case TermKind::Aggregate: return "AGGREF";
   case TermKind::Window: return "WINDOWFUNC";
   case TermKind::Grouping: return "GROUPINGFUNC";
   case TermKind::Field: return "FIELDSELECT";
   case TermKind::Subscript: return "SUBSCRIPTINGREF";
   case TermKind::NamedArg: return "NAMEDARGEXPR";
   case TermKind::Xml:
   case TermKind::IsDocument: return "XMLEXPR";
   case TermKind::Default: return "SETTODEFAULT";
   }
   return {};
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

std::string_view rootNode(std::string_view stored, const catalog::RelationPtr& table, const SqlType* target,
                          const BindContext& context) {
   const auto script = ParsedScript::parseExpression(stored);
   Resolver resolver(context);
   Query query;
   return nodeOf(*resolver.expression(query, script.expression(), table, target));
}

} // namespace ouzel::sql::deparse
