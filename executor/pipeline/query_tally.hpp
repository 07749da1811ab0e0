#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

#include "storage/buffer/frame_tally.hpp"

namespace ouzel::executor {

/// What queries take of the cache and of the spill devices. Counted by their workers; the bytes of spilled pages, as
/// they are stored, are added when a query has ended.
struct QueryTally {
   storage::FrameTally frames;
   std::atomic<uint64_t> spillBytesWritten{0}, spillBytesRead{0};
};

/// While it lives, the queries that this thread makes count for `tally`, also after the scope has ended; null: for
/// nobody. Scopes nest, the innermost counts.
class QueryTallyScope {
public:
   explicit QueryTallyScope(std::shared_ptr<QueryTally> tally);
   ~QueryTallyScope();
   QueryTallyScope(const QueryTallyScope&) = delete;
   QueryTallyScope& operator=(const QueryTallyScope&) = delete;
   /// The tally of this thread's innermost scope; may be null.
   static const std::shared_ptr<QueryTally>& current();

private:
   std::shared_ptr<QueryTally> outer_;
};

} // namespace ouzel::executor
