#include "engine/setting/settings.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "common/error/sql_error.hpp"
#include "io/spill/spill.hpp"

using namespace ouzel;
using namespace ouzel::engine;

CATCH_TEST_CASE("a session may want less memory than the server has, never more") {
   const std::vector<std::pair<std::string, std::string>> server = {{"memory_limit", "1024"}};
   Settings settings(server);
   CATCH_CHECK(settings.show("memory_limit") == "1GB");
   settings.set("memory_limit", "64MB", false);
   CATCH_CHECK(settings.integer("memory_limit") == 64);
   for (const char* value : {"1025", "2GB", "0"})
      try {
         settings.set("memory_limit", value, false);
         CATCH_FAIL(value);
      } catch (const SqlError& error) {
         CATCH_CHECK(error.state() == sqlstate::invalidParameterValue);
      }
   settings.reset("memory_limit");
   CATCH_CHECK(settings.show("memory_limit") == "1GB");
}

CATCH_TEST_CASE("ouzel.spill_compression knows every level") {
   const SettingInfo* info = findSetting("ouzel.spill_compression");
   CATCH_REQUIRE(info != nullptr);
   std::vector<std::string> names = io::spillLevelNames();
   names.insert(names.begin(), "auto");
   CATCH_CHECK(std::equal(names.begin(), names.end(), info->enumValues.begin(), info->enumValues.end()));
}
