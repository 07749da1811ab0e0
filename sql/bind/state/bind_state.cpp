#include "sql/bind/state/bind_state.hpp"

#include <algorithm>
#include <pthread.h>

namespace ouzel::sql {

namespace {

/// Levels of nested expressions and queries; PostgreSQL's default stack overflows between 3,000 and 7,000.
constexpr uint32_t depthMax = 5000;
/// Bytes of the stack that binding leaves for rewrites, errors and destructors.
constexpr size_t stackReserve = 512 * 1024;

/// Lowest address that binding may use of this thread's stack.
uintptr_t stackFloor() {
   static thread_local const uintptr_t floor = [] {
      pthread_attr_t attributes;
      void* lowest = nullptr;
      size_t size = 0;
      if (pthread_getattr_np(pthread_self(), &attributes) != 0) return uintptr_t{0};
      pthread_attr_getstack(&attributes, &lowest, &size);
      pthread_attr_destroy(&attributes);
      return reinterpret_cast<uintptr_t>(lowest) + std::min(stackReserve, size / 2);
   }();
   return floor;
}

[[noreturn]] void throwTooDeep() {
   throw SqlError(sqlstate::statementTooComplex, "stack depth limit exceeded")
       .hint("The statement nests expressions or queries too deeply; break it up.");
}

} // namespace

DepthGuard::DepthGuard(BindState& state) : state_(state) {
   const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
   if (++state_.nesting_ > depthMax || here < state_.stackFloor_) {
      --state_.nesting_;
      throwTooDeep();
   }
}

void BindState::checkNesting(size_t levels) const {
   if (nesting_ + levels > depthMax) throwTooDeep();
}

BindState::BindState(const BindContext& bindContext)
   : context(bindContext), source(context.source),
     parameters(context.parameterTypes.begin(), context.parameterTypes.end()), stackFloor_(stackFloor()) {
   for (Oid& type : parameters)
      if (type == invalidOid) type = oid::unknown;
}

void BindState::checkParameters() const {
   for (size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i] == invalidOid || parameters[i] == oid::unknown)
         throw SqlError(sqlstate::indeterminateDatatype,
                        "could not determine data type of parameter $" + std::to_string(i + 1));
}

ColumnId BindState::addColumn(uint32_t depth, std::string name, const SqlType& type) {
   ColumnInfo info;
   info.name = std::move(name);
   info.type = type;
   info.repr = storedRepresentation(type);
   owners_.push_back({depth, ColumnKind::Input});
   return columns.add(std::move(info));
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
