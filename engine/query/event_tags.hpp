#pragma once
#include <string_view>

struct Node;

namespace ouzel::engine {

/// What event triggers have to do with the commands of a tag.
enum class EventTag : uint8_t {
   Unknown,  ///< there is no such command
   NoEvents, ///< they do not fire
   Fires,
   Rewrites ///< they fire, also for table_rewrite
};
/// `tag`: in capitals.
EventTag eventTag(std::string_view tag);
/// The tag of a command for which event triggers fire; empty: they do not.
std::string_view eventTagOf(const ::Node* command);

} // namespace ouzel::engine
