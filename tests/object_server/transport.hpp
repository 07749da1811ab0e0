#pragma once
// The byte stream to one client, plain or by TLS. Never blocks.
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/object_server/descriptor.hpp"

using SSL_CTX = struct ssl_ctx_st;
using SSL = struct ssl_st;

namespace ouzel::object_server {

class Transport {
public:
   /// Results of a call that are no count of bytes.
   static constexpr ptrdiff_t wouldBlock = -1, broken = -2;

   /// `tls`: null for a plain stream.
   Transport(Descriptor socket, SSL_CTX* tls);
   ~Transport();
   Transport(const Transport&) = delete;
   Transport& operator=(const Transport&) = delete;

   /// Receives bytes; 0 at the end of the peer's stream.
   ptrdiff_t receive(void* target, size_t size);
   /// Sends bytes. `more`: further bytes follow at once.
   ptrdiff_t send(const void* bytes, size_t size, bool more);
   ptrdiff_t sendFile(int file, uint64_t offset, size_t size);
   /// With TLS, a record may wait for the socket. False: one is still waiting.
   bool flush();
   /// Closes with a reset instead of an orderly end.
   void reset();
   int fd() const { return socket_.get(); }

private:
   ptrdiff_t tlsResult(int result);

   Descriptor socket_;
   SSL* ssl_ = nullptr;
   std::string pending_; ///< a record that OpenSSL has not written yet
};

} // namespace ouzel::object_server
