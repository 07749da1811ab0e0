#pragma once

namespace ouzel::server {

/// A function that gives the memory which the allocator keeps for later back to the system. Null where something else
/// stands in for the allocator (a sanitizer), whose resident memory says nothing.
void (*purgeAllocator())();

} // namespace ouzel::server
