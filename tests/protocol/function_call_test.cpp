#include <catch2/catch.hpp>
#include <csignal>
#include <libpq/libpq-fs.h>

#include "tests/protocol/support.hpp"
#include "tests/unit/protocol/fake_backend.hpp"

using namespace ouzel::wire;
namespace raw = ouzel::protocol::test;

// The function call message, and libpq's large objects, which go by it.

namespace {

constexpr int int4pl = 177, sum = 2108, generateSeries = 1067;

std::string argument(const std::string& bytes) {
   return raw::int32(static_cast<int64_t>(bytes.size())) + bytes;
}
const std::string null = raw::int32(-1);

/// `formats`: codes; `arguments`: from argument().
std::string call(int64_t function, const std::vector<int>& formats, const std::vector<std::string>& arguments,
                 int resultFormat = 0) {
   std::string payload = raw::int32(function) + raw::int16(static_cast<int>(formats.size()));
   for (const int format : formats)
      payload += raw::int16(format);
   payload += raw::int16(static_cast<int>(arguments.size()));
   for (const std::string& one : arguments)
      payload += one;
   return raw::message('F', payload + raw::int16(resultFormat));
}

} // namespace

CATCH_TEST_CASE("functions are called by their OIDs") {
   RawClient c;
   c.start();
   const std::string two = argument("2"), forty = argument("40");
   CATCH_CHECK(c.ask(call(int4pl, {}, {two, forty})) == "V 42\nZ I\n");
   CATCH_CHECK(c.ask(call(int4pl, {0}, {two, forty})) == "V 42\nZ I\n");
   CATCH_CHECK(c.ask(call(int4pl, {1, 0}, {argument(raw::int32(2)), forty})) == "V 42\nZ I\n");
   CATCH_CHECK(c.ask(call(int4pl, {1}, {argument(raw::int32(1)), argument(raw::int32(0x41424343))}, 1)) ==
               "V ABCD\nZ I\n");
   CATCH_CHECK(c.ask(call(int4pl, {}, {null, forty})) == "V NULL\nZ I\n"); // strict
   CATCH_CHECK(c.ask(call(1, {}, {})) == "E ERROR 42883 function with OID 1 does not exist\nZ I\n");
   CATCH_CHECK(c.ask(call(int4pl, {}, {two})) ==
               "E ERROR 08P01 function call message contains 1 arguments but function requires 2\nZ I\n");
   CATCH_CHECK(c.ask(call(int4pl, {0, 0, 0}, {two, forty})) ==
               "E ERROR 08P01 function call message contains 3 argument formats but 2 arguments\nZ I\n");
   CATCH_CHECK(c.ask(call(int4pl, {2}, {two, forty})) == "E ERROR 22023 unsupported format code: 2\nZ I\n");
   CATCH_CHECK(c.ask(call(int4pl, {}, {two, forty}, 2)) == "E ERROR 22023 unsupported format code: 2\nZ I\n");
   CATCH_CHECK(c.ask(call(int4pl, {}, {argument("x"), forty})) ==
               "E ERROR 22P02 invalid input syntax for type integer: \"x\"\nZ I\n");
   CATCH_CHECK(c.ask(call(141, {}, {argument("65536"), argument("65536")})) ==
               "E ERROR 22003 integer out of range\nZ I\n");
   CATCH_CHECK(c.ask(call(sum, {}, {two})) ==
               "E ERROR 0A000 cannot call function \"sum\" via fastpath interface\nZ I\n");
   CATCH_CHECK(c.ask(call(generateSeries, {}, {two, forty})) ==
               "E ERROR 0A000 cannot call function \"generate_series\" via fastpath interface\nZ I\n");
   CATCH_CHECK(c.ask(raw::message('F', raw::int32(int4pl) + raw::int16(0) + raw::int16(2))) ==
               "E ERROR 08P01 insufficient data left in message\nZ I\n");
}

CATCH_TEST_CASE("a function call is a part of the transaction") {
   const Connection setUp;
   setUp.run("DROP TABLE IF EXISTS wire_called; CREATE TABLE wire_called (a int)");
   setUp.run("CREATE OR REPLACE FUNCTION wire_call(a int) RETURNS bigint LANGUAGE plpgsql AS "
             "$$ BEGIN INSERT INTO wire_called VALUES (a); RETURN (SELECT count(*) FROM wire_called); END $$");
   setUp.run(
       "CREATE OR REPLACE FUNCTION wire_many(VARIADIC a int[]) RETURNS int LANGUAGE sql AS 'SELECT cardinality(a)'");
   setUp.run("CREATE ROLE wire_caller LOGIN; REVOKE EXECUTE ON FUNCTION wire_call(int) FROM PUBLIC");
   const auto oid = [&](const std::string& name) {
      return std::stoll(setUp.run("SELECT '" + name + "'::regproc::oid::int8"));
   };
   const int64_t function = oid("wire_call"), many = oid("wire_many");
   RawClient c;
   c.start();
   CATCH_CHECK(c.ask(call(function, {}, {argument("1")})) == "V 1\nZ I\n");
   CATCH_CHECK(setUp.run("SELECT count(*) FROM wire_called") == "1\n"); // outside a block it has committed
   CATCH_CHECK(c.ask(raw::query("BEGIN")) == "C BEGIN\nZ T\n");
   CATCH_CHECK(c.ask(call(function, {}, {argument("2")})) == "V 2\nZ T\n");
   CATCH_CHECK(c.ask(call(function, {}, {argument("x")})).ends_with("Z E\n"));
   CATCH_CHECK(c.ask(call(function, {}, {argument("3")})).starts_with("E ERROR 25P02 current transaction is aborted"));
   CATCH_CHECK(c.ask(raw::query("ROLLBACK")) == "C ROLLBACK\nZ I\n");
   CATCH_CHECK(setUp.run("SELECT count(*) FROM wire_called") == "1\n");
   CATCH_CHECK(c.ask(call(many, {}, {argument("{1,2,3}")})) == "V 3\nZ I\n");
   c.ask(raw::query("SET ROLE wire_caller"));
   CATCH_CHECK(c.ask(call(function, {}, {argument("1")})) ==
               "E ERROR 42501 permission denied for function wire_call\nZ I\n");
   setUp.run("DROP FUNCTION wire_call, wire_many; DROP TABLE wire_called; DROP ROLE wire_caller");
   CATCH_CHECK(c.ask(call(many, {}, {null})).starts_with("E ERROR 42883 function with OID"));
}

