#pragma once
#include <source_location>

// Invariant checks. A failed check means this program is wrong or the bytes on disk are; nothing a client
// sends may ever reach one (that is an SqlError).

namespace ouzel {

/// Report the failed condition on stderr and abort. Never returns, never allocates.
[[noreturn]] void checkFailed(const char* condition, std::source_location where);

} // namespace ouzel

/// Always compiled in. For durability, on-disk structure and memory bounds, where going on is worse than stopping.
#define CHECK(condition)                                                                                               \
   (__builtin_expect(static_cast<bool>(condition), 1)                                                                  \
        ? static_cast<void>(0)                                                                                         \
        : ::ouzel::checkFailed(#condition, std::source_location::current()))

/// Compiled in for the debug, relassert and sanitizer presets. In release the condition is still type-checked but
/// never evaluated, so a name cannot go stale and a side effect cannot hide here.
#ifdef OUZEL_DCHECKS
#define DCHECK(condition) CHECK(condition)
#else
#define DCHECK(condition) static_cast<void>(sizeof(static_cast<bool>(condition)))
#endif

namespace ouzel {

/// True where DCHECK is compiled in: `if constexpr (hasDchecks)` guards walks over whole structures (a plan, a batch).
#ifdef OUZEL_DCHECKS
inline constexpr bool hasDchecks = true;
#else
inline constexpr bool hasDchecks = false;
#endif

} // namespace ouzel
