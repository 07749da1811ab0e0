#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "common/error/sql_error.hpp"
#include "io/crypto/encrypted_reader.hpp"
#include "io/crypto/encrypted_store.hpp"
#include "io/crypto/sealed_object.hpp"
#include "io/directory/directory_store.hpp"
#include "tests/unit/io/pattern.hpp"

// Keys, the cipher, and manipulated objects. Tests of all stores, the encrypted one included, are in
// object_store_test.cpp.

using namespace ouzel;
using namespace ouzel::io;

namespace {

const std::string hexKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

std::string fromHex(std::string_view text) {
   std::string bytes;
   for (size_t i = 0; i < text.size(); i += 2)
      bytes += static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16));
   return bytes;
}

template <typename Action>
std::string stateOf(Action&& action) {
   try {
      action();
      return "";
   } catch (const SqlError& error) {
      CATCH_CHECK(std::string(error.what()).find("000102") == std::string::npos); // never the key
      return std::string(error.state().text());
   }
}

std::string seal(const std::shared_ptr<const EncryptionKey>& key, std::string_view name, std::string_view bytes) {
   return std::string(sealObject(*key, name, std::span(&bytes, 1)).view());
}

std::string stateOfWhole(const std::shared_ptr<const EncryptionKey>& key, std::string_view name,
                         std::string_view sealed) {
   return stateOf([&] { ObjectOpener::openWhole(key, name, sealed); });
}

/// A remote store in memory. Reads end when the test says so, on the test's thread.
class SlowStore final : public ObjectStore {
public:
   struct Stored {
      std::string bytes;
      std::vector<std::function<void()>> waiting;
   };
   using ObjectStore::open;
   using ObjectStore::remove;
   bool put(std::string_view, std::span<const std::string_view> parts, const PutCondition&) override {
      stored->bytes.clear();
      for (const std::string_view part : parts)
         stored->bytes += part;
      return true;
   }
   std::unique_ptr<ObjectReader> open(std::string_view) override { return std::make_unique<Reader>(stored); }
   std::optional<std::string> tag(std::string_view) override { return "tag"; }
   std::vector<ObjectInfo> list(std::string_view, size_t) override { return {}; }
   void remove(std::string_view) override {}
   void removeLeftovers() override {}
   bool isRemote() const override { return true; }

   std::shared_ptr<Stored> stored = std::make_shared<Stored>();

private:
   struct Nothing final : PendingRead {
      explicit Nothing(std::shared_ptr<std::atomic<bool>> flag) : isCancelled(std::move(flag)) {}
      void cancel() noexcept override { *isCancelled = true; }
      std::shared_ptr<std::atomic<bool>> isCancelled;
   };
   class Reader final : public ObjectReader {
   public:
      explicit Reader(std::shared_ptr<Stored> stored) : stored_(std::move(stored)) {}
      void read(uint64_t offset, size_t size, void* target) const override {
         std::memcpy(target, stored_->bytes.data() + offset, size);
      }
      void prefetch(uint64_t, size_t) const override {}
      std::unique_ptr<PendingRead> readAsync(uint64_t offset, size_t size, void* target,
                                             std::function<void(std::exception_ptr)> done) const override {
         const auto isCancelled = std::make_shared<std::atomic<bool>>(false);
         stored_->waiting.push_back([=, this, done = std::move(done)] {
            if (*isCancelled) return;
            read(offset, size, target);
            done(nullptr);
         });
         return std::make_unique<Nothing>(isCancelled);
      }
      uint64_t size() const override { return stored_->bytes.size(); }

   private:
      const std::shared_ptr<Stored> stored_;
   };
};

} // namespace

CATCH_TEST_CASE("keys are hex digits or base64 of 32 bytes") {
   const auto key = EncryptionKey::parse(hexKey);
   CATCH_CHECK(EncryptionKey::parse(" " + hexKey + "\r\n")->id() == key->id());
   CATCH_CHECK(EncryptionKey::parse("000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F")->id() ==
               key->id());
   CATCH_CHECK(EncryptionKey::parse("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")->id() == key->id());
   CATCH_CHECK(EncryptionKey::parse("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8\n")->id() == key->id());
   CATCH_CHECK(EncryptionKey::parse("ff" + hexKey.substr(2))->id() != key->id());
   CATCH_CHECK(EncryptionKey::makeRandom()->id() != EncryptionKey::makeRandom()->id());
   for (const std::string& wrong :
        {std::string(), hexKey.substr(1), hexKey + "0", "x" + hexKey.substr(1), std::string(43, 'B'),
         std::string(44, 'A'), std::string("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9="), fromHex(hexKey)})
      CATCH_CHECK(stateOf([&] { EncryptionKey::parse(wrong); }) == "22023");
   CATCH_CHECK(stateOf([] { EncryptionKey::readFile("/nowhere/key"); }) == "58030");
   CATCH_CHECK(stateOf([] { EncryptionKey::readFile("/proc/self/exe"); }) == "22023");
}

