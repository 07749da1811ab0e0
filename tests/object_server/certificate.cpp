#include "tests/object_server/certificate.hpp"

#include <cstdio>
#include <ctime>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdexcept>

namespace ouzel::object_server {

namespace {

void addExtension(X509* certificate, int kind, const std::string& value) {
   X509V3_CTX context;
   X509V3_set_ctx_nodb(&context);
   X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
   X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
   if (!extension) throw std::runtime_error("cannot make the certificate's extension " + value);
   X509_add_ext(certificate, extension, -1);
   X509_EXTENSION_free(extension);
}

} // namespace

std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> makeTlsContext(const std::vector<std::string>& names,
                                                            const std::string& path) {
   std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
   std::unique_ptr<X509, void (*)(X509*)> certificate(X509_new(), X509_free);
   if (!key) throw std::runtime_error("cannot make a key");
   X509_set_version(certificate.get(), X509_VERSION_3);
   ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), time(nullptr));
   X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
   X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 365 * 24 * 3600);
   X509_set_pubkey(certificate.get(), key.get());
   X509_NAME* name = X509_get_subject_name(certificate.get());
   X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("object_server"), -1, -1,
                              0);
   X509_set_issuer_name(certificate.get(), name);
   std::string alternatives;
   for (const std::string& item : names) {
      const bool isAddress = item.find_first_not_of("0123456789.") == std::string::npos;
      alternatives += std::string(alternatives.empty() ? "" : ",") + (isAddress ? "IP:" : "DNS:") + item;
   }
   addExtension(certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
   addExtension(certificate.get(), NID_subject_key_identifier, "hash");
   addExtension(certificate.get(), NID_authority_key_identifier, "keyid:always");
   addExtension(certificate.get(), NID_key_usage, "digitalSignature,keyCertSign");
   addExtension(certificate.get(), NID_subject_alt_name, alternatives);
   if (X509_sign(certificate.get(), key.get(), EVP_sha256()) == 0) throw std::runtime_error("cannot sign");

   std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "w"), std::fclose);
   if (!file || PEM_write_X509(file.get(), certificate.get()) != 1) throw std::runtime_error("cannot write " + path);

   std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
   SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
   if (SSL_CTX_use_certificate(context.get(), certificate.get()) != 1 ||
       SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1)
      throw std::runtime_error("cannot use the certificate");
   return context;
}

} // namespace ouzel::object_server
