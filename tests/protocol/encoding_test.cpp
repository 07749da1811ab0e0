#include <catch2/catch.hpp>

#include "tests/protocol/support.hpp"

// client_encoding: texts of all messages in the client's encoding.

namespace ouzel::wire {

namespace {

bool has(const std::string& text, const std::string& part) {
   return text.find(part) != std::string::npos;
}

/// The rows that COPY TO STDOUT sends.
std::string copiedOut(const Connection& connection, const std::string& command) {
   const Result result(PQexec(connection.get(), command.c_str()));
   if (PQresultStatus(result.get()) != PGRES_COPY_OUT) return connection.error();
   std::string rows;
   char* row = nullptr;
   for (int size; (size = PQgetCopyData(connection.get(), &row, 0)) > 0; PQfreemem(row))
      rows.append(row, static_cast<size_t>(size));
   const Result end(PQgetResult(connection.get()));
   return rows + (PQresultStatus(end.get()) == PGRES_COMMAND_OK ? "" : connection.error());
}

/// Sends the pieces to COPY FROM STDIN, each in a message of its own. Returns the error, or nothing.
std::string copyIn(const Connection& connection, const std::string& command, const std::vector<std::string>& pieces) {
   const Result result(PQexec(connection.get(), command.c_str()));
   if (PQresultStatus(result.get()) != PGRES_COPY_IN) return connection.error();
   for (const std::string& piece : pieces)
      PQputCopyData(connection.get(), piece.data(), static_cast<int>(piece.size()));
   PQputCopyEnd(connection.get(), nullptr);
   const Result end(PQgetResult(connection.get()));
   const std::string error = PQresultStatus(end.get()) == PGRES_COMMAND_OK ? "" : connection.error();
   PQclear(PQgetResult(connection.get()));
   return error;
}

} // namespace

CATCH_TEST_CASE("queries, results and names are in the client's encoding") {
   const Connection client(sharedServer(), "client_encoding=latin1");
   CATCH_CHECK(client.run("SHOW client_encoding") == "LATIN1\n");
   CATCH_CHECK(std::string(PQparameterStatus(client.get(), "client_encoding")) == "LATIN1");
   CATCH_CHECK(client.run("SELECT 'gr\xfc\xdf', length('gr\xfc\xdf'), octet_length('gr\xfc\xdf')") ==
               "gr\xfc\xdf|4|6\n");
   CATCH_CHECK(client.run("SELECT chr(252), pg_client_encoding()") == "\xfc|LATIN1\n");
   CATCH_CHECK(client.run("SELECT ARRAY['\xe4', 'b'], ROW('\xf6'), '{\"\xfc\": 1}'::jsonb") ==
               "{\xe4,b}|(\xf6)|{\"\xfc\": 1}\n");
   const Result named(PQexec(client.get(), "SELECT 1 AS \"sp\xe4t\""));
   CATCH_CHECK(std::string(PQfname(named.get(), 0)) == "sp\xe4t");
   CATCH_CHECK(has(client.run("SELECT \"sp\xe4t\""), "column \"sp\xe4t\" does not exist"));
   client.run("SET client_encoding TO 'UTF8'");
   CATCH_CHECK(client.run("SELECT 'ü', length('ü')") == "ü|1\n");
   CATCH_CHECK(std::string(PQparameterStatus(client.get(), "client_encoding")) == "UTF8");
   client.run("BEGIN; SET LOCAL client_encoding TO 'win1252'");
   CATCH_CHECK(client.run("SELECT U&'\\20AC'") == "\x80\n");
   client.run("ROLLBACK");
   CATCH_CHECK(client.run("SELECT U&'\\20AC'") == "€\n");
   client.run("RESET client_encoding");
   CATCH_CHECK(client.run("SHOW client_encoding") == "LATIN1\n");
}

CATCH_TEST_CASE("characters that an encoding does not have are errors") {
   const Connection client(sharedServer(), "client_encoding=latin1");
   CATCH_CHECK(has(client.run("SELECT U&'a\\20AC'"),
                   "ERROR 22P05 character with byte sequence 0xe2 0x82 0xac in encoding \"UTF8\" has no equivalent "
                   "in encoding \"LATIN1\""));
   CATCH_CHECK(client.run("SELECT 'still here'") == "still here\n");
   client.run("SET client_encoding TO win1252");
   CATCH_CHECK(has(client.run("SELECT '\x81'"), "ERROR 22P05 character with byte sequence 0x81 in encoding \"WIN1252\" "
                                                "has no equivalent in encoding \"UTF8\""));
   client.run("SET client_encoding TO euc_jp");
   CATCH_CHECK(
       has(client.run("SELECT '\xa4'"), "ERROR 22021 invalid byte sequence for encoding \"EUC_JP\": 0xa4 0x27"));
   CATCH_CHECK(client.run("SELECT '\xa4\xa2', length('\xa4\xa2')") == "\xa4\xa2|1\n");
   client.run("SET client_encoding TO sql_ascii");
   CATCH_CHECK(client.run("SELECT 'ü', length('ü')") == "ü|1\n");
   CATCH_CHECK(has(client.run("SELECT '\xfc'"), "ERROR 22021 invalid byte sequence for encoding \"UTF8\": 0xfc"));
   CATCH_CHECK(has(client.run("SET client_encoding TO nonsense"), "ERROR 22023"));
   CATCH_CHECK(has(client.run("SET client_encoding TO mule_internal"), "ERROR 0A000"));
}

CATCH_TEST_CASE("parameters and binary values are in the client's encoding") {
   const Connection client(sharedServer(), "client_encoding=latin1");
   const Result text = client.parameters("SELECT $1::text, octet_length($1)", {"\xfc"});
   CATCH_CHECK(describe(text.get()) == "\xfc|2\n");
   const Result binary = client.parameters("SELECT $1::text, '{\"\xe4\":1}'::jsonb, 7::int4", {"\xfc"}, true);
   CATCH_CHECK(std::string(PQgetvalue(binary.get(), 0, 0)) == "\xfc");
   CATCH_CHECK(std::string(PQgetvalue(binary.get(), 0, 1)) == "\1{\"\xe4\": 1}");
   CATCH_CHECK(PQgetlength(binary.get(), 0, 2) == 4);
   const char* value = "\xfc";
   const int length = 1, isBinary = 1;
   const Result given(
       PQexecParams(client.get(), "SELECT octet_length($1::text), $1", 1, nullptr, &value, &length, &isBinary, 0));
   CATCH_CHECK(describe(given.get()) == "2|\xfc\n");
   const Result prepared(PQprepare(client.get(), "n\xe4me", "SELECT '\xe4'", 0, nullptr));
   CATCH_CHECK(client.run("SET client_encoding TO 'UTF8'; SELECT name, statement FROM pg_prepared_statements") ==
               "näme|SELECT 'ä'\n");
}

CATCH_TEST_CASE("COPY converts texts, and characters may be cut") {
   const Connection client(sharedServer(), "client_encoding=sjis");
   client.run("DROP TABLE IF EXISTS encoded; CREATE TABLE encoded (n int, t text)");
   // The second byte of 0x83 0x5c is a backslash.
   CATCH_CHECK(copyIn(client, "COPY encoded FROM STDIN", {"1\t\x83", "\x5c\n2\t\x82", "\xa0\x82\xa0\n3\tx"}) == "");
   CATCH_CHECK(client.run("SELECT n, length(t), encode(convert_to(t, 'UTF8'), 'hex') FROM encoded ORDER BY n") ==
               "1|1|e382bd\n2|2|e38182e38182\n3|1|78\n");
   CATCH_CHECK(copiedOut(client, "COPY (SELECT t FROM encoded ORDER BY n) TO STDOUT") ==
               "\x83\x5c\n\x82\xa0\x82\xa0\nx\n");
   CATCH_CHECK(copiedOut(client, "COPY (SELECT t FROM encoded ORDER BY n) TO STDOUT (FORMAT csv, ENCODING 'euc_jp')") ==
               "\xa5\xbd\n\xa4\xa2\xa4\xa2\nx\n");
   CATCH_CHECK(has(copyIn(client, "COPY encoded FROM STDIN", {"4\t\x82"}), "invalid byte sequence"));
   client.run("SET client_encoding TO 'UTF8'");
   CATCH_CHECK(copyIn(client, "COPY encoded FROM STDIN (ENCODING latin1)", {"5\t\xfc\n"}) == "");
   CATCH_CHECK(client.run("SELECT t FROM encoded WHERE n = 5") == "ü\n");
   CATCH_CHECK(has(copiedOut(client, "COPY encoded TO STDOUT (ENCODING latin1)"), "has no equivalent in encoding"));
   CATCH_CHECK(has(client.run("COPY encoded TO STDOUT (ENCODING nonsense)"), "ERROR 22023"));
   client.run("DROP TABLE encoded");
}

CATCH_TEST_CASE("notifications are in the client's encoding") {
   const Connection client(sharedServer(), "client_encoding=latin1");
   client.run("LISTEN h\xf6ren");
   client.run("NOTIFY h\xf6ren, 'gr\xfc\xdf'");
   client.run("SELECT 1");
   PQconsumeInput(client.get());
   const std::unique_ptr<PGnotify, void (*)(void*)> message(PQnotifies(client.get()), PQfreemem);
   CATCH_REQUIRE(message);
   CATCH_CHECK(std::string(message->relname) == "h\xf6ren");
   CATCH_CHECK(std::string(message->extra) == "gr\xfc\xdf");
}

} // namespace ouzel::wire