CATCH_TEST_CASE("keys are derived by HKDF-SHA256") {
   // Expected value: RFC 5869 computed with Python's hmac and hashlib.
   const SecretBytes derived = EncryptionKey::parse(hexKey)->derive("salt", "purpose");
   CATCH_CHECK(std::string(reinterpret_cast<const char*>(derived.bytes.data()), 32) ==
               fromHex("94667bce5e44fbfb519b064d97bb4a4e6714993a9e0f99c8485e090a33876fa8"));
}

CATCH_TEST_CASE("AES-256-GCM agrees with its published cases") {
   // McGrew & Viega, "The Galois/Counter Mode of Operation", test case 14 (key, nonce and plaintext zero).
   AesGcm cipher(SecretBytes{});
   const std::string zeros(16, '\0');
   const std::string_view part = zeros;
   char sealed[16], tag[AesGcm::tagSize], opened[16];
   cipher.seal(0, "", std::span(&part, 1), sealed, tag);
   CATCH_CHECK(std::string(sealed, 16) == fromHex("cea7403d4d606b6e074ec5d3baf39d18"));
   CATCH_CHECK(std::string(tag, 16) == fromHex("d0d1c8a799996bf0265b98b5d48ab919"));
   CATCH_CHECK(cipher.open(0, "", {sealed, 16}, tag, opened));
   CATCH_CHECK(std::string(opened, 16) == zeros);
   CATCH_CHECK_FALSE(cipher.open(1, "", {sealed, 16}, tag, opened));
   CATCH_CHECK_FALSE(cipher.open(0, "x", {sealed, 16}, tag, opened));
}

CATCH_TEST_CASE("objects of all sizes come back, and ranges of them") {
   const auto key = EncryptionKey::parse(hexKey);
   constexpr size_t chunk = sealedChunkSize;
   for (const size_t size : {size_t{0}, size_t{1}, chunk - 1, chunk, chunk + 1, 3 * chunk, 5 * chunk + 777}) {
      const std::string content = pattern(size), sealed = seal(key, "a/b", content);
      CATCH_CHECK(sealed.size() == sealedSize(size));
      CATCH_CHECK(unsealedSize(sealed.size()) == size);
      CATCH_CHECK(ObjectOpener::openWhole(key, "a/b", sealed) == content);
      CATCH_CHECK(seal(key, "a/b", content) != sealed); // each put has a new salt, and so a new key
      if (size >= 16) CATCH_CHECK(sealed.find(content.substr(0, 16)) == std::string::npos);
      const ObjectOpener opener(key, "a/b", size);
      for (const size_t offset : {size_t{0}, size_t{1}, chunk - 1, chunk, chunk + 1, 2 * chunk, size - 1}) {
         for (const size_t length : {size_t{1}, size_t{2}, chunk - 1, chunk, chunk + 2, 2 * chunk, size}) {
            if (size == 0 || offset >= size || length == 0 || length > size - offset) continue;
            const SealedRange range = opener.rangeOf(offset, length);
            CATCH_CHECK(range.size <= (length / chunk + 2) * (chunk + sealedChunkOverhead));
            std::string part(length, '\0');
            opener.open(std::string_view(sealed).substr(range.offset, range.size), offset, length, part.data());
            CATCH_CHECK(part == content.substr(offset, length));
         }
      }
   }
   const std::string_view parts[] = {"", "one", "", " two", ""};
   CATCH_CHECK(ObjectOpener::openWhole(key, "x", sealObject(*key, "x", parts).view()) == "one two");
   // Sizes that no object has: 0, or with an empty last chunk.
   for (const uint64_t none : {uint64_t{0}, uint64_t{63}, sealedSize(chunk) + 1, sealedSize(chunk) + 32})
      CATCH_CHECK_FALSE(unsealedSize(none).has_value());
}

