#pragma once

// One registration function per family file; registerFamilies() (families.cpp) calls each of them once.

namespace ouzel::executor {

void registerFamilies();

void registerArray();
void registerBoolean();
void registerBytes();
void registerCatalogFunctions();
void registerComparison();
void registerFloating();
void registerInteger();
void registerLike();
void registerRegex();
void registerScaledNumeric();
void registerSystem();
void registerText();
void registerTextCase();
void registerTextFormat();

} // namespace ouzel::executor
