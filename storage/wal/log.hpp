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
#include "storage/base/write_use.hpp"

// The write-ahead log: a sequence of checksummed frames in numbered files of one directory.
//
// Positions (LSNs) count bytes of frames over the log's whole life. A file "<16 hex digits of its first LSN>.wal" is
//   0    LogFileHeader, 64 bytes
//   64   frames, each a FrameHeader and its payload, padded with zeros to a multiple of 8
//   ...  space reserved ahead: zeros, or frames of lower positions when the file is used again
// One file that is not needed any more is kept as "<16 hex digits>.spare" and becomes the next log file.
//
// A frame says how much of the log was durable when the frame was written. This decides what a damaged frame means: if
// a later frame says that the damaged place had been durable, the log is corrupted and recovery refuses. Otherwise a
// crash has cut off a write, and the log ends before the damaged frame.
//
// In an encrypted database (cipher 1) the payload of a frame is sealed with AES-256-GCM and followed by the tag. The
// size of the payload includes the tag. The checksum covers the stored bytes, so that the rules above need no key. The
// file's key is HKDF-SHA256 of the database's key and the file's salt. The nonce is the frame's LSN: a place of a file
// is written once, since a start after a crash continues in another file. The frame's header, with checksum 0, is
// authenticated with the payload.

namespace ouzel::storage {

using Lsn = uint64_t;

enum class FrameKind : uint32_t { Commit = 1, Counter = 2 };

struct FrameHeader {
   uint32_t magic = 0;      // 0
   FrameKind kind{};        // 4
   Lsn lsn = 0;             // 8   where this frame begins
   uint64_t size = 0;       // 16  of the payload, with its tag
   Timestamp timestamp = 0; // 24  of the commit
   Lsn durableLsn = 0;      // 32  the frames before it were on the device
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

/// Appends frames and makes them durable in groups.
///
/// Lifecycle: replay(), then start(); then reserve(), append() and flush() for each frame or group of frames. A
/// checkpoint calls rotate() and, when its manifest is stored, removeBefore().
/// Threads: replay() and start() come first, on one thread. append() is called by one thread at a time, which holds the
/// commit lock; flush() by any thread.
/// Errors: when a write or sync fails although space was reserved, the process aborts. Recovery after that is the
/// tested path.
class Log {
public:
   struct Frame {
      Lsn lsn, endLsn;
      FrameKind kind;
      Timestamp timestamp;
      std::string_view payload;
      std::shared_ptr<const std::string> buffer; ///< owns the bytes of `payload`
   };

   /// Opens no file: call replay(), then start(). With a key, all of the log is encrypted. `isLasting`: the log
   /// survives a power cut; otherwise no file is synced.
   Log(std::string directory, uint64_t logId, std::shared_ptr<const io::EncryptionKey> key = nullptr,
       bool isLasting = true);
   ~Log();

   /// Whether the directory holds any log file.
   static bool exists(const std::string& directory);
   /// Call `apply` with the frames from `fromLsn` on, in order. Throws XX001 when the log is corrupted, belongs to
   /// another database, or begins after `fromLsn`; 0A000 when it has a format that is not read; 22023 when the log is
   /// encrypted and no key was given, the other way round, or with another key. Changes nothing on disk.
   void replay(Lsn fromLsn, const std::function<void(Frame&&)>& apply);
   /// Cut off a torn tail and begin a new file at the end of the replayed frames. `isolates`: a fenced writer may have
   /// files of the log open; replace these files, so that nothing it writes becomes part of the log.
   void start(bool isolates = false);

   /// Reserve device space for a frame with a payload of `bytes`. Throws 53100 when the device is full.
   void reserve(size_t bytes);
   /// Add a frame for the next flush to write; returns the LSN after the frame. REQUIRES: its space is reserved.
   Lsn append(FrameKind kind, Timestamp timestamp, std::span<const std::string_view> parts);
   /// Write and sync everything appended so far; returns the LSN up to which the log is durable.
   Lsn flush();
   Lsn endLsn() const;
   Lsn durableLsn() const;

   /// Flush, then continue in a new file, if the current one has at least `fileBytesMin` bytes of frames; returns the
   /// LSN where the log continues. REQUIRES: no append meanwhile.
   Lsn rotate(uint64_t fileBytesMin = 0);
   /// Remove files that hold only frames before `lsn`, but keep one as the spare. Does not throw: a file that cannot be
   /// removed is tried again next time.
   void removeBefore(Lsn lsn);
   /// Bytes of frames in the files that are kept: those a start would read.
   uint64_t keptBytes() const;
   LogUse use() const;

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
   uint64_t tagSize() const { return key_ ? io::AesGcm::tagSize : 0; } ///< bytes that sealing adds to a payload
   std::optional<std::string> findSpare() const;
   void isolate() REQUIRES(mutex_);

   const std::string directory_;
   const uint64_t logId_;
   const std::shared_ptr<const io::EncryptionKey> key_; ///< null: not encrypted
   const bool isLasting_;
   std::optional<LogFile> tail_; ///< the last file that replay() has read
   Mutex flushMutex_;            ///< one writer at a time; taken before mutex_
   mutable Mutex mutex_;         ///< guards the members below
   io::File file_ GUARDED_BY(mutex_);
   std::unique_ptr<io::AesGcm> cipher_ GUARDED_BY(mutex_); ///< of `file_`; null: not encrypted
   Lsn fileStart_ GUARDED_BY(mutex_) = 0;
   uint64_t allocated_ GUARDED_BY(mutex_) = 0; ///< end of reserved space in the file
   Lsn end_ GUARDED_BY(mutex_) = 0;
   Lsn durable_ GUARDED_BY(mutex_) = 0;
   Lsn firstKept_ GUARDED_BY(mutex_) = 0;
   LogUse use_ GUARDED_BY(mutex_);
   std::string pending_ GUARDED_BY(mutex_);       ///< frames from LSN end_ - pending_.size() on
   std::string flushing_ GUARDED_BY(flushMutex_); ///< frames that flush() is writing
};

} // namespace ouzel::storage
