#include "server/version.hpp"

#include "generated/commit.hpp"

namespace ouzel::server {

const char* const versionText = OUZEL_VERSION " (commit " OUZEL_COMMIT ")";

} // namespace ouzel::server
