#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/error/sql_error.hpp"
#include "io/crypto/encryption_key.hpp"
#include "storage/wal/log.hpp"
#include "tests/unit/storage/database_fixture.hpp"

// A database with an encryption key: its files show no rows, and it does not open with another key or without one.

using namespace ouzel;
using namespace ouzel::storage;
using namespace ouzel::storage::test;
namespace fs = std::filesystem;

namespace {

const auto ownKey = io::EncryptionKey::makeRandom();
using Key = std::shared_ptr<const io::EncryptionKey>;

DatabaseOptions optionsFor(const std::string& directory, Key key) {
   DatabaseOptions options;
   options.dataDirectory = directory;
   options.store.key = std::move(key);
   return options;
}

/// The contents of all files, by name.
std::map<std::string, std::string> contentOf(const std::string& directory) {
   std::map<std::string, std::string> content;
   for (const auto& entry : fs::recursive_directory_iterator(directory)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      std::ostringstream bytes;
      bytes << file.rdbuf();
      content[entry.path().string()] = bytes.str();
   }
   return content;
}

std::string filesWith(const std::string& directory, std::string_view text) {
   std::string found;
   for (const auto& [name, bytes] : contentOf(directory))
      if (bytes.find(text) != std::string::npos) found += name + " ";
   return found;
}

/// Copies a database as after a crash (see database_test.cpp).
std::string crashCopy(const std::string& directory, const std::string& copy) {
   fs::remove_all(copy);
   fs::copy(directory, copy, fs::copy_options::recursive);
   fs::remove_all(copy + "/writer");
   return copy;
}

/// The error with which the database does not open; empty when it opens.
std::string refusalOf(const DatabaseOptions& options, bool changesNothing = true) {
   const auto before = contentOf(options.dataDirectory);
   std::string refusal;
   try {
      DatabaseFixture f(options);
   } catch (const SqlError& error) {
      CATCH_CHECK(!error.hintText().empty());
      refusal = std::string(error.state().text()) + ": " + error.what();
   }
   CATCH_CHECK((!changesNothing || contentOf(options.dataDirectory) == before));
   return refusal;
}

void insert(DatabaseFixture& f, StorageId id, int64_t first, size_t count, AppendMode mode = AppendMode::Small) {
   auto transaction = f.database->begin();
   appendRows(*f.database->find(id), *transaction, first, count, mode);
   f.commit(*transaction);
}

StorageId makeTable(DatabaseFixture& f) {
   auto transaction = f.database->begin();
   const auto table = f.database->createTable(*transaction, intAndText());
   f.commit(*transaction, "create the secret table;");
   return table->id();
}

bool isWithin(const std::string& text, std::string_view part) {
   return text.find(part) != std::string::npos;
}

} // namespace

CATCH_TEST_CASE("nothing of an encrypted database can be read in its files") {
   for (const Key& key : {ownKey, Key()}) {
      TemporaryDirectory temporary;
      const std::string data = temporary.path() + "/data", copy = temporary.path() + "/copy";
      auto first = std::make_unique<DatabaseFixture>(optionsFor(data, key));
      DatabaseFixture& f = *first;
      const StorageId id = makeTable(f);
      insert(f, id, 1, 3);                              // goes to the log
      insert(f, id, 100'001, 70'000, AppendMode::Bulk); // goes to a block
      auto numbers = range(1, 4);
      for (const int64_t n : range(100'001, 170'001))
         numbers.push_back(n);
      {
         DatabaseFixture recovered(optionsFor(crashCopy(data, copy), key));
         CATCH_CHECK(readNumbers(*recovered.database, *recovered.database->find(id)) == numbers);
         CATCH_CHECK(recovered.catalog == "create the secret table;");
         const auto report = [](std::string_view) { CATCH_CHECK(false); };
         CATCH_CHECK(recovered.database->check(report) > 0);
      }
      const bool isClear = key == nullptr;
      CATCH_CHECK(filesWith(data, "text 2").empty() != isClear);
      CATCH_CHECK(filesWith(data + "/wal", "secret").empty() != isClear);
      f.database->checkpoint();
      CATCH_CHECK(filesWith(data, "secret").empty() != isClear); // the catalog's image
      CATCH_CHECK(filesWith(data, "OUZELOBJ").empty() != isClear);
      CATCH_CHECK(filesWith(data, "OUZELENC").empty() == isClear);
      insert(f, id, 4, 1);
      CATCH_CHECK(filesWith(data, "text 4").empty() != isClear);
      f.database->close();
      first.reset();
      DatabaseFixture again(optionsFor(data, key));
      numbers.insert(numbers.begin() + 3, 4);
      CATCH_CHECK(readNumbers(*again.database, *again.database->find(id)) == numbers);
   }
}

