#include "tests/unit/io/redis_server.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "io/net/socket.hpp"

bool RedisServer::isInstalled() {
   if (std::system("command -v redis-server >/dev/null && command -v redis-cli >/dev/null") == 0) return true;
   CATCH_WARN("skipped: redis-server is not installed (scripts/install-deps --test)");
   return false;
}

RedisServer::RedisServer(std::vector<std::string> options)
   : options_(std::move(options)),
     directory_((std::filesystem::temp_directory_path() / "ouzel-redis-XXXXXX").string()) {
   CATCH_REQUIRE(::mkdtemp(directory_.data()) != nullptr);
   port_ = ouzel::io::listenTcp("127.0.0.1", 0).front().port; // closed again: free, most likely
   start();
}

RedisServer::~RedisServer() {
   if (process_ > 0) kill();
   std::filesystem::remove_all(directory_);
}

void RedisServer::start() {
   std::vector<std::string> arguments = {"redis-server", "--port", std::to_string(port_), "--bind", "127.0.0.1",
                                         "--save",       "",       "--appendonly",        "no",     "--dir",
                                         directory_};
   arguments.insert(arguments.end(), options_.begin(), options_.end());
   std::vector<char*> raw;
   for (std::string& argument : arguments)
      raw.push_back(argument.data());
   raw.push_back(nullptr);
   process_ = ::fork();
   if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL); // the process ends with a crashing test
      const int log = ::open((directory_ + "/log").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      ::dup2(log, 1);
      ::dup2(log, 2);
      ::execvp("redis-server", raw.data());
      ::_exit(127);
   }
   CATCH_REQUIRE(process_ > 0);
   for (int i = 0; i < 1000; ++i) {
      int error = 0;
      if (ouzel::io::connectTcp("127.0.0.1", port_, 1000, error).isOpen()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
   }
   CATCH_FAIL("redis-server does not start");
}

void RedisServer::kill() {
   ::kill(process_, SIGKILL);
   ::waitpid(process_, nullptr, 0);
   process_ = 0;
}

void RedisServer::pause() const {
   ::kill(process_, SIGSTOP);
}

void RedisServer::resume() const {
   ::kill(process_, SIGCONT);
}

std::string RedisServer::url(const std::string& options) const {
   return "memory://127.0.0.1:" + std::to_string(port_) + options;
}

std::string RedisServer::ask(const std::string& command) const {
   const std::string line = "redis-cli -p " + std::to_string(port_) + " " + command;
   FILE* const pipe = ::popen(line.c_str(), "r");
   CATCH_REQUIRE(pipe != nullptr);
   std::string out;
   std::array<char, 4096> some;
   for (size_t got; (got = std::fread(some.data(), 1, some.size(), pipe)) > 0;)
      out.append(some.data(), got);
   ::pclose(pipe);
   while (out.ends_with('\n'))
      out.pop_back();
   return out;
}

bool RedisServer::isEmptySoon(int seconds) const {
   for (int i = 0; i < seconds * 50; ++i) {
      if (keys() == 0) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
   }
   return false;
}
