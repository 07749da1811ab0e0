#include "io/crypto/encrypted_reader.hpp"

#include <algorithm>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/sync/mutex.hpp"

namespace ouzel::io {

namespace {

/// Plaintext bytes of one read of the inner reader: the size of S3Reader's requests, so that one piece is decrypted
/// while the next is fetched.
constexpr uint64_t pieceSize = ((16 << 20) / (sealedChunkSize + sealedChunkOverhead)) * sealedChunkSize;

/// State of one readAsync(). Its pieces arrive one by one, threads decrypt them, and the thread with the last piece
/// calls `done`. Owned by the callbacks of the inner reads, the tasks of the decrypting threads and the
/// PendingSealedRead.
class SealedRead {
public:
   SealedRead(std::shared_ptr<const ObjectOpener> opener, std::function<void(std::exception_ptr)> done, size_t pieces)
      : opener_(std::move(opener)), done_(std::move(done)), left_(pieces) {}

   /// Decrypts a piece that arrived, or takes its error. The caller frees `sealed` afterwards.
   void finish(const ByteBuffer& sealed, uint64_t offset, size_t size, char* target, std::exception_ptr error) {
      {
         const MutexLock lock(mutex_);
         if (isCancelled_) return;
         ++running_;
      }
      if (!error) {
         try {
            opener_->open(sealed.view(), offset, size, target);
         } catch (...) {
            error = std::current_exception();
         }
      }
      UniqueLock lock(mutex_);
      if (error && !error_) error_ = std::move(error);
      DCHECK(left_ > 0); // finish() is called once for each piece
      if (--left_ == 0 && !isCancelled_) {
         const std::exception_ptr first = error_;
         lock.unlock();
         done_(first);
         lock.lock();
      }
      if (--running_ == 0) idle_.notify_all();
   }

   void beginCancel() {
      const MutexLock lock(mutex_);
      isCancelled_ = true;
   }
   void waitUntilIdle() {
      UniqueLock lock(mutex_);
      idle_.wait(lock, [&]() REQUIRES(mutex_) { return running_ == 0; });
   }

private:
   const std::shared_ptr<const ObjectOpener> opener_;
   const std::function<void(std::exception_ptr)> done_;
   Mutex mutex_; ///< guards the members below
   CondVar idle_;
   size_t left_ GUARDED_BY(mutex_);
   size_t running_ GUARDED_BY(mutex_) = 0; ///< threads between the two locks of finish()
   bool isCancelled_ GUARDED_BY(mutex_) = false;
   std::exception_ptr error_ GUARDED_BY(mutex_);
};

class PendingSealedRead final : public PendingRead {
public:
   PendingSealedRead(std::shared_ptr<SealedRead> read, size_t pieces) : read_(std::move(read)) {
      below_.reserve(pieces);
   }
   /// Called once for each piece, in the thread that starts the read.
   void add(std::unique_ptr<PendingRead> below) {
      DCHECK(below_.size() < below_.capacity());
      below_.push_back(std::move(below));
   }
   void cancel() noexcept override {
      read_->beginCancel();
      for (const auto& pending : below_)
         if (pending) pending->cancel();
      read_->waitUntilIdle();
   }

private:
   const std::shared_ptr<SealedRead> read_;
   std::vector<std::unique_ptr<PendingRead>> below_;
};

} // namespace

bool EncryptedReader::check(uint64_t offset, size_t size) const {
   if (offset > opener_->size() || size > opener_->size() - offset)
      throw SqlError(sqlstate::ioError, "could not read object \"" + opener_->name() + "\": it has " +
                                            std::to_string(opener_->size()) + " bytes, not " +
                                            std::to_string(offset + size));
   return size > 0;
}

void EncryptedReader::read(uint64_t offset, size_t size, void* target) const {
   if (!check(offset, size)) return;
   const SealedRange range = opener_->rangeOf(offset, size);
   const ByteBuffer sealed(range.size);
   stored_->read(range.offset, range.size, sealed.data.get());
   opener_->open(sealed.view(), offset, size, static_cast<char*>(target));
}

void EncryptedReader::prefetch(uint64_t offset, size_t size) const {
   if (offset >= opener_->size() || size == 0) return;
   const SealedRange range = opener_->rangeOf(offset, std::min<uint64_t>(size, opener_->size() - offset));
   stored_->prefetch(range.offset, range.size);
}

std::unique_ptr<PendingRead> EncryptedReader::readAsync(uint64_t offset, size_t size, void* target,
                                                        std::function<void(std::exception_ptr)> done) const {
   if (!threads_) return ObjectReader::readAsync(offset, size, target, std::move(done));
   try {
      if (!check(offset, size)) {
         done(nullptr);
         return nullptr;
      }
   } catch (const SqlError&) {
      done(std::current_exception());
      return nullptr;
   }
   const uint64_t end = offset + size;
   const size_t pieces = (end - 1) / pieceSize - offset / pieceSize + 1;
   const auto read = std::make_shared<SealedRead>(opener_, std::move(done), pieces);
   auto pending = std::make_unique<PendingSealedRead>(read, pieces);
   try {
      for (uint64_t begin = offset; begin < end;) {
         const size_t bytes = std::min(end, (begin / pieceSize + 1) * pieceSize) - begin;
         const SealedRange range = opener_->rangeOf(begin, bytes);
         const auto sealed = std::make_shared<const ByteBuffer>(range.size);
         char* const plain = static_cast<char*>(target) + (begin - offset);
         auto arrived = [read, sealed, begin, bytes, plain, threads = threads_](std::exception_ptr error) {
            threads->submit(
                [read, sealed, begin, bytes, plain, error] { read->finish(*sealed, begin, bytes, plain, error); });
         };
         pending->add(stored_->readAsync(range.offset, range.size, sealed->data.get(), std::move(arrived)));
         begin += bytes;
      }
   } catch (...) { // allocation failed
      pending->cancel();
      throw;
   }
   return pending;
}

} // namespace ouzel::io
