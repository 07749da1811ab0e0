#pragma once

namespace ouzel::server {

/// "0.1.0 (commit 0b1f2fd1a2b3)": the release and what it was built from. "unknown" when neither git nor the source
/// archive told the build.
extern const char* const versionText;

} // namespace ouzel::server
