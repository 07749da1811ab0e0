#include "sql/bind/query/search_cycle.hpp"

#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/expression/array.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/expression/operator.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/row_value.hpp"
#include "sql/bind/type/type_rules.hpp"

namespace ouzel::sql {

namespace {

constexpr std::string_view depthName = "*DEPTH*";
const SqlType int8Type{oid::int8, -1, invalidOid};

ExprPtr number(int64_t value) {
   return makeConstant(int8Type, Value::integer(PhysicalType::I64, value));
}

[[noreturn]] void refuse(SqlState state, const std::string& message, uint32_t position) {
   throw SqlError(state, message).at(position);
}

} // namespace

SearchCycle::SearchCycle(BindState& state, CteBinding& cte)
   : state_(state), cte_(cte), search_(cte.node->search_clause), cycle_(cte.node->cycle_clause),
     ownColumns_(cte.columns.size()) {
   if (search_) searchBy_ = namedColumns(search_->search_col_list, "search", state.at(search_->location));
   if (cycle_) cycleBy_ = namedColumns(cycle_->cycle_col_list, "cycle", state.at(cycle_->location));
}

void SearchCycle::requireNewNames() const {
   if (search_) requireNewName(search_->search_seq_column, "search sequence column", state_.at(search_->location));
   if (!cycle_) return;
   const uint32_t position = state_.at(cycle_->location);
   const std::string mark = cycle_->cycle_mark_column, path = cycle_->cycle_path_column;
   requireNewName(mark, "cycle mark column", position);
   requireNewName(path, "cycle path column", position);
   if (mark == path)
      refuse(sqlstate::syntaxError, "cycle mark column name and cycle path column name are the same", position);
   if (!search_) return;
   if (search_->search_seq_column == mark)
      refuse(sqlstate::syntaxError, "search sequence column name and cycle mark column name are the same",
             state_.at(search_->location));
   if (search_->search_seq_column == path)
      refuse(sqlstate::syntaxError, "search sequence column name and cycle path column name are the same",
             state_.at(search_->location));
}

std::vector<size_t> SearchCycle::namedColumns(const ::List* names, const char* what, uint32_t position) const {
   std::vector<size_t> result;
   for (const ::Node* node : ListOf<>(names)) {
      const std::string name(stringOf(node));
      const auto found = std::find_if(cte_.columns.begin(), cte_.columns.end(),
                                      [&](const ScopeColumn& column) { return column.name == name; });
      if (found == cte_.columns.end())
         refuse(sqlstate::syntaxError, std::string(what) + " column \"" + name + "\" not in WITH query column list",
                position);
      const auto index = static_cast<size_t>(found - cte_.columns.begin());
      if (std::find(result.begin(), result.end(), index) != result.end())
         refuse(sqlstate::duplicateColumn, std::string(what) + " column \"" + name + "\" specified more than once",
                position);
      result.push_back(index);
   }
   return result;
}

void SearchCycle::requireNewName(const std::string& name, const char* what, uint32_t position) const {
   for (size_t i = 0; i < ownColumns_; ++i)
      if (cte_.columns[i].name == name)
         refuse(sqlstate::syntaxError,
                std::string(what) + " name \"" + name + "\" already used in WITH query column list", position);
}

void SearchCycle::bindMarks(Scope& scope) {
   markValue_ = bindExpr(state_, scope, cycle_->cycle_mark_value);
   markDefault_ = bindExpr(state_, scope, cycle_->cycle_mark_default);
   ExprPtr* both[] = {&markValue_, &markDefault_};
   const Oid common = selectCommonType(both, "CYCLE");
   markValue_ = coerceToCommon(state_, std::move(markValue_), common, "CYCLE/CYCLE");
   markDefault_ = coerceToCommon(state_, std::move(markDefault_), common, "CYCLE/CYCLE");
   if (!catalog::builtins().equalityOperator(common))
      throw SqlError(sqlstate::undefinedFunction,
                     "could not identify an equality operator for type " + typeName(common));
}

/// ROW(columns), after `first` if it is given, as a value.
ExprPtr SearchCycle::rowOf(const std::vector<size_t>& columns, const std::vector<OutputColumn>& output, ExprPtr first) {
   auto row = makeTyped(ExprKind::Row, {oid::record, -1, invalidOid});
   if (first) row->args.push_back(std::move(first));
   for (const size_t index : columns)
      row->args.push_back(makeColumn(output[index].column, output[index].type));
   return rowValue(state_, std::move(row));
}

ColumnId SearchCycle::addColumn(Scope& scope, std::vector<ComputedColumn>& computed, const std::string& name,
                                ExprPtr value) {
   const ColumnId column = state_.addColumn(scope, name, value->type);
   computed.push_back({column, std::move(value)});
   return column;
}

void SearchCycle::extendBase(Scope& scope, BoundRel& base) {
   std::vector<ComputedColumn> computed;
   const auto add = [&](const std::string& name, ExprPtr value) {
      const SqlType type = value->type;
      const ColumnId column = addColumn(scope, computed, name, std::move(value));
      ScopeColumn added{name, column, type};
      added.isHidden = true;
      cte_.columns.push_back(std::move(added));
      cte_.cte.columns.push_back(column);
      return cte_.columns.size() - 1;
   };
   const auto arrayOf = [&](ExprPtr row) {
      std::vector<ExprPtr> elements;
      elements.push_back(std::move(row));
      return makeArrayExpr(std::move(elements), oid::recordArray, 0);
   };
   if (search_ && search_->search_breadth_first) {
      sequence_ = add(search_->search_seq_column, rowOf(searchBy_, base.output, number(0)));
      depth_ = add(std::string(depthName), number(0));
   } else if (search_) {
      sequence_ = add(search_->search_seq_column, arrayOf(rowOf(searchBy_, base.output)));
   }
   if (cycle_) {
      bindMarks(scope);
      mark_ = add(cycle_->cycle_mark_column, clone(*markDefault_));
      path_ = add(cycle_->cycle_path_column, arrayOf(rowOf(cycleBy_, base.output)));
   }
   base.rel = makeMap(std::move(base.rel), std::move(computed));
}

ExprPtr SearchCycle::previous(size_t index) const {
   return makeColumn(cte_.selfColumns[index], cte_.columns[index].type);
}

void SearchCycle::extendStep(Scope& scope, BoundRel& step) {
   requireNewNames(); // only now: a term that names such a column twice is ambiguous first
   const std::vector<ColumnId> there = outputColumns(*step.rel);
   for (size_t i = ownColumns_; i < cte_.columns.size(); ++i)
      if (std::find(there.begin(), there.end(), cte_.selfColumns[i]) == there.end())
         throw SqlError(sqlstate::featureNotSupported,
                        "with a SEARCH or CYCLE clause, the recursive reference to WITH query \"" + cte_.name +
                            "\" must be at the top level of its right-hand SELECT");
   std::vector<ComputedColumn> computed;
   std::vector<ColumnId> added(cte_.columns.size() - ownColumns_);
   const auto add = [&](size_t index, ExprPtr value) {
      added[index - ownColumns_] = addColumn(scope, computed, cte_.columns[index].name, std::move(value));
   };
   if (search_ && search_->search_breadth_first) {
      auto depth = makeOperator(state_, "+", previous(depth_), number(1), 0);
      add(sequence_, rowOf(searchBy_, step.output, clone(*depth)));
      add(depth_, std::move(depth));
   } else if (search_) {
      add(sequence_, makeOperator(state_, "||", previous(sequence_), rowOf(searchBy_, step.output), 0));
   }
   if (cycle_) {
      step.rel = makeSelect(std::move(step.rel), makeOperator(state_, "<>", previous(mark_), clone(*markValue_), 0));
      auto mark = makeTyped(ExprKind::Case, cte_.columns[mark_].type);
      mark->args.push_back(makeAnyArray(state_, "=", rowOf(cycleBy_, step.output), previous(path_), false, 0));
      mark->args.push_back(clone(*markValue_));
      mark->args.push_back(clone(*markDefault_));
      add(mark_, std::move(mark));
      add(path_, makeOperator(state_, "||", previous(path_), rowOf(cycleBy_, step.output), 0));
   }
   step.rel = makeMap(std::move(step.rel), std::move(computed));
   for (const ColumnId column : added)
      cte_.cte.recursiveColumns.push_back(column);
}

void SearchCycle::finish() {
   for (ScopeColumn& column : cte_.columns)
      column.isHidden = false;
   if (depth_ != 0) cte_.columns.erase(cte_.columns.begin() + static_cast<ptrdiff_t>(depth_));
}

} // namespace ouzel::sql
