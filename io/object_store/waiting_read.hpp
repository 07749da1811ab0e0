#pragma once
#include "io/object_store/object_store.hpp"

namespace ouzel::io {

/// ObjectReader::read for readers whose readAsync() is the real one. Throws what the read ends with, or what the
/// thread's Interruptible throws (common/thread/interruption.hpp); then nothing touches the target any more.
void readAndWait(const ObjectReader& reader, uint64_t offset, size_t size, void* target);

} // namespace ouzel::io