CATCH_TEST_CASE("what was changed in an encrypted object is noticed") {
   const auto key = EncryptionKey::parse(hexKey), otherKey = EncryptionKey::parse("ff" + hexKey.substr(2));
   const std::string small = seal(key, "a", "some text");
   for (size_t at = 0; at < small.size(); ++at) {
      std::string bytes = small;
      bytes[at] = static_cast<char>(bytes[at] ^ 1);
      CATCH_CHECK(stateOfWhole(key, "a", bytes) == "XX001");
      CATCH_CHECK(stateOfWhole(key, "a", small.substr(0, at)) == (at < 8 ? "22023" : "XX001"));
   }
   CATCH_CHECK(stateOfWhole(key, "a", small + "x") == "XX001");
   CATCH_CHECK(stateOfWhole(key, "b", small) == "XX001"); // put under another name
   CATCH_CHECK(stateOfWhole(otherKey, "a", small) == "22023");
   CATCH_CHECK(stateOfWhole(key, "a", "plain text") == "22023");

   constexpr size_t stored = sealedChunkSize + sealedChunkOverhead;
   const std::string content = pattern(3 * sealedChunkSize), sealed = seal(key, "a", content);
   const auto chunk = [&](const std::string& bytes, size_t i) {
      return bytes.substr(sizeof(SealedObjectHeader) + i * stored, stored);
   };
   const std::string header = sealed.substr(0, sizeof(SealedObjectHeader)), again = seal(key, "a", content);
   CATCH_CHECK(ObjectOpener::openWhole(key, "a", header + chunk(sealed, 0) + chunk(sealed, 1) + chunk(sealed, 2)) ==
               content);
   for (const std::string& bytes : {header + chunk(sealed, 0) + chunk(sealed, 1),                    // cut off
                                    header + chunk(sealed, 1) + chunk(sealed, 0) + chunk(sealed, 2), // exchanged
                                    header + chunk(sealed, 0) + chunk(again, 1) + chunk(sealed, 2),  // of another put
                                    sealed + chunk(sealed, 2)})
      CATCH_CHECK(stateOfWhole(key, "a", bytes) == "XX001");
   // A reader also refuses chunks of two puts in two reads. A failed read does not affect the next.
   const ObjectOpener opener(key, "a", content.size());
   std::string target(sealedChunkSize, '\0'), broken = chunk(sealed, 0);
   broken[3] ^= 1;
   const auto open = [&](const std::string& bytes, size_t i) {
      return stateOf([&] { opener.open(bytes, i * sealedChunkSize, sealedChunkSize, target.data()); });
   };
   CATCH_CHECK(open(broken, 0) == "XX001");
   CATCH_CHECK(open(chunk(sealed, 0), 0) == "");
   CATCH_CHECK(open(chunk(again, 1), 1) == "XX001");
   CATCH_CHECK(open(chunk(sealed, 1), 1) == "");
}

CATCH_TEST_CASE("a damaged object of an encrypted store is named") {
   std::string path = (std::filesystem::temp_directory_path() / "ouzel-sealed-XXXXXX").string();
   CATCH_REQUIRE(::mkdtemp(path.data()) != nullptr);
   const auto key = EncryptionKey::parse(hexKey);
   EncryptedStore store(std::make_unique<DirectoryStore>(path), key);
   const std::string content = pattern(100'000);
   CATCH_REQUIRE(store.put("some/name", content));
   const auto flip = [&](uint64_t at) {
      std::fstream file(path + "/some/name", std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(static_cast<std::streamoff>(at));
      const char byte = static_cast<char>(file.get() ^ 1);
      file.seekp(static_cast<std::streamoff>(at));
      file.put(byte);
   };
   flip(sealedSize(sealedChunkSize) + 100); // in the second chunk
   const auto reader = store.open("some/name");
   std::string target(content.size(), '\0');
   reader->read(0, 1000, target.data());
   CATCH_CHECK(target.substr(0, 1000) == content.substr(0, 1000));
   for (const auto& read : {std::function<void()>([&] { reader->read(sealedChunkSize - 1, 2, target.data()); }),
                            std::function<void()>([&] { static_cast<void>(store.get("some/name")); })}) {
      try {
         read();
         CATCH_CHECK(false);
      } catch (const SqlError& error) {
         CATCH_CHECK(error.state() == sqlstate::dataCorrupted);
         CATCH_CHECK(std::string(error.what()).find("\"some/name\"") != std::string::npos);
      }
   }
   std::filesystem::resize_file(path + "/some/name", 40);
   CATCH_CHECK(stateOf([&] { static_cast<void>(store.open("some/name")); }) == "XX001");
   std::filesystem::remove_all(path);
}

CATCH_TEST_CASE("encrypted reads end in any order, and are called off") {
   auto slow = std::make_unique<SlowStore>();
   const auto stored = slow->stored;
   EncryptedStore store(std::move(slow), EncryptionKey::parse(hexKey));
   const std::string content = pattern((40 << 20) + 5);
   CATCH_REQUIRE(store.put("large", content));
   const auto reader = store.open("large");
   CATCH_REQUIRE(reader->size() == content.size());
   for (const bool cancels : {false, true, false}) {
      std::string target(content.size() - 12345, '\0');
      std::atomic<int> ended{0};
      const auto pending = reader->readAsync(12345, target.size(), target.data(), [&](std::exception_ptr error) {
         ended = error ? 2 : 1;
         ended.notify_all();
      });
      std::vector<std::function<void()>> waiting;
      waiting.swap(stored->waiting);
      CATCH_REQUIRE(waiting.size() == 3);
      waiting[2]();
      waiting[0]();
      if (cancels) {
         pending->cancel();
         const std::string before = target;
         waiting[1]();
         CATCH_CHECK(ended == 0);
         CATCH_CHECK(target == before);
      } else {
         waiting[1]();
         ended.wait(0);
         CATCH_CHECK(ended == 1);
         CATCH_CHECK(target == std::string_view(content).substr(12345));
         pending->cancel();
      }
   }
   // A read that ends after the store is ignored.
   std::string target(content.size(), '\0');
   static_cast<void>(reader->readAsync(0, 1 << 20, target.data(), [](std::exception_ptr) {}));
}
