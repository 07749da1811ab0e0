#pragma once
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/bind/state/bind_state.hpp"
#include "sql/bind/type/overload_resolution.hpp"
#include "sql/bind/type/type_rules.hpp"
#include "sql/deparse/tree.hpp"
#include "sql/parse/node_access.hpp"
#include "sql/parse/pg_nodes.hpp"

namespace ouzel::sql::deparse {

/// A name in FROM as long as a part of the query can use it.
struct Visible {
   Source* source = nullptr;
   bool byName = true;   ///< name.column
   bool byColumn = true; ///< column
};

/// One query level: names in FROM and of WITH queries.
struct Level {
   Level* parent = nullptr;
   Query* query = nullptr;
   std::vector<Visible> visible;
   std::vector<Cte*> ctes;
};

/// Resolves a parse tree to the tree of tree.hpp, by the rules of PostgreSQL's parse analysis. The binder has accepted
/// the text before; what it would refuse is not looked for here. One per text.
class Resolver {
public:
   explicit Resolver(const BindContext& context) : context_(context), state_(context) {}

   /// A view's query. OLD and NEW are names that it cannot take.
   std::shared_ptr<Query> view(const ::SelectStmt& select);
   /// An expression over the columns of `table` (null: none), which is the only source of `query`. `target`: the type
   /// that it is cast to; null: unknown literals become text.
   TermPtr expression(Query& query, const ::Node* node, const catalog::RelationPtr& table, const SqlType* target);

   /// The condition, or a command, of a rule of `table`.
   TermPtr ruleCondition(Query& query, const ::Node* node, const catalog::RelationPtr& table, catalog::RuleEvent event);
   std::shared_ptr<Query> ruleAction(const ::Node* node, const catalog::RelationPtr& table);
   /// A statement in the body of a function, whose parameters it sees.
   std::shared_ptr<Query> bodyStatement(const ::Node* node, const catalog::Function& function);

private:
   // Queries (resolve_query.cpp, resolve_values.cpp).
   /// `self`: the recursive CTE whose query it is. `hasRuleRows`: OLD and NEW are among its sources.
   std::shared_ptr<Query> select(const ::SelectStmt& node, Level* parent, Cte* self = nullptr, bool keepUnknown = false,
                                 bool hasRuleRows = false);
   void with(const ::WithClause* node, Query& query, Level& level);
   void cte(const ::CommonTableExpr& node, Cte& result, Level& level, bool isRecursive);
   void searchAndCycle(const ::CommonTableExpr& node, Cte& result, Level& level);
   void nameColumns(Cte& cte, const Query& query) const;
   void plainSelect(const ::SelectStmt& node, Query& query, Level& level, bool keepUnknown);
   void values(const ::SelectStmt& node, Query& query, Level& level, bool keepUnknown);
   std::vector<std::vector<TermPtr>> rows(const ::List* lists, Level& level, bool keepUnknown, bool unites = true);
   std::unique_ptr<SetTree> setTree(const ::SelectStmt& node, Level& level, Cte* self);
   void castLeaf(SetTree& tree, const std::vector<SqlType>& types);
   void setOperation(const ::SelectStmt& node, Query& query, Level& level, Cte* self);
   void orderAndLimit(const ::SelectStmt& node, Query& query, Level& level);
   void locks(const ::SelectStmt& node, Query& query, Level& level);
   std::vector<Target> targets(const ::List* list, Level& level, bool keepUnknown);
   void expandStar(const ::ColumnRef& node, Level& level, std::vector<Target>& targets);
   TermPtr orderTerm(const ::Node* node, Query& query, Level& level, bool inputFirst, int32_t* number);
   std::vector<SortItem> sortItems(const ::List* list, Query* query, Level& level);
   GroupingItem groupingItem(const ::Node* node, Query& query, Level& level);
   std::shared_ptr<WindowSpec> windowSpec(const ::WindowDef& node, Level& level);

   // Commands that write (resolve_command.cpp).
   void addRuleRows(Query& query, Level& level);
   void command(const ::Node* node, Query& query, Level& level);
   Source* targetSource(const ::RangeVar& name, Query& query);
   void insert(const ::InsertStmt& node, Query& query, Level& level);
   void update(const ::UpdateStmt& node, Query& query, Level& level);
   void remove(const ::DeleteStmt& node, Query& query, Level& level);
   void returning(const ::List* list, Query& query, Level& level, Source& target);

   // FROM (resolve_from.cpp).
   void fromItems(const ::List* list, Query& query, Level& level);
   std::unique_ptr<JoinTree> from(const ::Node* node, Query& query, Level& level, std::vector<Visible>& visible);
   std::unique_ptr<JoinTree> join(const ::JoinExpr& node, Query& query, Level& level, std::vector<Visible>& visible);
   void mergeColumns(const ::JoinExpr& node, JoinTree& tree, Source& merged, const std::vector<Visible>& left,
                     const std::vector<Visible>& right);
   void functionSource(const ::RangeFunction& node, Source& source, Level& level);
   std::shared_ptr<XmlTableSource> xmlTable(const ::RangeTableFunc& node, Source& source,
                                            Level& level); // resolve_xml.cpp
   void functionColumns(FunctionSource& function, const std::string& name, Source& source);
   void cteSource(Source& source, const Cte& cte);
   void applyAlias(Source& source, const ::Alias* alias);
   Source* addSource(Query& query, SourceKind kind);
   void relationSource(Source& source, const catalog::RelationPtr& relation);
   const Cte* findCte(std::string_view name, const Level& level) const;
   std::vector<SourceColumn> columnsOf(const Query& query) const;

