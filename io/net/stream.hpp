#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "io/net/socket.hpp"

namespace ouzel::io {

enum class StreamStatus : uint8_t {
   Done,       ///< some bytes moved (or the handshake is through)
   WouldRead,  ///< come back when the socket is readable
   WouldWrite, ///< come back when the socket is writable
   Closed,     ///< by the peer, or broken: nothing more will come
};

/// A byte stream over a non-blocking socket, plain or TLS. Owns the socket. One thread at a time.
class Stream {
public:
   virtual ~Stream() = default;
   /// TLS: go on with the handshake. Plain streams are done at once.
   virtual StreamStatus handshake() = 0;
   /// Move up to `size` bytes; `moved` is set when Done.
   virtual StreamStatus read(char* target, size_t size, size_t& moved) = 0;
   virtual StreamStatus write(const char* bytes, size_t size, size_t& moved) = 0;
   virtual int handle() const = 0;
   /// Take the socket back, to put TLS on top of it.
   virtual FileDescriptor release() = 0;
   virtual bool isEncrypted() const = 0;
   /// Why it was closed, if that was no orderly end.
   virtual std::string failure() const = 0;
};

std::unique_ptr<Stream> makePlainStream(FileDescriptor socket);

/// Certificate and key of a server, shared by its connections. Thread-safe.
class TlsContext {
public:
   /// PEM files. Throws SqlError F0000 when they cannot be used.
   TlsContext(const std::string& certificateFile, const std::string& keyFile);
   ~TlsContext();
   /// The server's side; the handshake has not begun. The context must outlive the stream.
   std::unique_ptr<Stream> accept(FileDescriptor socket) const;

private:
   struct Context;
   std::unique_ptr<Context> context_;
};

/// What connections of clients share: which certificates are trusted (the system's, or those of SSL_CERT_FILE and
/// AWS_CA_BUNDLE). Thread-safe.
class TlsClientContext {
public:
   /// Throws SqlError F0000 when the certificates cannot be used.
   TlsClientContext();
   ~TlsClientContext();
   /// The client's side; the handshake has not begun, and fails unless the server's certificate is trusted and names
   /// `host` (a name or an address). The context must outlive the stream.
   std::unique_ptr<Stream> connect(FileDescriptor socket, const std::string& host) const;

private:
   struct Context;
   std::unique_ptr<Context> context_;
};

} // namespace ouzel::io
