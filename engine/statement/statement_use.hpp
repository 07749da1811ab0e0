#pragma once
#include <cstdint>

namespace ouzel::engine {

/// What a statement takes, from its beginning to its end. Added up by the session's thread.
struct StatementUse {
   int64_t nanos = 0;            ///< that it runs
   int64_t preparationNanos = 0; ///< of `nanos`: before its query begins to run
   int64_t planNanos = 0;        ///< of `preparationNanos`: in the optimizer
   uint32_t plans = 0;
   uint64_t rows = 0;
   uint64_t pagesHit = 0, pagesRead = 0;               ///< found in the cache, read from the store
   uint64_t spillBytesWritten = 0, spillBytesRead = 0; ///< as stored
};

/// While it lives, what this thread does counts for `use`; null: for nobody. Scopes nest, the innermost counts.
class StatementUseScope {
public:
   explicit StatementUseScope(StatementUse* use);
   ~StatementUseScope();
   StatementUseScope(const StatementUseScope&) = delete;
   StatementUseScope& operator=(const StatementUseScope&) = delete;
   /// What this thread's innermost scope counts; may be null.
   static StatementUse* current();

private:
   StatementUse* const outer_;
};

} // namespace ouzel::engine
