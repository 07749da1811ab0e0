// object_server: S3 over a local directory, or a proxy in front of another server, with a network model and with
// faults. README.md explains its use.
#include <arpa/inet.h>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdexcept>
#include <string>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <vector>

#include "tests/object_server/certificate.hpp"
#include "tests/object_server/connection.hpp"
#include "tests/object_server/control.hpp"
#include "tests/object_server/s3_service.hpp"
#include "tests/object_server/upstream.hpp"

using namespace ouzel::object_server;

namespace {

constexpr const char* usage =
    "object_server --root DIR [options]          S3 over a directory\n"
    "object_server --upstream HOST:PORT [options] a proxy before another server\n"
    "  --port N             0, the default: any; the line \"listening on ADDRESS:PORT\" tells\n"
    "  --address A          127.0.0.1\n"
    "  --bucket NAME        make it at start (may be given more than once)\n"
    "  --credentials KEY:SECRET[:TOKEN]   check signatures (may be given more than once)\n"
    "  --region R           refuse requests signed for another one\n"
    "  --domain D           BUCKET.D as a host is the virtual-host style (localhost)\n"
    "  --etags fast|md5     how tags are made\n"
    "  --tls FILE           TLS with a certificate made at start, written to FILE\n"
    "  --instance-role NAME, --role-seconds N   also answer as the metadata service of a machine\n"
    "  --web-identity TOKEN with --instance-role: also answer as STS, which takes this token for the role\n"
    "  --log FILE           one line a request\n"
    "and any setting of the control URL, as --latency-ms 30 --cap 400MB/s --error-503 0.02 --seed 7\n";

struct Options {
   std::string root, upstream, address = "127.0.0.1", region, tls, log;
   uint16_t port = 0;
   std::vector<std::string> buckets, credentials;
   S3Options s3;
   ControlService::Role role;
   Settings settings;
};

Options parseOptions(int count, char** arguments) {
   Options o;
   for (int i = 1; i < count; i += 2) {
      const std::string name = arguments[i];
      if (!name.starts_with("--") || i + 1 == count) throw std::invalid_argument("what is " + name + "?");
      const std::string value = arguments[i + 1];
      if (name == "--root")
         o.root = value;
      else if (name == "--upstream")
         o.upstream = value;
      else if (name == "--address")
         o.address = value;
      else if (name == "--port")
         o.port = static_cast<uint16_t>(std::stoi(value));
      else if (name == "--bucket")
         o.buckets.push_back(value);
      else if (name == "--credentials")
         o.credentials.push_back(value);
      else if (name == "--region")
         o.region = value;
      else if (name == "--domain")
         o.s3.domain = value;
      else if (name == "--etags")
         o.s3.tagAlgorithm = value == "md5" ? "md5" : "xxh128";
      else if (name == "--tls")
         o.tls = value;
      else if (name == "--log")
         o.log = value;
      else if (name == "--instance-role")
         o.role.name = value;
      else if (name == "--role-seconds")
         o.role.seconds = std::stoll(value);
      else
         o.settings.set(name.substr(2), value);
   }
   if (o.root.empty() == o.upstream.empty()) throw std::invalid_argument("give --root or --upstream");
   return o;
}

/// Takes new connections.
class Listener final : public Endpoint {
public:
   Listener(Site& site, SSL_CTX* tls, const std::string& address, uint16_t port) : site_(site), tls_(tls) {
      socket_ = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      const int one = 1;
      ::setsockopt(fd(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
      sockaddr_in where{};
      where.sin_family = AF_INET;
      where.sin_port = htons(port);
      if (::inet_pton(AF_INET, address.c_str(), &where.sin_addr) != 1)
         throw std::invalid_argument("no address: " + address);
      if (::bind(fd(), reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0 || ::listen(fd(), 4096) != 0)
         throw std::runtime_error("cannot listen on " + address + ":" + std::to_string(port) + ": " +
                                  std::strerror(errno));
      socklen_t size = sizeof where;
      ::getsockname(fd(), reinterpret_cast<sockaddr*>(&where), &size);
      std::printf("listening on %s:%d\n", address.c_str(), ntohs(where.sin_port));
      std::fflush(stdout);
   }
   int fd() const { return socket_.get(); }
   void onReady(uint32_t) override {
      for (;;) {
         Descriptor client(::accept4(fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
         if (!client) return;
         const int one = 1, socket = client.get();
         ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
         site_.loop.add(std::make_unique<Connection>(site_, std::move(client), tls_), socket);
      }
   }

private:
   Site& site_;
   SSL_CTX* tls_;
   Descriptor socket_;
};

/// SIGTERM and SIGINT end the loop.
class Signals final : public Endpoint {
public:
   explicit Signals(EventLoop& loop) : loop_(loop) {
      sigset_t set;
      sigemptyset(&set);
      sigaddset(&set, SIGTERM);
      sigaddset(&set, SIGINT);
      ::sigprocmask(SIG_BLOCK, &set, nullptr);
      socket_ = Descriptor(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
   }
   int fd() const { return socket_.get(); }
   void onReady(uint32_t events) override {
      if (events != 0) loop_.stop();
   }

private:
   EventLoop& loop_;
   Descriptor socket_;
};

int serve(Options& options) {
   EventLoop loop;
   Counters counters;
   FaultPlan faults;
   Credentials credentials(options.settings.faults, options.region);
   for (const std::string& text : options.credentials) {
      const size_t first = text.find(':'), second = std::min(text.find(':', first + 1), text.size());
      if (first == std::string::npos) throw std::invalid_argument("--credentials wants KEY:SECRET");
      credentials.add(text.substr(0, first), text.substr(first + 1, second - first - 1),
                      second < text.size() ? text.substr(second + 1) : "");
   }
   std::unique_ptr<BucketDirectory> directory;
   std::unique_ptr<Service> service;
   if (options.upstream.empty()) {
      directory = std::make_unique<BucketDirectory>(options.root);
      for (const std::string& bucket : options.buckets)
         directory->createBucket(bucket);
      service = std::make_unique<S3Service>(*directory, credentials, options.s3);
   } else {
      service = std::make_unique<UpstreamService>(loop, options.upstream);
   }
   ControlService control(options.settings, counters, faults, credentials, options.role);
   auto* inward = static_cast<SharedLane*>(loop.add(std::make_unique<SharedLane>(loop, options.settings.network), -1));
   auto* outward = static_cast<SharedLane*>(loop.add(std::make_unique<SharedLane>(loop, options.settings.network), -1));
   Site site{loop, options.settings, counters, faults, *service, control, *inward, *outward};
   site.isControl = &ControlService::isControl;
   if (!options.log.empty()) site.log = std::fopen(options.log.c_str(), "a");

   std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> tls(nullptr, [](SSL_CTX*) {});
   if (!options.tls.empty()) {
      std::vector<std::string> names = {"localhost", "127.0.0.1", options.address, options.s3.domain};
      for (const std::string& bucket : options.buckets)
         names.push_back(bucket + "." + options.s3.domain);
      tls = makeTlsContext(names, options.tls);
   }
   auto signals = std::make_unique<Signals>(loop);
   const int signalFd = signals->fd();
   loop.add(std::move(signals), signalFd);
   auto listener = std::make_unique<Listener>(site, tls.get(), options.address, options.port);
   const int listenFd = listener->fd();
   loop.add(std::move(listener), listenFd);
   loop.run();
   loop.clear(); // connections refer to the objects above
   return 0;
}

} // namespace

int main(int count, char** arguments) {
   std::signal(SIGPIPE, SIG_IGN);
   try {
      Options options = parseOptions(count, arguments);
      return serve(options);
   } catch (const std::invalid_argument& error) {
      std::fprintf(stderr, "%s\n%s", error.what(), usage);
      return 2;
   } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      return 1;
   }
}
