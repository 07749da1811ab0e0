#pragma once
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "io/http/blocking_call.hpp"
#include "io/net/socket.hpp"
#include "io/s3/signer.hpp"

/// A versitygw process for one test, on a free port, with one bucket in a directory that the destructor removes. The
/// program is searched in VERSITYGW, ~/go/bin and PATH (scripts/install-deps --test installs it).
class VersityGateway {
public:
   static constexpr const char* bucket = "bucket";

   /// Path of the program. Empty when it is not installed: tests that need it print that and pass.
   static std::string find() {
      std::vector<std::string> places;
      if (const char* named = std::getenv("VERSITYGW")) places.emplace_back(named);
      if (const char* home = std::getenv("HOME")) places.push_back(std::string(home) + "/go/bin/versitygw");
      std::string path = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
      for (size_t at = 0; at < path.size();) {
         const size_t end = std::min(path.find(':', at), path.size());
         places.push_back(path.substr(at, end - at) + "/versitygw");
         at = end + 1;
      }
      for (const std::string& place : places)
         if (::access(place.c_str(), X_OK) == 0) return place;
      return {};
   }

   VersityGateway() {
      CATCH_REQUIRE(::mkdtemp(directory_.data()) != nullptr);
      std::filesystem::create_directory(directory_ + "/" + bucket);
      port_ = ouzel::io::listenTcp("127.0.0.1", 0).front().port; // a port that was free a moment ago
      const std::string program = find(), address = "127.0.0.1:" + std::to_string(port_);
      std::vector<std::string> arguments{program,    "--port",     address,        "--quiet", "--access", "testkey",
                                         "--secret", "testsecret", "--keep-alive", "posix",   directory_};
      std::vector<char*> raw;
      for (std::string& argument : arguments)
         raw.push_back(argument.data());
      raw.push_back(nullptr);
      process_ = ::fork();
      if (process_ == 0) {
         ::prctl(PR_SET_PDEATHSIG, SIGKILL); // the process ends with a crashing test
         ::execv(program.c_str(), raw.data());
         ::_exit(127);
      }
      CATCH_REQUIRE(process_ > 0);
      waitUntilItAnswers();
   }
   ~VersityGateway() {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
      std::filesystem::remove_all(directory_);
   }
   VersityGateway(const VersityGateway&) = delete;

   std::string url(const std::string& prefix = "") const {
      return std::string("s3://") + bucket + "/" + prefix + "?endpoint=http://127.0.0.1:" + std::to_string(port_) +
             "&region=us-east-1";
   }
   static ouzel::io::Credentials credentials() { return {"testkey", "testsecret", "", 0}; }
   void pause() const { ::kill(process_, SIGSTOP); }
   void resume() const { ::kill(process_, SIGCONT); }

private:
   void waitUntilItAnswers() const {
      for (int i = 0; i < 600; ++i) {
         try {
            ouzel::io::callHttp({"127.0.0.1", port_, "GET", "/", {}}, 1000);
            return;
         } catch (const std::exception&) {
            std::this_thread::sleep_for(std::chrono::milliseconds(25));
         }
      }
      CATCH_FAIL("versitygw does not answer");
   }

   std::string directory_ = (std::filesystem::temp_directory_path() / "ouzel-vgw-XXXXXX").string();
   uint16_t port_ = 0;
   pid_t process_ = 0;
};