CATCH_TEST_CASE("a database opens with the key it was made with, and no other way") {
   TemporaryDirectory temporary;
   const std::string data = temporary.path() + "/data", clear = temporary.path() + "/clear",
                     copy = temporary.path() + "/copy";
   const Key otherKey = io::EncryptionKey::makeRandom();
   StorageId id;
   for (const bool isClear : {false, true}) {
      DatabaseFixture f(optionsFor(isClear ? clear : data, isClear ? nullptr : ownKey));
      id = makeTable(f);
      insert(f, id, 1, 5);
      if (!isClear) crashCopy(data, copy); // copies a log that recovery needs
      f.database->close();
   }
   for (const std::string& directory : {data, copy}) {
      for (const bool follows : {false, true}) {
         const auto open = [&](Key key) {
            DatabaseOptions options = optionsFor(directory, std::move(key));
            options.follows = follows;
            return refusalOf(options);
         };
         CATCH_CHECK(open(nullptr) == "22023: the database is encrypted, and no key was given");
         CATCH_CHECK(isWithin(open(otherKey), "22023: object \"manifest/"));
         CATCH_CHECK(isWithin(open(otherKey), "is encrypted with another key"));
      }
   }
   CATCH_CHECK(isWithin(refusalOf(optionsFor(clear, ownKey)), "22023: an encryption key was given, but object"));
   for (const std::string& directory : {data, copy}) {
      DatabaseOptions options = optionsFor(directory, ownKey);
      options.follows = true;
      DatabaseFixture follower(options);
      CATCH_CHECK((follower.database->find(id) != nullptr) == (directory == data)); // the other is in the log
      options.follows = false;
      DatabaseFixture f(options);
      CATCH_CHECK(readNumbers(*f.database, *f.database->find(id)) == range(1, 6));
   }
   DatabaseFixture f(optionsFor(clear, nullptr));
   CATCH_CHECK(readNumbers(*f.database, *f.database->find(id)) == range(1, 6));
}

CATCH_TEST_CASE("a log that is not encrypted with the database's key is refused") {
   TemporaryDirectory temporary;
   const std::string data = temporary.path() + "/data", copy = temporary.path() + "/copy";
   DatabaseFixture f(optionsFor(data, ownKey));
   const StorageId id = makeTable(f);
   insert(f, id, 1, 5);
   crashCopy(data, copy);
   fs::path log;
   for (const auto& entry : fs::directory_iterator(copy + "/wal"))
      if (entry.path().extension() == ".wal") log = entry.path();
   const std::string whole = contentOf(copy).at(log.string());
   const auto refusalWith = [&](const std::string& bytes) {
      std::ofstream(log, std::ios::binary) << bytes;
      return refusalOf(optionsFor(copy, ownKey), false); // the lease is claimed before the log is read
   };
   std::string otherSalt = whole;
   LogFileHeader fileHeader;
   std::memcpy(&fileHeader, whole.data(), sizeof fileHeader);
   fileHeader.salt[3] = static_cast<char>(fileHeader.salt[3] ^ 1);
   fileHeader.checksum = XXH3_64bits(&fileHeader, offsetof(LogFileHeader, checksum));
   std::memcpy(otherSalt.data(), &fileHeader, sizeof fileHeader);
   CATCH_CHECK(isWithin(refusalWith(otherSalt), "does not decrypt"));
   fileHeader.cipher = 0;
   fileHeader.checksum = XXH3_64bits(&fileHeader, offsetof(LogFileHeader, checksum));
   std::memcpy(otherSalt.data(), &fileHeader, sizeof fileHeader);
   CATCH_CHECK(isWithin(refusalWith(otherSalt), "is not encrypted, but a key was given"));
   // A damaged frame in the middle of the log: later frames prove that it had been complete.
   insert(f, id, 6, 5);
   f.database->syncLog();
   insert(f, id, 11, 5);
   crashCopy(data, copy);
   std::string broken = contentOf(copy).at(log.string());
   broken[64 + 56 + 3] = static_cast<char>(broken[64 + 56 + 3] ^ 1);
   CATCH_CHECK(isWithin(refusalWith(broken), "XX001: write-ahead log is corrupted: invalid frame"));
   // An attacker without the key can correct the checksum of a changed frame or header, but not the tag.
   const std::string good = contentOf(data).at(data + "/wal/" + log.filename().string());
   const auto forged = [&](size_t at) {
      std::string bytes = good;
      bytes[64 + at] = static_cast<char>(bytes[64 + at] ^ 1);
      FrameHeader header;
      std::memcpy(&header, bytes.data() + 64, sizeof header);
      const size_t size = header.size;
      header.checksum = 0;
      XXH3_state_t state;
      XXH3_64bits_reset(&state);
      XXH3_64bits_update(&state, &header, sizeof header);
      XXH3_64bits_update(&state, bytes.data() + 64 + sizeof header, size);
      header.checksum = XXH3_64bits_digest(&state);
      std::memcpy(bytes.data() + 64, &header, sizeof header);
      return bytes;
   };
   CATCH_CHECK(
       isWithin(refusalWith(forged(sizeof(FrameHeader) + 3)), "XX001: write-ahead log is corrupted: frame at "));
   CATCH_CHECK(isWithin(refusalWith(forged(offsetof(FrameHeader, timestamp))), "does not decrypt"));
}
