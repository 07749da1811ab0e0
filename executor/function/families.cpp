#include "executor/function/families.hpp"

namespace ouzel::executor {

void registerFamilies() {}

} // namespace ouzel::executor
