#include "io/cache/cached_store.hpp"

#include "common/error/sql_error.hpp"
#include "io/object_store/store_statistics.hpp"
#include "io/object_store/waiting_read.hpp"

namespace ouzel::io {

namespace {

class CachedPendingRead final : public PendingRead {
public:
   explicit CachedPendingRead(std::shared_ptr<CachedRead> read) : read_(std::move(read)) {}
   void cancel() noexcept override { read_->cancel(); }

private:
   const std::shared_ptr<CachedRead> read_;
};

class CachedReader final : public ObjectReader {
public:
   explicit CachedReader(std::shared_ptr<const CachedObject> object) : object_(std::move(object)) {}

   void read(uint64_t offset, size_t size, void* target) const override;
   void prefetch(uint64_t offset, size_t size) const override { object_->inner->prefetch(offset, size); }
   std::unique_ptr<PendingRead> readAsync(uint64_t offset, size_t size, void* target,
                                          std::function<void(std::exception_ptr)> done) const override;
   uint64_t size() const override { return object_->inner->size(); }

private:
   bool isInside(uint64_t offset, size_t size) const { return offset <= this->size() && size <= this->size() - offset; }
   bool readHere(uint64_t offset, size_t size, char* target) const;

   const std::shared_ptr<const CachedObject> object_;
};

std::unique_ptr<PendingRead> CachedReader::readAsync(uint64_t offset, size_t size, void* target,
                                                     std::function<void(std::exception_ptr)> done) const {
   // The inner reader reports the error of an invalid range.
   if (size == 0 || !isInside(offset, size)) return object_->inner->readAsync(offset, size, target, std::move(done));
   auto read = std::make_shared<CachedRead>(object_, std::move(done));
   if (!read->start(offset, size, static_cast<char*>(target))) return nullptr;
   return std::make_unique<CachedPendingRead>(std::move(read));
}

/// Reads the range on this thread if the cache's file has all of it. False: some bytes are missing, and `target` may be
/// partly written.
bool CachedReader::readHere(uint64_t offset, size_t size, char* target) const {
   ObjectCache& cache = object_->parts.cache;
   const std::vector<ObjectCache::Piece> pieces = cache.find(object_->key, offset, offset + size);
   for (const ObjectCache::Piece& piece : pieces)
      if (!piece.place) return false;
   for (const ObjectCache::Piece& piece : pieces)
      if (!cache.read(piece, target + (piece.begin - offset))) return false;
   if (const auto& tally = ReadTallyScope::current()) {
      tally->cacheHits.fetch_add(pieces.size(), std::memory_order_relaxed);
      tally->cacheBytes.fetch_add(size, std::memory_order_relaxed);
   }
   return true;
}

void CachedReader::read(uint64_t offset, size_t size, void* target) const {
   if (isInside(offset, size) && readHere(offset, size, static_cast<char*>(target))) return;
   readAndWait(*this, offset, size, target);
}

} // namespace

CachedStore::CachedStore(std::unique_ptr<ObjectStore> inner, std::string identity, CacheOptions options)
   : identity_(std::move(identity)), parts_(std::move(options)), inner_(std::move(inner)) {}

CachedStore::~CachedStore() = default;

bool CachedStore::put(std::string_view name, std::span<const std::string_view> parts, const PutCondition& condition) {
   return inner_->put(name, parts, condition);
}

std::unique_ptr<ObjectReader> CachedStore::wrap(std::string_view name, std::unique_ptr<ObjectReader> reader) {
   if (!reader || !mayCache(name)) return reader;
   return std::make_unique<CachedReader>(
       std::make_shared<CachedObject>(CachedObject{parts_, keyOf(name), std::move(reader)}));
}

std::unique_ptr<ObjectReader> CachedStore::open(std::string_view name) {
   return wrap(name, inner_->open(name));
}

std::unique_ptr<ObjectReader> CachedStore::open(std::string_view name, uint64_t knownSize) {
   return wrap(name, inner_->open(name, knownSize));
}

std::optional<std::string> CachedStore::get(std::string_view name) {
   if (!mayCache(name)) return inner_->get(name);
   const ObjectKey key = keyOf(name);
   if (const auto size = parts_.cache.objectSize(key)) {
      std::string bytes(*size, '\0');
      try {
         open(name, *size)->read(0, bytes.size(), bytes.data());
      } catch (const SqlError& error) {
         if (error.state() != sqlstate::undefinedFile) throw;
         return std::nullopt;
      }
      return bytes;
   }
   auto bytes = inner_->get(name);
   if (bytes) {
      parts_.cache.countMiss(bytes->size());
      parts_.cache.offer(key, bytes->size(), 0, bytes->data(), bytes->size());
   }
   return bytes;
}

std::optional<std::string> CachedStore::tag(std::string_view name) {
   return inner_->tag(name);
}

std::vector<ObjectInfo> CachedStore::list(std::string_view prefix, size_t limit) {
   return inner_->list(prefix, limit);
}

void CachedStore::remove(std::string_view name) {
   parts_.cache.forget(keyOf(name));
   inner_->remove(name);
}

void CachedStore::remove(std::span<const std::string> names) {
   for (const std::string& name : names)
      parts_.cache.forget(keyOf(name));
   inner_->remove(names);
}

void CachedStore::removeLeftovers() {
   inner_->removeLeftovers();
}

bool CachedStore::distrust(std::string_view name) {
   if (!mayCache(name)) return false;
   parts_.cache.distrust(keyOf(name));
   return true;
}

std::optional<RetrieverStatistics> CachedStore::statistics() const {
   return inner_->statistics();
}

std::optional<CacheStatistics> CachedStore::cacheStatistics() const {
   return parts_.cache.statistics();
}

} // namespace ouzel::io