CATCH_TEST_CASE("large objects by libpq") {
   const Connection c;
   PGconn* const connection = c.get();
   CATCH_REQUIRE(c.run("BEGIN") == "BEGIN");
   const Oid object = lo_create(connection, 0);
   CATCH_REQUIRE(object != 0);
   const int descriptor = lo_open(connection, object, INV_READ | INV_WRITE);
   CATCH_REQUIRE(descriptor == 0);
   std::string bytes;
   for (int i = 0; i < 100'000; ++i)
      bytes += static_cast<char>(i * 7 % 251);
   for (size_t at = 0; at < bytes.size(); at += 8192)
      CATCH_REQUIRE(lo_write(connection, descriptor, bytes.data() + at, std::min<size_t>(8192, bytes.size() - at)) > 0);
   CATCH_CHECK(lo_tell64(connection, descriptor) == 100'000);
   CATCH_CHECK(lo_lseek64(connection, descriptor, 5'000'000'000, SEEK_SET) == 5'000'000'000);
   CATCH_CHECK(lo_write(connection, descriptor, "end", 3) == 3);
   CATCH_CHECK(lo_lseek64(connection, descriptor, 50'000, SEEK_SET) == 50'000);
   std::string read(60'000, 'x');
   CATCH_CHECK(lo_read(connection, descriptor, read.data(), read.size()) == 60'000);
   CATCH_CHECK(read.substr(0, 50'000) == bytes.substr(50'000));
   CATCH_CHECK(read.substr(50'000) == std::string(10'000, '\0'));
   CATCH_CHECK(lo_truncate64(connection, descriptor, 100'000) == 0);
   CATCH_CHECK(lo_lseek64(connection, descriptor, 0, SEEK_END) == 100'000);
   CATCH_CHECK(lo_close(connection, descriptor) == 0);
   CATCH_CHECK(lo_close(connection, descriptor) == -1);
   CATCH_CHECK(c.error() == "ERROR:  invalid large-object descriptor: 0\n");
   CATCH_CHECK(c.run("ROLLBACK") == "ROLLBACK");
   CATCH_CHECK(lo_unlink(connection, object) == -1);
   CATCH_CHECK(c.error() == "ERROR:  large object " + std::to_string(object) + " does not exist\n");
}

CATCH_TEST_CASE("large objects outlive a crash") {
   ServerProcess server;
   if (server.isForeign()) return;
   std::string expected;
   {
      const Connection c(server);
      c.run("SELECT lo_from_bytea(4242, decode(repeat('00ff17', 100000), 'hex'))");
      c.run("SELECT lo_put(4242, 1000000, 'behind a hole'), lo_put(4242, 5, 'changed')");
      c.run("SELECT lo_from_bytea(4243, 'gone'), lo_from_bytea(4244, 'private')");
      c.run("SELECT lo_unlink(4243)");
      c.run("COMMENT ON LARGE OBJECT 4244 IS 'with a comment'");
      expected = c.run("SELECT md5(lo_get(4242)), length(lo_get(4242))");
      CATCH_REQUIRE_FALSE(expected.starts_with("ERROR"));
      c.run("BEGIN");
      c.run("SELECT lo_put(4242, 0, 'not committed'), lo_create(4245), lo_unlink(4244)");
      server.signal(SIGKILL);
      server.awaitDeath();
   }
   server.start();
   const Connection c(server);
   CATCH_CHECK(c.run("SELECT md5(lo_get(4242)), length(lo_get(4242))") == expected);
   CATCH_CHECK(c.run("SELECT oid, obj_description(oid, 'pg_largeobject') FROM pg_largeobject_metadata ORDER BY 1") ==
               "4242|\\N\n4244|with a comment\n");
   CATCH_CHECK(c.run("SELECT lo_get(4244)") == "\\x70726976617465\n");
   CATCH_CHECK(c.run("CHECKPOINT") == "CHECKPOINT");
   CATCH_CHECK(server.stop() == 0);
   server.start();
   const Connection again(server);
   CATCH_CHECK(again.run("SELECT md5(lo_get(4242)), length(lo_get(4242))") == expected);
}
