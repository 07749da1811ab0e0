#pragma once
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "common/sync/mutex.hpp"
#include "engine/copy/options.hpp"
#include "engine/core/copy_progress.hpp"
#include "io/format/csv/chunk_reader.hpp"
#include "io/format/external_table.hpp"

namespace ouzel::engine {

/// The input of a COPY FROM as a table that a plan scans. The session's thread puts chunks of whole rows in; workers
/// take them out, parse them and give batches. Its columns are the input's fields and, last, the line of each row.
///
///    client -> splitter -> add() -> chunks_ -> take() -> reader -> batch
///              session's thread     bounded    workers
///
/// Invariants: chunks are handed out in the order of the input. When a row has been refused, chunks that begin after
/// its line are dropped, and those before it are read to their end; so the error that remains is the first of the
/// input. One scan at most. Thread-safe.
class CopyInputTable final : public io::LineInput {
public:
   /// `shape` without its columns, which are those of `types`, one for each field. `chunksMax`: chunks that wait at
   /// most. `progress` hears of the rows that are parsed.
   CopyInputTable(std::string tableName, io::ChunkReader::Shape shape, const std::vector<SqlType>& types,
                  size_t chunksMax, CopyProgress& progress);

   std::string_view formatName() const override { return "COPY"; }
   std::unique_ptr<io::ExternalScan> scan(io::ExternalScanSpec spec) const override;
   void refuse(uint64_t line, const SqlError& error) const override;

   // The session's thread:
   /// Waits for room. The chunk is dropped once hasEnded().
   void add(io::CopyChunk chunk);
   /// Instead, readers call `step` when they need a chunk, and there is always room: it adds some, or returns false
   /// when it has called finish(). REQUIRES: nothing was added, and the session's thread is the only reader.
   void pullFrom(std::function<bool()> step) { step_ = std::move(step); }
   /// No more chunks will come.
   void finish();
   /// The query has failed: readers take no more chunks.
   void abandon();
   /// Refuses what follows the rows that were added: an error of the input itself.
   void refuseRest(const SqlError& error);
   /// More chunks are of no use: a row was refused, or the query has failed.
   bool hasEnded() const;
   /// Throws the error of the first bad line, if there was one. REQUIRES: the query has ended.
   void throwRefused() const;

   /// What knows the texts of the rows that it gave last.
   class RowTexts {
   public:
      virtual ~RowTexts() = default;
      virtual std::optional<std::string_view> rowText(uint64_t line) const = 0;
   };

   // Readers:
   /// The calling thread goes on with the reader: refuse() on this thread asks it for a row's text.
   void begins(const RowTexts& reader) const;
   void ends(const RowTexts& reader) const;
   enum class Taken : uint8_t { Chunk, Nothing, End };
   Taken take(io::CopyChunk& out) const;
   /// Whether rows from this line on are of no use.
   bool isRefused(uint64_t line) const;
   void countParsed(uint64_t rows) const { progress_.parsed += rows; }
   const io::ChunkReader::Shape& shape() const { return shape_; }
   const std::string& subject() const { return subject_; } ///< "COPY t", the beginning of errors' context

private:
   Taken takeWaiting(io::CopyChunk& out) const;
   std::string shownRow(uint64_t line) const;
   void keepFirst(uint64_t line, const SqlError& error) const;

   const std::string subject_;
   const io::ChunkReader::Shape shape_;
   const size_t chunksMax_;
   CopyProgress& progress_;
   std::function<bool()> step_; ///< see pullFrom(); null: chunks are added meanwhile
   // A plan's tables are const; what follows changes while one is scanned.
   mutable Mutex mutex_;
   mutable CondVar hasRoom_;
   mutable std::deque<io::CopyChunk> chunks_ GUARDED_BY(mutex_);
   mutable std::function<void()> wake_ GUARDED_BY(mutex_); ///< of the scan
   mutable bool isComplete_ GUARDED_BY(mutex_) = false, isAbandoned_ GUARDED_BY(mutex_) = false;
   mutable uint64_t refusedLine_ GUARDED_BY(mutex_) = UINT64_MAX;
   mutable std::exception_ptr refused_ GUARDED_BY(mutex_);
   mutable std::map<const RowTexts*, std::thread::id> readers_ GUARDED_BY(mutex_);
};

} // namespace ouzel::engine
