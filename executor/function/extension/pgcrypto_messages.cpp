#include "executor/function/extension/pgp_message.hpp"
#include "executor/function/extension_families.hpp"
#include "executor/function/kernel_helpers.hpp"

// pgp_sym_encrypt(), pgp_sym_decrypt() and their kin of the extension pgcrypto.

namespace ouzel::executor {

namespace {

template <bool isText>
StringView encrypt(const StringView& data, const StringView& password, KernelEnv& env) {
   return env.copy(pgpEncrypt(data.view(), isText, password.view(), {}));
}
template <bool isText>
StringView encryptAs(const StringView& data, const StringView& password, const StringView& options, KernelEnv& env) {
   return env.copy(pgpEncrypt(data.view(), isText, password.view(), pgpOptions(options.view())));
}
template <bool isText>
StringView decrypt(const StringView& message, const StringView& password, KernelEnv& env) {
   return env.copy(pgpDecrypt(message.view(), isText, password.view(), {}));
}
template <bool isText>
StringView decryptAs(const StringView& message, const StringView& password, const StringView& options, KernelEnv& env) {
   return env.copy(pgpDecrypt(message.view(), isText, password.view(), pgpOptions(options.view())));
}

} // namespace

void registerPgcryptoMessages() {
   addKernel<encrypt<true>>("pgcrypto/pgp_sym_encrypt_text");
   addKernel<encryptAs<true>>("pgcrypto/pgp_sym_encrypt_text");
   addKernel<encrypt<false>>("pgcrypto/pgp_sym_encrypt_bytea");
   addKernel<encryptAs<false>>("pgcrypto/pgp_sym_encrypt_bytea");
   addKernel<decrypt<true>>("pgcrypto/pgp_sym_decrypt_text");
   addKernel<decryptAs<true>>("pgcrypto/pgp_sym_decrypt_text");
   addKernel<decrypt<false>>("pgcrypto/pgp_sym_decrypt_bytea");
   addKernel<decryptAs<false>>("pgcrypto/pgp_sym_decrypt_bytea");
}

} // namespace ouzel::executor
