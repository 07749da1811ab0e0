#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/error/sql_error.hpp"
#include "common/sync/mutex.hpp"
#include "io/format/csv/pending_charge.hpp"
#include "io/format/csv/row_splitter.hpp"
#include "io/format/decompressed_input.hpp"
#include "io/format/external_table.hpp"

namespace ouzel::io {

/// A chunk of whole rows and the file that it was cut from.
struct FileChunk {
   CopyChunk chunk;
   const std::string* file = nullptr;
};

/// Cuts files, one after the other, into chunks that readers take. A reader cuts under a lock, as much as it takes to
/// get a chunk; it parses the chunk without the lock, which is nearly all of the work. Thread-safe. `Splitter` is
/// RowSplitter or JsonSplitter.
template <typename Splitter>
class FileChunks {
public:
   /// `subject` begins the context of errors: "CSV file". `open` makes the splitter of a file. `first` looks at each
   /// file's first chunk, and may take rows off it; it may be null. `table` and `memory` outlive this.
   FileChunks(std::string subject, const ExternalTable& table, Reservation& memory,
              std::function<std::unique_ptr<Splitter>()> open, std::function<void(FileChunk&)> first)
      : subject_(std::move(subject)), table_(table), files_(table.files()), pieces_(memory), pending_(memory),
        open_(std::move(open)), first_(std::move(first)) {
      pieces_.grow(DecompressedInput::memoryMax(files_[0]) + 3 * Splitter::chunkSize);
   }

   /// Takes the next chunk. False: no chunk is left. Errors name the file; after one there are no more chunks.
   bool take(FileChunk& out) {
      const MutexLock lock(mutex_);
      while (waiting_.empty()) {
         if (!input_) {
            if (nextFile_ == files_.size()) return false;
            openNext();
         }
         try {
            cutMore();
         } catch (SqlError& error) {
            if (error.contextText().empty()) error.setContext(contextOf(*file_));
            nextFile_ = files_.size();
            input_.reset();
            throw;
         }
      }
      out = std::move(waiting_.front());
      waiting_.pop_front();
      return true;
   }
   uint64_t bytesRead() const {
      const MutexLock lock(mutex_);
      return bytesRead_;
   }
   /// How the context of errors in a file begins: `CSV file "t.csv"`.
   std::string contextOf(const std::string& file) const { return subject_ + " \"" + file + "\""; }

private:
   void openNext() REQUIRES(mutex_) {
      file_ = &files_[nextFile_++];
      input_ = std::make_unique<DecompressedInput>(*file_, table_.access());
      splitter_ = open_();
      isFirstOfFile_ = true;
   }
   void cutMore() REQUIRES(mutex_) {
      const auto emit = [&](CopyChunk&& chunk) {
         mutex_.assertHeld(); // the splitter calls this through a template
         FileChunk made{std::move(chunk), file_};
         if (std::exchange(isFirstOfFile_, false) && first_) first_(made);
         if (made.chunk.size > 0) waiting_.push_back(std::move(made));
      };
      const std::optional<std::string_view> piece = input_->next();
      if (piece) {
         bytesRead_ += piece->size();
         splitter_->feed(*piece, emit);
         pending_.hold(splitter_->pendingBytes());
      }
      if (!piece || splitter_->ended()) {
         splitter_->finish(emit);
         input_.reset();
      }
   }

   // PROPERTIES
   const std::string subject_;
   const ExternalTable& table_;
   const std::vector<std::string>& files_; ///< of the table
   Reservation pieces_;                    ///< for bytes that are read but not taken yet
   PendingCharge pending_ GUARDED_BY(mutex_);
   const std::function<std::unique_ptr<Splitter>()> open_;
   const std::function<void(FileChunk&)> first_;
   // STATE
   mutable Mutex mutex_;
   std::deque<FileChunk> waiting_ GUARDED_BY(mutex_);
   size_t nextFile_ GUARDED_BY(mutex_) = 0;
   const std::string* file_ GUARDED_BY(mutex_) = nullptr;
   std::unique_ptr<DecompressedInput> input_ GUARDED_BY(mutex_); ///< null between files
   std::unique_ptr<Splitter> splitter_ GUARDED_BY(mutex_);
   uint64_t bytesRead_ GUARDED_BY(mutex_) = 0;
   bool isFirstOfFile_ GUARDED_BY(mutex_) = false;
};

} // namespace ouzel::io
