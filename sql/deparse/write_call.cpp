#include <array>

#include "catalog/object/function.hpp"
#include "sql/deparse/writer.hpp"

// Calls, aggregates, window functions, and functions that SQL gives a syntax of their own.

namespace ouzel::sql::deparse {

using catalog::quoteIdentifier;

/// EXTRACT(year FROM x), SUBSTRING(x FROM 1 FOR 2), ...; false: the function has no such form.
bool Writer::syntaxCall(const Term& term) {
   const std::string& name = term.name;
   const auto& args = term.args;
   const size_t count = args.size();
   const auto plain = [&](size_t i) { this->term(*args[i], false); };
   if (name == "timezone" && count == 2) {
      out_ += '(';
      inner(*args[1], false, term);
      out_ += " AT TIME ZONE ";
      inner(*args[0], false, term);
      out_ += ')';
   } else if (name == "overlaps" && count == 4) {
      static constexpr std::array before{"((", ", ", ") OVERLAPS (", ", "};
      for (size_t i = 0; i < count; ++i) {
         out_ += before[i];
         plain(i);
      }
      out_ += "))";
   } else if (name == "extract" && count == 2 && args[0]->kind == TermKind::Constant) {
      out_ += "EXTRACT(" + quoteIdentifier(args[0]->name) + " FROM ";
      plain(1);
      out_ += ')';
   } else if (name == "is_normalized") {
      out_ += '(';
      inner(*args[0], false, term);
      out_ += " IS" + (count == 2 ? " " + args[1]->name : std::string()) + " NORMALIZED)";
   } else if (name == "pg_collation_for") {
      out_ += "COLLATION FOR (";
      plain(0);
      out_ += ')';
   } else if (name == "normalize") {
      out_ += "NORMALIZE(";
      plain(0);
      out_ += (count == 2 ? ", " + args[1]->name : std::string()) + ")";
   } else if (name == "overlay" && count >= 3) {
      static constexpr std::array before{"OVERLAY(", " PLACING ", " FROM ", " FOR "};
      for (size_t i = 0; i < count; ++i) {
         out_ += before[i];
         plain(i);
      }
      out_ += ')';
   } else if (name == "position" && count == 2) {
      out_ += "POSITION((";
      plain(1);
      out_ += ") IN (";
      plain(0);
      out_ += "))";
   } else if (name == "substring" && count >= 2) {
      const bool isPattern = count == 3 && term.function->argTypes[2] == oid::text;
      const std::array<const char*, 3> before{"SUBSTRING(", isPattern ? " SIMILAR " : " FROM ",
                                              isPattern ? " ESCAPE " : " FOR "};
      // SUBSTRING(x SIMILAR pattern) of two texts is the plain function, which FROM would not mean.
      if (count == 2 && term.function->argTypes[1] == oid::text) return false;
      for (size_t i = 0; i < count; ++i) {
         out_ += before[i];
         plain(i);
      }
      out_ += ')';
   } else if (name == "xmlexists" && count == 2) {
      out_ += "XMLEXISTS((";
      plain(0);
      out_ += ") PASSING (";
      plain(1);
      out_ += "))";
   } else if (name == "btrim" || name == "ltrim" || name == "rtrim") {
      out_ += name == "btrim" ? "TRIM(BOTH" : name == "ltrim" ? "TRIM(LEADING" : "TRIM(TRAILING";
      if (count == 2) {
         out_ += ' ';
         plain(1);
      }
      out_ += " FROM ";
      plain(0);
      out_ += ')';
   } else {
      return false;
   }
   return true;
}

void Writer::aggregate(const Term& term) {
   if (term.isStar) {
      out_ += '*';
   } else {
      const char* separator = "";
      for (size_t i = 0; i < term.args.size(); ++i) {
         out_ += std::exchange(separator, ", ");
         if (term.isVariadic && i + 1 == term.args.size()) out_ += "VARIADIC ";
         this->term(*term.args[i], true);
      }
   }
   if (term.isOrderedSet) {
      out_ += ") WITHIN GROUP (ORDER BY ";
      order(term.order, false);
   } else if (!term.order.empty()) {
      out_ += " ORDER BY ";
      order(term.order, false);
   }
   if (term.filter) {
      out_ += ") FILTER (WHERE ";
      this->term(*term.filter, false);
   }
}

void Writer::call(const Term& term, bool) {
   if (term.form == Form::Syntax && syntaxCall(term)) return;
   const bool isUsers = term.function != nullptr && term.function->oid >= firstUserOid;
   out_ += (isUsers ? catalog::displayName(names_.snapshot, names_.path, *term.function) : quoteIdentifier(term.name)) +
           (term.isDistinct ? "(DISTINCT " : "(");
   aggregate(term);
   out_ += ')';
   if (!term.window) return;
   out_ += " OVER ";
   if (!term.window->name.empty())
      out_ += quoteIdentifier(term.window->name);
   else
      windowSpec(*term.window);
}

} // namespace ouzel::sql::deparse
