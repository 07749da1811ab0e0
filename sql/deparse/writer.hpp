#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "catalog/pg_catalog/functions.hpp"
#include "sql/deparse/deparse.hpp"
#include "sql/deparse/tree.hpp"

namespace ouzel::sql::deparse {

/// Writes a resolved tree as SQL, laid out as PostgreSQL's ruleutils.c does. Chooses the names of sources, which it
/// notes in them. One per text.
class Writer {
public:
   /// `function`: whose body it is; empty: of none.
   Writer(const catalog::NameContext& names, const Layout& layout, std::string function = {})
      : names_(names), layout_(layout), function_(std::move(function)) {}

   /// `names`: of the output columns, where they are those of a view; null: those of the query. `showsNames`: whether
   /// the names of the output columns are visible outside.
   void query(Query& query, const std::vector<std::string>* names, bool showsNames, int indent);
   /// An expression that stands alone. `context`: the query whose sources it reads; `showsPrefix`: with their names.
   void expression(Query& context, const Term& term, bool showsPrefix, int indent = 0);
   std::string& text() { return out_; }

   // Names (writer_names.cpp).
   /// Chooses the names of the query's sources, and makes the query the innermost one.
   void enter(Query& query);
   void leave() { open_.pop_back(); }

   // Layout.
   /// Begins a line, if lines are broken, with `keyword` on it.
   void keyword(std::string_view keyword, int before, int after, int plus);
   void term(const Term& term, bool showsImplicit);

private:
   // Queries (write_query.cpp).
   void with(Query& query);
   void select(Query& query, const std::vector<std::string>* names, bool showsNames);
   void plainSelect(Query& query, const std::vector<std::string>* names, bool showsNames);
   void setTree(SetTree& tree, const std::vector<std::string>* names, bool showsNames);
   void orderAndLimit(Query& query, bool byNumber);
   bool isSimpleValues(const Query& query, const std::vector<std::string>* names) const;
   void values(const std::vector<std::vector<TermPtr>>& rows);
   void targets(const std::vector<Target>& list, const std::vector<std::string>* names, bool showsNames);
   void sortTerm(const Term& term);
   void order(const std::vector<SortItem>& items, bool byNumber);
   void grouping(const GroupingItem& item, bool omitsParentheses);
   void windowSpec(const WindowSpec& spec);

   // Commands that write (write_command.cpp).
   void insert(Query& query);
   void update(Query& query);
   void remove(Query& query);
   void returning(Query& query);
   void targetTable(Query& query, std::string_view command);
   void conditionAndReturning(Query& query);

   // FROM (write_from.cpp).
   void from(Query& query, std::string_view prefix);
   void fromItem(const JoinTree& tree);
   void joinItem(const JoinTree& tree);
   void sourceItem(const Source& source);
   void functionItem(const Source& source);
   void xmlTable(const Source& source); // write_xml.cpp
   void columnList(const Source& source);
   void definitions(const FunctionSource& function, const Source* named);
   std::string relationName(const catalog::Relation& relation) const;

   // Expressions (write_term.cpp, write_call.cpp).
   void inner(const Term& term, bool showsImplicit, const Term& parent);
   void topLevel(const Term& term, bool showsImplicit);
   /// The name of the column, under which it would be an output column.
   static bool isOfDomain(const Source& source);
   std::string column(const Term& term, bool isTop);
   void constant(const Term& term, int showsType);
   void parameter(const Term& term);
   void castOf(const Term& arg, const SqlType& type, const Term& parent);
   void caseTerm(const Term& term);
   void subquery(const Term& term);
   void call(const Term& term, bool showsImplicit);
   bool syntaxCall(const Term& term);
   void aggregate(const Term& term);
   void xml(const Term& term);                        // write_xml.cpp
   void xmlRoot(const Term& term);                    // write_xml.cpp
   void xmlNamed(const Term& term, size_t firstName); // write_xml.cpp
   void subscript(const Term& term);
   void list(const std::vector<TermPtr>& terms, bool showsImplicit);
   void quoted(std::string_view value);
   void infix(const Term& term, std::string_view between, bool showsImplicit);
   std::string typeName(const SqlType& type) const;
   bool isSimple(const Term& term, const Term& parent) const;

   void dropBlanks();
   void beginStatement();
   /// Appends an item of a list, on a line of its own if it does not fit.
   void wrapped(std::string item, bool isFirst, bool afterLines);

   const catalog::NameContext names_;
   const Layout layout_;
   const std::string function_;
   std::string out_;
   std::vector<Query*> open_; ///< outermost first
   int indent_ = 0;
   bool showsPrefix_ = false;
};

} // namespace ouzel::sql::deparse
