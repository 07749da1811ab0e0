#include "sql/bind/state/bind_state.hpp"

#include <algorithm>

#include "catalog/object/collation.hpp"
#include "common/thread/stack.hpp"
#include "sql/bind/state/view_text.hpp"

namespace ouzel::sql {

namespace {

/// Levels of nested expressions and queries; PostgreSQL's default stack overflows between 3,000 and 7,000.
constexpr uint32_t depthMax = 5000;

} // namespace

DepthGuard::DepthGuard(BindState& state) : state_(state) {
   checkStack();
   if (state.nesting_ == depthMax) throwStackDepth();
   ++state.nesting_;
}

void BindState::checkNesting(size_t levels) const {
   if (nesting_ + levels > depthMax) throwStackDepth();
}

BindState::BindState(const BindContext& bindContext)
   : context(bindContext), source(context.source),
     parameters(context.parameterTypes.begin(), context.parameterTypes.end()) {
   for (Oid& type : parameters)
      if (type == invalidOid) type = oid::unknown;
   const auto usual = catalog::collationInfo(context.catalog, defaultCollation);
   if (usual->provider != 'i') return;
   hasCollations = true;
   columns.collations.add({defaultCollation, std::string(usual->icuLocale), true, false});
}

void BindState::readColumn(const ScopeColumn& column) {
   if (recorder) recorder->readColumn(column.tableOid, column.attribute);
   readUnnamed(column);
}

void BindState::readUnnamed(const ScopeColumn& column) {
   if (column.tableOid == invalidOid || column.tableOid == access.own) return;
   if (column.target != 0) targetsRead.insert(column.target);
   RelationAccess* used = access.find(column.tableOid, access.role);
   if (!used) return;
   used->privileges |= catalog::privilege::select;
   used->selected.push_back(column.attribute);
}

const catalog::SearchPath& BindState::uncheckedPath() {
   if (!unchecked_) {
      unchecked_ = context.searchPath;
      unchecked_->role = invalidOid;
   }
   return *unchecked_;
}

void BindState::checkParameters() const {
   for (size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i] == invalidOid || parameters[i] == oid::unknown)
         throw SqlError(sqlstate::indeterminateDatatype,
                        "could not determine data type of parameter $" + std::to_string(i + 1));
   if (!untypedTests.empty())
      throw SqlError(sqlstate::ambiguousParameter,
                     "could not determine data type of parameter $" + std::to_string(untypedTests[0].first + 1))
          .at(untypedTests[0].second);
}

ColumnId BindState::addColumn(uint32_t depth, std::string name, const SqlType& type) {
   ColumnInfo info;
   info.name = std::move(name);
   info.type = type;
   noteCollation(type.collation);
   info.repr = storedRepresentation(type);
   owners_.push_back({depth, ColumnKind::Input});
   return columns.add(std::move(info));
}

void BindState::noteCollation(Oid collation) {
   if (collation == invalidOid || collation == defaultCollation) return;
   hasCollations = true;
   const auto info = catalog::collationInfo(context.catalog, collation);
   if (!info) return;
   const bool isIcu = info->provider == 'i';
   // C.utf8 orders by bytes, but knows the case of all letters.
   const bool knowsCase = info->ctype.size() > 1 && info->ctype.starts_with("C.");
   if (isIcu || knowsCase)
      columns.collations.add({collation, std::string(info->icuLocale), info->isDeterministic, !isIcu});
}

bool BindState::readsLevel(const Expr& expr, const Scope& scope) const {
   std::vector<ColumnId> read;
   collectColumns(expr, read);
   return std::any_of(read.begin(), read.end(), [&](ColumnId column) { return depthOf(column) == scope.depth; });
}

bool BindState::readsKind(const Expr& expr, const Scope& scope, ColumnKind kind) const {
   std::vector<ColumnId> read;
   collectColumns(expr, read);
   return std::any_of(read.begin(), read.end(),
                      [&](ColumnId column) { return depthOf(column) == scope.depth && kindOf(column) == kind; });
}

} // namespace ouzel::sql
