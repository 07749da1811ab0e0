#pragma once
// Bytes to and from one client, plain or through TLS. Never blocks.
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/object_server/descriptor.hpp"

using SSL_CTX = struct ssl_ctx_st;
using SSL = struct ssl_st;

namespace ouzel::object_server {

class Transport {
public:
   /// What a call gives besides a count of bytes.
   static constexpr ptrdiff_t wouldBlock = -1, broken = -2;

   /// `tls` null: plain.
   Transport(Descriptor socket, SSL_CTX* tls);
   ~Transport();
   Transport(const Transport&) = delete;
   Transport& operator=(const Transport&) = delete;

   /// 0 at the end of what the peer sends.
   ptrdiff_t receive(void* target, size_t size);
   /// `more`: other bytes follow at once.
   ptrdiff_t send(const void* bytes, size_t size, bool more);
   ptrdiff_t sendFile(int file, uint64_t offset, size_t size);
   /// With TLS, what was taken may wait here for the socket; false while something does.
   bool flush();
   /// Close with a reset instead of an end.
   void reset();
   int fd() const { return socket_.get(); }

private:
   ptrdiff_t tlsResult(int result);

   Descriptor socket_;
   SSL* ssl_ = nullptr;
   std::string pending_; ///< one record that OpenSSL could not write yet
};

} // namespace ouzel::object_server
