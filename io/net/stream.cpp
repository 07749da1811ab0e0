#include "io/net/stream.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/error/sql_error.hpp"

namespace ouzel::io {

namespace {

class PlainStream final : public Stream {
public:
   explicit PlainStream(FileDescriptor socket) : socket_(std::move(socket)) {}

   StreamStatus handshake() override { return StreamStatus::Done; }
   StreamStatus read(char* target, size_t size, size_t& moved) override {
      return outcome(retry([&] { return recv(socket_.get(), target, size, 0); }), StreamStatus::WouldRead, moved);
   }
   StreamStatus write(const char* bytes, size_t size, size_t& moved) override {
      return outcome(retry([&] { return send(socket_.get(), bytes, size, MSG_NOSIGNAL); }), StreamStatus::WouldWrite,
                     moved);
   }
   int handle() const override { return socket_.get(); }
   FileDescriptor release() override { return std::move(socket_); }
   bool isEncrypted() const override { return false; }
   std::string failure() const override { return error_ == 0 ? "" : std::strerror(error_); }

private:
   template <typename Call>
   static ssize_t retry(Call&& call) {
      ssize_t result;
      do
         result = call();
      while (result < 0 && errno == EINTR);
      return result;
   }
   StreamStatus outcome(ssize_t result, StreamStatus wouldBlock, size_t& moved) {
      if (result > 0) {
         moved = static_cast<size_t>(result);
         return StreamStatus::Done;
      }
      if (result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return wouldBlock;
      if (result < 0) error_ = errno;
      return StreamStatus::Closed;
   }

   FileDescriptor socket_;
   int error_ = 0;
};

class TlsStream final : public Stream {
public:
   TlsStream(SSL_CTX* context, FileDescriptor socket) : socket_(std::move(socket)), ssl_(SSL_new(context)) {
      if (ssl_ == nullptr || SSL_set_fd(ssl_, socket_.get()) != 1) throwInternal("could not start TLS");
      SSL_set_accept_state(ssl_);
   }
   /// The client's side.
   TlsStream(SSL_CTX* context, FileDescriptor socket, const std::string& host) : TlsStream(context, std::move(socket)) {
      SSL_set_connect_state(ssl_);
      in6_addr address;
      const bool isAddress =
          inet_pton(AF_INET, host.c_str(), &address) == 1 || inet_pton(AF_INET6, host.c_str(), &address) == 1;
      // SNI is sent for names, not for addresses (RFC 6066, 3).
      const bool isSet = isAddress ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_), host.c_str()) == 1
                                   : SSL_set1_host(ssl_, host.c_str()) == 1 &&
                                         SSL_ctrl(ssl_, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                                                  const_cast<char*>(host.c_str())) == 1;
      if (!isSet) throwInternal("could not start TLS");
   }
   ~TlsStream() override {
      if (SSL_is_init_finished(ssl_) && !broken_) SSL_shutdown(ssl_);
      SSL_free(ssl_);
   }

   StreamStatus handshake() override {
      ERR_clear_error();
      return outcome(SSL_do_handshake(ssl_));
   }
   StreamStatus read(char* target, size_t size, size_t& moved) override {
      ERR_clear_error();
      const int result = SSL_read(ssl_, target, clamp(size));
      if (result > 0) moved = static_cast<size_t>(result);
      return outcome(result);
   }
   StreamStatus write(const char* bytes, size_t size, size_t& moved) override {
      ERR_clear_error();
      const int result = SSL_write(ssl_, bytes, clamp(size));
      if (result > 0) moved = static_cast<size_t>(result);
      return outcome(result);
   }
   int handle() const override { return socket_.get(); }
   FileDescriptor release() override { return std::move(socket_); }
   bool isEncrypted() const override { return true; }
   std::string encryption() const override {
      return std::string("protocol=") + SSL_get_version(ssl_) + ", cipher=" + SSL_get_cipher_name(ssl_) +
             ", bits=" + std::to_string(SSL_get_cipher_bits(ssl_, nullptr));
   }
   std::string failure() const override { return failure_; }
   std::string channelBinding() const override {
      X509* const certificate = SSL_get_certificate(ssl_); // the server's own
      int digest = NID_undef;
      if (certificate == nullptr || X509_get_signature_info(certificate, &digest, nullptr, nullptr, nullptr) != 1)
         return "";
      if (digest == NID_undef) return ""; // Ed25519: the RFC does not say which one it is
      const EVP_MD* hash = digest == NID_md5 || digest == NID_sha1 ? EVP_sha256() : EVP_get_digestbynid(digest);
      unsigned char bytes[EVP_MAX_MD_SIZE];
      unsigned size = 0;
      if (hash == nullptr || X509_digest(certificate, hash, bytes, &size) != 1) return "";
      return std::string(reinterpret_cast<const char*>(bytes), size);
   }
   std::optional<std::string> peerName() const override {
      const X509* const certificate = SSL_get0_peer_certificate(ssl_);
      if (certificate == nullptr || SSL_get_verify_result(ssl_) != X509_V_OK) return std::nullopt;
      const X509_NAME* subject = X509_get_subject_name(certificate);
      const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
      if (at < 0) return "";
      unsigned char* text = nullptr;
      const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
      if (size < 0) return "";
      std::string name(reinterpret_cast<const char*>(text), static_cast<size_t>(size));
      OPENSSL_free(text);
      return name.find('\0') == std::string::npos ? name : ""; // a name that only begins like another
   }

private:
   static int clamp(size_t size) { return static_cast<int>(std::min<size_t>(size, INT_MAX)); }
   StreamStatus outcome(int result) {
      if (result > 0) return StreamStatus::Done;
      switch (SSL_get_error(ssl_, result)) {
      case SSL_ERROR_WANT_READ: return StreamStatus::WouldRead;
      case SSL_ERROR_WANT_WRITE: return StreamStatus::WouldWrite;
      case SSL_ERROR_ZERO_RETURN: return StreamStatus::Closed;
      default:
         broken_ = true;
         noteFailure();
         return StreamStatus::Closed;
      }
   }

