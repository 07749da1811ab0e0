#include "tests/crash/server_process.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ouzel::crash {

void fail(const std::string& what) {
   std::fprintf(stderr, "FAILED: %s\n", what.c_str());
   std::fflush(nullptr);
   ::_exit(1);
}

void require(bool holds, const std::string& what) {
   if (!holds) fail(what);
}

Directory::Directory(const std::string& root)
   : path(((root.empty() ? std::filesystem::temp_directory_path() : std::filesystem::path(root)) / "ouzel-crash-XXXXXX")
              .string()) {
   require(::mkdtemp(path.data()) != nullptr, "mkdtemp");
}

Directory::~Directory() {
   std::error_code ignored;
   std::filesystem::remove_all(path, ignored);
}

ServerProcess::ServerProcess(const std::string& binary, const std::string& directory,
                             const std::vector<std::string>& flags, const Environment& environment) {
   int output[2];
   if (::pipe2(output, O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
   std::vector<std::string> arguments = {binary, "serve", "--data", directory + "/data", "--port", "0"};
   arguments.insert(arguments.end(), flags.begin(), flags.end());
   std::vector<char*> pointers;
   for (auto& argument : arguments)
      pointers.push_back(argument.data());
   pointers.push_back(nullptr);
   pid_ = ::fork();
   if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (const auto& [name, value] : environment)
         ::setenv(name.c_str(), value.c_str(), 1);
      ::dup2(output[1], STDOUT_FILENO);
      const int log = ::open((directory + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      ::dup2(log, STDERR_FILENO);
      ::execv(pointers[0], pointers.data());
      ::_exit(127);
   }
   ::close(output[1]);
   // The server prints a psql command with its port when it listens.
   std::string text;
   char chunk[256];
   size_t at = std::string::npos;
   while ((at = text.find(" -p ")) == std::string::npos || text.find('\n', at) == std::string::npos) {
      const ssize_t got = ::read(output[0], chunk, sizeof chunk);
      if (got <= 0) break;
      text.append(chunk, static_cast<size_t>(got));
   }
   ::close(output[0]);
   if (at != std::string::npos) port_ = std::atoi(text.c_str() + at + 4);
}

ServerProcess::~ServerProcess() {
   kill();
}

int ServerProcess::wait() {
   if (pid_ == 0) return -1;
   int status = 0;
   ::waitpid(pid_, &status, 0);
   pid_ = port_ = 0;
   return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void ServerProcess::kill() {
   if (pid_ == 0) return;
   ::kill(pid_, SIGKILL);
   wait();
}

void ServerProcess::signal(int number) const {
   if (pid_ != 0) ::kill(pid_, number);
}

bool ServerProcess::waitStopped() {
   int status = 0;
   if (pid_ == 0 || ::waitpid(pid_, &status, WUNTRACED) != pid_) return false;
   if (!WIFSTOPPED(status)) pid_ = port_ = 0;
   return WIFSTOPPED(status);
}

int ServerProcess::stop() {
   if (pid_ == 0) return -1;
   ::kill(pid_, SIGTERM);
   return wait();
}

Client::Client(int port, const std::string& database)
   : connection_(PQconnectdb(
         ("host=127.0.0.1 user=postgres dbname=" + database + " sslmode=disable port=" + std::to_string(port))
             .c_str())) {
   if (!isConnected()) message_ = PQerrorMessage(connection_);
   PQsetNoticeProcessor(
       connection_, [](void*, const char*) {}, nullptr);
}

bool Client::take(PGresult* result) {
   const ExecStatusType status = PQresultStatus(result);
   const bool isWell = status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_COPY_IN;
   rows_.clear();
   sqlstate_.clear();
   message_.clear();
   if (!isWell) {
      const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
      if (state && isConnected()) sqlstate_ = state;
      message_ = PQresultErrorMessage(result);
   }
   for (int row = 0; row < PQntuples(result); ++row) {
      rows_.emplace_back();
      for (int column = 0; column < PQnfields(result); ++column)
         rows_.back().emplace_back(PQgetvalue(result, row, column));
   }
   PQclear(result);
   return isWell;
}

bool Client::run(const std::string& statement) {
   return take(PQexec(connection_, statement.c_str()));
}

void Client::begin(const std::string& statement) {
   require(PQsendQuery(connection_, statement.c_str()) == 1, PQerrorMessage(connection_));
}

bool Client::hasFinished() {
   return PQconsumeInput(connection_) == 0 || PQisBusy(connection_) == 0;
}

bool Client::finish() {
   bool isWell = true;
   while (PGresult* result = PQgetResult(connection_)) {
      if (isWell)
         isWell = take(result);
      else
         PQclear(result);
   }
   return isWell;
}

void Client::breakOff(bool resets) {
   const int socket = PQsocket(connection_);
   if (resets) {
      const linger hard{1, 0};
      ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
      const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
      ::dup2(nothing, socket); // libpq cannot send its final message any more
      ::close(nothing);
   } else {
      ::shutdown(socket, SHUT_RDWR);
   }
   PQfinish(std::exchange(connection_, nullptr));
}

bool Client::copyIn(const std::string& statement, const std::string& bytes) {
   if (!run(statement)) return false;
   PQputCopyData(connection_, bytes.data(), static_cast<int>(bytes.size()));
   PQputCopyEnd(connection_, nullptr);
   return finish();
}

} // namespace ouzel::crash
