#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "common/error/sql_error.hpp"
#include "io/cache/cached_store.hpp"
#include "io/object_store/trusted_read.hpp"
#include "tests/unit/io/pattern.hpp"

// The cache of objects on a local disk, over a store that counts reads and that tests can delay or let fail.

using namespace ouzel;
using namespace ouzel::io;

namespace {

/// A store in memory. Its asynchronous reads end on a thread of the store when the test permits.
class SlowStore final : public ObjectStore {
public:
   SlowStore() : thread_([this] { work(); }) {}
   ~SlowStore() override {
      {
         const std::lock_guard lock(mutex_);
         isStopping_ = true;
      }
      changed_.notify_all();
      thread_.join();
   }
   void hold(bool isHeld) {
      const std::lock_guard lock(mutex_);
      isHeld_ = isHeld;
      changed_.notify_all();
   }
   std::atomic<uint64_t> requests{0}, bytes{0};
   std::atomic<bool> fails{false};

   using ObjectStore::open;
   using ObjectStore::put;
   using ObjectStore::remove;
   bool put(std::string_view name, std::span<const std::string_view> parts, const PutCondition&) override {
      std::string object;
      for (const std::string_view part : parts)
         object += part;
      const std::lock_guard lock(mutex_);
      objects_[std::string(name)] = std::make_shared<const std::string>(std::move(object));
      return true;
   }
   std::unique_ptr<ObjectReader> open(std::string_view name) override {
      const std::lock_guard lock(mutex_);
      const auto found = objects_.find(std::string(name));
      if (found == objects_.end()) return nullptr;
      return std::make_unique<Reader>(*this, found->second);
   }
   std::optional<std::string> tag(std::string_view) override { return "tag"; }
   std::vector<ObjectInfo> list(std::string_view, size_t) override { return {}; }
   void remove(std::string_view name) override {
      const std::lock_guard lock(mutex_);
      objects_.erase(std::string(name));
   }
   void removeLeftovers() override {}
   bool isRemote() const override { return true; }

private:
   struct Job {
      uint64_t id;
      std::shared_ptr<const std::string> object;
      uint64_t offset;
      size_t size;
      char* target;
      std::function<void(std::exception_ptr)> done;
   };
   class Pending final : public PendingRead {
   public:
      Pending(SlowStore& store, uint64_t id) : store_(store), id_(id) {}
      void cancel() noexcept override {
         std::unique_lock lock(store_.mutex_);
         std::erase_if(store_.jobs_, [&](const Job& job) { return job.id == id_; });
         store_.changed_.wait(lock, [&] { return store_.running_ != id_; });
      }

   private:
      SlowStore& store_;
      const uint64_t id_;
   };
   class Reader final : public ObjectReader {
   public:
      Reader(SlowStore& store, std::shared_ptr<const std::string> object) : store_(store), object_(std::move(object)) {}
      void read(uint64_t offset, size_t size, void* target) const override {
         ++store_.requests;
         store_.bytes += size;
         object_->copy(static_cast<char*>(target), size, offset);
      }
      void prefetch(uint64_t, size_t) const override {}
      std::unique_ptr<PendingRead> readAsync(uint64_t offset, size_t size, void* target,
                                             std::function<void(std::exception_ptr)> done) const override {
         ++store_.requests;
         const std::lock_guard lock(store_.mutex_);
         const uint64_t id = ++store_.lastId_;
         store_.jobs_.push_back({id, object_, offset, size, static_cast<char*>(target), std::move(done)});
         store_.changed_.notify_all();
         return std::make_unique<Pending>(store_, id);
      }
      uint64_t size() const override { return object_->size(); }

   private:
      SlowStore& store_;
      const std::shared_ptr<const std::string> object_;
   };

   void work() {
      std::unique_lock lock(mutex_);
      while (true) {
         changed_.wait(lock, [&] { return isStopping_ || (!isHeld_ && !jobs_.empty()); });
         if (isStopping_) return;
         Job job = std::move(jobs_.front());
         jobs_.erase(jobs_.begin());
         running_ = job.id;
         lock.unlock();
         std::exception_ptr error;
         if (fails || job.offset + job.size > job.object->size()) {
            error = std::make_exception_ptr(SqlError(sqlstate::ioError, "the network is down"));
         } else {
            job.object->copy(job.target, job.size, job.offset);
            bytes += job.size;
         }
         job.done(error);
         job.done = nullptr;
         lock.lock();
         running_ = 0;
         changed_.notify_all();
      }
   }

