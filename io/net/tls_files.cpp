#include "io/net/tls_files.hpp"

#include <cerrno>
#include <cstring>
#include <memory>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error/sql_error.hpp"

namespace ouzel::io {

namespace {

/// Why OpenSSL could not use a file; reads as the end of a sentence.
std::string reason() {
   const unsigned long code = ERR_peek_error();
   if (ERR_SYSTEM_ERROR(code)) return std::strerror(ERR_GET_REASON(code));
   const char* text = ERR_reason_error_string(code);
   return text != nullptr ? text : "unknown reason";
}

[[noreturn, gnu::cold]] void fail(const std::string& what, const std::string& path, const std::string& hint) {
   SqlError error(sqlstate::configFileError, "could not load " + what + " \"" + path + "\": " + reason());
   ERR_clear_error();
   throw std::move(error).hint(hint);
}

/// As PostgreSQL's rule: the owner alone, or, when root is the owner, its group as well.
void requirePrivate(const std::string& path) {
   struct stat status {};
   if (::stat(path.c_str(), &status) != 0)
      throw SqlError(sqlstate::configFileError,
                     "could not access private key file \"" + path + "\": " + std::strerror(errno));
   if (!S_ISREG(status.st_mode))
      throw SqlError(sqlstate::configFileError, "private key file \"" + path + "\" is not a regular file");
   if (status.st_uid != 0 && status.st_uid != ::geteuid())
      throw SqlError(sqlstate::configFileError,
                     "private key file \"" + path + "\" must be owned by the database user or root")
          .hint("The server runs as user " + std::to_string(::geteuid()) + ".");
   const mode_t forbidden = status.st_uid == 0 ? S_IWGRP | S_IXGRP | S_IRWXO : S_IRWXG | S_IRWXO;
   if ((status.st_mode & forbidden) != 0)
      throw SqlError(sqlstate::configFileError, "private key file \"" + path + "\" has group or world access")
          .detail("File must have permissions u=rw (0600) or less if owned by the database user, or permissions "
                  "u=rw,g=r (0640) or less if owned by root.");
}

/// Nobody sits at the server's terminal.
int refusePassphrase(char*, int, int, void* wasAsked) {
   *static_cast<bool*>(wasAsked) = true;
   return -1;
}

std::string textOf(const ASN1_TIME* time) {
   const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), BIO_free);
   if (!out || ASN1_TIME_print(out.get(), time) != 1) return "";
   char* text = nullptr;
   const long size = BIO_get_mem_data(out.get(), &text);
   return std::string(text, static_cast<size_t>(size));
}

} // namespace

void loadTlsFiles(SSL_CTX* context, const TlsFiles& files) {
   ERR_clear_error();
   constexpr const char* pemHint = "The file has to hold it in PEM, beginning with a line -----BEGIN ...-----.";
   bool isLocked = false;
   SSL_CTX_set_default_passwd_cb(context, refusePassphrase);
   SSL_CTX_set_default_passwd_cb_userdata(context, &isLocked);
   if (SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1)
      fail("server certificate file", files.certificate, pemHint);
   requirePrivate(files.key);
   const bool isLoaded = SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM) == 1;
   SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);
   SSL_CTX_set_default_passwd_cb(context, nullptr);
   if (isLocked)
      throw SqlError(sqlstate::configFileError, "private key file \"" + files.key + "\" needs a passphrase")
          .hint("Store the key without one: openssl pkey -in FILE -out FILE.");
   const bool isMismatch = !isLoaded && ERR_GET_REASON(ERR_peek_error()) == X509_R_KEY_VALUES_MISMATCH;
   if (!isLoaded && !isMismatch) fail("private key file", files.key, pemHint);
   if (isMismatch || SSL_CTX_check_private_key(context) != 1) {
      ERR_clear_error();
      throw SqlError(sqlstate::configFileError, "private key file \"" + files.key +
                                                    "\" does not match the first certificate in \"" +
                                                    files.certificate + "\"")
          .hint("The server's own certificate comes first in its file, those of authorities follow.");
   }
   if (files.authorities.empty()) return;
   if (SSL_CTX_load_verify_locations(context, files.authorities.c_str(), nullptr) != 1)
      fail("root certificate file", files.authorities, pemHint);
   STACK_OF(X509_NAME)* names = SSL_load_client_CA_file(files.authorities.c_str());
   if (names == nullptr) fail("root certificate file", files.authorities, pemHint);
   SSL_CTX_set_client_CA_list(context, names); // the context owns them
   SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_CLIENT_ONCE, nullptr);
}

std::vector<std::string> tlsWarnings(SSL_CTX* context, const TlsFiles& files) {
   std::vector<std::string> warnings;
   const X509* certificate = SSL_CTX_get0_certificate(context);
   if (certificate == nullptr) return warnings;
   const ASN1_TIME *begin = X509_get0_notBefore(certificate), *end = X509_get0_notAfter(certificate);
   if (X509_cmp_current_time(end) < 0)
      warnings.push_back("server certificate file \"" + files.certificate + "\" has expired on " + textOf(end));
   else if (X509_cmp_current_time(begin) > 0)
      warnings.push_back("server certificate file \"" + files.certificate + "\" is not valid before " + textOf(begin));
   return warnings;
}

} // namespace ouzel::io