   void noteFailure() {
      if (const long code = SSL_get_verify_result(ssl_); code != X509_V_OK)
         failure_ = std::string("certificate verify failed: ") + X509_verify_cert_error_string(code);
      else if (const char* reason = ERR_reason_error_string(ERR_peek_error()); reason != nullptr)
         failure_ = reason;
   }

   FileDescriptor socket_;
   SSL* ssl_;
   bool broken_ = false;
   std::string failure_;
};

[[noreturn, gnu::cold]] void throwTls(const std::string& what) {
   char reason[256] = "unknown reason";
   if (const unsigned long code = ERR_get_error(); code != 0) ERR_error_string_n(code, reason, sizeof reason);
   throw SqlError(sqlstate::configFileError, what + ": " + reason);
}

} // namespace

std::unique_ptr<Stream> makePlainStream(FileDescriptor socket) {
   return std::make_unique<PlainStream>(std::move(socket));
}

struct TlsContext::Context {
   const TlsFiles files;
   SSL_CTX* const ssl = SSL_CTX_new(TLS_server_method());

   explicit Context(TlsFiles from) : files(std::move(from)) {
      if (ssl == nullptr) throwTls("could not create a TLS context");
      SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION);
      // A write may be repeated with the remaining bytes, at another address.
      SSL_CTX_set_mode(ssl,
                       SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
      SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF);
      SSL_CTX_set_options(ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE);
   }
   ~Context() { SSL_CTX_free(ssl); }

   static std::shared_ptr<const Context> load(const TlsFiles& files) {
      auto context = std::make_shared<const Context>(files);
      loadTlsFiles(context->ssl, files);
      return context;
   }
};

TlsContext::TlsContext(TlsFiles files) : context_(Context::load(files)) {}

TlsContext::~TlsContext() = default;

std::unique_ptr<Stream> TlsContext::accept(FileDescriptor socket) const {
   const MutexLock lock(mutex_);
   return std::make_unique<TlsStream>(context_->ssl, std::move(socket)); // keeps OpenSSL's part of the context
}

void TlsContext::reload(const TlsFiles& files) {
   auto fresh = Context::load(files);
   const MutexLock lock(mutex_);
   context_.swap(fresh);
}

std::vector<std::string> TlsContext::warnings() const {
   const MutexLock lock(mutex_);
   return tlsWarnings(context_->ssl, context_->files);
}

namespace {
/// Loads the file and the directory of certificates that the environment names, else OpenSSL's defaults; either may be
/// missing. Does not use SSL_CTX_set_default_verify_paths(): that function also looks in OpenSSL's stores, which
/// crashes (3.0.x) in a process that has loaded Arrow's library.
void trustSystem(X509_STORE* store) {
   const char* file = std::getenv(X509_get_default_cert_file_env());
   const char* directory = std::getenv(X509_get_default_cert_dir_env());
   X509_STORE_load_file(store, file != nullptr ? file : X509_get_default_cert_file());
   X509_STORE_load_path(store, directory != nullptr ? directory : X509_get_default_cert_dir());
   ERR_clear_error();
}
} // namespace

struct TlsClientContext::Context {
   SSL_CTX* ssl = SSL_CTX_new(TLS_client_method());
   ~Context() { SSL_CTX_free(ssl); }
};

TlsClientContext::TlsClientContext() : context_(std::make_unique<Context>()) {
   SSL_CTX* const ssl = context_->ssl;
   if (ssl == nullptr) throwTls("could not create a TLS context");
   SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION);
   SSL_CTX_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
   SSL_CTX_set_options(ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
   SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER, nullptr);
   trustSystem(SSL_CTX_get_cert_store(ssl));
   if (const char* bundle = std::getenv("AWS_CA_BUNDLE"); bundle != nullptr && *bundle != '\0')
      if (SSL_CTX_load_verify_locations(ssl, bundle, nullptr) != 1)
         throwTls("could not load certificates from file \"" + std::string(bundle) + "\"");
}

TlsClientContext::~TlsClientContext() = default;

std::unique_ptr<Stream> TlsClientContext::connect(FileDescriptor socket, const std::string& host) const {
   return std::make_unique<TlsStream>(context_->ssl, std::move(socket), host);
}

} // namespace ouzel::io
