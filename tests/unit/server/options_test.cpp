#include "server/options.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include "io/crypto/encryption_key.hpp"

using namespace ouzel::server;

namespace {

const char* noEnvironment(const char*) {
   return nullptr;
}
const char* someEnvironment(const char* name) {
   if (std::strcmp(name, "OUZEL_PORT") == 0) return "7000";
   if (std::strcmp(name, "OUZEL_MEMORY_LIMIT") == 0) return "1GB";
   return nullptr;
}

std::string usageError(const std::vector<std::string>& arguments) {
   try {
      parseServeOptions(arguments, noEnvironment);
   } catch (const UsageError& error) {
      return error.what();
   }
   return "";
}

} // namespace

CATCH_TEST_CASE("sizes") {
   CATCH_CHECK(parseSize("0") == 0);
   CATCH_CHECK(parseSize("4GB") == size_t{4} << 30);
   CATCH_CHECK(parseSize("512MB") == size_t{512} << 20);
   CATCH_CHECK(parseSize("100 kB") == size_t{100} << 10);
   CATCH_CHECK(parseSize("2tb") == size_t{2} << 40);
   for (const char* bad : {"", "GB", "4XB", "-1", "4.5GB", "99999999999999999999", "99999999999GB", "4GB!"})
      CATCH_CHECK_THROWS_AS(parseSize(bad), UsageError);
}

CATCH_TEST_CASE("flags, environment, defaults") {
   const auto options = parseServeOptions({"--data", "d", "--port=6000", "--spill", "a,b"}, someEnvironment);
   CATCH_REQUIRE(options);
   CATCH_CHECK(options->dataDirectory == "d");
   CATCH_CHECK(options->port == 6000); // the flag wins
   CATCH_CHECK(options->memoryLimit == size_t{1} << 30);
   CATCH_CHECK(options->spillTargets == std::vector<std::string>{"a", "b"});
   CATCH_CHECK(options->listen == "127.0.0.1");
   CATCH_CHECK(options->walDirectory.empty());
   CATCH_CHECK_FALSE(options->metricsPort);
   CATCH_CHECK(parseServeOptions({"--data", "d", "--metrics-port", "9187"}, noEnvironment)->metricsPort == 9187);
   const auto cached =
       parseServeOptions({"--data", "s3://bucket/p", "--wal", "w", "--cache", "/a:b/c:10GB"}, noEnvironment);
   CATCH_CHECK(cached->cacheDirectory == "/a:b/c");
   CATCH_CHECK(cached->cacheSize == size_t{10} << 30);
   for (const char* wrong : {"/a", ":1GB", "/a:", "/a:many", "/a:63MB"})
      CATCH_CHECK_THROWS_AS(
          parseServeOptions({"--data", "s3://bucket/p", "--wal", "w", "--cache", wrong}, noEnvironment), UsageError);
   CATCH_CHECK_THROWS_AS(parseServeOptions({"--data", "d", "--cache", "/a:1GB"}, noEnvironment), UsageError);
   const auto log = parseServeOptions({"--data", "d", "--wal", "w", "--checkpoint-wal-size", "64MB"}, noEnvironment);
   CATCH_CHECK(log->walDirectory == "w");
   // A database in a bucket needs a log, unless commits wait for the bucket.
   CATCH_CHECK_THROWS_AS(parseServeOptions({"--data", "s3://bucket/p"}, noEnvironment), UsageError);
   CATCH_CHECK_THROWS_AS(parseServeOptions({"--data", "s3://bucket/p", "--commit", "log"}, noEnvironment), UsageError);
   CATCH_CHECK_THROWS_AS(parseServeOptions({"--data", "d", "--commit", "never"}, noEnvironment), UsageError);
   const auto stored = parseServeOptions({"--data", "s3://bucket/p", "--commit", "object_store"}, noEnvironment);
   CATCH_CHECK(stored->walDirectory.empty());
   CATCH_CHECK(stored->sessionSettings.at(0).name == "ouzel.commit");
   CATCH_CHECK(stored->sessionSettings.at(0).value == "object_store");
   CATCH_CHECK(log->checkpointWalSize == size_t{64} << 20);
   CATCH_CHECK_FALSE(parseServeOptions({"--help"}, noEnvironment));
}

