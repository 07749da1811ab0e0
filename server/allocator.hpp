#pragma once

namespace ouzel::server {

/// A function that returns memory kept by the allocator to the system. Null where another allocator is in use (a
/// sanitizer's), whose resident memory has no meaning.
void (*purgeAllocator())();

} // namespace ouzel::server
