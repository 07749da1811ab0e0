#include <catch2/catch.hpp>
#include <list>
#include <thread>

#include "common/error/sql_error.hpp"
#include "storage/block/block_builder.hpp"
#include "storage/buffer/memory_governor.hpp"
#include "storage/table/scan_state.hpp"
#include "tests/unit/storage/remote_directory.hpp"
#include "tests/unit/storage/storage_test_support.hpp"

// Simultaneous scans of the same block, over a store that claims to be remote and delivers bytes when the test says so.

using namespace ouzel;
using namespace ouzel::storage;
using namespace ouzel::storage::test;

namespace {

class HeldStore final : public RemoteDirectory {
public:
   explicit HeldStore(const std::string& path) : RemoteDirectory(path) {}
   using RemoteDirectory::open;
   std::unique_ptr<io::ObjectReader> open(std::string_view name) override {
      return std::make_unique<Reader>(*this, RemoteDirectory::open(name));
   }

   size_t waiting() const { return jobs_.size(); }
   /// Ends all waiting reads, with `error` if it is not null.
   void deliver(std::exception_ptr error = nullptr) {
      for (; !jobs_.empty(); jobs_.pop_front()) {
         if (!error) jobs_.front().reader->read(jobs_.front().offset, jobs_.front().size, jobs_.front().target);
         jobs_.front().done(error);
      }
   }

private:
   struct Job {
      const io::ObjectReader* reader;
      uint64_t offset;
      size_t size;
      char* target;
      std::function<void(std::exception_ptr)> done;
      uint64_t id;
   };
   struct Pending final : io::PendingRead {
      Pending(HeldStore& owner, uint64_t number) : store(owner), id(number) {}
      void cancel() noexcept override {
         store.jobs_.remove_if([&](const Job& job) { return job.id == id; });
      }
      HeldStore& store;
      const uint64_t id;
   };
   struct Reader final : io::ObjectReader {
      Reader(HeldStore& owner, std::unique_ptr<io::ObjectReader> of) : store(owner), file(std::move(of)) {}
      void read(uint64_t offset, size_t size, void* target) const override { file->read(offset, size, target); }
      void prefetch(uint64_t, size_t) const override {}
      std::unique_ptr<io::PendingRead> readAsync(uint64_t offset, size_t size, void* target,
                                                 std::function<void(std::exception_ptr)> done) const override {
         const uint64_t id = ++store.lastId_;
         store.jobs_.push_back({file.get(), offset, size, static_cast<char*>(target), std::move(done), id});
         return std::make_unique<Pending>(store, id);
      }
      uint64_t size() const override { return file->size(); }
      HeldStore& store;
      const std::unique_ptr<io::ObjectReader> file;
   };

   std::list<Job> jobs_;
   uint64_t lastId_ = 0;
};

constexpr uint32_t groups = 4;

/// A block with two columns: the row's number and its square.
struct Fixture {
   TemporaryDirectory directory;
   HeldStore store{directory.path()};
   MemoryGovernor governor{size_t{1} << 30};
   ReadAheadBudget budget{governor.cache()};
   Reservation memory{governor.ledger()};
   SegmentPtr segment;

