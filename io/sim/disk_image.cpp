#include <algorithm>
#include <cstring>

#include "common/error/check.hpp"
#include "io/sim/disk.hpp"

// Images: the disk after a power cut as bytes, and the disk made of an image. An image is the root directory. A
// directory is the number of its names and, for each name, its length, bytes, kind and node. A file is its size, the
// number of pages, and each page's number and bytes. A file with two names becomes two files: the programs under test
// cannot tell the difference.

namespace ouzel::io::sim {

namespace {

using Page = Disk::Page;
using Node = Disk::Node;

void putNumber(std::string& out, uint64_t number) {
   out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

uint64_t takeNumber(std::string_view& in) {
   uint64_t number;
   CHECK(in.size() >= sizeof number);
   std::memcpy(&number, in.data(), sizeof number);
   in.remove_prefix(sizeof number);
   return number;
}

/// Writes the state of one sector after the cut. `now`: the bytes written; `old`: the durable bytes.
void writeSector(const char* old, const char* now, char* out, Random& random, Loss loss) {
   constexpr size_t size = Disk::sectorSize;
   const uint64_t fate = loss == Loss::DropAll   ? 0
                         : loss == Loss::KeepAll ? 1
                                                 : random.below(loss == Loss::Torn ? 5 : 2);
   if (fate < 2) {
      std::memcpy(out, fate == 0 ? old : now, size);
      return;
   }
   const size_t from = random.below(size), to = from + random.below(size - from) + 1;
   for (size_t i = 0; i < size; ++i) {
      const bool isInside = i >= from && i < to;
      if (old[i] == now[i] || fate == 2)
         out[i] = isInside ? now[i] : old[i];
      else if (fate == 3)
         out[i] = isInside ? old[i] : now[i];
      else
         out[i] = static_cast<char>(random.next());
   }
}

void putFile(std::string& out, const Node& file, Random& random, Loss loss) {
   uint64_t size = loss == Loss::DropAll ? file.durableSize : file.size;
   if (loss >= Loss::Mixed && file.size != file.durableSize) {
      const uint64_t low = std::min(file.size, file.durableSize), high = std::max(file.size, file.durableSize);
      const uint64_t choice = random.below(3);
      size = choice == 0 ? low : choice == 1 ? high : low + random.below(high - low + 1);
   }
   putNumber(out, size);
   std::set<uint64_t> numbers = file.dirtyPages;
   for (const auto& [number, page] : file.durablePages)
      numbers.insert(number);
   std::erase_if(numbers, [&](uint64_t number) { return number * Disk::pageSize >= size; });
   putNumber(out, numbers.size());
   static constexpr Page zeros{};
   for (const uint64_t number : numbers) {
      const auto durable = file.durablePages.find(number), now = file.pages.find(number);
      const Page& old = durable == file.durablePages.end() ? zeros : *durable->second;
      const Page& changed = !file.dirtyPages.contains(number) ? old : now == file.pages.end() ? zeros : *now->second;
      Page left = old;
      for (size_t at = 0; at < Disk::pageSize; at += Disk::sectorSize)
         if (std::memcmp(old.data() + at, changed.data() + at, Disk::sectorSize) != 0)
            writeSector(old.data() + at, changed.data() + at, left.data() + at, random, loss);
      if (size < (number + 1) * Disk::pageSize) {
         const size_t end = size - number * Disk::pageSize;
         std::memset(left.data() + end, 0, Disk::pageSize - end);
      }
      putNumber(out, number);
      out.append(left.data(), Disk::pageSize);
   }
}

void putDirectory(std::string& out, const Node& directory, Random& random, Loss loss) {
   std::map<std::string, Disk::NodePtr> left = directory.durableNames;
   for (const auto& [name, history] : directory.pending) {
      // 0: the durable node; n: the node after the n-th later change.
      const uint64_t choice = loss == Loss::DropAll   ? 0
                              : loss == Loss::KeepAll ? history.size()
                                                      : random.below(history.size() + 1);
      if (choice == 0) continue;
      if (history[choice - 1])
         left[name] = history[choice - 1];
      else
         left.erase(name);
   }
   putNumber(out, left.size());
   for (const auto& [name, node] : left) {
      putNumber(out, name.size());
      out += name;
      putNumber(out, node->isDirectory);
      if (node->isDirectory)
         putDirectory(out, *node, random, loss);
      else
         putFile(out, *node, random, loss);
   }
}

uint64_t takeFile(std::string_view& in, Node& file) {
   file.size = file.durableSize = takeNumber(in);
   file.reserved = (file.size + Disk::pageSize - 1) / Disk::pageSize * Disk::pageSize;
   for (uint64_t left = takeNumber(in); left > 0; --left) {
      const uint64_t number = takeNumber(in);
      auto page = std::make_shared<Page>();
      CHECK(in.size() >= Disk::pageSize);
      std::memcpy(page->data(), in.data(), Disk::pageSize);
      in.remove_prefix(Disk::pageSize);
      file.pages[number] = page;
      file.durablePages[number] = std::move(page);
   }
   return file.reserved;
}

uint64_t takeDirectory(std::string_view& in, Node& directory) {
   uint64_t used = 0;
   for (uint64_t left = takeNumber(in); left > 0; --left) {
      const size_t length = takeNumber(in);
      CHECK(in.size() >= length);
      const std::string name(in.substr(0, length));
      in.remove_prefix(length);
      auto node = std::make_shared<Node>();
      node->holders = 1;
      node->isDirectory = takeNumber(in) != 0;
      used += node->isDirectory ? takeDirectory(in, *node) : takeFile(in, *node);
      directory.names[name] = directory.durableNames[name] = std::move(node);
   }
   return used;
}

} // namespace

Disk::Disk(uint64_t seed, std::string_view image) : Disk(seed) {
   used_ = takeDirectory(image, *root_);
   CHECK(image.empty());
}

std::string Disk::afterCut(Random& random, Loss loss) const {
   std::string image;
   putDirectory(image, *root_, random, loss);
   return image;
}

} // namespace ouzel::io::sim