CATCH_TEST_CASE("the encryption key comes from a file or the environment") {
   const auto withKey = [](const char* name) -> const char* {
      if (std::strcmp(name, "OUZEL_ENCRYPTION_KEY") == 0)
         return "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
      return nullptr;
   };
   const auto withBadKey = [](const char* name) -> const char* {
      return std::strcmp(name, "OUZEL_ENCRYPTION_KEY") == 0 ? "" : nullptr;
   };
   CATCH_CHECK(parseServeOptions({"--data", "d"}, noEnvironment)->encryptionKey == nullptr);
   const auto key = parseServeOptions({"--data", "d"}, withKey)->encryptionKey;
   CATCH_REQUIRE(key);
   std::string path = (std::filesystem::temp_directory_path() / "ouzel-key-XXXXXX").string();
   const int handle = ::mkstemp(path.data());
   CATCH_REQUIRE(handle >= 0);
   ::close(handle);
   std::ofstream(path) << std::string(64, 'a') << "\n";
   const auto fromFile = parseServeOptions({"--data", "d", "--encryption-key-file", path}, withKey)->encryptionKey;
   CATCH_CHECK(fromFile->id() != key->id());
   std::ofstream(path) << "not a key";
   CATCH_CHECK(usageError({"--data", "d", "--encryption-key-file", path}).find("neither 64 hex digits nor base64") !=
               std::string::npos);
   std::filesystem::remove(path);
   CATCH_CHECK(usageError({"--data", "d", "--encryption-key-file", path}).find(path) != std::string::npos);
   CATCH_CHECK_THROWS_AS(parseServeOptions({"--data", "d"}, withBadKey), UsageError);
}

CATCH_TEST_CASE("the password comes from a file, and of several places the last one counts") {
   const auto withFile = [](const char* name) -> const char* {
      return std::strcmp(name, "OUZEL_PASSWORD_FILE") == 0 ? "options_test.password" : nullptr;
   };
   const auto withText = [](const char* name) -> const char* {
      return std::strcmp(name, "OUZEL_PASSWORD") == 0 ? "text" : nullptr;
   };
   const std::string path = "options_test.password";
   const auto write = [&](std::string_view text) { std::ofstream(path, std::ios::binary) << text; };
   write("in the file \nand more");
   CATCH_CHECK(parseServeOptions({"--data", "d", "--password-file", path}, noEnvironment)->password == "in the file ");
   CATCH_CHECK(parseServeOptions({"--data", "d"}, withFile)->password == "in the file ");
   CATCH_CHECK(parseServeOptions({"--data", "d", "--password", "flag"}, withFile)->password == "flag");
   CATCH_CHECK(parseServeOptions({"--data", "d", "--password-file", path}, withText)->password == "in the file ");
   write("no end of line");
   CATCH_CHECK(parseServeOptions({"--data", "d"}, withFile)->password == "no end of line");
   write("windows\r\n");
   CATCH_CHECK(parseServeOptions({"--data", "d"}, withFile)->password == "windows");
   for (const std::string& wrong : {std::string(), std::string("\n"), std::string(5000, 'x')}) {
      write(wrong);
      CATCH_CHECK(usageError({"--data", "d", "--password-file", path}).find(path) != std::string::npos);
   }
   std::filesystem::remove(path);
   CATCH_CHECK(usageError({"--data", "d", "--password-file", path}) ==
               "cannot read password file \"options_test.password\": No such file or directory");
   CATCH_CHECK(usageError({"--data", "d", "--password-file", "/dev/zero"}).find("is no password") != std::string::npos);
}

