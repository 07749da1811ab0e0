#include "tests/unit/io/s3/object_server.hpp"

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/http/blocking_call.hpp"

ObjectServer::ObjectServer(std::vector<std::string> options)
   : directory_((std::filesystem::temp_directory_path() / "ouzel-objects-XXXXXX").string()) {
   CATCH_REQUIRE(::mkdtemp(directory_.data()) != nullptr);
   for (const char* option : {"--root", directory_.c_str(), "--bucket", bucket})
      options.emplace_back(option);
   options.insert(options.begin(), OUZEL_OBJECT_SERVER);
   std::vector<char*> raw;
   for (std::string& option : options)
      raw.push_back(option.data());
   raw.push_back(nullptr);
   int output[2];
   CATCH_REQUIRE(::pipe(output) == 0);
   process_ = ::fork();
   if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL); // the process ends with a crashing test
      ::dup2(output[1], 1);
      ::close(output[0]);
      ::execv(OUZEL_OBJECT_SERVER, raw.data());
      ::_exit(127);
   }
   CATCH_REQUIRE(process_ > 0);
   ::close(output[1]);
   std::string line;
   for (char c; ::read(output[0], &c, 1) == 1 && c != '\n';)
      line += c;
   ::close(output[0]);
   CATCH_REQUIRE(line.starts_with("listening on "));
   port_ = static_cast<uint16_t>(std::stoi(line.substr(line.rfind(':') + 1)));
}

ObjectServer::~ObjectServer() {
   ::kill(process_, SIGKILL);
   ::waitpid(process_, nullptr, 0);
   std::filesystem::remove_all(directory_);
}

std::string ObjectServer::url(const std::string& prefix, const std::string& scheme, const std::string& host) const {
   return std::string("s3://") + bucket + "/" + prefix + "?endpoint=" + scheme + "://" + host + ":" +
          std::to_string(port_) + "&region=us-east-1";
}

void ObjectServer::set(const std::string& settings) const {
   CATCH_REQUIRE(ouzel::io::callHttp({"127.0.0.1", port_, "POST", "/_control?" + settings, {}}, 5000).status == 200);
}

std::string ObjectServer::control() const {
   return ouzel::io::callHttp({"127.0.0.1", port_, "GET", "/_control", {}}, 5000).body;
}

void ObjectServer::pause() const {
   ::kill(process_, SIGSTOP);
}

void ObjectServer::resume() const {
   ::kill(process_, SIGCONT);
}
