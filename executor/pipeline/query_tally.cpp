#include "executor/pipeline/query_tally.hpp"

#include <utility>

namespace ouzel::executor {

namespace {
thread_local std::shared_ptr<QueryTally> innermost;
} // namespace

QueryTallyScope::QueryTallyScope(std::shared_ptr<QueryTally> tally)
   : outer_(std::exchange(innermost, std::move(tally))) {}

QueryTallyScope::~QueryTallyScope() {
   innermost = std::move(outer_);
}

const std::shared_ptr<QueryTally>& QueryTallyScope::current() {
   return innermost;
}

} // namespace ouzel::executor
