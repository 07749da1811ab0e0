#pragma once

// One registration function per family file; registerFamilies() (families.cpp) calls each of them once.

namespace ouzel::executor {

void registerFamilies();

void registerBoolean();
void registerComparison();
void registerFloating();
void registerInteger();
void registerScaledNumeric();

} // namespace ouzel::executor
