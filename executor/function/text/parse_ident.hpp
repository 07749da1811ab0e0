#pragma once

namespace ouzel::executor {

/// registerTextFormat() calls it.
void registerParseIdent();

} // namespace ouzel::executor
