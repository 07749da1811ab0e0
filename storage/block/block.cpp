#include "storage/block/block.hpp"

#include <cstring>
#include <lz4.h>
#include <utility>

#include "common/error/sql_error.hpp"
#include "io/object_store/trusted_read.hpp"
#include "storage/block/letter_packing.hpp"

namespace ouzel::storage {

namespace {
[[noreturn, gnu::cold]] void corrupted(const std::string& object, const char* what) {
   throw SqlError(sqlstate::dataCorrupted, std::string(what) + " in object \"" + object + "\"");
}
} // namespace

Block::Block(io::ObjectStore& store, FrameCache& cache, std::string objectName, BlockHeader header,
             std::atomic<bool>* lost)
   : store_(store), cache_(cache), objectName_(std::move(objectName)), header_(std::move(header)), lost_(lost) {}

Block::~Block() {
   Garbage* garbage = garbage_.load();
   if (!isDiscarded_.load() && !garbage) return;
   cache_.evictSegment(header_.segment);
   reader_.reset();
   if (garbage) {
      garbage->add(objectName_);
      return;
   }
   try {
      store_.remove(objectName_);
   } catch (const SqlError&) { // the next start removes the object
   }
}

const io::ObjectReader& Block::reader() const {
   std::call_once(opened_, [&] {
      reader_ = store_.open(objectName_, header_.objectSize);
      if (!reader_) throwMissing();
   });
   return *reader_;
}

void Block::throwMissing() const {
   if (!lost_) corrupted(objectName_, "missing block");
   lost_->store(true);
   throw SqlError(sqlstate::tRSerializationFailure, "canceling statement due to conflict with recovery")
       .detail("The statement needs object \"" + objectName_ + "\", which the server that writes has removed since.")
       .hint("Run it again: it will see a newer state of the database.");
}

/// Wait for the landing; returns the stored bytes at `offset`.
const char* Block::landed(uint64_t offset, const Landing& landing) const {
   try {
      return landing.wait(offset);
   } catch (const SqlError& error) {
      if (error.state() == sqlstate::undefinedFile) throwMissing();
      throw;
   }
}

void Block::check(const PageEntry& entry, const char* stored) const {
   if (checksumOf({stored, entry.storedSize}) != entry.checksum) corrupted(objectName_, "page checksum mismatch");
}

void Block::loadPage(const PageEntry& entry, bool isDictionary, const Landing* landing, char* frame) const {
   const bool isPlain = entry.codec == PageCodec::None;
   if (isPlain && entry.storedSize != entry.rawSize) corrupted(objectName_, "invalid page size");
   std::unique_ptr<char[]> own;
   const char* stored = nullptr;
   if (landing && landing->contains(entry.offset, entry.storedSize)) {
      stored = landed(entry.offset, *landing);
   } else {
      if (!isPlain) own.reset(new char[entry.storedSize]);
      char* const target = isPlain ? frame : own.get();
      try {
         reader().read(entry.offset, entry.storedSize, target);
      } catch (const SqlError& error) {
         if (error.state() == sqlstate::undefinedFile) throwMissing();
         throw;
      }
      stored = target;
   }
   check(entry, stored);
   if (isPlain) {
      if (stored != frame) std::memcpy(frame, stored, entry.rawSize);
   } else if (entry.codec == PageCodec::Letters) {
      unpackLetters({stored, entry.storedSize}, frame, entry.rawSize);
   } else {
      const int size =
          LZ4_decompress_safe(stored, frame, static_cast<int>(entry.storedSize), static_cast<int>(entry.rawSize));
      if (size != static_cast<int>(entry.rawSize)) corrupted(objectName_, "page does not decompress");
   }
   std::memset(frame + entry.rawSize, 0, pagePadding);
   verifyPage(frame, entry);
   if (isDictionary) buildDictionary(frame, entry);
}

namespace {
/// Whether the page can be used in place, inside the landing's memory.
bool canStay(const PageEntry& entry, bool isDictionary, const Landing& landing) {
   return landing.mayKeep() && entry.codec == PageCodec::None && entry.storedSize == entry.rawSize && !isDictionary &&
          entry.offset % pageAlignment == 0 && landing.contains(entry.offset, entry.storedSize);
}
} // namespace

namespace {

constexpr size_t shapesKeptMax = 16 << 10; ///< bytes of a dictionary that stays in memory

uint64_t chunkKey(uint32_t column, uint32_t rowGroup) {
   return uint64_t{column} << 32 | rowGroup;
}

} // namespace

std::shared_ptr<const ShapeDictionary> Block::knownShapes(uint32_t column, uint32_t rowGroup) const {
   const MutexLock lock(shapesMutex_);
   const auto found = shapes_.find(chunkKey(column, rowGroup));
   return found == shapes_.end() ? nullptr : found->second;
}

std::shared_ptr<const ShapeDictionary> Block::shapes(uint32_t column, uint32_t rowGroup, std::string_view bytes) const {
   auto made = std::make_shared<const ShapeDictionary>(ShapeDictionary::deserialize(bytes));
   if (header_.chunk(column, rowGroup).parts.size() != partLeaves + made->leaves.size()) ByteReader::corrupted();
   if (bytes.size() > shapesKeptMax) return made;
   const MutexLock lock(shapesMutex_);
   return shapes_.try_emplace(chunkKey(column, rowGroup), std::move(made)).first->second;
}

PagePin Block::page(uint32_t column, uint32_t rowGroup, uint32_t index, const Landing* landing, TableUse* use) const {
   const PageKey key{header_.segment, column, rowGroup << 16 | index};
   PagePin cached = cache_.find(key);
   if (use) (cached ? use->blocksFound : use->blocksLoaded).fetch_add(1, std::memory_order_relaxed);
   if (cached) return cached;
   const ChunkHeader& chunk = header_.chunk(column, rowGroup);
   const PageEntry& entry = chunk.pages[index];
   const bool isDictionary = chunk.isDictionaryPage(index);
   return io::readTrusted(store_, objectName_, [&] {
      const Landing* const from = std::exchange(landing, nullptr); // a second try reads the object itself
      if (from && canStay(entry, isDictionary, *from)) {
         const char* const page = landed(entry.offset, *from);
         check(entry, page);
         verifyPage(page, entry);
         return from->keep(key, page);
      }
      return cache_.load(key, frameSize(entry, isDictionary),
                         [&](char* frame) { loadPage(entry, isDictionary, from, frame); });
   });
}

void Block::check(const FilterEntry& entry, const char* stored) const {
   if (checksumOf({stored, entry.size}) != entry.checksum) corrupted(objectName_, "Bloom filter checksum mismatch");
}

void Block::loadFilter(const FilterEntry& entry, char* frame) const {
   try {
      reader().read(entry.offset, entry.size, frame);
   } catch (const SqlError& error) {
      if (error.state() == sqlstate::undefinedFile) throwMissing();
      throw;
   }
   check(entry, frame);
}

PagePin Block::filter(uint32_t column, uint32_t rowGroup, const Landing* landing) const {
   const PageKey key = filterKey(column, rowGroup);
   if (PagePin pin = cache_.find(key)) return pin;
   const FilterEntry& entry = header_.chunk(column, rowGroup).filter;
   return io::readTrusted(store_, objectName_, [&] {
      const Landing* const from = std::exchange(landing, nullptr);
      if (!from || !from->contains(entry.offset, entry.size))
         return cache_.load(key, entry.size, [&](char* frame) { loadFilter(entry, frame); });
      const char* const filter = landed(entry.offset, *from);
      check(entry, filter);
      return from->keep(key, filter);
   });
}

bool Block::isFilterCached(uint32_t column, uint32_t rowGroup) const {
   return cache_.contains(filterKey(column, rowGroup));
}

bool Block::isCached(uint32_t column, uint32_t rowGroup) const {
   const ChunkHeader& chunk = header_.chunk(column, rowGroup);
   for (uint32_t index = 0; index < chunk.pages.size(); ++index)
      if (!cache_.contains({header_.segment, column, rowGroup << 16 | index})) return false;
   return true;
}

size_t Block::storedBytes(uint32_t column, uint32_t rowGroup) const {
   const ChunkHeader& chunk = header_.chunk(column, rowGroup);
   if (chunk.pages.empty()) return 0;
   const PageEntry &first = chunk.pages.front(), &last = chunk.pages.back();
   return (last.offset + last.storedSize + pageAlignment - 1) / pageAlignment * pageAlignment - first.offset;
}

void Block::verify() const {
   for (const ChunkHeader& chunk : header_.chunks) {
      for (uint32_t i = 0; i < chunk.pages.size(); ++i) {
         const bool isDictionary = chunk.isDictionaryPage(i);
         const size_t size = frameSize(chunk.pages[i], isDictionary);
         const std::unique_ptr<char, void (*)(void*)> frame(
             static_cast<char*>(std::aligned_alloc(64, (size + 63) / 64 * 64)), std::free);
         loadPage(chunk.pages[i], isDictionary, nullptr, frame.get());
      }
      if (chunk.filter.size == 0) continue;
      std::string filter(chunk.filter.size, '\0');
      loadFilter(chunk.filter, filter.data());
   }
}

BlockHeader Block::readHeader(const io::ObjectReader& reader, const std::string& objectName) {
   BlockFooter footer;
   if (reader.size() < sizeof footer + blockMagic.size()) corrupted(objectName, "truncated block");
   reader.read(reader.size() - sizeof footer, sizeof footer, &footer);
   uint64_t magic;
   std::memcpy(&magic, blockMagic.data(), sizeof magic);
   if (footer.magic != magic || footer.version == 0 || footer.version > blockFormatVersion)
      corrupted(objectName, "not a block");
   if (footer.headerOffset + footer.headerStoredSize + sizeof footer != reader.size())
      corrupted(objectName, "invalid block footer");
   if (footer.headerRawSize > (1u << 30)) corrupted(objectName, "invalid block footer");
   std::string stored(footer.headerStoredSize, '\0');
   reader.read(footer.headerOffset, stored.size(), stored.data());
   if (checksumOf(stored) != footer.headerChecksum) corrupted(objectName, "header checksum mismatch");
   std::string raw(footer.headerRawSize, '\0');
   if (LZ4_decompress_safe(stored.data(), raw.data(), static_cast<int>(stored.size()), static_cast<int>(raw.size())) !=
       static_cast<int>(raw.size()))
      corrupted(objectName, "header does not decompress");
   BlockHeader header = BlockHeader::deserialize(raw);
   header.objectSize = reader.size();
   return header;
}

} // namespace ouzel::storage
