#include "server/connection.hpp"

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "tests/unit/server/fake_factory.hpp"

using namespace ouzel;
using namespace ouzel::server;
using namespace ouzel::protocol::test;

namespace {

/// Certificate and key of "localhost". Clients made during its life trust the certificate.
class Certificate {
public:
   Certificate() {
      std::filesystem::create_directories(directory_);
      const std::string make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
                               "-subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout " +
                               key() + " -out " + file() + " 2>&1";
      CATCH_REQUIRE(std::system(make.c_str()) == 0);
      ::setenv("SSL_CERT_FILE", file().c_str(), 1);
   }
   ~Certificate() {
      ::unsetenv("SSL_CERT_FILE");
      std::filesystem::remove_all(directory_);
   }
   std::string file() const { return directory_ / "certificate"; }
   std::string key() const { return directory_ / "key"; }

private:
   const std::filesystem::path directory_ =
       std::filesystem::temp_directory_path() / ("ouzel-connection-" + std::to_string(getpid()));
};

/// Sends all `messages` at once after the handshake, and returns the server's answer or the reason why there is none.
/// Runs on a thread of its own, so it has no assertions.
std::string askWithTls(io::FileDescriptor socket, const io::TlsClientContext& tls, const std::string& messages) {
   const std::string request = int32(8) + int32(80877103);
   char answer = 0;
   if (::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) != 8) return "no request sent";
   if (::recv(socket.get(), &answer, 1, 0) != 1 || answer != 'S') return "TLS refused";
   const auto stream = tls.connect(std::move(socket), "localhost");
   size_t moved = 0;
   if (stream->handshake() != io::StreamStatus::Done) return stream->failure();
   if (stream->write(messages.data(), messages.size(), moved) != io::StreamStatus::Done) return stream->failure();
   std::string bytes(65536, '\0');
   if (stream->read(bytes.data(), bytes.size(), moved) != io::StreamStatus::Done) return stream->failure();
   return readable(std::string_view(bytes).substr(0, moved));
}

} // namespace

CATCH_TEST_CASE("a client faster than the handshake loses no message") {
   std::signal(SIGPIPE, SIG_IGN); // as main() does: libssl's writes may raise it
   const Certificate certificate;
   const io::TlsContext tls({certificate.file(), certificate.key(), ""});
   const io::TlsClientContext clientTls;
   // Blocking sockets: gather() sees each of the client's steps at once and never waits for an event.
   int ends[2];
   CATCH_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
   std::string answer;
   std::thread client([&, socket = io::FileDescriptor(ends[1])]() mutable {
      answer = askWithTls(std::move(socket), clientTls, startupPacket({{"user", "postgres"}}) + message('X', ""));
   });
   FakeFactory factory;
   SessionRegistry registry(1, 0);
   const SessionPool pool(1);
   ConnectionContext context{factory, registry, &tls, "secret", &pool};
   {
      Connection connection(context, io::FileDescriptor(ends[0]), {"a socket pair", "", 0, true}, {7, 9});
      CATCH_CHECK(connection.gather() == Connection::Next::Run);
      CATCH_CHECK(connection.run() == Connection::Next::Close);
   }
   client.join();
   CATCH_INFO(answer);
   CATCH_CHECK(answer.starts_with("R 0\n"));
   CATCH_CHECK(answer.ends_with("Z I\n"));
}
