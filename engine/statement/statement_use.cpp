#include "engine/statement/statement_use.hpp"

#include <utility>

namespace ouzel::engine {

namespace {
constinit thread_local StatementUse* innermost = nullptr;
} // namespace

StatementUseScope::StatementUseScope(StatementUse* use) : outer_(std::exchange(innermost, use)) {}

StatementUseScope::~StatementUseScope() {
   innermost = outer_;
}

StatementUse* StatementUseScope::current() {
   return innermost;
}

} // namespace ouzel::engine
