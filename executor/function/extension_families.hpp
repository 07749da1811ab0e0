#pragma once

// The kernels of extensions, a family each. Their names are the extension's library and the function's symbol, as in
// "pgcrypto/pg_digest".

namespace ouzel::executor {

void registerCitext();
void registerCube();
void registerFuzzystrmatch();
void registerHstore();
void registerHstoreConversions();
void registerIntarray();
void registerLtree();
void registerMetaphone();
void registerPgTrgm();
void registerPgcrypto();
void registerPgcryptoArmor();
void registerPgcryptoMessages();
void registerPgcryptoPasswords();
void registerUnaccent();
void registerUuidOssp();
void registerVector();

} // namespace ouzel::executor
