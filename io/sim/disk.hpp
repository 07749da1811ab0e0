#pragma once
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/sync/mutex.hpp"
#include "io/file/file_system.hpp"

// A simulated disk in memory, for tests. It separates written bytes from durable bytes, and computes the states of the
// disk that a power cut may leave.
//
// Effects of a power cut on changes that were not synced, independent of each other:
//   bytes of a file       by 512-byte sector: dropped, kept, or torn (each written byte is old, new or garbage).
//                         Bytes that the write did not change are safe, as all devices in use promise ("powersafe
//                         overwrite" in SQLite's words)
//   size of a file        the old, the new, or in between
//   names in a directory  each name is what it was at the last syncDirectory, or anything it has been since
// syncData makes a file's bytes and size durable, but not its name. syncDirectory makes the names in a directory
// durable. No other operation makes a change durable.

namespace ouzel::io::sim {

/// A small deterministic generator (splitmix64).
class Random {
public:
   explicit Random(uint64_t seed) : state_(seed) {}
   uint64_t next() {
      uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
      return z ^ (z >> 31);
   }
   /// A number below `bound`. REQUIRES: bound > 0.
   uint64_t below(uint64_t bound) { return next() % bound; }
   bool oneIn(uint64_t n) { return below(n) == 0; }

private:
   uint64_t state_;
};

enum class Operation : uint8_t {
   Create,
   Write,
   Allocate,
   Sync,
   Truncate,
   MakeDirectory,
   SyncDirectory,
   Link,
   Rename,
   Unlink
};
constexpr size_t operationCount = 10;

/// The way in which a power cut treats changes that were not synced.
enum class Loss : uint8_t { DropAll, KeepAll, Mixed, Torn };

/// The simulated disk. Directories cannot be renamed or removed; open files outlive their names. Thread-safe.
class Disk final : public FileSystem {
public:
   explicit Disk(uint64_t seed) : random_(seed) {}
   /// The disk after a power cut. REQUIRES: `image` was made by afterCut().
   Disk(uint64_t seed, std::string_view image);

   // Controls for tests.

   /// Called before and after each operation that changes the disk, under the disk's lock: it may call afterCut() but
   /// no other member. If it returns a negative errno before an operation, the operation fails. A failed Sync makes a
   /// random part durable and forgets the other changes, as the kernel does.
   std::function<int(Operation, const std::string& path, bool isAfter)> onOperation;
   /// Limits the space for files. Operations beyond it fail with ENOSPC; space in use is kept.
   void setCapacity(uint64_t bytes);
   uint64_t usedBytes() const;
   /// An image of the disk after a power cut, for Disk's constructor.
   std::string afterCut(Random& random, Loss loss) const;

   int open(const std::string& path, int flags) override;
   void close(int descriptor) override;
   ssize_t read(int descriptor, void* target, size_t size, uint64_t offset) override;
   ssize_t write(int descriptor, const void* source, size_t size, uint64_t offset) override;
   int allocate(int descriptor, uint64_t offset, uint64_t size) override;
   int syncData(int descriptor) override;
   int truncate(int descriptor, uint64_t size) override;
   int64_t size(int descriptor) override;
   int lock(int descriptor) override;
   void prefetch(int descriptor, uint64_t offset, uint64_t size) override;
   int makeDirectory(const std::string& path) override;
   int syncDirectory(const std::string& path) override;
   int list(const std::string& path, std::vector<DirectoryEntry>& entries) override;
   int status(const std::string& path, FileStatus& status) override;
   int link(const std::string& from, const std::string& to) override;
   int rename(const std::string& from, const std::string& to) override;
   int unlink(const std::string& path) override;

   // disk_image.cpp
   static constexpr size_t sectorSize = 512, pageSize = 4096;
   using Page = std::array<char, pageSize>;
   struct Node;
   using NodePtr = std::shared_ptr<Node>;
   /// A file or a directory: its current and its durable state.
   struct Node {
      bool isDirectory = false;
      // Files. Missing pages read as zeros. Current and durable state share a page until the current one changes.
      std::map<uint64_t, std::shared_ptr<Page>> pages, durablePages;
      std::set<uint64_t> dirtyPages;
      uint64_t size = 0, durableSize = 0;
      uint64_t reserved = 0; ///< space in bytes, at least `size`
      uint64_t changes = 0;
      uint32_t holders = 0; ///< names and descriptors
      // Directories. For a pending name: the nodes it has named since the last sync, null for none.
      std::map<std::string, NodePtr> names, durableNames;
      std::map<std::string, std::vector<NodePtr>> pending;
   };

private:
   struct OpenFile {
      NodePtr node;
      std::string path;
      bool isRandomSource = false;
   };
   NodePtr find(const std::string& path) const;
   /// The directory that holds the last component of the path, and that component.
   std::pair<NodePtr, std::string> parentOf(const std::string& path) const;
   OpenFile* opened(int descriptor);
   int before(Operation operation, const std::string& path);
   int after(Operation operation, const std::string& path, int result);
   void setName(Node& directory, const std::string& name, NodePtr node);
   int reserve(Node& node, uint64_t end);
   bool isFull() const { return used_ + pageSize > capacity_; }
   void release(Node& node);
   void change(Node& node, uint64_t offset, const char* source, uint64_t size);

   mutable Mutex mutex_; ///< guards the members below
   Random random_ GUARDED_BY(mutex_);
   NodePtr root_ = [] {
      auto node = std::make_shared<Node>();
      node->isDirectory = true;
      return node;
   }();
   std::map<int, OpenFile> open_;
   int nextDescriptor_ = 1 << 28; ///< far above the kernel's descriptors
   uint64_t capacity_ = UINT64_MAX;
   uint64_t used_ = 0; ///< bytes of all files that have a name or are open
};

} // namespace ouzel::io::sim
