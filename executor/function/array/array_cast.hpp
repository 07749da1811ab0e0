#pragma once

namespace ouzel::executor {

/// Registers the casts and the slices of arrays.
void registerArrayCast();

} // namespace ouzel::executor
