#include "io/format/object_files.hpp"

#include <array>
#include <fnmatch.h>
#include <map>
#include <span>

#include "common/error/sql_error.hpp"
#include "common/sync/mutex.hpp"
#include "common/thread/interruption.hpp"
#include "io/store/open_store.hpp"

namespace ouzel::io {

namespace {

constexpr size_t blockSize = 8 << 20;

/// The parts of a URL: a directory of the bucket, which is opened as a store, and a name or pattern in it.
struct Address {
   std::string directory;  ///< "s3://bucket/some/directory", without parameters
   std::string name;       ///< behind the directory
   std::string parameters; ///< empty, or with its '?'

   explicit Address(const std::string& url) {
      const size_t question = std::min(url.find('?'), url.size());
      parameters = url.substr(question);
      const std::string path = url.substr(0, question);
      const size_t wildcard = std::min(path.find_first_of("*["), path.size());
      const size_t slash = path.rfind('/', wildcard == 0 ? 0 : wildcard - 1);
      if (slash == std::string::npos || slash < std::string_view("s3://").size() || slash + 1 == path.size())
         throw SqlError(sqlstate::invalidParameterValue,
                        "\"" + url + "\" names no object: s3://bucket/name is expected");
      directory = path.substr(0, slash);
      name = path.substr(slash + 1);
   }
   std::string urlOf(const std::string& object) const { return directory + "/" + object + parameters; }
};

void requireValidName(const std::string& name, const std::string& url) {
   if (!isValidObjectName(name)) throwNotSupported("the name of object \"" + url + "\"");
}

[[noreturn]] void throwMissing(const std::string& url) {
   throw SqlError(sqlstate::undefinedFile, "there is no object \"" + url + "\"");
}

/// Returns the store of a directory, the same one while a reader uses it, so that a query's files share connections.
std::shared_ptr<ObjectStore> storeOf(const Address& address, const ObjectAccessPtr& access) {
   using Key = std::array<std::string, 4>; // address and keys: a store answers only to those with its own keys
   static Mutex mutex;
   static std::map<Key, std::weak_ptr<ObjectStore>> known GUARDED_BY(mutex);
   const MutexLock lock(mutex);
   std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
   const std::string url = address.directory + (access ? access->parameters : address.parameters);
   Key key{url};
   if (access) key = {url, access->accessKeyId, access->secretAccessKey, access->sessionToken};
   if (auto store = known[key].lock()) return store;
   StoreOptions options;
   options.access = access;
   std::shared_ptr<ObjectStore> store = openObjectStore(url, options);
   known[key] = store;
   return store;
}

class StoreReader final : public ObjectReader {
public:
   StoreReader(std::shared_ptr<ObjectStore> store, std::unique_ptr<ObjectReader> reader)
      : store_(std::move(store)), reader_(std::move(reader)) {}
   void read(uint64_t offset, size_t size, void* target) const override { reader_->read(offset, size, target); }
   void prefetch(uint64_t offset, size_t size) const override { reader_->prefetch(offset, size); }
   std::unique_ptr<PendingRead> readAsync(uint64_t offset, size_t size, void* target,
                                          std::function<void(std::exception_ptr)> done) const override {
      return reader_->readAsync(offset, size, target, std::move(done));
   }
   uint64_t size() const override { return reader_->size(); }

private:
   const std::shared_ptr<ObjectStore> store_; ///< outlives reader_
   const std::unique_ptr<ObjectReader> reader_;
};

class StoreOutput final : public OutputFile {
public:
   StoreOutput(const std::string& url, const ObjectAccessPtr& access, Reservation& memory)
      : address_(url), store_(storeOf(address_, access)), memory_(memory) {
      requireValidName(address_.name, url);
   }
   void write(std::string_view bytes) override {
      while (!bytes.empty()) {
         if (blocks_.empty() || blocks_.back().size() == blockSize) {
            memory_.grow(blockSize);
            blocks_.emplace_back().reserve(blockSize);
         }
         std::string& block = blocks_.back();
         const size_t taken = std::min(bytes.size(), blockSize - block.size());
         block.append(bytes.substr(0, taken));
         bytes.remove_prefix(taken);
      }
   }
   void finish() override {
      const std::vector<std::string_view> parts(blocks_.begin(), blocks_.end());
      store_->put(address_.name, std::span(parts));
   }

private:
   const Address address_;
   const std::shared_ptr<ObjectStore> store_;
   Reservation memory_;
   std::vector<std::string> blocks_;
};

std::vector<std::string> split(const std::string& path) {
   std::vector<std::string> parts;
   for (size_t begin = 0; begin <= path.size();) {
      const size_t end = std::min(path.find('/', begin), path.size());
      parts.push_back(path.substr(begin, end - begin));
      begin = end + 1;
   }
   return parts;
}

/// Whether the parts of a path match those of a pattern. In time of their product, however many `**` there are.
bool matches(std::span<const std::string> pattern, std::span<const std::string> path) {
   std::vector<bool> reached(path.size() + 1), next; // by the parts of the pattern so far: the first i of the path
   reached[0] = true;
   for (size_t part = 0; part < pattern.size(); ++part) {
      next.assign(path.size() + 1, false);
      if (pattern[part] == "**") {
         const bool isLast = part + 1 == pattern.size(); // it stands for one part at least, a name
         bool any = false;
         for (size_t i = 0; i <= path.size(); ++i) {
            next[i] = any || (reached[i] && !isLast);
            any = any || reached[i];
         }
      } else {
         for (size_t i = 0; i < path.size(); ++i)
            next[i + 1] = reached[i] && ::fnmatch(pattern[part].c_str(), path[i].c_str(), FNM_PERIOD) == 0;
      }
      reached.swap(next);
   }
   return reached[path.size()];
}

} // namespace

std::vector<InputFile> findObjects(const std::string& url, const ObjectAccessPtr& access) {
   const Address address(url);
   const size_t wildcard = address.name.find_first_of("*[");
   if (wildcard == std::string::npos) return {{url, openObject(url, access)->size()}};
   const std::vector<std::string> pattern = split(address.name);
   std::vector<InputFile> found;
   for (const ObjectInfo& object : storeOf(address, access)->list(address.name.substr(0, wildcard))) {
      checkInterrupted();
      if (matches(pattern, split(object.name))) found.push_back({address.urlOf(object.name), object.size});
   }
   if (found.empty()) throw SqlError(sqlstate::undefinedFile, "no object matches \"" + url + "\"");
   return found;
}

std::unique_ptr<ObjectReader> openObject(const std::string& url, const ObjectAccessPtr& access) {
   const Address address(url);
   requireValidName(address.name, url);
   auto store = storeOf(address, access);
   auto reader = store->open(address.name);
   if (!reader) throwMissing(url);
   return std::make_unique<StoreReader>(std::move(store), std::move(reader));
}

std::unique_ptr<OutputFile> createObject(const std::string& url, const ObjectAccessPtr& access, Reservation& memory) {
   return std::make_unique<StoreOutput>(url, access, memory);
}

} // namespace ouzel::io
