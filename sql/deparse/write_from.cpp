#include "catalog/object/search_path.hpp"
#include "sql/deparse/writer.hpp"

// FROM.

namespace ouzel::sql::deparse {

using catalog::quoteIdentifier;

namespace {

constexpr int standardIndent = 8, joinIndent = 4;

} // namespace

std::string Writer::relationName(const catalog::Relation& relation) const {
   // A WITH query around the place would take the name.
   for (const Query* query : open_)
      for (const auto& cte : query->ctes)
         if (cte->name == relation.name)
            if (const auto schema = names_.snapshot.schema(relation.schema))
               return quoteIdentifier(schema->name) + "." + quoteIdentifier(relation.name);
   return catalog::displayName(names_.snapshot, names_.path, relation);
}

void Writer::from(Query& query, std::string_view prefix) {
   bool isFirst = true;
   for (const auto& tree : query.from) {
      if (std::exchange(isFirst, false)) {
         keyword(prefix, -standardIndent, standardIndent, 2);
         fromItem(*tree);
         continue;
      }
      out_ += ", ";
      std::string outer = std::exchange(out_, {});
      fromItem(*tree);
      std::string item = std::exchange(out_, std::move(outer));
      wrapped(std::move(item), false, false);
   }
}

void Writer::fromItem(const JoinTree& tree) {
   if (tree.isJoin())
      joinItem(tree);
   else
      sourceItem(*tree.source);
}

void Writer::joinItem(const JoinTree& tree) {
   const Source& source = *tree.source;
   const bool isNamed = !source.alias.empty();
   const JoinTree& right = *tree.right;
   const bool parens = !layout_.isPretty || isNamed;
   const bool parensRight = layout_.isPretty && right.isJoin() && right.source->alias.empty();
   if (parens) out_ += '(';
   fromItem(*tree.left);
   const bool isCross = tree.kind == 'i' && !tree.condition && tree.usingColumns.empty();
   keyword(tree.kind == 'l'   ? " LEFT JOIN "
           : tree.kind == 'r' ? " RIGHT JOIN "
           : tree.kind == 'f' ? " FULL JOIN "
           : isCross          ? " CROSS JOIN "
                              : " JOIN ",
           -standardIndent, standardIndent, joinIndent);
   if (parensRight) out_ += '(';
   fromItem(right);
   if (parensRight) out_ += ')';
   if (!tree.usingColumns.empty()) {
      const char* separator = " USING (";
      for (size_t i = 0; i < tree.usingColumns.size(); ++i)
         out_ += std::exchange(separator, ", ") + quoteIdentifier(source.shownColumns[i]);
      out_ += ')';
      if (!tree.usingAlias.empty()) out_ += " AS " + quoteIdentifier(tree.usingAlias);
   } else if (tree.condition) {
      out_ += " ON ";
      if (!layout_.isPretty) out_ += '(';
      term(*tree.condition, false);
      if (!layout_.isPretty) out_ += ')';
   } else if (!isCross) {
      out_ += " ON TRUE";
   }
   if (parens) out_ += ')';
   if (isNamed) {
      out_ += ' ' + quoteIdentifier(source.shownName);
      columnList(source);
   }
}

void Writer::columnList(const Source& source) {
   if (!source.showsColumns || source.shownColumns.empty()) return;
   const char* separator = "(";
   for (const std::string& name : source.shownColumns)
      out_ += std::exchange(separator, ", ") + quoteIdentifier(name);
   out_ += ')';
}

void Writer::definitions(const FunctionSource& function, const Source* named) {
   const char* separator = "(";
   for (size_t i = 0; i < function.definitions.size(); ++i) {
      const SourceColumn& column = function.definitions[i];
      out_ += std::exchange(separator, ", ");
      out_ += quoteIdentifier(named ? named->shownColumns[i] : column.name) + " " + typeName(column.type);
   }
   out_ += ')';
}

void Writer::functionItem(const Source& source) {
   const auto funcCall = [&](const Term& call) {
      const bool looksLikeCall = call.kind == TermKind::Call || call.kind == TermKind::Coalesce ||
                                 call.kind == TermKind::Greatest || call.kind == TermKind::Least ||
                                 call.kind == TermKind::NullIf || call.kind == TermKind::SqlValue;
      if (!looksLikeCall) out_ += "CAST(";
      term(call, looksLikeCall);
      if (!looksLikeCall) out_ += " AS " + typeName(call.type) + ")";
   };
   const auto& functions = source.functions;
   if (functions.size() == 1 && (functions[0].definitions.empty() || !source.hasOrdinality)) {
      funcCall(*functions[0].call);
   } else {
      bool isUnnest = true;
      for (const FunctionSource& function : functions)
         isUnnest = isUnnest && function.isUnnest;
      const char* separator = isUnnest ? "UNNEST(" : "ROWS FROM(";
      for (const FunctionSource& function : functions) {
         out_ += std::exchange(separator, ", ");
         if (isUnnest)
            term(*function.call->args[0], true);
         else
            funcCall(*function.call);
         if (!function.definitions.empty()) {
            out_ += " AS ";
            definitions(function, nullptr);
         }
      }
      out_ += ')';
   }
   if (source.hasOrdinality) out_ += " WITH ORDINALITY";
}

void Writer::sourceItem(const Source& source) {
   if (source.isLateral) out_ += "LATERAL ";
   bool showsAlias = !source.alias.empty() || source.showsColumns;
   switch (source.kind) {
   case SourceKind::Relation: {
      if (source.isOnly) out_ += "ONLY ";
      out_ += relationName(*source.relation);
      showsAlias |= source.shownName != source.relation->name;
      break;
   }
   case SourceKind::Subquery:
      out_ += '(';
      query(*source.query, nullptr, true, indent_);
      out_ += ')';
      showsAlias = true;
      break;
   case SourceKind::Function:
      functionItem(source);
      showsAlias = true;
      break;
   case SourceKind::XmlTable: xmlTable(source); break;
   case SourceKind::Values:
      out_ += '(';
      values(source.values);
      out_ += ')';
      showsAlias = true;
      break;
   case SourceKind::Cte:
      out_ += quoteIdentifier(source.name);
      showsAlias |= source.shownName != source.name;
      break;
   case SourceKind::Join:
   case SourceKind::Row: break;
   }
   if (showsAlias) out_ += ' ' + quoteIdentifier(source.shownName);
   const bool isDefined =
       source.functions.size() == 1 && !source.functions[0].definitions.empty() && !source.hasOrdinality;
   if (isDefined)
      definitions(source.functions[0], &source);
   else
      columnList(source);
   if (source.sampleMethod.empty()) return;
   out_ += " TABLESAMPLE " + quoteIdentifier(source.sampleMethod) + " (";
   list(source.sampleArgs, false);
   out_ += ')';
   if (source.sampleSeed) {
      out_ += " REPEATABLE (";
      term(*source.sampleSeed, false);
      out_ += ')';
   }
}

} // namespace ouzel::sql::deparse