CATCH_TEST_CASE("the configuration that packages install is understood, with what it has in comments") {
   const std::string path = "options_test.packaged.conf";
   std::ifstream packaged(OUZEL_SOURCE_DIR "/packaging/ouzel.conf");
   std::ofstream copy(path);
   size_t examples = 0;
   for (std::string line; std::getline(packaged, line);) {
      if (line.starts_with("#") && !line.starts_with("# ") && line.size() > 1) {
         line.erase(0, 1);
         ++examples;
      }
      // Files that are read at once, and what is for buckets only.
      if (line.starts_with("encryption_key_file") || line.starts_with("password_file") || line.starts_with("cache"))
         continue;
      copy << line << "\n";
   }
   copy.close();
   CATCH_CHECK(examples > 10);
   const auto options = parseServeOptions({"--config", path}, noEnvironment);
   CATCH_CHECK(options->dataDirectory == "/var/lib/ouzel/data");
   CATCH_REQUIRE(options->sessionSettings.size() == 1); // a name that no option has would be taken for a setting
   CATCH_CHECK(options->sessionSettings[0].name == "log_min_messages"); // which is what log_level sets
   const ServerOptions defaults;
   CATCH_CHECK(options->listen == defaults.listen);
   CATCH_CHECK(options->port == defaults.port);
   CATCH_CHECK(options->connectionsMax == defaults.connectionsMax);
   std::filesystem::remove(path);
}

CATCH_TEST_CASE("what cannot be understood is said") {
   CATCH_CHECK(usageError({}) == "--data DIR is required");
   CATCH_CHECK(usageError({"--data"}) == "--data needs a value");
   CATCH_CHECK(usageError({"--nonsense", "1"}) == "unknown option \"--nonsense\"");
   CATCH_CHECK(usageError({"stray"}) == "unexpected argument \"stray\"");
   CATCH_CHECK(usageError({"--data", "d", "--port", "70000"}) == "--port: \"70000\" is not a number from 0 to 65535");
   CATCH_CHECK(usageError({"--data", "d", "--memory-limit", "x"}).starts_with("--memory-limit: \"x\" is not a size"));
   CATCH_CHECK(usageError({"--data", "d", "--config", "/nowhere/x"}).starts_with("cannot read configuration file"));
}

CATCH_TEST_CASE("configuration files read like postgresql.conf") {
   const auto settings = parseConfiguration("# comment\n\nport = 5433 # why\nmemory_limit='4GB'\n"
                                            "TimeZone 'Europe/Berlin'\r\nname = 'it''s'\nlast=x",
                                            "f");
   std::string text;
   for (const ConfigurationLine& line : settings)
      text += std::to_string(line.number) + " " + line.name + "=" + line.value + "\n";
   CATCH_CHECK(text == "3 port=5433\n4 memory_limit=4GB\n5 TimeZone=Europe/Berlin\n6 name=it's\n7 last=x\n");
   for (const char* bad : {"port", "= 5", "a = 'x", "a = 'x' y"})
      CATCH_CHECK_THROWS_AS(parseConfiguration(bad, "f"), UsageError);
}

CATCH_TEST_CASE("misspelt names are found") {
   CATCH_CHECK(similarOption("memry_limit") == "memory_limit");
   CATCH_CHECK(similarOption("memory-limit") == "memory_limit");
   CATCH_CHECK(similarOption("PORT") == "port");
   CATCH_CHECK(similarOption("work_mem").empty());
   const char* const environment[] = {"HOME=/root",
                                      "OUZEL_PORT=1",
                                      "OUZEL_PROT=1",
                                      "OUZEL_CONFIG=",
                                      "OUZEL_TEST_POINTS=",
                                      "OUZEL_SERVICE_HOST=10.0.0.1",
                                      "OUZEL_PORT_5432_TCP=tcp",
                                      "OUZEL_METRICS_PORT=tcp://10.0.0.1:9187",
                                      "OUZEL_READER_SERVICE_PORT_PG=5432",
                                      "OUZEL_READER_PORT_5432_TCP_ADDR=10.0.0.2",
                                      "OUZEL=",
                                      nullptr};
   CATCH_CHECK(unknownVariables(environment) == std::vector<std::string>{"OUZEL_PROT; perhaps you mean OUZEL_PORT"});
   // What Kubernetes sets for a service named ouzel is not the port to listen on.
   const auto linked = parseServeOptions({"--data", "d"}, [](const char* name) -> const char* {
      return std::string_view(name) == "OUZEL_PORT" ? "tcp://10.0.0.1:5432" : nullptr;
   });
   CATCH_CHECK(linked->port == ServerOptions().port);
}
