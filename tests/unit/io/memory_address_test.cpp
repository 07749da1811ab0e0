#include "io/spill/memory_address.hpp"

#include <catch2/catch.hpp>

#include "common/error/sql_error.hpp"
#include "io/spill/spill_target.hpp"

using namespace ouzel;
using namespace ouzel::io;

CATCH_TEST_CASE("the address of a memory server", "[memory]") {
   const MemoryAddress plain = MemoryAddress::parse("memory://10.0.0.7");
   CATCH_CHECK(plain.host == "10.0.0.7");
   CATCH_CHECK(plain.port == 6379);
   CATCH_CHECK(plain.bytesMax == 0);
   CATCH_CHECK_FALSE(plain.usesTls);
   CATCH_CHECK(plain.name == "memory://10.0.0.7:6379");

   const MemoryAddress full =
       MemoryAddress::parse("memorys://ou%3Azel:p%40ss:word@[::1]:7000/?size=3GB&ttl=60&delay=5");
   CATCH_CHECK(full.host == "::1");
   CATCH_CHECK(full.port == 7000);
   CATCH_CHECK(full.user == "ou:zel");
   CATCH_CHECK(full.password == "p@ss:word");
   CATCH_CHECK(full.usesTls);
   CATCH_CHECK(full.bytesMax == uint64_t{3} << 30);
   CATCH_CHECK(full.ttlSeconds == 60);
   CATCH_CHECK(full.delayNanos == 5'000'000);
   CATCH_CHECK(MemoryAddress::parse("memory://h?delay=0.15").delayNanos == 150'000);
   CATCH_CHECK(full.name == "memorys://[::1]:7000");

   const MemoryAddress password = MemoryAddress::parse("memory://:secret@cache:1?tls=1&size=4096");
   CATCH_CHECK(password.user.empty());
   CATCH_CHECK(password.password == "secret");
   CATCH_CHECK(password.usesTls);
   CATCH_CHECK(password.bytesMax == 4096);
}

CATCH_TEST_CASE("an address that is not valid is refused, without its password", "[memory]") {
   for (const char* text :
        {"memory://", "memory://:secret@", "memory://h:0", "memory://h:65536", "memory://h:x", "memory://[::1",
         "memory://secret@h", "memory://u:secret%zz@h", "memory://u:secret%4@h", "memory://u:secret@h?size=x",
         "memory://u:secret@h?size=99999999999TB", "memory://u:secret@h?ttl=0", "memory://u:secret@h?size=0",
         "memory://u:secret@h?tls=2", "memory://u:secret@h?colour=red", "memory://u:secret@h/1", "memory://h?delay=-1",
         "memory://h?delay=1x", "memory://h?delay=nan"}) {
      CATCH_INFO(text);
      try {
         requireSpillAddress(text);
         CATCH_FAIL("accepted");
      } catch (const SqlError& error) {
         CATCH_CHECK(error.state() == sqlstate::invalidParameterValue);
         CATCH_CHECK(std::string(error.what()).find("secret") == std::string::npos);
      }
   }
}

CATCH_TEST_CASE("what a target is", "[memory]") {
   CATCH_CHECK_FALSE(requireSpillAddress("/var/spill"));
   CATCH_CHECK(requireSpillAddress("memory://h"));
   CATCH_CHECK(spillTargetName("memory://u:secret@h?size=1GB") == "memory://h:6379");
   CATCH_CHECK(spillTargetName("/var/spill") == "/var/spill");
   CATCH_CHECK(spillTargetName("s3://bucket/a/b?region=x&endpoint=http://h:1") == "s3://bucket/a/b/");
   try {
      requireSpillAddress("gs://bucket/prefix");
      CATCH_FAIL("accepted");
   } catch (const SqlError& error) {
      CATCH_CHECK(error.state() == sqlstate::featureNotSupported);
   }
}
