#include "tests/object_server/transport.hpp"

#include <algorithm>
#include <cerrno>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

namespace ouzel::object_server {

namespace {

ptrdiff_t socketResult(ssize_t result) {
   if (result >= 0) return result;
   return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? Transport::wouldBlock : Transport::broken;
}

} // namespace

Transport::Transport(Descriptor socket, SSL_CTX* tls) : socket_(std::move(socket)) {
   if (!tls) return;
   ssl_ = SSL_new(tls);
   SSL_set_fd(ssl_, socket_.get());
   SSL_set_accept_state(ssl_);
}

Transport::~Transport() {
   if (!ssl_) return;
   if (socket_ && pending_.empty()) SSL_shutdown(ssl_);
   ERR_clear_error();
   SSL_free(ssl_);
}

ptrdiff_t Transport::tlsResult(int result) {
   if (result > 0) return result;
   const int error = SSL_get_error(ssl_, result);
   ERR_clear_error();
   if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return wouldBlock;
   return error == SSL_ERROR_ZERO_RETURN ? 0 : broken;
}

ptrdiff_t Transport::receive(void* target, size_t size) {
   if (!ssl_) return socketResult(::recv(fd(), target, size, 0));
   return tlsResult(SSL_read(ssl_, target, static_cast<int>(std::min<size_t>(size, 1 << 20))));
}

bool Transport::flush() {
   while (!pending_.empty()) {
      const ptrdiff_t result = tlsResult(SSL_write(ssl_, pending_.data(), static_cast<int>(pending_.size())));
      if (result <= 0) return result == broken; // the next call returns the error
      pending_.erase(0, static_cast<size_t>(result));
   }
   return true;
}

ptrdiff_t Transport::send(const void* bytes, size_t size, bool more) {
   if (!ssl_) return socketResult(::send(fd(), bytes, size, MSG_NOSIGNAL | (more ? MSG_MORE : 0)));
   if (!flush()) return wouldBlock;
   size = std::min<size_t>(size, 16 << 10);
   const ptrdiff_t result = tlsResult(SSL_write(ssl_, bytes, static_cast<int>(size)));
   if (result != wouldBlock) return result;
   // OpenSSL requires the same record at the next call, even if the pacing then allows fewer bytes.
   pending_.assign(static_cast<const char*>(bytes), size);
   return static_cast<ptrdiff_t>(size);
}

ptrdiff_t Transport::sendFile(int file, uint64_t offset, size_t size) {
   if (!ssl_) {
      auto at = static_cast<off_t>(offset);
      const ptrdiff_t result = socketResult(::sendfile(fd(), file, &at, size));
      return result == 0 ? broken : result; // 0: the file became shorter
   }
   if (!flush()) return wouldBlock;
   char buffer[64 << 10];
   const ssize_t got = ::pread(file, buffer, std::min(size, sizeof buffer), static_cast<off_t>(offset));
   if (got <= 0) return broken;
   ptrdiff_t sent = 0;
   while (sent < got && pending_.empty()) {
      const ptrdiff_t result = send(buffer + sent, static_cast<size_t>(got - sent), true);
      if (result < 0) return sent > 0 ? sent : result;
      sent += result;
   }
   return sent;
}

void Transport::reset() {
   if (!socket_) return;
   const linger hard{1, 0};
   ::setsockopt(fd(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
   pending_.clear();
   socket_.reset();
}

} // namespace ouzel::object_server
