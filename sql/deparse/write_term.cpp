#include <algorithm>
#include <cctype>
#include <cstring>

#include "catalog/object/search_path.hpp"
#include "sql/bind/type/type_rules.hpp"
#include "sql/deparse/writer.hpp"

// Expressions.

namespace ouzel::sql::deparse {

using catalog::quoteIdentifier;

std::string Writer::typeName(const SqlType& type) const {
   if (type.domain) return catalog::formatType(names_, type.domain, -1);
   return catalog::formatType(names_, type.oid, type.typmod);
}

void Writer::expression(Query& context, const Term& term, bool showsPrefix, int indent) {
   showsPrefix_ = showsPrefix;
   indent_ = indent;
   enter(context);
   this->term(term, false);
   leave();
}

void Writer::parameter(const Term& term) {
   if (term.name.empty()) {
      out_ += "$" + std::to_string(term.number);
      return;
   }
   const bool mayBeColumn = std::any_of(open_.begin(), open_.end(),
                                        [](const Query* query) { return !query->sources.empty() || query->setTree; });
   if (mayBeColumn) out_ += quoteIdentifier(function_) + ".";
   out_ += quoteIdentifier(term.name);
}

void Writer::list(const std::vector<TermPtr>& terms, bool showsImplicit) {
   const char* separator = "";
   for (const TermPtr& item : terms) {
      out_ += std::exchange(separator, ", ");
      term(*item, showsImplicit);
   }
}

void Writer::quoted(std::string_view value) {
   out_ += '\'';
   for (const char c : value)
      out_.append(c == '\'' ? 2 : 1, c);
   out_ += '\'';
}

void Writer::constant(const Term& term, int showsType) {
   if (term.isNull) {
      out_ += "NULL";
      if (showsType >= 0) out_ += "::" + typeName(term.type);
      return;
   }
   const std::string& value = term.name;
   bool needsType = true;
   switch (term.type.oid) {
   case oid::int4:
      needsType = value.starts_with('-');
      if (needsType)
         quoted(value);
      else
         out_ += value;
      break;
   case oid::numeric:
      needsType = !(std::isdigit(static_cast<unsigned char>(value[0])) && value.find_first_of("eE.") != value.npos);
      if (needsType)
         quoted(value);
      else
         out_ += value;
      needsType |= term.type.typmod >= 0;
      break;
   case oid::boolean:
      out_ += value == "t" ? "true" : value == "f" ? "false" : value;
      needsType = false;
      break;
   default: quoted(value); needsType = term.type.oid != oid::unknown;
   }
   if (showsType < 0) return;
   if (needsType || showsType > 0) out_ += "::" + typeName(term.type);
}

bool Writer::isOfDomain(const Source& source) {
   return source.relation && source.relation->relationKind == catalog::RelationKind::Domain;
}

std::string Writer::column(const Term& term, bool isTop) {
   const Source& source = *term.source;
   if (isOfDomain(source)) {
      out_ += "VALUE";
      return {};
   }
   std::string name;
   if (term.number == -2) name = term.name;
   if (term.number >= 0) name = source.shownColumns.at(static_cast<size_t>(term.number));
   if ((showsPrefix_ || term.number == -1) && !source.shownName.empty())
      out_ += quoteIdentifier(source.shownName) + ".";
   if (term.number == -1)
      out_ += isTop ? "*::" + typeName(term.type) : "*";
   else
      out_ += quoteIdentifier(name);
   return name;
}

void Writer::topLevel(const Term& term, bool showsImplicit) {
   if (term.kind == TermKind::Column)
      column(term, true);
   else
      this->term(term, showsImplicit);
}

namespace {

/// An operator of two operands and one character, which is what ruleutils knows priorities of.
char simpleOperator(const Term& term) {
   return term.args.size() == 2 && term.name.size() == 1 ? term.name[0] : '\0';
}

bool isCastLike(const Term& parent) {
   return (parent.kind == TermKind::Cast && parent.isFunction) ||
          (parent.kind == TermKind::Call && parent.form == Form::Syntax);
}

/// Whether the parent puts parentheses or commas around its arguments.
bool separates(const Term& parent) {
   switch (parent.kind) {
   case TermKind::Subscript:
   case TermKind::Array:
   case TermKind::Row:
   case TermKind::Coalesce:
   case TermKind::Greatest:
   case TermKind::Least:
   case TermKind::NullIf:
   case TermKind::Aggregate:
   case TermKind::Grouping:
   case TermKind::Window:
   case TermKind::Xml:
   case TermKind::Case: return true;
   case TermKind::Call: return parent.form != Form::Syntax;
   default: return false;
   }
}

} // namespace

bool Writer::isSimple(const Term& term, const Term& parent) const {
   switch (term.kind) {
   case TermKind::Column:
   case TermKind::Constant:
   case TermKind::Parameter:
   case TermKind::Default:
   case TermKind::Subscript:
   case TermKind::Array:
   case TermKind::Row:
   case TermKind::Coalesce:
   case TermKind::Greatest:
   case TermKind::Least:
   case TermKind::SqlValue:
   case TermKind::NullIf:
   case TermKind::Aggregate:
   case TermKind::Grouping:
   case TermKind::Window:
   case TermKind::Xml:
   case TermKind::Call:
   case TermKind::Case: return true;
   case TermKind::Field: return parent.kind != TermKind::Field;
   case TermKind::Cast: return term.isFunction || isSimple(*term.args[0], term);
   case TermKind::Operator:
      if (parent.kind == TermKind::Operator) {
         const char own = simpleOperator(term), outer = simpleOperator(parent);
         const auto isLow = [](char c) { return c == '+' || c == '-'; };
         const auto isHigh = [](char c) { return c == '*' || c == '/' || c == '%'; };
         if (!(isLow(own) || isHigh(own)) || !(isLow(outer) || isHigh(outer))) return false;
         if (isHigh(own) && isLow(outer)) return true;
         if (isLow(own) && isHigh(outer)) return false;
         return &term == parent.args[0].get();
      }
      [[fallthrough]];
   case TermKind::Subquery:
   case TermKind::NullTest:
   case TermKind::IsDocument:
   case TermKind::BoolTest:
   case TermKind::Distinct:
      if (isCastLike(parent)) return false;
      return separates(parent) || parent.kind == TermKind::And || parent.kind == TermKind::Or ||
             parent.kind == TermKind::Not;
   case TermKind::And:
   case TermKind::Not:
      if (parent.kind == TermKind::And || parent.kind == TermKind::Or) return true;
      return separates(parent) && !isCastLike(parent);
   case TermKind::Or:
      if (parent.kind == TermKind::Or) return true;
      return separates(parent) && !isCastLike(parent);
   default: return false;
   }
}

void Writer::inner(const Term& term, bool showsImplicit, const Term& parent) {
   const bool parens = layout_.isPretty && !isSimple(term, parent);
   if (parens) out_ += '(';
   this->term(term, showsImplicit);
   if (parens) out_ += ')';
}

void Writer::castOf(const Term& arg, const SqlType& type, const Term& parent) {
   if (arg.kind == TermKind::Constant && arg.type.named() == type.named() && arg.type.typmod == -1) {
      constant(arg, -1);
   } else {
      if (!layout_.isPretty) out_ += '(';
      inner(arg, false, parent);
      if (!layout_.isPretty) out_ += ')';
   }
   out_ += "::" + typeName(type);
}

void Writer::infix(const Term& term, std::string_view between, bool showsImplicit) {
   for (size_t i = 0; i < term.args.size(); ++i) {
      if (i > 0) out_ += between;
      inner(*term.args[i], showsImplicit, term);
   }
}

void Writer::caseTerm(const Term& term) {
   constexpr int itemIndent = 4;
   keyword("CASE", 0, itemIndent, 0);
   if (term.args[0]) {
      out_ += ' ';
      this->term(*term.args[0], true);
   }
   for (size_t i = 1; i + 1 < term.args.size(); i += 2) {
      keyword("WHEN ", 0, 0, 0);
      const Term* when = term.args[i].get();
      if (term.args[0] && when->kind == TermKind::Operator && when->args.size() == 2) {
         const Term* left = when->args[0].get();
         while (left->kind == TermKind::Cast && left->form == Form::Implicit)
            left = left->args[0].get();
         if (left->kind == TermKind::Tested) when = when->args[1].get();
      }
      this->term(*when, false);
      out_ += " THEN ";
      this->term(*term.args[i + 1], true);
   }
   keyword("ELSE ", 0, 0, 0);
   this->term(*term.args.back(), true);
   keyword("END", -itemIndent, 0, 0);
}

void Writer::subquery(const Term& term) {
   out_ += term.link == Link::Array ? "ARRAY(" : "(";
   if (term.args.size() == 1) {
      inner(*term.args[0], true, term);
   } else if (term.args.size() > 1) {
      out_ += '(';
      list(term.args, true);
      out_ += ')';
   }
   bool parens = true;
   switch (term.link) {
   case Link::Exists: out_ += "EXISTS "; break;
   case Link::Any: out_ += term.name == "=" ? " IN " : " " + term.name + " ANY "; break;
   case Link::All: out_ += " " + term.name + " ALL "; break;
   case Link::RowCompare: out_ += " " + term.name + " "; break;
   default: parens = false;
   }
   if (parens) out_ += '(';
   query(*term.query, nullptr, false, indent_);
   out_ += parens ? "))" : ")";
}

void Writer::subscript(const Term& term) {
   const Term& container = *term.args[0];
   const bool isValue = container.kind == TermKind::Column && isOfDomain(*container.source); // VALUE
   const bool parens = (container.kind != TermKind::Column && container.kind != TermKind::Field) || isValue;
   if (parens) out_ += '(';
   this->term(container, true);
   if (parens) out_ += ')';
   for (size_t i = 1; i + 1 < term.args.size(); i += 2) {
      out_ += '[';
      if (term.isNegated) {
         if (term.args[i]) this->term(*term.args[i], false);
         out_ += ':';
      }
      if (term.args[i + 1]) this->term(*term.args[i + 1], false);
      out_ += ']';
   }
}

void Writer::term(const Term& term, bool showsImplicit) {
   const bool pretty = layout_.isPretty;
   const auto parenthesized = [&](auto&& write) {
      if (!pretty) out_ += '(';
      write();
      if (!pretty) out_ += ')';
   };
   const auto function = [&](const char* name) {
      out_ += name;
      out_ += '(';
      list(term.args, true);
      out_ += ')';
   };
   switch (term.kind) {
   case TermKind::Column: column(term, false); return;
   case TermKind::Constant: constant(term, 0); return;
   case TermKind::Parameter: parameter(term); return;
   case TermKind::Call:
   case TermKind::Aggregate:
   case TermKind::Window: call(term, showsImplicit); return;
   case TermKind::Cast:
      if (term.form == Form::Implicit && !showsImplicit)
         inner(*term.args[0], false, term);
      else
         castOf(*term.args[0], term.type, term);
      return;
   case TermKind::Operator:
      parenthesized([&] {
         if (term.args.size() == 1) {
            out_ += term.name + " ";
            inner(*term.args[0], true, term);
         } else {
            infix(term, " " + term.name + " ", true);
         }
      });
      return;
   case TermKind::AnyArray:
      parenthesized([&] {
         inner(*term.args[0], true, term);
         out_ += " " + term.name + (term.isNegated ? " ALL (" : " ANY (");
         inner(*term.args[1], true, term);
         if (term.args[1]->kind == TermKind::Subquery && term.args[1]->link == Link::Value)
            out_ += "::" + typeName(term.args[1]->type);
         out_ += ')';
      });
      return;
   case TermKind::Distinct: parenthesized([&] { infix(term, " IS DISTINCT FROM ", true); }); return;
   case TermKind::NullIf: function("NULLIF"); return;
   case TermKind::And: parenthesized([&] { infix(term, " AND ", false); }); return;
   case TermKind::Or: parenthesized([&] { infix(term, " OR ", false); }); return;
   case TermKind::Not:
      parenthesized([&] {
         out_ += "NOT ";
         inner(*term.args[0], false, term);
      });
      return;
   case TermKind::NullTest:
      parenthesized([&] {
         inner(*term.args[0], true, term);
         out_ += term.isNegated ? " IS NOT NULL" : " IS NULL";
      });
      return;
   case TermKind::Xml: xml(term); return;
   case TermKind::IsDocument:
      parenthesized([&] {
         inner(*term.args[0], false, term);
         out_ += " IS DOCUMENT";
      });
      return;
   case TermKind::BoolTest:
      parenthesized([&] {
         inner(*term.args[0], false, term);
         out_ += " " + term.name;
      });
      return;
   case TermKind::Collate:
      parenthesized([&] {
         inner(*term.args[0], showsImplicit, term);
         out_ += " COLLATE " + term.name;
      });
      return;
   case TermKind::Case: caseTerm(term); return;
   case TermKind::Tested: out_ += "CASE_TEST_EXPR"; return;
   case TermKind::Array:
      out_ += "ARRAY[";
      list(term.args, true);
      out_ += ']';
      if (term.args.empty()) out_ += "::" + typeName({term.type.oid, -1, invalidOid, term.type.domain});
      return;
   case TermKind::Row: {
      const char* separator = "ROW(";
      for (const TermPtr& arg : term.args) {
         out_ += std::exchange(separator, ", ");
         topLevel(*arg, true);
      }
      out_ += term.args.empty() ? "ROW()" : ")";
      if (term.form == Form::Explicit) out_ += "::" + typeName(term.type);
      return;
   }
   case TermKind::RowCompare:
      out_ += '(';
      this->term(*term.args[0], true);
      out_ += " " + term.name + " ";
      this->term(*term.args[1], true);
      out_ += ')';
      return;
   case TermKind::Coalesce: function("COALESCE"); return;
   case TermKind::Greatest: function("GREATEST"); return;
   case TermKind::Least: function("LEAST"); return;
   case TermKind::Grouping: function("GROUPING"); return;
   case TermKind::SqlValue: out_ += term.name; return;
   case TermKind::Subquery: subquery(term); return;
   case TermKind::Field: {
      const Term& row = *term.args[0];
      const bool parens = row.kind != TermKind::Subscript && row.kind != TermKind::Field;
      if (parens) out_ += '(';
      this->term(row, true);
      if (parens) out_ += ')';
      out_ += "." + quoteIdentifier(term.name);
      return;
   }
   case TermKind::Subscript: subscript(term); return;
   case TermKind::NamedArg:
      out_ += quoteIdentifier(term.name) + " => ";
      this->term(*term.args[0], showsImplicit);
      return;
   case TermKind::Default: out_ += "DEFAULT"; return;
   }
}

} // namespace ouzel::sql::deparse
