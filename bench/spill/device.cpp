#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "io/spill/page_codec.hpp"
#include "io/spill/spill.hpp"

// Measures how fast pages are written to a device and read back: each compression level in memory, each level and the
// regulator on a device, and the regulator on throttled devices of 1, 2, 4, 6 and 8 times 95 MB/s writing and 183 MB/s
// reading (for two cores, an SSD of Kuschewski et al. 2025 divided by their cores). Pages hold rows as an aggregation
// stores them, made from TPC-H's lineitem as CSV (bench/tpch makes the file).
//
//    spill_device lineitem.csv DIR [MiB] [threads] [ns of work per byte] [factors...]

using namespace ouzel::io;

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) {
   return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Page {
   std::vector<std::byte> rows, heap;
   size_t bytes() const { return rows.size() + heap.size(); }
};

/// Reads rows of (hash, l_orderkey, l_partkey, l_shipinstruct, l_comment): 64 bytes and the bytes of long strings. The
/// rows of a page belong to one partition of 256, as spilled rows do.
std::vector<Page> readPages(const char* path, size_t bytesMax) {
   constexpr size_t rowsBytes = 48 << 10;
   std::ifstream file(path);
   std::string line;
   std::getline(file, line);
   std::vector<Page> pages, open(256);
   size_t bytes = 0;
   while (bytes < bytesMax && std::getline(file, line)) {
      std::vector<std::string_view> fields;
      for (size_t at = 0; fields.size() < 15; at = line.find(',', at) + 1)
         fields.push_back(std::string_view(line).substr(at, line.find(',', at) - at));
      const std::string_view comment =
          std::string_view(line).substr(static_cast<size_t>(fields[14].data() - line.data()) + fields[14].size() + 1);
      const uint64_t order = std::strtoull(fields[0].data(), nullptr, 10),
                     part = std::strtoull(fields[1].data(), nullptr, 10);
      const uint64_t hash = (order * 0x9e3779b97f4a7c15ULL) ^ ((part * 0xd6e8feb86659fd93ULL) >> 7);
      Page& page = open[hash >> 56];
      const auto append = [](std::vector<std::byte>& to, const void* from, size_t size) {
         const auto* first = static_cast<const std::byte*>(from);
         to.insert(to.end(), first, first + size);
      };
      const auto appendString = [&](std::string_view text) {
         char view[16] = {};
         const auto size = static_cast<uint32_t>(text.size());
         const uint64_t address = 0x7f1200000000 + reinterpret_cast<uintptr_t>(&page) % (1 << 28) + page.heap.size();
         std::memcpy(view, &size, 4);
         std::memcpy(view + 4, text.data(), std::min<size_t>(text.size(), 12));
         if (size > 12) {
            std::memcpy(view + 8, &address, 8);
            append(page.heap, text.data(), size);
         }
         append(page.rows, view, 16);
      };
      append(page.rows, &hash, 8);
      append(page.rows, &order, 8);
      append(page.rows, &part, 8);
      const uint64_t flags = 0;
      append(page.rows, &flags, 8);
      appendString(fields[13]);
      appendString(comment);
      if (page.rows.size() >= rowsBytes) {
         bytes += page.bytes();
         pages.push_back(std::move(page));
         page = {};
      }
   }
   return pages;
}

/// Measures each level in memory, with one thread.
void measureLevels(const std::vector<Page>& pages) {
   std::printf("%-10s %8s %14s %14s\n", "level", "stored", "ns/B to encode", "to decode");
   UnitEncoder encoder;
   UnitDecoder decoder;
   const size_t count = std::min<size_t>(pages.size(), 400);
   for (uint32_t level = 0; level < spillLevels().size(); ++level) {
      std::vector<std::byte> stored(unitBound(unitBytesMax, 512)), raw, back(unitBytesMax);
      size_t rawBytes = 0, storedBytes = 0;
      double encode = 0, decode = 0;
      for (size_t i = 0; i < count; ++i) {
         raw = pages[i].rows;
         raw.insert(raw.end(), pages[i].heap.begin(), pages[i].heap.end());
         double encodeBest = 1, decodeBest = 1; // the best of several: other processes may be busy
         size_t size = 0;
         for (int repeat = 0; repeat < 3; ++repeat) {
            uint32_t became = level;
            auto begin = Clock::now();
            size = encoder.encode(raw, {0, 0}, 512, became, stored.data());
            encodeBest = std::min(encodeBest, secondsSince(begin));
            begin = Clock::now();
            if (!decoder.decodePage({stored.data(), size}, {0, 0}, 512, std::span(back).first(raw.size())))
               std::abort();
            decodeBest = std::min(decodeBest, secondsSince(begin));
         }
         encode += encodeBest;
         decode += decodeBest;
         rawBytes += raw.size();
         storedBytes += size;
      }
      const double all = static_cast<double>(rawBytes);
      std::printf("%-10s %7.1f%% %14.3f %14.3f\n", spillLevels()[level].name,
                  100 * static_cast<double>(storedBytes) / all, encode * 1e9 / all, decode * 1e9 / all);
   }
}

struct Outcome {
   double write = 0, read = 0; ///< seconds
   double stored = 0;          ///< bytes per raw byte
   std::vector<uint64_t> pagesByLevel;
};

/// `threads` threads write `bytes` of pages and read them back. Each page takes `workNanos` of other work per byte,
/// both when written and when read.
Outcome run(SpillManager& manager, SpillPolicy policy, const std::vector<Page>& pages, size_t bytes, size_t threads,
            double workNanos) {
   SpillSpace space(manager, policy);
   std::vector<std::vector<SpilledPage>> written(threads);
   const auto work = [&](size_t size) {
      const auto until =
          Clock::now() + std::chrono::nanoseconds(static_cast<int64_t>(static_cast<double>(size) * workNanos));
      while (Clock::now() < until) {
      }
   };
   const auto inThreads = [&](const auto& function) {
      std::vector<std::thread> all;
      for (size_t thread = 0; thread < threads; ++thread)
         all.emplace_back(function, thread);
      for (std::thread& thread : all)
         thread.join();
   };
   Outcome outcome;
   auto begin = Clock::now();
   inThreads([&](size_t thread) {
      size_t done = 0;
      for (size_t i = thread; done < bytes / threads; i += threads) {
         const Page& page = pages[i % pages.size()];
         work(page.bytes());
         const std::span<const std::byte> parts[] = {page.rows, page.heap};
         written[thread].push_back(space.write(parts));
         done += page.bytes();
      }
   });
   outcome.write = secondsSince(begin);
   begin = Clock::now();
   inThreads([&](size_t thread) {
      SpillReader reader(space);
      std::vector<std::byte> target(SpillSpace::pageBytesMax);
      size_t next = 0;
      const auto& mine = written[thread];
      for (size_t i = 0; i < mine.size(); ++i) {
         for (; next < mine.size() && next < i + 64; ++next)
            reader.add(mine[next]);
         const size_t size = reader.nextBytes();
         reader.next(target.data());
         work(size);
      }
   });
   outcome.read = secondsSince(begin);
   const SpillStatistics statistics = space.statistics();
   outcome.stored = static_cast<double>(statistics.bytesWritten) / static_cast<double>(statistics.rawBytesWritten);
   outcome.pagesByLevel = statistics.pagesByLevel;
   return outcome;
}

/// The median.
double middle(std::vector<double> values) {
   std::sort(values.begin(), values.end());
   return values[values.size() / 2];
}

/// Measures all levels and the regulator in turns, for several rounds, so that other load of the machine affects all of
/// them. As in a server, the regulator's bandwidths of the device outlive a round. The first round does not count.
void measureDevice(const char* directory, const std::vector<Page>& pages, size_t bytes, size_t threads,
                   double workNanos, double factor) {
   constexpr size_t rounds = 5;
   struct Contender {
      int level;
      std::unique_ptr<SpillManager> manager;
      std::vector<double> writes, reads, both;
      Outcome last;
   };
   SpillOptions options;
   options.targets.emplace_back(directory);
   std::vector<Contender> contenders;
   for (int level = SpillPolicy::regulated; level < static_cast<int>(spillLevels().size()); ++level) {
      contenders.push_back({level, std::make_unique<SpillManager>(options), {}, {}, {}, {}});
      contenders.back().manager->setRates(static_cast<uint64_t>(factor * 95e6), static_cast<uint64_t>(factor * 183e6));
   }
   for (size_t round = 0; round <= rounds; ++round)
      for (size_t i = 0; i < contenders.size(); ++i) {
         Contender& contender = contenders[(i + round) % contenders.size()];
         SpillPolicy policy;
         policy.level = contender.level;
         contender.last = run(*contender.manager, policy, pages, bytes / rounds, threads, workNanos);
         if (round == 0) continue;
         contender.writes.push_back(contender.last.write);
         contender.reads.push_back(contender.last.read);
         contender.both.push_back(contender.last.write + contender.last.read);
      }
   std::printf("\n%s: %.0f MB/s writing, %.0f reading\n", factor > 0 ? "throttled" : "the device as it is", factor * 95,
               factor * 183);
   std::printf("%-10s %11s %11s %9s %8s\n", "level", "write MiB/s", "read MiB/s", "both s", "stored");
   const double mebibytes = static_cast<double>(bytes / rounds) / (1 << 20);
   const Contender* best = nullptr;
   for (const Contender& contender : contenders) {
      const double both = middle(contender.both);
      std::printf("%-10s %11.0f %11.0f %9.3f %7.1f%%",
                  contender.level < 0 ? "regulated" : spillLevels()[static_cast<size_t>(contender.level)].name,
                  mebibytes / middle(contender.writes), mebibytes / middle(contender.reads), both,
                  100 * contender.last.stored);
      for (size_t level = 0; contender.level < 0 && level < contender.last.pagesByLevel.size(); ++level)
         std::printf(" %lu", contender.last.pagesByLevel[level]);
      std::printf("\n");
      if (contender.level >= 0 && (!best || both < middle(best->both))) best = &contender;
   }
   const double regulated = middle(contenders.front().both);
   std::printf("regulated: %.3f of the speed of the best fixed level, %s; %.2f of that without compression\n",
               middle(best->both) / regulated, spillLevels()[static_cast<size_t>(best->level)].name,
               middle(contenders[1].both) / regulated);
   std::printf("its levels by run:");
   for (const SpillManager::Decision& decision : contenders.front().manager->decisions())
      std::printf(" %u", decision.levelAfter);
   std::printf("\nlast: %.2f ns/B of CPU, %.2f of the device; write %.0f MB/s, read %.0f\n",
               contenders.front().manager->decisions().back().cpuNanos,
               contenders.front().manager->decisions().back().ioNanos,
               contenders.front().manager->devices()[0].writeBandwidth / 1e6,
               contenders.front().manager->devices()[0].readBandwidth / 1e6);
}

} // namespace

int main(int argc, char** argv) {
   if (argc < 3)
      return std::puts("spill_device lineitem.csv DIR [MiB] [threads] [ns of work per byte] [factors...]"), 2;
   const size_t bytes = (argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1024) << 20;
   const size_t threads = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 2;
   const double workNanos = argc > 5 ? std::strtod(argv[5], nullptr) : 2;
   std::vector<double> factors;
   for (int i = 6; i < argc; ++i)
      factors.push_back(std::strtod(argv[i], nullptr));
   if (factors.empty()) factors = {0, 1, 2, 4, 6, 8};
   std::setvbuf(stdout, nullptr, _IOLBF, 0);
   const std::vector<Page> pages = readPages(argv[1], size_t{256} << 20);
   if (pages.empty()) return std::puts("no rows"), 1;
   measureLevels(pages);
   for (const double factor : factors)
      measureDevice(argv[2], pages, bytes, threads, workNanos, factor);
}
