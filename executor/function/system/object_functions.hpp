#pragma once

namespace ouzel::executor {

/// registerCatalogFunctions() calls it.
void registerObjectFunctions();

} // namespace ouzel::executor
