#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/sync/mutex.hpp"
#include "io/crypto/aes_gcm.hpp"
#include "io/file/file.hpp"
#include "storage/base/ids.hpp"

// The write-ahead log: a sequence of checksummed frames in numbered files of one directory.
//
// Positions (LSNs) count bytes of frames over the log's whole life. A file "<16 hex digits of its first LSN>.wal" is
//   0    LogFileHeader, 64 bytes
//   64   frames, each a FrameHeader and its payload, padded with zeros to a multiple of 8
// and space reserved ahead reads as zeros, or as frames of lower positions where the file is used again: one file that
// is not needed any more waits as "<16 hex digits>.spare" for that. A frame says how much of the log was durable when
// it was written. So, where a frame is damaged, the rest decides: if a later frame says that this place had been
// durable, the log is corrupted and recovery refuses; else the damage is what a crash leaves of a write, and the log
// ends here.
//
// In an encrypted database (cipher 1) the payload of a frame is sealed with AES-256-GCM and followed by the tag, which
// counts to its size; the checksum is of what is stored, so that the rules above need no key. The key is HKDF-SHA256 of
// the database's key and the file's salt, the nonce the frame's LSN: a place of a file is written once, what is written
// again after a crash goes to another file. The header, checksum 0, is authenticated with it.

namespace ouzel::storage {

using Lsn = uint64_t;

enum class FrameKind : uint32_t { Commit = 1, Counter = 2 };

struct FrameHeader {
   uint32_t magic = 0;      // 0
   FrameKind kind{};        // 4
   Lsn lsn = 0;             // 8   where this frame begins
   uint64_t size = 0;       // 16  of the payload
   Timestamp timestamp = 0; // 24  of the commit
   Lsn durableLsn = 0;      // 32  everything before it was on the device
   uint64_t logId = 0;      // 40
   uint64_t checksum = 0;   // 48  XXH3-64 of this header, checksum 0, and the payload
};
static_assert(sizeof(FrameHeader) == 56);

struct LogFileHeader {
   uint64_t magic = 0;    // 0
   uint32_t version = 3;  // 8
   uint32_t cipher = 0;   // 12  0: none, 1: AES-256-GCM
   uint64_t logId = 0;    // 16
   Lsn startLsn = 0;      // 24
   char salt[16]{};       // 32
   uint64_t keyId = 0;    // 48
   uint64_t checksum = 0; // 56  of the bytes before
};
static_assert(sizeof(LogFileHeader) == 64);

/// Appends frames and makes them durable in groups. append() is called by one thread at a time (the commit lock);
/// flush() by any. A write or sync that fails after space was reserved aborts the process: recovery is the tested path.
class Log {
public:
   struct Frame {
      Lsn lsn, endLsn;
      FrameKind kind;
      Timestamp timestamp;
      std::string_view payload;
      std::shared_ptr<const std::string> buffer; ///< holds the payload
   };

   /// Opens nothing yet: call replay, then start. With a key, all of the log is encrypted with it. `isLasting`: it is
   /// to survive a power cut; else nothing is synced.
   Log(std::string directory, uint64_t logId, std::shared_ptr<const io::EncryptionKey> key = nullptr,
       bool isLasting = true);
   ~Log();

   /// Whether the directory holds any log file.
   static bool exists(const std::string& directory);
   /// Hand out the frames from `fromLsn` on, in order. Throws XX001 when the log is corrupted, belongs to another
   /// database, or begins after `fromLsn`, 22023 when it is encrypted otherwise. Changes nothing on disk.
   void replay(Lsn fromLsn, const std::function<void(Frame&&)>& apply);
   /// Cut off a torn tail and begin a new file at the end of what was replayed (or at `fromLsn` in an empty directory).
   /// `isolates`: a writer that is fenced out may have files open; none that it can write to stays part of the log.
   void start(bool isolates = false);

   /// Reserve device space for `bytes` more. Throws 53100 when there is none.
   void reserve(size_t bytes);
   /// Add a frame to what the next flush writes; returns the LSN after it. REQUIRES: reserved.
   Lsn append(FrameKind kind, Timestamp timestamp, std::span<const std::string_view> parts);
   /// Write and sync everything appended so far; returns the LSN up to which the log is durable.
   Lsn flush();
   Lsn endLsn() const;
   Lsn durableLsn() const;

   /// Flush, then continue in a new file, if this one has at least so many bytes; returns the LSN where the log goes
   /// on. REQUIRES: no append meanwhile.
   Lsn rotate(uint64_t fileBytesMin = 0);
   /// Remove files that hold only frames before `lsn`, but keep one to be used again. Does not throw: what cannot be
   /// removed is tried again next time.
   void removeBefore(Lsn lsn);
   /// Bytes of frames in the files kept.
   uint64_t keptBytes() const;

private:
   struct LogFile {
      Lsn startLsn;
      std::string path;
   };
   std::vector<LogFile> listFiles() const;
   std::string pathOf(Lsn startLsn) const;
   void openFile(Lsn startLsn) REQUIRES(flushMutex_, mutex_);
   class Reader;
   void prepareCipher(Reader& reader, const LogFileHeader& header) const;
   std::optional<Frame> readFrame(Reader& reader, Lsn lsn) const;
   void refuseIfDurable(Reader& reader, Lsn damagedLsn) const;
   uint64_t tagSize() const { return key_ ? io::AesGcm::tagSize : 0; } ///< what a frame has besides
   std::optional<std::string> findSpare() const;
   void isolate() REQUIRES(mutex_);

   const std::string directory_;
   const uint64_t logId_;
   const std::shared_ptr<const io::EncryptionKey> key_; ///< null: not encrypted
   const bool isLasting_;
   std::optional<LogFile> tail_; ///< the last file that replay has read
   Mutex flushMutex_;            ///< one writer at a time; taken before mutex_
   mutable Mutex mutex_;         ///< guards what follows
   io::File file_ GUARDED_BY(mutex_);
   std::unique_ptr<io::AesGcm> cipher_ GUARDED_BY(mutex_); ///< of that file; null: none
   Lsn fileStart_ GUARDED_BY(mutex_) = 0;
   uint64_t allocated_ GUARDED_BY(mutex_) = 0; ///< end of reserved space in the file
   Lsn end_ GUARDED_BY(mutex_) = 0;
   Lsn durable_ GUARDED_BY(mutex_) = 0;
   Lsn firstKept_ GUARDED_BY(mutex_) = 0;
   std::string pending_ GUARDED_BY(mutex_);       ///< frames from LSN end_ - pending_.size() on
   std::string flushing_ GUARDED_BY(flushMutex_); ///< what flush() is writing
};

} // namespace ouzel::storage
