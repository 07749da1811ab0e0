#include "storage/wal/log.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/env/clock.hpp"
#include "common/env/random.hpp"
#include "common/error/check.hpp"
#include "common/error/format_version.hpp"
#include "common/error/sql_error.hpp"
#include "common/error/test_point.hpp"
#include "common/log/log.hpp"

namespace ouzel::storage {

namespace {

constexpr uint64_t fileMagic = 0x314c41575a554f00ULL; // "\0OUZWAL1"
constexpr uint32_t frameMagic = 0x46575a4f;           // "OZWF"
constexpr std::string_view fileSuffix = ".wal", spareSuffix = ".spare";
constexpr uint64_t headerSize = sizeof(LogFileHeader);
constexpr uint64_t reserveMin = 1 << 20, reserveMax = 64 << 20;

constexpr uint64_t padded(uint64_t size) {
   return (size + 7) / 8 * 8;
}

constexpr uint32_t cipherNone = 0, cipherAesGcm = 1;
constexpr std::string_view purpose = "ouzel log 1";

std::unique_ptr<io::AesGcm> cipherOf(const io::EncryptionKey& key, const LogFileHeader& header) {
   return std::make_unique<io::AesGcm>(key.derive({header.salt, sizeof header.salt}, purpose));
}

/// The bytes of a frame's header that are authenticated. REQUIRES: the checksum is 0.
std::string_view contextOf(const FrameHeader& header) {
   return {reinterpret_cast<const char*>(&header), sizeof header};
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

Log::Log(std::string directory, uint64_t logId, std::shared_ptr<const io::EncryptionKey> key, bool isLasting)
   : directory_(std::move(directory)), logId_(logId), key_(std::move(key)), isLasting_(isLasting) {}
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

/// Reads a log file front to back in large pieces.
class Log::Reader {
public:
   explicit Reader(const LogFile& file)
      : path(file.path), startLsn(file.startLsn), file_(file.path, io::File::Mode::Read), size(file_.size()) {
      file_.prefetch(0, size);
   }

   /// The bytes at `offset`; fewer than asked for only at the end of the file. Valid with buffer().
   std::string_view bytes(uint64_t offset, uint64_t count) {
      if (offset >= size) return {};
      count = std::min(count, size - offset);
      if (!buffer_ || offset < offset_ || offset + count > offset_ + buffer_->size()) {
         auto buffer = std::make_shared<std::string>();
         buffer->resize(std::min(std::max(count, pieceSize), size - offset));
         file_.readAt(buffer->data(), buffer->size(), offset);
         buffer_ = std::move(buffer);
         offset_ = offset;
      }
      return std::string_view(*buffer_).substr(offset - offset_, count);
   }
   const std::shared_ptr<const std::string>& buffer() const { return buffer_; }

   const std::string& path;
   const Lsn startLsn;
   std::unique_ptr<io::AesGcm> cipher; ///< null: the file is not encrypted

private:
   static constexpr uint64_t pieceSize = 4 << 20;
   io::File file_;

public:
   const uint64_t size;

private:
   uint64_t offset_ = 0;
   std::shared_ptr<const std::string> buffer_;
};

std::optional<Log::Frame> Log::readFrame(Reader& reader, Lsn lsn) const {
   const uint64_t offset = headerSize + (lsn - reader.startLsn);
   FrameHeader header;
   const std::string_view bytes = reader.bytes(offset, sizeof header);
   if (bytes.size() < sizeof header) return std::nullopt;
   std::memcpy(&header, bytes.data(), sizeof header);
   if (header.magic != frameMagic || header.lsn != lsn || header.logId != logId_) return std::nullopt;
   if (header.size > reader.size - offset - sizeof header) return std::nullopt;
   const std::string_view payload = reader.bytes(offset, sizeof header + header.size).substr(sizeof header);
   if (frameChecksum(header, std::span(&payload, 1)) != header.checksum) return std::nullopt;
   Frame frame{lsn, lsn + padded(sizeof header + header.size), header.kind, header.timestamp, payload, reader.buffer()};
   if (reader.cipher) {
      const size_t size = std::max(header.size, io::AesGcm::tagSize) - io::AesGcm::tagSize;
      header.checksum = 0;
      auto plain = std::make_shared<std::string>(size, '\0');
      if (header.size < io::AesGcm::tagSize ||
          !reader.cipher->open(lsn, contextOf(header), payload.substr(0, size), payload.data() + size, plain->data()))
         refuse("frame at " + hex(lsn) + " in \"" + reader.path + "\" does not decrypt");
      frame.payload = *plain;
      frame.buffer = std::move(plain);
   }
   return frame;
}

void Log::prepareCipher(Reader& reader, const LogFileHeader& header) const {
   const auto refuseKey = [&](const char* why, const char* hint) {
      throw SqlError(sqlstate::invalidParameterValue, "write-ahead log file \"" + reader.path + "\" is " + why)
          .hint(hint);
   };
   if (header.cipher == cipherNone) {
      if (key_)
         refuseKey("not encrypted, but a key was given", "It is not of this database, or somebody has put it there.");
      return;
   }
   if (!key_) refuseKey("encrypted, and no key was given", "It is not of this database, which is not encrypted.");
   if (header.keyId != key_->id()) refuseKey("encrypted with another key", "It is not of this database.");
   reader.cipher = cipherOf(*key_, header);
}

// The frame at `damagedLsn` is not valid. Throws when a later frame proves that this place was durable once.
void Log::refuseIfDurable(Reader& reader, Lsn damagedLsn) const {
   constexpr size_t window = 1 << 20;
   for (uint64_t offset = headerSize + (damagedLsn - reader.startLsn); offset < reader.size; offset += window) {
      // A copy: readFrame() moves the reader to other pieces.
      const std::string bytes(reader.bytes(offset, window + sizeof(FrameHeader)));
      for (size_t i = 0; i < window && i + sizeof(FrameHeader) <= bytes.size(); i += 8) {
         FrameHeader header;
         std::memcpy(&header, bytes.data() + i, sizeof header);
         const Lsn lsn = reader.startLsn + (offset - headerSize) + i;
         if (header.magic != frameMagic || header.lsn != lsn || header.logId != logId_) continue;
         if (header.durableLsn <= damagedLsn || !readFrame(reader, lsn)) continue;
         refuse("invalid frame at " + hex(damagedLsn) + " in \"" + reader.path + "\", valid ones follow");
      }
   }
}

void Log::replay(Lsn fromLsn, const std::function<void(Frame&&)>& apply) {
   std::vector<LogFile> files = listFiles();
   Lsn next = fromLsn;
   mutex_.assertHeld(); // no other thread uses the log before start()
   firstKept_ = fromLsn;
   if (!files.empty()) {
      if (files.front().startLsn > fromLsn) refuse("it begins after the last checkpoint, at " + hex(fromLsn));
      firstKept_ = files.front().startLsn;
   }
   for (size_t i = 0; i < files.size(); ++i) {
      bool isLast = i + 1 == files.size();
      if (!isLast && files[i + 1].startLsn <= fromLsn) continue;
      Reader reader(files[i]);
      LogFileHeader header;
      const std::string_view start = reader.bytes(0, headerSize);
      const bool hasHeader = start.size() == headerSize;
      if (hasHeader) std::memcpy(&header, start.data(), headerSize);
      if (!hasHeader || header.magic != fileMagic ||
          header.checksum != XXH3_64bits(&header, offsetof(LogFileHeader, checksum))) {
         // A crash left the file unfinished: its header is durable before any frame is written behind it.
         if (isLast && next == files[i].startLsn && !readFrame(reader, next)) break;
         refuse("\"" + files[i].path + "\" has no valid header");
      }
      if (header.version != LogFileHeader{}.version)
         throwUnknownFormat("Write-ahead log file \"" + files[i].path + "\"", header.version, LogFileHeader{}.version);
      if (header.cipher > cipherAesGcm) refuse("\"" + files[i].path + "\" has a cipher that is not known");
      if (header.logId != logId_ || header.startLsn != files[i].startLsn)
         throw SqlError(sqlstate::dataCorrupted,
                        "write-ahead log file \"" + files[i].path + "\" belongs to another database")
             .hint("Name the directory of this database's own log with --wal, or an empty one after a clean shutdown.");
      prepareCipher(reader, header);
      tail_ = files[i];
      if (files[i].startLsn > next) refuse("frames are missing from " + hex(next));
      while (true) {
         std::optional<Frame> frame = readFrame(reader, next);
         if (!frame) break;
         next = frame->endLsn;
         apply(std::move(*frame));
      }
      // A rotation that failed may leave a file that begins where the file before it continued. Its position is below
      // `next`.
      while (i + 1 < files.size() && files[i + 1].startLsn < next)
         files.erase(files.begin() + static_cast<ptrdiff_t>(i) + 1);
      isLast = i + 1 == files.size();
      if (!isLast) {
         if (next != files[i + 1].startLsn) refuse("invalid frame at " + hex(next) + " in \"" + files[i].path + "\"");
      } else {
         refuseIfDurable(reader, next);
      }
   }
   end_ = durable_ = next;
}

void Log::start(bool isolates) {
   const MutexLock flushing(flushMutex_);
   const MutexLock lock(mutex_);
   io::makeDirectories(directory_);
   // Bytes behind the end must not be taken for frames later: torn frames, and files of failed rotations. A file that
   // begins at the end is used again, not removed: it may be the only sign that there is a log.
   for (const LogFile& file : listFiles())
      if (file.startLsn > end_ || (tail_ && file.startLsn > tail_->startLsn)) io::removeFile(file.path);
   if (isolates) isolate();
   if (tail_ && tail_->startLsn < end_) {
      io::File last(tail_->path, io::File::Mode::Write);
      TEST_POINT("log.truncate");
      last.truncate(headerSize + (end_ - tail_->startLsn));
      last.syncData();
   }
   openFile(end_);
}

/// Replace the file that ends the log by a copy, and any spare by a new empty file, which openFile() takes next. A
/// fenced writer that has the old files open then writes to no file of the log.
void Log::isolate() {
   for (const io::DirectoryEntry& entry : io::listDirectory(directory_))
      if (entry.name.ends_with(spareSuffix)) io::removeFile(directory_ + "/" + entry.name);
   if (tail_ && tail_->startLsn < end_) {
      const std::string path = directory_ + "/isolated";
      {
         const io::File source(tail_->path, io::File::Mode::Read);
         io::File target(path, io::File::Mode::Write);
         target.truncate(0);
         std::string piece(4 << 20, '\0');
         const uint64_t size = headerSize + (end_ - tail_->startLsn);
         for (uint64_t offset = 0; offset < size; offset += piece.size()) {
            const size_t count = std::min<uint64_t>(piece.size(), size - offset);
            source.readAt(piece.data(), count, offset);
            target.writeAt(piece.data(), count, offset);
         }
         target.syncData();
      }
      io::renameFile(path, tail_->path);
   }
   { const io::File made(directory_ + "/" + hex(end_) + std::string(spareSuffix), io::File::Mode::CreateNew); }
   io::syncDirectory(directory_);
}

std::string Log::pathOf(Lsn startLsn) const {
   return directory_ + "/" + hex(startLsn) + std::string(fileSuffix);
}

void Log::openFile(Lsn startLsn) {
   // The log continues in the new file only when that is durable under its name: a full disk must leave the file before
   // unchanged.
   const std::string path = pathOf(startLsn);
   if (const int error = TEST_POINT("log.open")) io::throwIoError("could not open file", path, error);
   const std::optional<std::string> spare = findSpare();
   io::File file(spare ? *spare : path, io::File::Mode::Write);
   if (!spare) file.truncate(0); // a start or rotation that failed may have left bytes
   const uint64_t reserved = std::max(file.size(), reserveMin);
   file.allocate(0, reserved);
   LogFileHeader header;
   header.magic = fileMagic;
   header.logId = logId_;
   header.startLsn = startLsn;
   std::unique_ptr<io::AesGcm> cipher;
   if (key_) {
      header.cipher = cipherAesGcm;
      header.keyId = key_->id();
      fillRandom(header.salt, sizeof header.salt);
      cipher = cipherOf(*key_, header);
   }
   header.checksum = XXH3_64bits(&header, offsetof(LogFileHeader, checksum));
   file.writeAt(&header, sizeof header, 0);
   if (isLasting_) file.syncData();
   if (spare) {
      io::renameFile(*spare, path);
      file = io::File(path, io::File::Mode::Write); // so that messages show the new name
   }
   TEST_POINT("log.named");
   if (isLasting_) io::syncDirectory(directory_);
   TEST_POINT("log.opened");
   file_ = std::move(file);
   cipher_ = std::move(cipher);
   allocated_ = reserved;
   fileStart_ = startLsn;
}

void Log::reserve(size_t bytes) {
   if (const int error = TEST_POINT("log.reserve")) io::throwIoError("could not extend file", directory_, error);
   const MutexLock lock(mutex_);
   const uint64_t needed = headerSize + (end_ - fileStart_) + padded(sizeof(FrameHeader) + bytes + tagSize());
   if (needed <= allocated_) return;
   const uint64_t step = std::max(needed - allocated_, std::clamp(allocated_, reserveMin, reserveMax));
   try {
      file_.allocate(allocated_, step);
   } catch (const SqlError&) {
      // The disk is full: the space of the spare file may suffice.
      const std::optional<std::string> spare = findSpare();
      if (!spare) throw;
      io::removeFile(*spare);
      file_.allocate(allocated_, step);
   }
   allocated_ += step;
}

Lsn Log::append(FrameKind kind, Timestamp timestamp, std::span<const std::string_view> parts) {
   const MutexLock lock(mutex_);
   FrameHeader header;
   header.magic = frameMagic;
   header.kind = kind;
   header.lsn = end_;
   header.timestamp = timestamp;
   header.durableLsn = durable_;
   header.logId = logId_;
   for (const std::string_view part : parts)
      header.size += part.size();
   header.size += tagSize();
   const uint64_t size = padded(sizeof header + header.size);
   CHECK(headerSize + (end_ - fileStart_) + size <= allocated_);
   const size_t begin = pending_.size();
   if (cipher_) {
      pending_.resize(begin + size, '\0');
      char* const payload = pending_.data() + begin + sizeof header;
      cipher_->seal(header.lsn, contextOf(header), parts, payload, payload + header.size - tagSize());
      const std::string_view sealed(payload, header.size);
      header.checksum = frameChecksum(header, std::span(&sealed, 1));
      std::memcpy(pending_.data() + begin, &header, sizeof header);
   } else {
      header.checksum = frameChecksum(header, parts);
      pending_.append(reinterpret_cast<const char*>(&header), sizeof header);
      for (const std::string_view part : parts)
         pending_.append(part);
      pending_.resize(begin + size, '\0');
   }
   end_ += size;
   ++use_.frames;
   use_.bytes += size;
   return end_;
}

Lsn Log::flush() {
   const MutexLock flushing(flushMutex_);
   uint64_t offset;
   Lsn target;
   io::File* file;
   {
      const MutexLock lock(mutex_);
      if (pending_.empty()) return durable_;
      constexpr size_t keptMax = 1 << 20; // the two buffers change places; a larger one is freed
      if (flushing_.capacity() > keptMax) flushing_ = {};
      flushing_.clear();
      flushing_.swap(pending_);
      target = end_;
      offset = headerSize + (end_ - flushing_.size() - fileStart_);
      file = &file_; // replaced under flushMutex_ only
   }
   const int64_t start = steadyNanos();
   int64_t written = start;
   try {
      if (const int error = TEST_POINT("log.write")) io::throwIoError("could not write file", file->path(), error);
      file->writeAt(flushing_.data(), flushing_.size(), offset);
      written = steadyNanos();
      if (const int error = TEST_POINT("log.sync")) io::throwIoError("could not fsync file", file->path(), error);
      if (isLasting_) file->syncData();
      TEST_POINT("log.synced");
   } catch (const SqlError& error) {
      // Space was reserved, so the device has failed: no further commit can be made durable, and what the kernel has
      // of the failed write is unknown.
      logPanic(
          error.what(),
          "The write-ahead log could not be written. The server stops, so that no commit is acknowledged that would "
          "be lost; whether the commits that waited are kept, the next start will show.",
          "Check the device and the free space of \"" + directory_ +
              "\", then start the server again: it recovers from the log.");
   }
   const int64_t synced = steadyNanos();
   const MutexLock lock(mutex_);
   ++use_.writes;
   use_.syncs += isLasting_ ? 1 : 0;
   use_.writeNanos += written - start;
   use_.syncNanos += synced - written;
   durable_ = target;
   return durable_;
}

LogUse Log::use() const {
   const MutexLock lock(mutex_);
   return use_;
}

Lsn Log::endLsn() const {
   const MutexLock lock(mutex_);
   return end_;
}

Lsn Log::durableLsn() const {
   const MutexLock lock(mutex_);
   return durable_;
}

Lsn Log::rotate(uint64_t fileBytesMin) {
   flush();
   const MutexLock flushing(flushMutex_);
   const MutexLock lock(mutex_);
   CHECK(pending_.empty());
   if (end_ == fileStart_ || end_ - fileStart_ < fileBytesMin) return end_;
   try {
      openFile(end_);
   } catch (...) {
      // The next start would skip the new file, but the file takes space.
      io::FileSystem::current().unlink(pathOf(end_));
      throw;
   }
   return end_;
}

void Log::removeBefore(Lsn lsn) {
   try {
      if (const int error = TEST_POINT("log.remove")) io::throwIoError("could not remove file", directory_, error);
      const std::vector<LogFile> files = listFiles();
      bool hasSpare = findSpare().has_value();
      for (size_t i = files.size(); i-- > 0;) {
         if (i + 1 >= files.size() || files[i + 1].startLsn > lsn) continue;
         if (hasSpare) {
            io::removeFile(files[i].path);
         } else {
            io::renameFile(files[i].path, directory_ + "/" + hex(files[i].startLsn) + std::string(spareSuffix));
            hasSpare = true;
         }
      }
   } catch (const SqlError& error) {
      logLine(LogLevel::Warning, std::string("write-ahead log: ") + error.what());
   }
   const MutexLock lock(mutex_);
   firstKept_ = std::max(firstKept_, lsn);
}

std::optional<std::string> Log::findSpare() const {
   for (const io::DirectoryEntry& entry : io::listDirectory(directory_))
      if (entry.name.ends_with(spareSuffix)) return directory_ + "/" + entry.name;
   return std::nullopt;
}

uint64_t Log::keptBytes() const {
   const MutexLock lock(mutex_);
   return end_ - firstKept_;
}

} // namespace ouzel::storage
