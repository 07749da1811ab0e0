#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "executor/materialize/tuple_buffer.hpp"

// TupleReader: loads spilled pages.

namespace ouzel::executor {

TupleReader::TupleReader(const RowLayout& layout, Reservation& memory, io::SpillSpace& space, size_t aheadBytes)
   : layout_(layout), packing_(layout), memory_(memory), reader_(space, aheadBytes) {}

size_t TupleReader::memoryFor(size_t bytes) {
   constexpr size_t step = LargeMemory::usualStep;
   return (bytes + step - 1) / step * step;
}

void TupleReader::add(const SpilledTuplePage& spilled, bool isLastUse) {
   DCHECK(spilled.rowCount > 0);
   reader_.add(spilled.page, isLastUse);
   for (const io::SpilledPage& piece : spilled.rest)
      reader_.add(piece, isLastUse);
   queue_.push_back(spilled);
}

std::unique_ptr<TuplePage> TupleReader::next() {
   if (reader_.isEmpty()) return nullptr;
   DCHECK(at_ < queue_.size()); // queue_ has an entry for each page of the reader
   const SpilledTuplePage& spilled = queue_[at_++];
   size_t packedBytes = reader_.nextBytes();
   for (const io::SpilledPage& piece : spilled.rest)
      packedBytes += piece.rawBytes;
   const size_t needed = memoryFor(packedBytes + RowPacking::slackBytes);
   if (packed_.bytes() < needed) {
      packed_.release();
      packed_ = LargeMemory(needed, memory_, LargeMemory::Fill::Anything);
   }
   size_t read = 0;
   for (size_t piece = 0; piece <= spilled.rest.size(); ++piece) {
      const size_t bytes = reader_.nextBytes();
      reader_.next(packed_.as<std::byte>() + read);
      read += bytes;
   }
   CHECK(read == packedBytes);
   auto page = std::make_unique<TuplePage>();
   page->memory = LargeMemory(spilled.bytes, memory_, LargeMemory::Fill::Anything);
   page->partition = spilled.partition;
   page->begin = page->memory.as<std::byte>();
   page->cursor = page->limit = page->begin + size_t{spilled.rowCount} * layout_.rowSize();
   page->rowsWithOwnStrings = spilled.rowCount;
   DCHECK(size_t{spilled.rowCount} * layout_.rowSize() <= spilled.bytes);
   if (!packing_.unpack({packed_.as<std::byte>(), packedBytes}, page->begin, page->cursor,
                        reinterpret_cast<char*>(page->cursor)))
      throw SqlError(sqlstate::dataCorrupted, "a spilled page is not what was written");
   return page;
}

} // namespace ouzel::executor
