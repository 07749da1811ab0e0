#include "engine/core/exported_snapshots.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace ouzel::engine {

std::string ExportedSnapshots::add(int32_t session, const Entry& entry) {
   const MutexLock lock(mutex_);
   const auto count = std::count_if(entries_.begin(), entries_.end(),
                                    [&](const auto& one) { return one.second.owner == entry.owner; });
   std::string name = fmt::format("{:08X}-{:08X}-{}", session, entry.owner, count + 1);
   entries_.emplace(name, entry);
   return name;
}

std::optional<ExportedSnapshots::Entry> ExportedSnapshots::find(std::string_view name) const {
   const MutexLock lock(mutex_);
   const auto found = entries_.find(name);
   return found == entries_.end() ? std::nullopt : std::optional(found->second);
}

void ExportedSnapshots::forget(storage::TransactionId owner) {
   const MutexLock lock(mutex_);
   std::erase_if(entries_, [owner](const auto& one) { return one.second.owner == owner; });
}

} // namespace ouzel::engine
