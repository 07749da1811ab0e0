#include "engine/copy/copy_input.hpp"

#include <cstring>
#include <optional>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "engine/copy/binary_rows.hpp"
#include "io/format/json/json_rows.hpp"

namespace ouzel::engine {

namespace {

/// For the optimizer, which cannot know: many, so that rows are stored in bulk.
constexpr double manyRows = 1e6;

/// One worker's: takes chunks and gives their rows. `Rows` is ChunkReader, BinaryReader or JsonRows.
template <typename Rows>
class CopyReader final : public io::ExternalReader, public CopyInputTable::RowTexts {
public:
   CopyReader(const CopyInputTable& table, const io::ChunkReader::Shape& shape, std::optional<size_t> linePlace,
              Reservation& memory)
      : table_(table), linePlace_(linePlace), rows_(shape, memory), lines_({oid::int8, -1, invalidOid}) {}
   ~CopyReader() override { table_.ends(*this); }

   bool next(Batch& out, uint32_t rowsMax) override {
      table_.begins(*this);
      isWaiting_ = false;
      while (true) {
         try {
            if (!table_.isRefused(nextLine_) && rows_.next(out, rowsMax)) break;
         } catch (const SqlError& error) {
            table_.refuse(nextLine_, error);
         }
         io::CopyChunk chunk;
         const CopyInputTable::Taken taken = table_.take(chunk);
         isWaiting_ = taken == CopyInputTable::Taken::Nothing;
         if (taken != CopyInputTable::Taken::Chunk) return false;
         nextLine_ = chunk.firstLine;
         rows_.open(std::move(chunk), table_.subject());
      }
      addLines(out);
      table_.countParsed(out.selection.count());
      return true;
   }
   bool isWaiting() const override { return isWaiting_; }
   std::optional<std::string_view> rowText([[maybe_unused]] uint64_t line) const override {
      if constexpr (requires { rows_.rowText(line); })
         return rows_.rowText(line);
      else
         return std::nullopt;
   }

private:
   void addLines(Batch& out) {
      const uint32_t count = out.selection.count();
      for (uint32_t row = 0; row < count; ++row) {
         const auto line = static_cast<int64_t>(rows_.line(row));
         std::memcpy(lines_.at(row), &line, sizeof line);
      }
      nextLine_ = rows_.line(count - 1) + 1;
      if (!linePlace_) return;
      lines_.setAllValid(count);
      out.columns.insert(out.columns.begin() + static_cast<ptrdiff_t>(*linePlace_), lines_.vector());
   }

   const CopyInputTable& table_;
   const std::optional<size_t> linePlace_; ///< of the lines among the batch's columns
   Rows rows_;
   io::ColumnValues lines_;
   uint64_t nextLine_ = 0; ///< no row before it comes from this reader's chunk any more
   bool isWaiting_ = false;
};

class CopyScan final : public io::ExternalScan {
public:
   CopyScan(const CopyInputTable& table, const io::ExternalScanSpec& spec)
      : table_(table), memory_(*spec.memory), keepsOrder_(spec.keepsOrder), shape_(table.shape()) {
      for (size_t i = 0; i < spec.columns.size(); ++i) {
         const uint32_t column = spec.columns[i];
         if (column == shape_.names.size())
            linePlace_ = i;
         else
            shape_.columns.push_back({column, table.columns()[column].type});
      }
   }

