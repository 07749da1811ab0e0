#pragma once

// One registration function per family file; families.cpp calls each of them once.

namespace ouzel::executor {

void registerFamilies();

} // namespace ouzel::executor
