#include "sql/deparse/writer.hpp"
#include "sql/parse/pg_nodes.hpp"

// SQL's own syntax for XML.

namespace ouzel::sql::deparse {

using catalog::quoteIdentifier;

namespace {

const char* keywordOf(int32_t kind) {
   switch (kind) {
   case IS_XMLCONCAT: return "XMLCONCAT";
   case IS_XMLELEMENT: return "XMLELEMENT";
   case IS_XMLFOREST: return "XMLFOREST";
   case IS_XMLPARSE: return "XMLPARSE";
   case IS_XMLPI: return "XMLPI";
   case IS_XMLROOT: return "XMLROOT";
   default: return "XMLSERIALIZE";
   }
}

const Term* withoutCasts(const Term* term) {
   while (term->kind == TermKind::Cast)
      term = term->args[0].get();
   return term;
}

} // namespace

/// VERSION and STANDALONE.
void Writer::xmlRoot(const Term& term) {
   this->term(*term.args[0], true);
   out_ += ", VERSION ";
   const Term* version = withoutCasts(term.args[1].get());
   if (version->kind == TermKind::Constant && version->isNull)
      out_ += "NO VALUE";
   else
      this->term(*term.args[1], false);
   static constexpr const char* words[] = {", STANDALONE YES", ", STANDALONE NO", ", STANDALONE NO VALUE"};
   const std::string& standalone = term.args[2]->name; // an integer, as the grammar makes it
   if (standalone.size() == 1 && standalone[0] < '3') out_ += words[standalone[0] - '0'];
}

/// value AS name, ...
void Writer::xmlNamed(const Term& term, size_t firstName) {
   const char* separator = "";
   for (size_t i = firstName; i < term.argNames.size(); ++i) {
      out_ += std::exchange(separator, ", ");
      this->term(*term.args[i - firstName], true);
      out_ += " AS " + quoteIdentifier(term.argNames[i]);
   }
}

void Writer::xml(const Term& term) {
   out_ += keywordOf(term.number);
   out_ += '(';
   const bool isForest = term.number == IS_XMLFOREST, isParse = term.number == IS_XMLPARSE;
   if (isParse || term.number == IS_XMLSERIALIZE) out_ += term.isNegated ? "DOCUMENT " : "CONTENT ";
   const size_t firstName = isForest || term.argNames.empty() ? 0 : 1;
   const size_t named = term.argNames.size() - firstName;
   const char* separator = "";
   if (firstName == 1) {
      out_ += "NAME " + quoteIdentifier(term.argNames[0]);
      separator = ", ";
   }
   if (named > 0) {
      out_ += std::exchange(separator, ", ");
      if (!isForest) out_ += "XMLATTRIBUTES(";
      xmlNamed(term, firstName);
      if (!isForest) out_ += ')';
   }
   if (term.number == IS_XMLROOT) {
      xmlRoot(term);
   } else {
      const size_t end = isParse ? 1 : term.args.size();
      for (size_t i = named; i < end; ++i) {
         out_ += std::exchange(separator, ", ");
         this->term(*term.args[i], true);
      }
   }
   if (isParse)
      out_ += withoutCasts(term.args[1].get())->name.starts_with('t') ? " PRESERVE WHITESPACE" : " STRIP WHITESPACE";
   if (term.number == IS_XMLSERIALIZE) out_ += " AS " + typeName(term.serialized);
   out_ += ')';
}

void Writer::xmlTable(const Source& source) {
   const XmlTableSource& table = *source.xmlTable;
   const auto inParentheses = [&](std::string_view before, const Term& term, bool showsImplicit = false) {
      out_.append(before).append("(");
      this->term(term, showsImplicit);
      out_ += ')';
   };
   out_ += "XMLTABLE(";
   const char* separator = "XMLNAMESPACES (";
   for (const auto& [name, address] : table.namespaces) {
      out_ += std::exchange(separator, ", ");
      if (name.empty()) out_ += "DEFAULT ";
      this->term(*address, true);
      if (!name.empty()) out_ += " AS " + quoteIdentifier(name);
   }
   if (!table.namespaces.empty()) out_ += "), ";
   inParentheses("", *table.rows);
   inParentheses(" PASSING ", *table.document);
   separator = " COLUMNS ";
   for (size_t i = 0; i < table.columns.size(); ++i) {
      const XmlTableSource::Column& column = table.columns[i];
      out_ += std::exchange(separator, ", ") + quoteIdentifier(source.columns[i].name) + " ";
      out_ += column.isOrdinality ? "FOR ORDINALITY" : typeName(source.columns[i].type);
      if (column.byDefault) inParentheses(" DEFAULT ", *column.byDefault, true);
      if (column.path) inParentheses(" PATH ", *column.path);
      if (column.isNotNull) out_ += " NOT NULL";
   }
   out_ += ')';
}

} // namespace ouzel::sql::deparse
