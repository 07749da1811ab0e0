#include "storage/wal/log.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel::storage {

namespace {

constexpr uint64_t fileMagic = 0x314c41575a554f00ULL; // "\0OUZWAL1"
constexpr uint32_t frameMagic = 0x46575a4f;           // "OZWF"
constexpr std::string_view fileSuffix = ".wal";
constexpr uint64_t headerSize = sizeof(LogFileHeader);
constexpr uint64_t reserveMin = 1 << 20, reserveMax = 64 << 20;

constexpr uint64_t padded(uint64_t size) {
   return (size + 7) / 8 * 8;
}

uint64_t frameChecksum(FrameHeader header, std::span<const std::string_view> parts) {
   header.checksum = 0;
   XXH3_state_t state;
   XXH3_64bits_reset(&state);
   XXH3_64bits_update(&state, &header, sizeof header);
   for (const std::string_view part : parts)
      XXH3_64bits_update(&state, part.data(), part.size());
   return XXH3_64bits_digest(&state);
}

[[noreturn]] void refuse(const std::string& what) {
   throw SqlError(sqlstate::dataCorrupted, "write-ahead log is corrupted: " + what)
       .hint("The server refuses to start rather than lose committed transactions. Restore the log from a backup.");
}

std::string hex(uint64_t value) {
   char text[17];
   std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
   return text;
}

} // namespace

Log::Log(std::string directory, uint64_t logId) : directory_(std::move(directory)), logId_(logId) {}
Log::~Log() = default;

bool Log::exists(const std::string& directory) {
   for (const io::DirectoryEntry& entry : io::listDirectory(directory))
      if (entry.name.ends_with(fileSuffix)) return true;
   return false;
}

std::vector<Log::LogFile> Log::listFiles() const {
   std::vector<LogFile> files;
   for (const io::DirectoryEntry& entry : io::listDirectory(directory_)) {
      if (!entry.name.ends_with(fileSuffix)) continue;
      const std::string stem = entry.name.substr(0, entry.name.size() - fileSuffix.size());
      char* end = nullptr;
      const Lsn start = std::strtoull(stem.c_str(), &end, 16);
      if (stem.size() != 16 || *end != '\0') continue;
      files.push_back({start, directory_ + "/" + entry.name});
   }
   std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.startLsn < b.startLsn; });
   return files;
}

std::optional<Log::Frame> Log::readFrame(const io::File& file, Lsn startLsn, Lsn lsn, uint64_t fileSize) const {
   const uint64_t offset = headerSize + (lsn - startLsn);
   FrameHeader header;
   if (offset + sizeof header > fileSize) return std::nullopt;
   file.readAt(&header, sizeof header, offset);
   if (header.magic != frameMagic || header.lsn != lsn || header.logId != logId_) return std::nullopt;
   if (header.size > fileSize - offset - sizeof header) return std::nullopt;
   Frame frame{lsn, lsn + padded(sizeof header + header.size), header.kind, header.timestamp, {}};
   frame.payload.resize(header.size);
   file.readAt(frame.payload.data(), header.size, offset + sizeof header);
   const std::string_view payload = frame.payload;
   if (frameChecksum(header, std::span(&payload, 1)) != header.checksum) return std::nullopt;
   return frame;
}

// Something at `damagedLsn` is not a valid frame. Look whether a frame behind it proves that it once was.
void Log::refuseIfDurable(const io::File& file, Lsn startLsn, Lsn damagedLsn, uint64_t fileSize) const {
   constexpr size_t window = 1 << 20;
   std::vector<char> bytes(window + sizeof(FrameHeader));
   for (uint64_t offset = headerSize + (damagedLsn - startLsn); offset < fileSize; offset += window) {
      const size_t got = file.readSome(bytes.data(), bytes.size(), offset);
      for (size_t i = 0; i < window && i + sizeof(FrameHeader) <= got; i += 8) {
         FrameHeader header;
         std::memcpy(&header, bytes.data() + i, sizeof header);
         const Lsn lsn = startLsn + (offset - headerSize) + i;
         if (header.magic != frameMagic || header.lsn != lsn || header.logId != logId_) continue;
         if (header.durableLsn <= damagedLsn || !readFrame(file, startLsn, lsn, fileSize)) continue;
         refuse("invalid frame at " + hex(damagedLsn) + " in \"" + file.path() + "\", valid ones follow");
      }
   }
}

void Log::replay(Lsn fromLsn, const std::function<void(Frame&&)>& apply) {
   std::vector<LogFile> files = listFiles();
   Lsn next = fromLsn;
   firstKept_ = fromLsn;
   if (!files.empty()) {
      if (files.front().startLsn > fromLsn) refuse("it begins after the last checkpoint, at " + hex(fromLsn));
      firstKept_ = files.front().startLsn;
   }
   for (size_t i = 0; i < files.size(); ++i) {
      bool isLast = i + 1 == files.size();
      if (!isLast && files[i + 1].startLsn <= fromLsn) continue;
      const io::File file(files[i].path, io::File::Mode::Read);
      const uint64_t size = file.size();
      LogFileHeader header;
      const bool hasHeader = size >= headerSize && (file.readAt(&header, headerSize, 0), true);
      if (!hasHeader || header.magic != fileMagic ||
          header.checksum != XXH3_64bits(&header, offsetof(LogFileHeader, checksum))) {
         if (isLast && next == files[i].startLsn) break; // a crash while the file was being made
         refuse("\"" + files[i].path + "\" has no valid header");
      }
      if (header.logId != logId_ || header.startLsn != files[i].startLsn)
         throw SqlError(sqlstate::dataCorrupted,
                        "write-ahead log file \"" + files[i].path + "\" belongs to another database");
      tail_ = files[i];
      if (files[i].startLsn > next) refuse("frames are missing from " + hex(next));
      while (true) {
         std::optional<Frame> frame = readFrame(file, files[i].startLsn, next, size);
         if (!frame) break;
         next = frame->endLsn;
         apply(std::move(*frame));
      }
      // A rotation that failed may leave a file in whose place the one before went on.
      while (i + 1 < files.size() && files[i + 1].startLsn < next)
         files.erase(files.begin() + static_cast<ptrdiff_t>(i) + 1);
      isLast = i + 1 == files.size();
      if (!isLast) {
         if (next != files[i + 1].startLsn) refuse("invalid frame at " + hex(next) + " in \"" + files[i].path + "\"");
      } else {
         refuseIfDurable(file, files[i].startLsn, next, size);
      }
   }
   end_ = durable_ = next;
}