   // Expressions (resolve_term.cpp, resolve_operator.cpp, resolve_call.cpp).
   TermPtr term(const ::Node* node, Level& level);
   /// A term whose unknown literals are text.
   TermPtr known(const ::Node* node, Level& level) { return knownTerm(term(node, level)); }
   TermPtr condition(const ::Node* node, Level& level);
   TermPtr columnRef(const ::ColumnRef& node, Level& level);
   TermPtr parameter(size_t number);
   TermPtr parameterNamed(const ::ColumnRef& node);
   TermPtr findColumn(std::string_view name, Level& level, bool onlyHere = false);
   TermPtr columnIn(Source& source, std::string_view name);
   TermPtr columnAt(Source& source, size_t number);
   Visible* findSource(std::string_view name, Level& level);
   TermPtr wholeRow(Source& source);
   TermPtr fieldOf(TermPtr row, std::string_view name);
   TermPtr indirection(const ::A_Indirection& node, Level& level);
   TermPtr subscript(TermPtr container, std::span<const ::A_Indices* const> indices, Level& level);
   TermPtr constant(const ::A_Const& node);
   TermPtr typeCast(const ::TypeCast& node, Level& level);
   TermPtr array(const ::A_ArrayExpr& node, Level& level, const SqlType* target);
   TermPtr row(const ::RowExpr& node, Level& level);
   TermPtr caseTerm(const ::CaseExpr& node, Level& level);
   TermPtr sqlValue(const ::SQLValueFunction& node);
   TermPtr subLink(const ::SubLink& node, Level& level);
   TermPtr xml(const ::XmlExpr& node, Level& level);               // resolve_xml.cpp
   TermPtr xmlSerialize(const ::XmlSerialize& node, Level& level); // resolve_xml.cpp
   TermPtr aExpr(const ::A_Expr& node, Level& level);
   TermPtr inList(const ::A_Expr& node, Level& level);
   TermPtr between(const ::A_Expr& node, Level& level);
   TermPtr anyArray(const std::string& name, TermPtr left, TermPtr right, bool isAll);
   /// The name as op() takes it: stored texts name operators of users by their OIDs.
   static std::string operatorNamed(const ::List* list);
   TermPtr op(const std::string& name, TermPtr left, TermPtr right);
   TermPtr rowComparison(const std::string& name, const Term& left, const Term& right);
   TermPtr call(const ::FuncCall& node, Level& level);
   void uniteHypothetical(const std::string& name, std::vector<TermPtr>& args, size_t direct, std::vector<Oid>& actual);

   // Types (resolve_type.cpp).
   TermPtr cast(TermPtr value, const SqlType& target, CoercionContext context, Form form);
   TermPtr castType(TermPtr value, const SqlType& target, CoercionContext context, Form form);
   TermPtr castTypmod(TermPtr value, const SqlType& target, Form form, bool hidesInput);
   TermPtr castLiteral(const Term& literal, const SqlType& target, Form form);
   TermPtr castRow(const Term& row, const SqlType& target, CoercionContext context, Form form);
   TermPtr castTo(TermPtr value, Oid type) {
      return castType(std::move(value), plainType(type), CoercionContext::Implicit, Form::Implicit);
   }
   TermPtr knownTerm(TermPtr value);
   SqlType commonType(std::span<const TermPtr> terms) const;
   void castAll(std::vector<TermPtr>& terms, const SqlType& type);
   SqlType fieldType(const SqlType& row, std::string_view name) const;

   const BindContext& context_;
   BindState state_;
   const catalog::Function* function_ = nullptr; ///< whose body it is
   catalog::RelationPtr ruleTable_; ///< whose rows OLD and NEW are; null: of a view, in which nobody can use them
   std::vector<std::unique_ptr<Source>> aliasesOfUsing_; ///< JOIN ... USING (...) AS alias
};

inline TermPtr makeTerm(TermKind kind, const SqlType& type, std::vector<TermPtr> args = {}) {
   auto term = std::make_shared<Term>();
   term->kind = kind;
   term->type = type;
   term->args = std::move(args);
   return term;
}
inline const SqlType booleanType{oid::boolean, -1, invalidOid};
/// Whether two terms are the same expression. Subqueries are not compared.
bool areSame(const Term& a, const Term& b);
/// ROW(...), which is compared field by field, and no value of a row type.
inline bool isRowConstructor(const Term& term) {
   return term.kind == TermKind::Row && term.type.oid == oid::record;
}
/// Thrown for what the printer does not know: the stored text is shown then.
[[noreturn]] void giveUp();

} // namespace ouzel::sql::deparse