   std::mutex mutex_;
   std::condition_variable changed_;
   std::map<std::string, std::shared_ptr<const std::string>> objects_;
   std::vector<Job> jobs_;
   uint64_t lastId_ = 0, running_ = 0;
   bool isHeld_ = false, isStopping_ = false;
   std::thread thread_;
};

struct Fixture {
   std::string directory = (std::filesystem::temp_directory_path() / "ouzel-cache-XXXXXX").string();
   std::map<std::string, std::string> objects;
   std::unique_ptr<CachedStore> store;
   SlowStore* slow = nullptr; ///< the store's
   std::atomic<int> warnings{0};
   CacheOptions options;

   Fixture() {
      CATCH_REQUIRE(::mkdtemp(directory.data()) != nullptr);
      options.directory = directory + "/cache";
      options.size = 4 << 20;
      options.segmentSize = 512 << 10;
      options.warn = [this](const std::string&) { ++warnings; };
   }
   ~Fixture() {
      store.reset();
      std::filesystem::remove_all(directory);
   }
   void start() {
      store.reset();
      auto inner = std::make_unique<SlowStore>();
      slow = inner.get();
      for (const auto& [name, bytes] : objects)
         inner->put(name, bytes);
      store = std::make_unique<CachedStore>(std::move(inner), "s3://bucket/", options);
   }
   void add(const std::string& name, size_t size) {
      objects[name] = pattern(size, objects.size() + 1);
      if (store) store->put(name, objects[name]);
   }
   /// Reads a range through the cache and checks the bytes.
   void read(const std::string& name, uint64_t offset, size_t size) {
      const auto reader = store->open(name, objects[name].size());
      std::string bytes(size, '\0');
      reader->read(offset, size, bytes.data());
      CATCH_REQUIRE(bytes == objects[name].substr(offset, size));
   }
   CacheStatistics statistics() const { return *store->cacheStatistics(); }
   std::string file() const { return options.directory + "/ouzel.cache"; }
};

/// An asynchronous read of a range.
struct Asked {
   std::string bytes;
   std::mutex mutex;
   std::condition_variable changed;
   bool isHere = false;
   std::exception_ptr error;
   std::unique_ptr<PendingRead> pending;

   Asked(const ObjectReader& reader, uint64_t offset, size_t size) : bytes(size, '\0') {
      pending = reader.readAsync(offset, size, bytes.data(), [this](std::exception_ptr given) {
         const std::lock_guard lock(mutex);
         if (isHere) std::abort(); // `done` was called twice
         isHere = true;
         error = std::move(given);
         changed.notify_all();
      });
   }
   ~Asked() {
      if (pending) pending->cancel();
   }
   void wait() {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return isHere; });
   }
};

} // namespace