   uint32_t readersMax() const override { return keepsOrder_ ? 1 : 1024; }
   std::unique_ptr<io::ExternalReader> makeReader() override {
      if (shape_.rows.format == CopyFormat::Binary)
         return std::make_unique<CopyReader<BinaryReader>>(table_, shape_, linePlace_, memory_);
      if (shape_.rows.format == CopyFormat::Json)
         return std::make_unique<CopyReader<io::JsonRows>>(table_, shape_, linePlace_, memory_);
      return std::make_unique<CopyReader<io::ChunkReader>>(table_, shape_, linePlace_, memory_);
   }
   std::vector<std::pair<std::string, std::string>> facts() const override { return {}; }

private:
   const CopyInputTable& table_;
   Reservation& memory_;
   const bool keepsOrder_;
   io::ChunkReader::Shape shape_;
   std::optional<size_t> linePlace_;
};

} // namespace

CopyInputTable::CopyInputTable(std::string tableName, io::ChunkReader::Shape shape, const std::vector<SqlType>& types,
                               size_t chunksMax, CopyProgress& progress)
   : subject_("COPY " + tableName), shape_(std::move(shape)), chunksMax_(chunksMax), progress_(progress) {
   DCHECK(types.size() == shape_.names.size());
   for (size_t i = 0; i < types.size(); ++i)
      columns_.push_back({shape_.names[i], types[i]});
   columns_.push_back({"line", {oid::int8, -1, invalidOid}});
   estimatedRows_ = manyRows;
}

std::unique_ptr<io::ExternalScan> CopyInputTable::scan(io::ExternalScanSpec spec) const {
   auto scan = std::make_unique<CopyScan>(*this, spec);
   const MutexLock lock(mutex_);
   DCHECK(!wake_);
   wake_ = std::move(spec.wake);
   return scan;
}

void CopyInputTable::add(io::CopyChunk chunk) {
   std::function<void()> wake;
   {
      UniqueLock lock(mutex_);
      DCHECK(!isComplete_);
      hasRoom_.wait(
          lock, [&]() REQUIRES(mutex_) { return step_ || chunks_.size() < chunksMax_ || isAbandoned_ || refused_; });
      if (isAbandoned_ || refused_) return;
      chunks_.push_back(std::move(chunk));
      wake = wake_;
   }
   if (wake) wake();
}

void CopyInputTable::finish() {
   std::function<void()> wake;
   {
      const MutexLock lock(mutex_);
      isComplete_ = true;
      wake = wake_;
   }
   if (wake) wake();
}

void CopyInputTable::abandon() {
   const MutexLock lock(mutex_);
   isAbandoned_ = true;
   hasRoom_.notify_all();
}

bool CopyInputTable::hasEnded() const {
   const MutexLock lock(mutex_);
   return isAbandoned_ || refused_;
}

void CopyInputTable::refuse(uint64_t line, const SqlError& error) const {
   SqlError withContext = error;
   if (error.contextText().empty())
      withContext.setContext(subject_ + ", line " + std::to_string(line) + shownRow(line));
   keepFirst(line, withContext);
}

std::string CopyInputTable::shownRow(uint64_t line) const {
   const MutexLock lock(mutex_);
   for (const auto& [reader, thread] : readers_)
      if (thread == std::this_thread::get_id()) // others go on meanwhile
         if (const auto text = reader->rowText(line)) return ": \"" + io::shownInput(*text) + "\"";
   return {};
}

void CopyInputTable::begins(const RowTexts& reader) const {
   const MutexLock lock(mutex_);
   readers_[&reader] = std::this_thread::get_id();
}

void CopyInputTable::ends(const RowTexts& reader) const {
   const MutexLock lock(mutex_);
   readers_.erase(&reader);
}

void CopyInputTable::refuseRest(const SqlError& error) {
   keepFirst(UINT64_MAX, error);
}

void CopyInputTable::keepFirst(uint64_t line, const SqlError& error) const {
   const MutexLock lock(mutex_);
   if (refused_ && refusedLine_ <= line) return;
   refused_ = std::make_exception_ptr(error);
   refusedLine_ = line;
   hasRoom_.notify_all();
}

bool CopyInputTable::isRefused(uint64_t line) const {
   const MutexLock lock(mutex_);
   return refused_ && line >= refusedLine_;
}

void CopyInputTable::throwRefused() const {
   const MutexLock lock(mutex_);
   if (refused_) std::rethrow_exception(refused_);
}

CopyInputTable::Taken CopyInputTable::take(io::CopyChunk& out) const {
   Taken taken = takeWaiting(out);
   while (taken == Taken::Nothing && step_) {
      step_();
      taken = takeWaiting(out);
   }
   return taken;
}

CopyInputTable::Taken CopyInputTable::takeWaiting(io::CopyChunk& out) const {
   const MutexLock lock(mutex_);
   if (chunks_.empty()) return isComplete_ || refused_ ? Taken::End : Taken::Nothing;
   if (refused_ && chunks_.front().firstLine > refusedLine_) return Taken::End;
   out = std::move(chunks_.front());
   chunks_.pop_front();
   hasRoom_.notify_all();
   return Taken::Chunk;
}

} // namespace ouzel::engine
