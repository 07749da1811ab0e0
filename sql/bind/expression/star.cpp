#include "sql/bind/expression/star.hpp"

#include "sql/bind/expression/array.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/expression/names.hpp"
#include "sql/bind/expression/row.hpp"
#include "sql/bind/state/view_text.hpp"
#include "sql/bind/type/collation.hpp"
#include "sql/bind/type/row_value.hpp"

// `*` and `t.*`, and lists of expressions that may contain stars.

namespace ouzel::sql {

namespace {

/// Length in bytes of a star reference in the text, including the `*`.
uint32_t starLength(std::string_view text, uint32_t location) {
   const auto end = text.find('*', location);
   return end == std::string_view::npos ? 0 : static_cast<uint32_t>(end - location + 1);
}

/// The alias by which the text names a column: that of the item, or of the side of an unnamed join that it comes from,
/// for both sides may have a column of this name.
const std::string& aliasOf(const Scope& scope, const NamespaceItem& item, const ScopeColumn& column) {
   if (!item.alias.empty() || column.column == noColumn) return item.alias;
   for (const NamespaceItem& side : scope.items)
      if (!side.alias.empty() && side.hasVisibleName)
         for (const ScopeColumn& own : side.columns)
            if (own.column == column.column && own.name == column.name) return side.alias;
   return item.alias;
}

} // namespace

bool isStarRef(const ::Node* node) {
   return isNode(node, T_ColumnRef) && isNode(ListOf<>(as<ColumnRef>(node)->fields).back(), T_A_Star);
}

namespace {

std::vector<Target> targetsOf(BindState& state, std::vector<RowMember> members) {
   std::vector<Target> targets;
   for (RowMember& member : members) {
      settleCollations(state, *member.expr);
      Target target;
      target.name = std::move(member.name);
      target.position = member.expr->position;
      target.expr = std::move(member.expr);
      targets.push_back(std::move(target));
   }
   return targets;
}

/// `name.*` of a variable or parameter. False: the name is the query's.
bool expandVariable(BindState& state, Scope& scope, const ::ColumnRef& star, std::vector<Target>& targets,
                    std::vector<ExprPtr>* exprs) {
   ExprPtr row = variableRow(state, scope, star);
   if (!row) return false;
   if (state.recorder) throwNotSupported("row expansion via \"*\" in a view", state.at(star.location));
   for (Target& target : targetsOf(state, membersOf(state, std::move(row)))) {
      if (exprs)
         exprs->push_back(std::move(target.expr));
      else
         targets.push_back(std::move(target));
   }
   return true;
}

} // namespace

void expandStar(BindState& state, Scope& scope, const ::ColumnRef& star, std::vector<Target>& targets,
                std::vector<ExprPtr>* exprs) {
   const uint32_t position = state.at(star.location);
   const ListOf<> fields(star.fields);
   const bool isQualified = fields.size() > 1 && fields.size() <= 4;
   if (isQualified && expandVariable(state, scope, star, targets, exprs)) return;
   std::string text;
   const auto add = [&](const NamespaceItem& item, const ScopeColumn& column) {
      auto expr = referTo(column, position);
      state.readColumn(column);
      if (state.recorder) {
         if (!text.empty()) text += ", ";
         if (const std::string& alias = aliasOf(scope, item, column); !alias.empty())
            text += catalog::quoteIdentifier(alias) + ".";
         text += catalog::quoteIdentifier(column.name);
      }
      if (exprs) {
         exprs->push_back(std::move(expr));
         return;
      }
      Target target;
      target.expr = std::move(expr);
      target.name = column.name;
      target.position = position;
      targets.push_back(std::move(target));
   };
   if (fields.size() == 1) {
      bool any = false;
      for (const NamespaceItem& item : scope.items) {
         if (!item.hasVisibleColumns) continue;
         any = true;
         for (const ScopeColumn& column : item.columns)
            if (!column.isHidden) add(item, column);
      }
      if (!any) throw SqlError(sqlstate::syntaxError, "SELECT * with no tables specified is not valid").at(position);
   } else {
      if (fields.size() > 4)
         throw SqlError(sqlstate::syntaxError, "improper qualified name (too many dotted names): " + joinNames(fields))
             .at(position);
      const uint32_t last = fields.size() - 1;
      const auto name = stringOf(fields[last - 1]);
      const auto schema = last >= 2 ? stringOf(fields[last - 2]) : std::string_view();
      const auto* item = findItem(state, scope, schema, name, position);
      if (!item) throwMissingRelation(scope, schema, name, position);
      for (const ScopeColumn& column : item->columns)
         if (!column.isHidden) add(*item, column);
   }
   if (state.recorder && state.source && star.location >= 0) {
      const auto location = static_cast<uint32_t>(star.location);
      state.recorder->replace(location, starLength(state.source->text(), location), std::move(text));
   }
}

bool isRowStar(const ::Node* node) {
   return isNode(node, T_A_Indirection) && isNode(ListOf<>(as<A_Indirection>(node)->indirection).back(), T_A_Star);
}

namespace {

bool hasSubquery(const Expr& root) {
   bool found = false;
   forEachExpr(root, [&found](const Expr& expr) {
      found = found || expr.kind == ExprKind::Subquery;
      return !found;
   });
   return found;
}

/// The fields of the row that `star` expands. As in PostgreSQL each is taken from a row of its own; one with a subquery
/// is bound anew for each, since the columns of a subquery are made once.
std::vector<RowMember> expandedFields(BindState& state, Scope& scope, const ::A_Indirection& star) {
   ExprPtr row = bindIndirection(state, scope, star, true);
   const bool isCopied = row->kind != ExprKind::Row && hasSubquery(*row);
   std::vector<RowMember> members = membersOf(state, std::move(row));
   for (size_t i = 1; isCopied && i < members.size(); ++i)
      members[i].expr = std::move(membersOf(state, bindIndirection(state, scope, star, true))[i].expr);
   return members;
}

} // namespace

std::vector<Target> expandRowStar(BindState& state, Scope& scope, const ::A_Indirection& star) {
   if (state.recorder) throwNotSupported("row expansion via \"*\" in a view", state.startOfNode(star.arg));
   return targetsOf(state, expandedFields(state, scope, star));
}

bool expands(const ::Node* node) {
   return isStarRef(node) || isRowStar(node);
}

void appendExpanded(BindState& state, Scope& scope, const ::Node* node, std::vector<ExprPtr>& exprs) {
   std::vector<Target> fields;
   if (isStarRef(node))
      expandStar(state, scope, *as<ColumnRef>(node), fields, &exprs);
   else
      fields = expandRowStar(state, scope, *as<A_Indirection>(node));
   for (Target& field : fields)
      exprs.push_back(std::move(field.expr));
}

std::vector<ExprPtr> bindExpressionList(BindState& state, Scope& scope, const ::List* list, Clause clause) {
   const ClauseGuard guard(scope, clause);
   std::vector<ExprPtr> exprs;
   for (const ::Node* node : ListOf<>(list)) {
      if (expands(node)) {
         appendExpanded(state, scope, node, exprs);
      } else {
         exprs.push_back(bindExpr(state, scope, node));
         settleCollations(state, *exprs.back());
      }
   }
   return exprs;
}

} // namespace ouzel::sql
