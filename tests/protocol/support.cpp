#include "tests/protocol/support.hpp"

#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <ifaddrs.h>
#include <iterator>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sstream>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocol/message_reader.hpp"
#include "tests/unit/protocol/fake_backend.hpp"

namespace ouzel::wire {

namespace {

constexpr int patienceMs = 180'000;

std::string binaryPath() {
   const char* path = std::getenv("OUZEL_BINARY");
   return path != nullptr ? path : OUZEL_BINARY_DEFAULT;
}

} // namespace

ServerProcess::ServerProcess(std::vector<std::string> flags) : flags_(std::move(flags)) {
   const char* target = std::getenv("OUZEL_WIRE_TARGET");
   if (target != nullptr && flags_.empty()) {
      const std::string text = target;
      host = text.substr(0, text.find(':'));
      port = std::stoi(text.substr(text.find(':') + 1));
      return;
   }
   directory_ = (std::filesystem::temp_directory_path() / "ouzel-wire-XXXXXX").string();
   if (mkdtemp(directory_.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
   start();
}

void ServerProcess::start() {
   int output[2];
   if (pipe2(output, O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
   std::vector<std::string> arguments = {binaryPath(), "serve", "--data", directory_ + "/data", "--port", "0"};
   arguments.insert(arguments.end(), flags_.begin(), flags_.end());
   std::vector<char*> pointers;
   for (auto& argument : arguments)
      pointers.push_back(argument.data());
   pointers.push_back(nullptr);
   pid_ = fork();
   if (pid_ == 0) {
      dup2(output[1], STDOUT_FILENO);
      const int log = open((directory_ + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      dup2(log, STDERR_FILENO);
      execv(pointers[0], pointers.data());
      _exit(127);
   }
   ::close(output[1]);
   // The server prints a psql command with its port when it listens.
   std::string text;
   char chunk[256];
   size_t at = std::string::npos;
   while ((at = text.find(" -p ")) == std::string::npos || text.find('\n', at) == std::string::npos) {
      const ssize_t got = read(output[0], chunk, sizeof chunk);
      if (got <= 0) throw std::runtime_error("the server ended at start; see " + directory_ + "/log");
      text.append(chunk, static_cast<size_t>(got));
   }
   ::close(output[0]);
   port = std::stoi(text.substr(at + 4));
}

bool ServerProcess::isRunning() const {
   return pid_ == 0 || kill(pid_, 0) == 0;
}

void ServerProcess::signal(int number) const {
   kill(pid_, number);
}

int ServerProcess::awaitDeath() {
   int status = 0;
   waitpid(pid_, &status, 0);
   pid_ = 0;
   return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

std::string ServerProcess::log() const {
   std::ifstream file(directory_ + "/log");
   return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string ServerProcess::awaitLog(const std::string& text) const {
   std::string now = log();
   for (int waitedMs = 0; waitedMs < patienceMs && now.find(text) == std::string::npos; waitedMs += 5) {
      usleep(5000);
      now = log();
   }
   CATCH_INFO(now);
   CATCH_CHECK(now.find(text) != std::string::npos);
   return now;
}

size_t ServerProcess::residentPeak() const {
   std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
   size_t kilobytes = 0;
   for (std::string word; status >> word;)
      if (word == "VmHWM:") status >> kilobytes;
   return kilobytes * 1024;
}

void ServerProcess::forgetPeak() const {
   std::ofstream("/proc/" + std::to_string(pid_) + "/clear_refs") << "5"; // proc(5): resets VmHWM
}

std::chrono::milliseconds ServerProcess::cpuTime() const {
   std::ifstream file("/proc/" + std::to_string(pid_) + "/stat");
   std::string line;
   std::getline(file, line);
   std::istringstream words(line.substr(line.rfind(')') + 1)); // the name before may have blanks
   std::string skipped;
   for (int i = 0; i < 11; ++i)
      words >> skipped;
   long user = 0, system = 0;
   words >> user >> system;
   return std::chrono::milliseconds((user + system) * 1000 / sysconf(_SC_CLK_TCK));
}

int ServerProcess::stop() {
   if (pid_ == 0) return 0;
   kill(pid_, SIGTERM);
   int status = 0;
   waitpid(pid_, &status, 0);
   pid_ = 0;
   return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

ServerProcess::~ServerProcess() {
   stop();
   if (!directory_.empty()) {
      std::error_code ignored;
      std::filesystem::remove_all(directory_, ignored);
   }
}

ServerProcess& sharedServer() {
   static ServerProcess server;
   return server;
}

Connection::Connection(const ServerProcess& server, const std::string& more, bool mayFail) {
   const std::string info = "host=" + server.host + " port=" + std::to_string(server.port) +
                            " user=postgres dbname=postgres connect_timeout=180 " + more;
   connection_ = PQconnectdb(info.c_str());
   PQsetNoticeProcessor(
       connection_, [](void*, const char*) {}, nullptr);
   if (!mayFail) {
      CATCH_INFO(error());
      CATCH_REQUIRE(isOpen());
   }
}

std::string describe(const PGresult* result) {
   switch (PQresultStatus(result)) {
   case PGRES_TUPLES_OK:
   case PGRES_SINGLE_TUPLE: {
      std::string text;
      for (int row = 0; row < PQntuples(result); ++row) {
         for (int column = 0; column < PQnfields(result); ++column) {
            if (column > 0) text += '|';
            if (PQgetisnull(result, row, column))
               text += "\\N";
            else
               text.append(PQgetvalue(result, row, column), static_cast<size_t>(PQgetlength(result, row, column)));
         }
         text += '\n';
      }
      return text;
   }
   case PGRES_COMMAND_OK: return PQcmdStatus(const_cast<PGresult*>(result));
   case PGRES_EMPTY_QUERY: return "(empty)";
   case PGRES_PIPELINE_SYNC: return "(sync)";
   case PGRES_PIPELINE_ABORTED: return "(aborted)";
   case PGRES_COPY_IN: return "(copy in)";
   case PGRES_COPY_OUT: return "(copy out)";
   default: {
      const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
      const char* message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
      return std::string("ERROR ") + (state ? state : "-----") + " " +
             (message ? message : PQresultErrorMessage(result));
   }
   }
}

std::string Connection::run(const std::string& sql) const {
   const Result result(PQexec(connection_, sql.c_str()));
   return describe(result.get());
}

Result Connection::parameters(const std::string& sql, const std::vector<const char*>& values, bool binary) const {
   return Result(PQexecParams(connection_, sql.c_str(), static_cast<int>(values.size()), nullptr, values.data(),
                              nullptr, nullptr, binary ? 1 : 0));
}

std::optional<std::string> outsideAddress() {
   ifaddrs* list = nullptr;
   if (getifaddrs(&list) != 0) return std::nullopt;
   std::optional<std::string> found;
   for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
      if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != AF_INET || (entry->ifa_flags & IFF_LOOPBACK) != 0)
         continue;
      char text[INET_ADDRSTRLEN];
      inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(entry->ifa_addr)->sin_addr, text, sizeof text);
      found = text;
   }
   freeifaddrs(list);
   return found;
}

RawClient::RawClient(const ServerProcess& server) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
   sockaddr_in address{};
   address.sin_family = AF_INET;
   address.sin_port = htons(static_cast<uint16_t>(server.port));
   inet_pton(AF_INET, server.host.c_str(), &address.sin_addr);
   CATCH_REQUIRE(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
}

RawClient::RawClient(RawClient&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

void RawClient::close() {
   if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

void RawClient::send(const std::string& bytes) const {
   size_t sent = 0;
   while (sent < bytes.size()) {
      const ssize_t result = ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (result <= 0) return; // the server hung up: receive() will tell
      sent += static_cast<size_t>(result);
   }
}

std::string RawClient::receive() const {
   std::string bytes;
   while (true) {
      const size_t size = bytes.size();
      if (size >= 6 && bytes[size - 6] == 'Z' && protocol::loadInt32(bytes.data() + size - 5) == 5) return bytes;
      pollfd entry{fd_, POLLIN, 0};
      CATCH_REQUIRE(poll(&entry, 1, patienceMs) == 1);
      char chunk[65536];
      const ssize_t got = recv(fd_, chunk, sizeof chunk, 0);
      if (got <= 0) return bytes;
      bytes.append(chunk, static_cast<size_t>(got));
   }
}

std::string RawClient::answer() const {
   const std::string bytes = receive();
   const size_t size = bytes.size();
   const bool isReady = size >= 6 && bytes[size - 6] == 'Z';
   return protocol::test::readable(bytes) + (isReady ? "" : "(closed)");
}

std::string RawClient::start() const {
   return ask(protocol::test::startupPacket({{"user", "postgres"}, {"database", "postgres"}}));
}

} // namespace ouzel::wire
