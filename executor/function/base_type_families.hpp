#pragma once

// The registration functions of the types of common/base_type, one per file; registerFamilies() calls each once.

namespace ouzel::executor {

void registerBitString();
void registerEnum();
void registerGeometry();
void registerShapes();
void registerMacAddress();
void registerMoney();
void registerNetworkAddress();
void registerPgLsn();
void registerTid();
void registerHashFunctions();
void registerXidSnapshot();

} // namespace ouzel::executor
