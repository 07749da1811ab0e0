#pragma once

// The registration functions of full text search, one per file; registerFamilies() calls each once.

namespace ouzel::executor {

void registerTsHeadline();
void registerTsQuery();
void registerTsRank();
void registerTsText();
void registerTsVector();

} // namespace ouzel::executor