CATCH_TEST_CASE("the cache: what was read is not read from the store again") {
   Fixture f;
   f.add("table/1/block/a", 1'000'000);
   f.start();
   f.read("table/1/block/a", 100, 300'000);
   f.read("table/1/block/a", 500'000, 500'000);
   f.store->flush();
   const uint64_t bytes = f.slow->bytes;
   CATCH_CHECK(bytes == 800'000);
   f.read("table/1/block/a", 100, 300'000);
   f.read("table/1/block/a", 100'000, 1);
   f.read("table/1/block/a", 700'000, 300'000);
   CATCH_CHECK(f.slow->bytes == bytes);
   f.read("table/1/block/a", 0, 1'000'000); // a part of the object
   CATCH_CHECK(f.slow->bytes == 1'000'000);
   f.store->flush();
   f.read("table/1/block/a", 0, 1'000'000);
   CATCH_CHECK(f.slow->bytes == 1'000'000);
   CATCH_CHECK(f.statistics().bytesUsed == 1'000'000);
   CATCH_CHECK(f.statistics().misses == 4);
   CATCH_CHECK(f.statistics().missBytes == 1'000'000);
   CATCH_CHECK(f.statistics().hitBytes == 300'000 + 1 + 300'000 + 800'000 + 1'000'000);
   // Reads beyond the end give the store's error.
   CATCH_CHECK_THROWS_AS(f.store->open("table/1/block/a", 1'000'000)->read(999'999, 2, f.objects["x"].data()),
                         SqlError);
}

CATCH_TEST_CASE("the cache: whole objects, and those that may change") {
   Fixture f;
   f.add("table/1/header/a", 300'000);
   f.add("manifest/1", 100);
   f.add("writer/1", 100);
   f.add("catalog/1", 100);
   f.start();
   for (int i = 0; i < 3; ++i) {
      for (const auto& [name, bytes] : f.objects)
         CATCH_CHECK(f.store->get(name) == bytes);
      f.store->flush();
   }
   CATCH_CHECK(f.slow->bytes == 300'000 + 3 * 300);
   CATCH_CHECK(f.store->get("table/1/header/none") == std::nullopt);
   f.store->put("manifest/1", "new");
   CATCH_CHECK(f.store->get("manifest/1") == "new");
   f.store->remove("table/1/header/a");
   CATCH_CHECK(f.store->get("table/1/header/a") == std::nullopt);
   CATCH_CHECK(f.statistics().regions == 0);
}

CATCH_TEST_CASE("the cache: a restart keeps it") {
   Fixture f;
   f.add("table/1/block/a", 600'000);
   f.add("table/1/block/b", 700'000);
   f.start();
   f.read("table/1/block/a", 0, 600'000);
   f.read("table/1/block/b", 1000, 500'000);
   f.start();
   f.read("table/1/block/a", 0, 600'000);
   f.read("table/1/block/b", 1000, 500'000);
   CATCH_CHECK(f.slow->bytes == 0);
   f.read("table/1/block/b", 0, 700'000); // continues in the same segment
   CATCH_CHECK(f.slow->bytes == 200'000);
   f.start();
   f.read("table/1/block/b", 0, 700'000);
   f.read("table/1/block/a", 0, 600'000);
   CATCH_CHECK(f.slow->bytes == 0);
   CATCH_CHECK(f.statistics().bytesUsed == 1'300'000);

   CATCH_SECTION("of another database nothing is known") {
      auto inner = std::make_unique<SlowStore>();
      inner->put("table/1/block/a", "other");
      f.store.reset();
      const auto other = std::make_unique<CachedStore>(std::move(inner), "s3://bucket/other/", f.options);
      CATCH_CHECK(other->get("table/1/block/a") == "other");
   }
   CATCH_SECTION("a summary that cannot be read is none") {
      f.store.reset();
      {
         std::fstream file(f.file(), std::ios::in | std::ios::out | std::ios::binary);
         for (size_t end = f.options.segmentSize; end <= f.options.size; end += f.options.segmentSize) {
            file.seekp(static_cast<std::streamoff>(end) - 40);
            file.put('x');
         }
      }
      f.start();
      CATCH_CHECK(f.statistics().regions == 0);
      f.read("table/1/block/a", 0, 600'000);
      CATCH_CHECK(f.slow->bytes == 600'000);
   }
   CATCH_SECTION("a smaller limit holds at once") {
      f.store.reset();
      f.options.size = 1 << 20;
      f.start();
      CATCH_CHECK(std::filesystem::file_size(f.file()) <= f.options.size);
      f.read("table/1/block/a", 0, 600'000);
      f.read("table/1/block/b", 0, 700'000);
      f.store->flush();
      CATCH_CHECK(std::filesystem::file_size(f.file()) <= f.options.size);
   }
}

CATCH_TEST_CASE("the cache: the limit holds, and what is used stays longer") {
   Fixture f;
   for (int i = 0; i < 40; ++i)
      f.add("table/1/block/" + std::to_string(i), 400'000);
   f.start();
   for (int i = 0; i < 40; ++i) {
      f.read("table/1/block/" + std::to_string(i), 0, 400'000);
      f.store->flush();
      if (i > 0) f.read("table/1/block/0", 0, 200'000); // used before each segment
      CATCH_REQUIRE(std::filesystem::file_size(f.file()) <= f.options.size);
      CATCH_REQUIRE(f.statistics().bytesUsed <= f.options.size);
   }
   CATCH_CHECK(f.statistics().evictions > 0);
   CATCH_CHECK(f.statistics().bytesUsed > f.options.size / 2);
   CATCH_CHECK(f.statistics().corruptions == 0);
   const uint64_t bytes = f.slow->bytes;
   CATCH_CHECK(bytes == 40 * 400'000); // the used region was never fetched again
   f.read("table/1/block/1", 0, 400'000);
   CATCH_CHECK(f.slow->bytes == bytes + 400'000);
}

CATCH_TEST_CASE("the cache: changed bytes on the disk are fetched again") {
   Fixture f;
   f.add("table/1/block/a", 400'000);
   f.start();
   f.read("table/1/block/a", 0, 400'000);
   f.start();
   {
      std::fstream file(f.file(), std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(150'000);
      file.write("changed", 7);
   }
   f.read("table/1/block/a", 0, 400'000);
   CATCH_CHECK(f.statistics().corruptions == 1);
   CATCH_CHECK(f.slow->bytes > 0);
   CATCH_CHECK(f.slow->bytes <= 256 << 10);
   f.store->flush();
   const uint64_t bytes = f.slow->bytes;
   f.read("table/1/block/a", 0, 400'000);
   CATCH_CHECK(f.slow->bytes == bytes);
   CATCH_CHECK(f.warnings == 0);
   CATCH_CHECK(f.statistics().size == f.options.size);
}

CATCH_TEST_CASE("the cache: what was damaged before it came is read again from the store") {
   Fixture f;
   f.add("table/1/block/a", 200'000);
   f.start();
   const std::string name = "table/1/block/a", good = f.objects[name];
   std::string bad = good;
   bad[5] ^= 1;
   f.store->put(name, bad);
   CATCH_CHECK((f.store->get(name) == bad));
   f.store->flush();
   f.store->put(name, good);
   CATCH_CHECK((f.store->get(name) == bad)); // the store cannot detect it
   int tries = 0;
   const auto check = [&](const std::string& object) {
      ++tries;
      std::string bytes = f.store->get(object).value();
      if (bytes != good) throw SqlError(sqlstate::dataCorrupted, "damaged");
      return bytes;
   };
   CATCH_CHECK((readTrusted(*f.store, name, [&] { return check(name); }) == good));
   CATCH_CHECK(tries == 2);
   f.store->flush();
   CATCH_CHECK(f.statistics().regions == 0);
   CATCH_CHECK((f.store->get(name) == good));
   // The object is damaged in the store itself or was never in the cache: the caller gets the error.
   f.store->put(name, bad);
   f.store->put("manifest/1", bad);
   tries = 0;
   CATCH_CHECK_THROWS_AS(readTrusted(*f.store, name, [&] { return check(name); }), SqlError);
   CATCH_CHECK(tries == 2);
   CATCH_CHECK_THROWS_AS(readTrusted(*f.store, "manifest/1", [&] { return check("manifest/1"); }), SqlError);
   CATCH_CHECK(tries == 3);
}

CATCH_TEST_CASE("the cache: one server at a time, and a size that makes sense") {
   Fixture f;
   f.start();
   CATCH_CHECK_THROWS_WITH(CachedStore(std::make_unique<SlowStore>(), "x", f.options), Catch::Contains("is in use"));
   f.options.size = 1 << 19;
   CATCH_CHECK_THROWS_AS(f.start(), SqlError);
   f.options.size = 4 << 20;
   f.options.directory = "/proc/nothing/here";
   CATCH_CHECK_THROWS_AS(f.start(), SqlError);
}

CATCH_TEST_CASE("the cache: reads of the same bytes are one fetch") {
   Fixture f;
   f.add("table/1/block/a", 1'000'000);
   f.start();
   const auto reader = f.store->open("table/1/block/a", 1'000'000);
   const std::string& object = f.objects["table/1/block/a"];
   f.slow->hold(true);
   auto first = std::make_unique<Asked>(*reader, 0, 500'000);
   Asked second(*reader, 100'000, 300'000), third(*reader, 400'000, 600'000);

   CATCH_SECTION("all get their bytes") {
      f.slow->hold(false);
      for (Asked* asked : {first.get(), &second, &third}) {
         asked->wait();
         CATCH_CHECK(!asked->error);
      }
      CATCH_CHECK(first->bytes == object.substr(0, 500'000));
      CATCH_CHECK(f.slow->bytes == 1'000'000);
      CATCH_CHECK(f.slow->requests == 2);
      CATCH_CHECK(f.statistics().joins == 2);
   }
   CATCH_SECTION("who waits fetches when the first gives up") {
      first.reset();
      f.slow->hold(false);
      second.wait();
      third.wait();
      CATCH_CHECK((!second.error && !third.error));
   }
   CATCH_SECTION("who waits may give up") {
      Asked fourth(*reader, 0, 1000);
      fourth.pending->cancel();
      f.slow->hold(false);
      first->wait();
      second.wait();
      third.wait();
      CATCH_CHECK(!fourth.isHere);
      CATCH_CHECK(fourth.bytes == std::string(1000, '\0'));
   }
   CATCH_SECTION("all learn why it failed") {
      f.slow->fails = true;
      f.slow->hold(false);
      for (Asked* asked : {first.get(), &second, &third}) {
         asked->wait();
         CATCH_CHECK(asked->error);
      }
      f.store->flush();
      CATCH_CHECK(f.statistics().regions == 0);
      return;
   }
   CATCH_CHECK(second.bytes == object.substr(100'000, 300'000));
   CATCH_CHECK(third.bytes == object.substr(400'000, 600'000));
}

CATCH_TEST_CASE("the cache: many readers at once") {
   Fixture f;
   constexpr size_t objects = 12, size = 700'000;
   for (size_t i = 0; i < objects; ++i)
      f.add("table/1/block/" + std::to_string(i), size);
   f.options.size = 3 << 20; // two fifths
   f.start();
   std::vector<std::unique_ptr<ObjectReader>> readers;
   for (size_t i = 0; i < objects; ++i)
      readers.push_back(f.store->open("table/1/block/" + std::to_string(i), size));
   std::atomic<int> wrong{0}, cancelled{0};
   std::vector<std::thread> threads;
   for (uint64_t seed = 0; seed < 6; ++seed)
      threads.emplace_back([&, seed] {
         std::mt19937_64 random(seed);
         std::string bytes(size, '\0');
         for (int round = 0; round < 150; ++round) {
            const size_t object = random() % objects;
            const uint64_t offset = random() % (size - 1),
                           count = 1 + random() % std::min<size_t>(size - offset, 400'000);
            const std::string& expected = f.objects.at("table/1/block/" + std::to_string(object));
            if (round % 3 == 0) {
               readers[object]->read(offset, count, bytes.data());
            } else {
               Asked asked(*readers[object], offset, count);
               if (round % 3 == 1) {
                  if (random() % 2) std::this_thread::yield();
                  ++cancelled;
                  continue; // its destructor cancels
               }
               asked.wait();
               if (asked.error) ++wrong;
               asked.bytes.copy(bytes.data(), count);
            }
            if (expected.compare(offset, count, bytes, 0, count) != 0) ++wrong;
         }
      });
   for (std::thread& thread : threads)
      thread.join();
   CATCH_CHECK(wrong == 0);
   CATCH_CHECK(cancelled == 300);
   f.store->flush();
   CATCH_CHECK(f.statistics().corruptions == 0);
   CATCH_CHECK(f.statistics().hits > 0);
   CATCH_CHECK(f.statistics().evictions > 0);
   CATCH_CHECK(std::filesystem::file_size(f.file()) <= f.options.size);
   readers.clear();
}

CATCH_TEST_CASE("the cache: memory is charged, and what is refused is not cached") {
   Fixture f;
   MemoryLedger ledger(64 << 20);
   f.options.memory = &ledger;
   f.add("table/1/block/a", 400'000);
   f.start();
   CATCH_CHECK(ledger.used() == 4 << 20); // a sixteenth for the queue
   f.read("table/1/block/a", 0, 400'000);
   f.store->flush();
   CATCH_CHECK(f.statistics().fills == 1);
   CATCH_CHECK(ledger.used() > 4 << 20);
   f.store.reset();
   CATCH_CHECK(ledger.used() == 0);
   MemoryLedger full(1 << 20);
   CATCH_REQUIRE(full.tryCharge((1 << 20) - 1000));
   f.options.memory = &full;
   f.start();
   f.read("table/1/block/a", 0, 400'000);
   f.store->flush();
   CATCH_CHECK(f.statistics().regions == 0);
   CATCH_CHECK(f.statistics().droppedFills == 1);
   f.store.reset();
}

// Run by ctest with a fault in OUZEL_TEST_POINTS.
CATCH_TEST_CASE("a failing device turns the cache off", "[.cache_fault]") {
   Fixture f;
   f.add("table/1/block/a", 1'500'000);
   f.start();
   for (int i = 0; i < 4; ++i) {
      f.read("table/1/block/a", 0, 1'500'000);
      f.store->flush();
   }
   CATCH_CHECK(f.warnings == 1);
   CATCH_CHECK(f.statistics().errors >= 1);
   CATCH_CHECK(f.statistics().size == 0);
   CATCH_CHECK(f.statistics().regions == 0);
   const uint64_t bytes = f.slow->bytes;
   f.read("table/1/block/a", 0, 1'500'000);
   CATCH_CHECK(f.slow->bytes == bytes + 1'500'000);
}