   Fixture() {
      Delta delta({PhysicalType::I64, PhysicalType::I64}, memory);
      for (uint32_t done = 0; done < groups * rowGroupRows; done += vectorRows) {
         TestColumn numbers{PhysicalType::I64, {}}, squares{PhysicalType::I64, {}};
         for (int64_t row = done; row < done + vectorRows; ++row) {
            numbers.values.push_back(Value::integer(PhysicalType::I64, row));
            squares.values.push_back(Value::integer(PhysicalType::I64, row * row));
         }
         Arena arena;
         delta.append(makeBatch({numbers, squares}, 0, vectorRows, arena));
      }
      BlockBuilder builder(delta.types());
      for (uint32_t group = 0; group < groups; ++group)
         builder.addRowGroup(rowGroupRows, delta.slices(group * rowGroupRows, rowGroupRows));
      auto made = std::make_shared<Segment>();
      made->id = 1;
      made->versions = std::make_shared<SegmentVersions>();
      made->block = std::make_shared<Block>(store, governor.cache(), "block", builder.finish(store, "block", 1));
      segment = std::move(made);
   }
   std::unique_ptr<ScanSource> scan(std::vector<uint32_t> wanted) {
      auto state = std::make_shared<ScanState>();
      state->spec.columns = std::move(wanted);
      std::vector<ColumnDefinition> columns(2);
      for (ColumnDefinition& column : columns)
         column.representation.physical = PhysicalType::I64;
      state->columns = std::make_shared<const std::vector<ColumnDefinition>>(columns);
      state->sources.push_back({segment, segment->rowCount()});
      for (uint32_t group = 0; group < groups; ++group)
         state->morsels.push_back({0, group, rowGroupRows});
      state->readAhead = std::make_unique<ReadAhead>(*state, budget);
      auto source = std::make_unique<ScanSource>(state);
      source->readAhead();
      return source;
   }
   /// Reads the scan's first column and checks that its values are `expected` of the row.
   static void readAll(ScanSource& source, int64_t (*expected)(int64_t)) {
      const auto reader = source.makeReader();
      Morsel morsel;
      uint32_t read = 0;
      for (; source.next(morsel); ++read) {
         reader->open(morsel);
         const int64_t row = int64_t{morsel.rowGroup} * rowGroupRows + 2 * vectorRows;
         const Vector values = reader->read(0, 2 * vectorRows, vectorRows, Selection::dense(vectorRows));
         CATCH_CHECK(values.value<int64_t>(7) == expected(row + 7));
      }
      CATCH_CHECK(read == groups);
   }
};

int64_t same(int64_t row) {
   return row;
}
int64_t square(int64_t row) {
   return row * row;
}

} // namespace

CATCH_TEST_CASE("what one scan reads another does not ask for") {
   Fixture f;
   const auto first = f.scan({0});
   CATCH_CHECK(f.store.waiting() == 1);
   auto second = f.scan({1, 0});
   CATCH_CHECK(f.store.waiting() == 2); // the other column
   size_t bytes = 0;
   for (uint32_t group = 0; group < groups; ++group)
      bytes += f.segment->block->storedBytes(0, group);
   CATCH_CHECK(second->networkReads().reads == 1);
   CATCH_CHECK(second->networkReads().sharedBytes == bytes);
   f.store.deliver();
   const auto third = f.scan({0}); // the bytes have arrived, but are not in the cache yet
   CATCH_CHECK(f.store.waiting() == 0);
   f.readAll(*second, square);
   f.readAll(*first, same);
   f.readAll(*third, same);
   second.reset();
   CATCH_CHECK(f.scan({0, 1})->networkReads().reads == 0);
}

CATCH_TEST_CASE("a scan that ends leaves the others what they share") {
   Fixture f;
   auto first = f.scan({0});
   auto second = f.scan({0});
   first.reset();
   CATCH_CHECK(f.store.waiting() == 1);
   f.store.deliver();
   f.readAll(*second, same);
   second.reset();
   CATCH_CHECK(f.governor.ledger().used() == f.governor.cachedBytes() + f.memory.used());
   // The last scan cancels the read.
   f.governor.cache().evictSegment(1);
   first = f.scan({0});
   second = f.scan({0});
   CATCH_CHECK(f.store.waiting() == 1);
   second.reset();
   first.reset();
   CATCH_CHECK(f.store.waiting() == 0);
   CATCH_CHECK(f.governor.ledger().used() == f.governor.cachedBytes() + f.memory.used());
}

CATCH_TEST_CASE("a read that has failed is no other scan's") {
   Fixture f;
   const auto first = f.scan({0});
   const auto sharing = f.scan({0});
   f.store.deliver(std::make_exception_ptr(SqlError(sqlstate::ioError, "no")));
   const auto later = f.scan({0});
   CATCH_CHECK(f.store.waiting() == 1);
   f.store.deliver();
   CATCH_CHECK_THROWS_AS(f.readAll(*first, same), SqlError);
   CATCH_CHECK_THROWS_AS(f.readAll(*sharing, same), SqlError);
   f.readAll(*later, same);
}
