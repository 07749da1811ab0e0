#include "sql/bind/dml/view_check.hpp"

#include <algorithm>

#include "common/text/ascii.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/dml/dml.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/query/from.hpp"
#include "sql/bind/query/target_list.hpp"
#include "sql/bind/query/view.hpp"
#include "sql/bind/type/coercion.hpp"

// Each view of the chain is bound once more over one row of the table: its condition, and the columns that it shows of
// the row, over which the next view is bound.

namespace ouzel::sql {

namespace {

/// A view over one row of the table.
struct ShownRow {
   const catalog::Relation* view;
   ExprPtr condition;             ///< null: there is none
   std::vector<ColumnId> columns; ///< of the view, dropped ones left out
};

/// While it lives, nothing of the statement around the view is visible.
class ApartFromStatement {
public:
   ApartFromStatement(BindState& state, const catalog::Relation& view)
      : state_(state), source_(std::exchange(state.source, nullptr)), recursion_(std::exchange(state.recursion, {})),
        role_(std::exchange(state.access.role, roleBehind(view))) {
      state.openViews.push_back(view.oid);
   }
   ~ApartFromStatement() {
      state_.openViews.pop_back();
      state_.access.role = role_;
      state_.recursion = recursion_;
      state_.source = source_;
   }
   ApartFromStatement(const ApartFromStatement&) = delete;

private:
   BindState& state_;
   const SourceText* const source_;
   const BindState::RecursionContext recursion_;
   const Oid role_;
};

NamespaceItem itemOfView(const catalog::Relation& view, const std::vector<ColumnId>& columns) {
   NamespaceItem item;
   item.alias = view.name;
   item.relation = &view;
   item.rowType = view.rowType;
   size_t next = 0;
   for (const catalog::Column& column : view.columns)
      if (!column.isDropped)
         item.columns.push_back({column.name, columns[next++], column.type, view.oid, column.attribute});
   return item;
}

/// Binds a view over `item`, what it selects from. Columns that it computes are computed above `rel`.
ShownRow showRow(BindState& state, const Scope& scope, const catalog::Relation& view, NamespaceItem item, RelPtr& rel) {
   const ApartFromStatement apart(state, view);
   const auto script = ParsedScript::parse(view.definition);
   const auto& select = *as<SelectStmt>(script.statements().at(0).node);
   applyAlias(item, as<RangeVar>(ListOf<>(select.fromClause)[0])->alias);
   Scope own(nullptr);
   own.depth = scope.depth;
   addEntry(own, item);
   own.items.push_back(std::move(item));
   ShownRow shown{&view, nullptr, {}};
   if (select.whereClause)
      shown.condition = coerceToBoolean(state, bindExpr(state, own, select.whereClause, Clause::Where), "WHERE");
   std::vector<ComputedColumn> computed;
   for (Target& target : bindTargetList(state, own, select.targetList, Clause::Select)) {
      ColumnId column = noColumn;
      if (const auto* reference = target.expr->getIf<scalar::Column>()) {
         column = reference->column;
      } else {
         target.expr = unknownToText(state, std::move(target.expr));
         column = state.addColumn(scope, target.name, target.expr->type);
         computed.push_back({column, std::move(target.expr)});
      }
      shown.columns.push_back(column);
   }
   rel = makeMap(std::move(rel), std::move(computed));
   return shown;
}

/// The chain's views over a row of the table, innermost first.
std::vector<ShownRow> showRows(BindState& state, const Scope& scope, const ViewTarget& target,
                               const std::vector<GetColumn>& row, RelPtr& rel) {
   std::vector<GetColumn> columns;
   for (const GetColumn& column : row)
      if (column.attribute != rowIdAttribute) columns.push_back(column);
   std::vector<ShownRow> result;
   for (size_t i = target.views.size(); i-- > 0;) {
      NamespaceItem item =
          result.empty() ? itemOf(*target.table, columns) : itemOfView(*result.back().view, result.back().columns);
      result.push_back(showRow(state, scope, *target.views[i], std::move(item), rel));
   }
   return result;
}

enum class CheckOption : uint8_t { None, Local, Cascaded };

CheckOption checkOptionOf(const catalog::Relation& view) {
   constexpr std::string_view name = "check_option=";
   for (const std::string& option : view.options)
      if (option.starts_with(name))
         return lowerCase(std::string_view(option).substr(name.size())) == "local" ? CheckOption::Local
                                                                                   : CheckOption::Cascaded;
   return CheckOption::None;
}

bool hasSubquery(const Expr& root) {
   bool found = false;
   forEachExpr(root, [&found](const Expr& expr) {
      found = found || expr.kind == ExprKind::Subquery;
      return !found;
   });
   return found;
}

} // namespace

std::vector<Dml::Check> viewChecks(BindState& state, const Scope& scope, const ViewTarget& target,
                                   const std::vector<GetColumn>& row, RelPtr& rel) {
   std::vector<Dml::Check> checks;
   if (std::all_of(target.views.begin(), target.views.end(),
                   [](const catalog::RelationPtr& view) { return checkOptionOf(*view) == CheckOption::None; }))
      return checks;
   std::vector<ShownRow> shown = showRows(state, scope, target, row, rel);
   bool isCascaded = false; // from the view that was written inwards
   for (size_t i = shown.size(); i-- > 0;) {
      const CheckOption option = checkOptionOf(*shown[i].view);
      isCascaded = isCascaded || option == CheckOption::Cascaded;
      if (!shown[i].condition || (option == CheckOption::None && !isCascaded)) continue;
      Dml::Check check;
      check.view = shown[i].view->name;
      check.expr = makeTest(ExprKind::IsTrue, std::move(shown[i].condition));
      if (hasSubquery(*check.expr)) {
         const ColumnId holds = state.addColumn(scope, "check", check.expr->type);
         std::vector<ComputedColumn> computed;
         computed.push_back({holds, std::exchange(check.expr, makeColumn(holds, check.expr->type))});
         rel = makeMap(std::move(rel), std::move(computed));
      }
      checks.insert(checks.begin(), std::move(check));
   }
   return checks;
}

std::vector<Dml::Check> visibilityChecks(BindState& state, const Scope& scope, const ViewTarget& target,
                                         const std::vector<GetColumn>& row, RelPtr& rel) {
   std::vector<Dml::Check> checks;
   for (ShownRow& shown : showRows(state, scope, target, row, rel)) {
      if (!shown.condition) continue;
      Dml::Check& check = checks.emplace_back();
      check.view = shown.view->name;
      check.isVisibility = true;
      check.expr = makeTest(ExprKind::IsTrue, std::move(shown.condition));
   }
   return checks;
}

ExprPtr viewDefault(BindState& state, const Scope& scope, const ViewTarget& target, int16_t attribute) {
   const auto hasDefault = [](const catalog::Column& column) { return column.hasDefault() && !column.isDropped; };
   if (std::none_of(target.views.begin(), target.views.end(), [&](const catalog::RelationPtr& view) {
          return std::any_of(view->columns.begin(), view->columns.end(), hasDefault);
       }))
      return nullptr;
   RelPtr unused = oneRow();
   const std::vector<ShownRow> shown = showRows(state, scope, target, target.old, unused);
   for (size_t i = shown.size(); i-- > 0;) {
      size_t next = 0;
      for (const catalog::Column& column : shown[i].view->columns) {
         if (column.isDropped) continue;
         const ColumnId source = shown[i].columns[next++];
         if (!hasDefault(column)) continue;
         for (const GetColumn& stored : target.old)
            if (stored.column == source && stored.attribute == attribute)
               return defaultOf(state, *shown[i].view, column);
      }
   }
   return nullptr;
}

} // namespace ouzel::sql
