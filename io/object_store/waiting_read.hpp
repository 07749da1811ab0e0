#pragma once
#include "io/object_store/object_store.hpp"

namespace ouzel::io {

/// Implements ObjectReader::read by readAsync() and a wait. Throws the read's error, or the error of the thread's
/// Interruptible (common/thread/interruption.hpp). After a throw no thread touches the target.
void readAndWait(const ObjectReader& reader, uint64_t offset, size_t size, void* target);

} // namespace ouzel::io
