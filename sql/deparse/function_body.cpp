#include "sql/deparse/function_body.hpp"

#include "catalog/object/function.hpp"
#include "sql/deparse/resolver.hpp"
#include "sql/deparse/writer.hpp"

namespace ouzel::sql::deparse {

std::string functionBody(const catalog::Function& function, const BindContext& context,
                         const catalog::SearchPath& names) {
   const bool isReturn = function.bodyForm == 'r';
   Layout layout;
   layout.isOneLine = isReturn;
   const auto script = ParsedScript::parse(function.source);
   const auto& statements = script.statements();
   std::string body = isReturn ? "" : "BEGIN ATOMIC\n";
   for (size_t i = 0; i < statements.size(); ++i) {
      const bool returns = isReturn || (function.bodyForm == 'b' && i + 1 == statements.size());
      Resolver resolver(context);
      const auto query = resolver.bodyStatement(statements[i].node, function);
      Writer writer({context.catalog, names}, layout, function.name);
      if (returns)
         writer.expression(*query, *query->targets.at(0).term, true, 1);
      else
         writer.query(*query, nullptr, false, 1);
      body += (returns ? (isReturn ? "RETURN " : " RETURN ") : "") + writer.text() + (isReturn ? "" : ";\n");
   }
   return isReturn ? body : body + "END";
}

} // namespace ouzel::sql::deparse
