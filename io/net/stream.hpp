#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/sync/mutex.hpp"
#include "io/net/socket.hpp"
#include "io/net/tls_files.hpp"

namespace ouzel::io {

enum class StreamStatus : uint8_t {
   Done,       ///< some bytes were moved, or the handshake is complete
   WouldRead,  ///< try again when the socket is readable
   WouldWrite, ///< try again when the socket is writable
   Closed,     ///< closed by the peer, or broken
};

/// A byte stream over a non-blocking socket, plain or TLS. Owns the socket. One thread at a time.
class Stream {
public:
   virtual ~Stream() = default;
   /// TLS: continues the handshake. Plain: Done.
   virtual StreamStatus handshake() = 0;
   /// Moves up to `size` bytes; `moved` is set when Done.
   virtual StreamStatus read(char* target, size_t size, size_t& moved) = 0;
   virtual StreamStatus write(const char* bytes, size_t size, size_t& moved) = 0;
   virtual int handle() const = 0;
   /// Gives the socket away, to put TLS on top of it.
   virtual FileDescriptor release() = 0;
   virtual bool isEncrypted() const = 0;
   /// "protocol=TLSv1.3, cipher=TLS_AES_256_GCM_SHA384, bits=256"; empty for a plain stream.
   virtual std::string encryption() const { return ""; }
   /// What binds an authentication to this stream (RFC 5929, tls-server-end-point); empty: there is nothing.
   virtual std::string channelBinding() const { return ""; }
   /// The common name of the peer's certificate, which was verified; none: it has shown no certificate.
   virtual std::optional<std::string> peerName() const { return std::nullopt; }
   /// The reason why the stream was closed; empty after an orderly end.
   virtual std::string failure() const = 0;
};

std::unique_ptr<Stream> makePlainStream(FileDescriptor socket);

/// Certificate and key of a server, shared by its connections. Thread-safe.
class TlsContext {
public:
   /// Loads PEM files. Throws F0000 when they cannot be used.
   explicit TlsContext(TlsFiles files);
   ~TlsContext();
   /// Makes the server's side of a connection; the handshake has not begun. The context must outlive the stream.
   std::unique_ptr<Stream> accept(FileDescriptor socket) const EXCLUDES(mutex_);
   /// Load files anew, for connections from now on. Throws F0000, and all stays as it was.
   void reload(const TlsFiles& files) EXCLUDES(mutex_);
   /// What clients will complain of.
   std::vector<std::string> warnings() const EXCLUDES(mutex_);

private:
   struct Context;
   mutable Mutex mutex_;
   std::shared_ptr<const Context> context_ GUARDED_BY(mutex_);
};

/// Trusted certificates, shared by client connections: the system's, or those that SSL_CERT_FILE and AWS_CA_BUNDLE
/// name. Thread-safe.
class TlsClientContext {
public:
   /// Loads the certificates. Throws F0000 when they cannot be used.
   TlsClientContext();
   ~TlsClientContext();
   /// Makes the client's side of a connection; the handshake has not begun. The handshake fails unless the server's
   /// certificate is trusted and names `host` (a name or an address). The context must outlive the stream.
   std::unique_ptr<Stream> connect(FileDescriptor socket, const std::string& host) const;

private:
   struct Context;
   std::unique_ptr<Context> context_;
};

} // namespace ouzel::io