void Log::start() {
   io::makeDirectories(directory_);
   // What lies behind the end must not be taken for frames later: torn ones, and files whose making failed. One that
   // begins at the end is used again, not removed: it may be all that tells that there is a log.
   for (const LogFile& file : listFiles())
      if (file.startLsn > end_ || (tail_ && file.startLsn > tail_->startLsn)) io::removeFile(file.path);
   if (tail_ && tail_->startLsn < end_) {
      io::File last(tail_->path, io::File::Mode::Write);
      last.truncate(headerSize + (end_ - tail_->startLsn));
      last.syncData();
   }
   const std::lock_guard lock(mutex_);
   openFile(end_);
}

std::string Log::pathOf(Lsn startLsn) const {
   return directory_ + "/" + hex(startLsn) + std::string(fileSuffix);
}

void Log::openFile(Lsn startLsn) {
   // Until it is durable under its name, nothing goes on in it: a full disk must leave the file before as it is.
   io::File file(pathOf(startLsn), io::File::Mode::Write);
   file.truncate(0); // a start or rotation that failed may have left something
   file.allocate(0, reserveMin);
   LogFileHeader header;
   header.magic = fileMagic;
   header.logId = logId_;
   header.startLsn = startLsn;
   header.checksum = XXH3_64bits(&header, offsetof(LogFileHeader, checksum));
   file.writeAt(&header, sizeof header, 0);
   file.syncData();
   io::syncDirectory(directory_);
   file_ = std::move(file);
   allocated_ = reserveMin;
   fileStart_ = startLsn;
}

void Log::reserve(size_t bytes) {
   const std::lock_guard lock(mutex_);
   const uint64_t needed = headerSize + (end_ - fileStart_) + padded(sizeof(FrameHeader) + bytes);
   if (needed <= allocated_) return;
   const uint64_t step = std::max(needed - allocated_, std::clamp(allocated_, reserveMin, reserveMax));
   file_.allocate(allocated_, step);
   allocated_ += step;
}

Lsn Log::append(FrameKind kind, Timestamp timestamp, std::span<const std::string_view> parts) {
   const std::lock_guard lock(mutex_);
   FrameHeader header;
   header.magic = frameMagic;
   header.kind = kind;
   header.lsn = end_;
   header.timestamp = timestamp;
   header.durableLsn = durable_;
   header.logId = logId_;
   for (const std::string_view part : parts)
      header.size += part.size();
   header.checksum = frameChecksum(header, parts);
   const uint64_t size = padded(sizeof header + header.size);
   CHECK(headerSize + (end_ - fileStart_) + size <= allocated_);
   const size_t begin = pending_.size();
   pending_.append(reinterpret_cast<const char*>(&header), sizeof header);
   for (const std::string_view part : parts)
      pending_.append(part);
   pending_.resize(begin + size, '\0');
   end_ += size;
   return end_;
}

Lsn Log::flush() {
   const std::lock_guard flushing(flushMutex_);
   std::string bytes;
   uint64_t offset;
   Lsn target;
   {
      const std::lock_guard lock(mutex_);
      bytes.swap(pending_);
      target = end_;
      offset = headerSize + (end_ - bytes.size() - fileStart_);
      if (bytes.empty()) return durable_;
   }
   try {
      file_.writeAt(bytes.data(), bytes.size(), offset);
      file_.syncData();
   } catch (const SqlError& error) {
      // Space had been reserved: the device fails, and nothing more can be promised to anybody.
      std::fprintf(stderr, "write-ahead log: %s\n", error.what());
      CHECK(!"the write-ahead log could not be written");
   }
   const std::lock_guard lock(mutex_);
   durable_ = target;
   return durable_;
}

Lsn Log::endLsn() const {
   const std::lock_guard lock(mutex_);
   return end_;
}

Lsn Log::durableLsn() const {
   const std::lock_guard lock(mutex_);
   return durable_;
}

Lsn Log::rotate() {
   flush();
   const std::lock_guard flushing(flushMutex_);
   const std::lock_guard lock(mutex_);
   CHECK(pending_.empty());
   if (end_ == fileStart_) return end_; // nothing in this file yet
   try {
      openFile(end_);
   } catch (...) {
      // A start knows that it is not to be read, but it takes space.
      io::FileSystem::current().unlink(pathOf(end_));
      throw;
   }
   return end_;
}

void Log::removeBefore(Lsn lsn) {
   const std::vector<LogFile> files = listFiles();
   for (size_t i = 0; i + 1 < files.size(); ++i)
      if (files[i + 1].startLsn <= lsn) io::removeFile(files[i].path);
   const std::lock_guard lock(mutex_);
   firstKept_ = std::max(firstKept_, lsn);
}

uint64_t Log::keptBytes() const {
   const std::lock_guard lock(mutex_);
   return end_ - firstKept_;
}

} // namespace ouzel::storage
