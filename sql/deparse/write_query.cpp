#include <algorithm>

#include "catalog/object/search_path.hpp"
#include "sql/deparse/writer.hpp"
#include "sql/parse/pg_nodes.hpp"

// SELECT and its clauses.

namespace ouzel::sql::deparse {

using catalog::quoteIdentifier;

namespace {

constexpr int standardIndent = 8, itemIndent = 4, indentMax = 40;

} // namespace

void Writer::dropBlanks() {
   while (!out_.empty() && out_.back() == ' ')
      out_.pop_back();
}

void Writer::keyword(std::string_view keyword, int before, int after, int plus) {
   if (layout_.isOneLine) {
      const bool isApart = out_.empty() || out_.ends_with(' ') || out_.ends_with('(') || keyword.starts_with(' ');
      out_ += (isApart ? "" : " ") + std::string(keyword);
      return;
   }
   indent_ += before;
   dropBlanks();
   out_ += '\n';
   int amount = indent_ < indentMax ? std::max(indent_, 0) : indentMax + (indent_ - indentMax) / (standardIndent / 2);
   if (indent_ >= indentMax) amount %= indentMax;
   out_.append(static_cast<size_t>(amount + plus), ' ');
   out_ += keyword;
   indent_ = std::max(indent_ + after, 0);
}

void Writer::beginStatement() {
   indent_ += standardIndent;
   if (!layout_.isOneLine) out_ += ' ';
}

void Writer::wrapped(std::string item, bool isFirst, bool afterLines) {
   if (layout_.lineLength >= 0 && !layout_.isOneLine) {
      if (item.starts_with('\n')) {
         dropBlanks();
      } else if (!isFirst) {
         const size_t lineStart = out_.rfind('\n') == std::string::npos ? 0 : out_.rfind('\n') + 1;
         const size_t length = out_.size() - lineStart + item.size();
         if (afterLines || length > static_cast<size_t>(layout_.lineLength))
            keyword("", -standardIndent, standardIndent, itemIndent);
      }
   }
   out_ += item;
}

void Writer::query(Query& query, const std::vector<std::string>* names, bool showsNames, int indent) {
   const int outerIndent = std::exchange(indent_, indent);
   const bool outerPrefix =
       std::exchange(showsPrefix_, !open_.empty() || query.sources.size() != 1 || !function_.empty());
   enter(query);
   switch (query.command) {
   case Command::Select: select(query, names, showsNames); break;
   case Command::Insert: insert(query); break;
   case Command::Update: update(query); break;
   case Command::Delete: remove(query); break;
   }
   leave();
   showsPrefix_ = outerPrefix;
   indent_ = outerIndent;
}

void Writer::with(Query& query) {
   if (query.ctes.empty()) return;
   beginStatement();
   const char* separator = query.isRecursive ? "WITH RECURSIVE " : "WITH ";
   for (const auto& cte : query.ctes) {
      out_ += separator;
      out_ += quoteIdentifier(cte->name);
      if (!cte->columnAliases.empty()) {
         const char* comma = "(";
         for (const std::string& name : cte->columnAliases)
            out_ += std::exchange(comma, ", ") + quoteIdentifier(name);
         out_ += ')';
      }
      out_ += " AS ";
      if (cte->materialized == 1) out_ += "MATERIALIZED ";
      if (cte->materialized == 2) out_ += "NOT MATERIALIZED ";
      out_ += '(';
      keyword("", 0, 0, 0);
      this->query(*cte->query, nullptr, true, indent_);
      keyword("", 0, 0, 0);
      out_ += ')' + cte->suffix;
      if (!cte->marks.empty()) {
         out_ += " TO ";
         term(*cte->marks[0], false);
         out_ += " DEFAULT ";
         term(*cte->marks[1], false);
      }
      out_ += cte->path;
      separator = ", ";
   }
   indent_ -= standardIndent;
   keyword("", 0, 0, 0);
}

void Writer::select(Query& query, const std::vector<std::string>* names, bool showsNames) {
   with(query);
   if (query.setTree)
      setTree(*query.setTree, names, showsNames);
   else
      plainSelect(query, names, showsNames);
   orderAndLimit(query, query.setTree != nullptr);
}

bool Writer::isSimpleValues(const Query& query, const std::vector<std::string>* names) const {
   if (!query.isValues) return false;
   const Source& source = *query.sources.back();
   for (size_t i = 0; i < source.columns.size(); ++i) {
      const std::string& shown = names && i < names->size() ? (*names)[i] : query.targets[i].name;
      if (shown != source.columnName(i)) return false;
   }
   return true;
}

void Writer::values(const std::vector<std::vector<TermPtr>>& rows) {
   out_ += "VALUES ";
   bool isFirst = true;
   for (const auto& row : rows) {
      if (!std::exchange(isFirst, false)) out_ += ", ";
      out_ += '(';
      for (size_t i = 0; i < row.size(); ++i) {
         if (i > 0) out_ += ',';
         topLevel(*row[i], false);
      }
      out_ += ')';
   }
}

void Writer::targets(const std::vector<Target>& list, const std::vector<std::string>* names, bool showsNames) {
   const char* separator = " ";
   size_t number = 0;
   bool afterLines = false;
   for (const Target& target : list) {
      if (target.isHidden) continue;
      out_ += separator;
      separator = ", ";
      std::string outer = std::exchange(out_, {});
      // The name that the column would have without AS.
      std::string given = showsNames ? std::string() : "?column?";
      if (target.term->kind == TermKind::Column)
         given = column(*target.term, true);
      else
         term(*target.term, true);
      const std::string& name = names && number < names->size() ? (*names)[number] : target.name;
      ++number;
      if (given.empty() || given != name) out_ += " AS " + quoteIdentifier(name);
      std::string item = std::exchange(out_, std::move(outer));
      const bool hasLines = item.find('\n') != std::string::npos, startsLine = item.starts_with('\n');
      wrapped(std::move(item), number == 1, afterLines);
      if (!startsLine) afterLines = hasLines;
   }
}

void Writer::plainSelect(Query& query, const std::vector<std::string>* names, bool showsNames) {
   beginStatement();
   if (isSimpleValues(query, names)) {
      values(query.sources.back()->values);
      return;
   }
   out_ += "SELECT";
   if (!query.distinctOn.empty()) {
      const char* separator = " DISTINCT ON (";
      for (const TermPtr& item : query.distinctOn) {
         out_ += std::exchange(separator, ", ");
         sortTerm(*item);
      }
      out_ += ')';
   } else if (query.isDistinct) {
      out_ += " DISTINCT";
   }
   targets(query.targets, names, showsNames);
   from(query, " FROM ");
   if (query.where) {
      keyword(" WHERE ", -standardIndent, standardIndent, 1);
      term(*query.where, false);
   }
   if (!query.groupBy.empty() || !query.groupingSets.empty()) {
      keyword(" GROUP BY ", -standardIndent, standardIndent, 1);
      if (query.groupsDistinct) out_ += "DISTINCT ";
      const char* separator = "";
      for (const TermPtr& item : query.groupBy) {
         out_ += std::exchange(separator, ", ");
         sortTerm(*item);
      }
      for (const GroupingItem& item : query.groupingSets) {
         out_ += std::exchange(separator, ", ");
         grouping(item, true);
      }
   }
   if (query.having) {
      keyword(" HAVING ", -standardIndent, standardIndent, 0);
      term(*query.having, false);
   }
   bool isFirst = true;
   for (const auto& window : query.windows) {
      if (std::exchange(isFirst, false))
         keyword(" WINDOW ", -standardIndent, standardIndent, 1);
      else
         out_ += ", ";
      out_ += quoteIdentifier(window->name) + " AS ";
      windowSpec(*window);
   }
}

void Writer::orderAndLimit(Query& query, bool byNumber) {
   if (!query.order.empty()) {
      keyword(" ORDER BY ", -standardIndent, standardIndent, 1);
      order(query.order, byNumber);
   }
   if (query.offset) {
      keyword(" OFFSET ", -standardIndent, standardIndent, 0);
      term(*query.offset, false);
   }
   if (query.limit && query.withTies) {
      keyword(" FETCH FIRST ", -standardIndent, standardIndent, 0);
      out_ += '(';
      term(*query.limit, false);
      out_ += ") ROWS WITH TIES";
   } else if (query.limit) {
      keyword(" LIMIT ", -standardIndent, standardIndent, 0);
      if (query.limitAll)
         out_ += "ALL";
      else
         term(*query.limit, false);
   }
   for (const RowLock& lock : query.locks) {
      keyword(" FOR " + lock.strength, -standardIndent, standardIndent, 0);
      out_ += " OF " + quoteIdentifier(lock.source->shownName) + lock.wait;
   }
}

void Writer::setTree(SetTree& tree, const std::vector<std::string>* names, bool showsNames) {
   if (tree.leaf) {
      Query& leaf = *tree.leaf;
      const bool hasOwnClauses =
          !leaf.ctes.empty() || !leaf.order.empty() || !leaf.locks.empty() || leaf.offset || leaf.limit;
      if (hasOwnClauses) out_ += '(';
      query(leaf, names, showsNames, indent_);
      if (hasOwnClauses) out_ += ')';
      return;
   }
   const bool parensLeft = !tree.left->leaf && !(tree.left->kind == tree.kind && tree.left->all == tree.all);
   int plus = 0;
   if (parensLeft) {
      out_ += '(';
      plus = standardIndent;
      keyword("", plus, 0, 0);
   }
   setTree(*tree.left, names, showsNames);
   keyword(parensLeft ? ") " : "", -plus, 0, 0);
   out_ += tree.kind == 'u' ? "UNION " : tree.kind == 'i' ? "INTERSECT " : "EXCEPT ";
   if (tree.all) out_ += "ALL ";
   const bool parensRight = !tree.right->leaf;
   plus = parensRight ? standardIndent : 0;
   if (parensRight) out_ += '(';
   keyword("", plus, 0, 0);
   setTree(*tree.right, names, false);
   indent_ -= plus;
   if (parensRight) keyword(")", 0, 0, 0);
}

void Writer::sortTerm(const Term& item) {
   if (item.kind == TermKind::Constant) {
      constant(item, 1);
   } else if (item.kind == TermKind::Column) {
      term(item, true);
   } else {
      const bool isCall = item.kind == TermKind::Call || item.kind == TermKind::Aggregate ||
                          item.kind == TermKind::Window || (item.kind == TermKind::Cast && item.isFunction);
      const bool parens = layout_.isPretty || isCall;
      if (parens) out_ += '(';
      term(item, true);
      if (parens) out_ += ')';
   }
}

void Writer::order(const std::vector<SortItem>& items, bool byNumber) {
   const char* separator = "";
   for (const SortItem& item : items) {
      out_ += std::exchange(separator, ", ");
      if (byNumber && item.target > 0)
         out_ += std::to_string(item.target);
      else
         sortTerm(*item.term);
      switch (item.order) {
      case SortItem::Order::Ascending: out_ += item.nullsFirst ? " NULLS FIRST" : ""; break;
      case SortItem::Order::Descending: out_ += item.nullsFirst ? " DESC" : " DESC NULLS LAST"; break;
      case SortItem::Order::Operator:
         out_ += " USING " + item.usingOperator + (item.nullsFirst ? " NULLS FIRST" : " NULLS LAST");
         break;
      }
   }
}

void Writer::grouping(const GroupingItem& item, bool omitsParentheses) {
   using Kind = GroupingItem::Kind;
   const char* separator = "";
   switch (item.kind) {
   case Kind::Empty: out_ += "()"; return;
   case Kind::Simple: {
      const bool parens = !omitsParentheses || item.terms.size() != 1;
      if (parens) out_ += '(';
      for (const TermPtr& part : item.terms) {
         out_ += std::exchange(separator, ", ");
         sortTerm(*part);
      }
      if (parens) out_ += ')';
      return;
   }
   case Kind::Rollup: out_ += "ROLLUP("; break;
   case Kind::Cube: out_ += "CUBE("; break;
   case Kind::Sets: out_ += "GROUPING SETS ("; break;
   }
   for (const GroupingItem& child : item.items) {
      out_ += std::exchange(separator, ", ");
      grouping(child, item.kind != Kind::Sets);
   }
   out_ += ')';
}

void Writer::windowSpec(const WindowSpec& spec) {
   std::string text = "(";
   std::string outer = std::exchange(out_, "(");
   const auto space = [&] {
      if (out_.size() > 1) out_ += ' ';
   };
   if (!spec.refers.empty()) out_ += quoteIdentifier(spec.refers);
   if (!spec.partition.empty() && spec.refers.empty()) {
      const char* separator = "PARTITION BY ";
      for (const TermPtr& item : spec.partition) {
         out_ += std::exchange(separator, ", ");
         sortTerm(*item);
      }
   }
   if (!spec.order.empty()) {
      space();
      out_ += "ORDER BY ";
      order(spec.order, false);
   }
   const auto bound = [&](int current, int preceding, const TermPtr& offset, int offsetPreceding) {
      if (spec.frame & current) {
         out_ += "CURRENT ROW ";
      } else if (offset) {
         term(*offset, false);
         out_ += spec.frame & offsetPreceding ? " PRECEDING " : " FOLLOWING ";
      } else {
         out_ += spec.frame & preceding ? "UNBOUNDED PRECEDING " : "UNBOUNDED FOLLOWING ";
      }
   };
   if (spec.frame & FRAMEOPTION_NONDEFAULT) {
      space();
      out_ += spec.frame & FRAMEOPTION_RANGE ? "RANGE " : spec.frame & FRAMEOPTION_ROWS ? "ROWS " : "GROUPS ";
      if (spec.frame & FRAMEOPTION_BETWEEN) out_ += "BETWEEN ";
      bound(FRAMEOPTION_START_CURRENT_ROW, FRAMEOPTION_START_UNBOUNDED_PRECEDING, spec.start,
            FRAMEOPTION_START_OFFSET_PRECEDING);
      if (spec.frame & FRAMEOPTION_BETWEEN) {
         out_ += "AND ";
         bound(FRAMEOPTION_END_CURRENT_ROW, FRAMEOPTION_END_UNBOUNDED_PRECEDING, spec.end,
               FRAMEOPTION_END_OFFSET_PRECEDING);
      }
      if (spec.frame & FRAMEOPTION_EXCLUDE_CURRENT_ROW) out_ += "EXCLUDE CURRENT ROW ";
      if (spec.frame & FRAMEOPTION_EXCLUDE_GROUP) out_ += "EXCLUDE GROUP ";
      if (spec.frame & FRAMEOPTION_EXCLUDE_TIES) out_ += "EXCLUDE TIES ";
      out_.pop_back();
   }
   out_ += ')';
   text = std::exchange(out_, std::move(outer));
   out_ += text;
}

} // namespace ouzel::sql::deparse
