#include "io/s3/s3_reader.hpp"

#include <algorithm>

#include "common/error/sql_error.hpp"
#include "common/sync/mutex.hpp"
#include "io/object_store/read_tally.hpp"
#include "io/object_store/waiting_read.hpp"

namespace ouzel::io {

namespace {

/// Below 8 MiB requests cost more than they bring, above 16 MiB they only take longer (AnyBlob, section 2.4).
constexpr size_t requestSizeMax = 16 << 20;
constexpr size_t alignment = 4096;

/// State shared by the requests of one read; freed by the last of them or by the reader's caller.
struct SharedRead {
   SharedRead(std::function<void(std::exception_ptr)> whenDone, size_t requests)
      : done(std::move(whenDone)), pending(requests) {}

   const std::function<void(std::exception_ptr)> done;
   Mutex mutex;
   size_t pending GUARDED_BY(mutex);
   std::exception_ptr error GUARDED_BY(mutex);

   void finish(std::exception_ptr partError) {
      std::exception_ptr first;
      {
         const MutexLock lock(mutex);
         if (partError && !error) error = std::move(partError);
         if (--pending > 0) return;
         first = std::move(error); // `done` alone keeps it: this may be freed meanwhile
      }
      done(std::move(first));
   }
};

class S3PendingRead final : public PendingRead {
public:
   S3PendingRead(std::shared_ptr<Retriever> retriever, std::vector<Retriever::Id> requests)
      : retriever_(std::move(retriever)), requests_(std::move(requests)) {}
   void cancel() noexcept override {
      for (const Retriever::Id id : requests_)
         retriever_->cancel(id);
   }

private:
   const std::shared_ptr<Retriever> retriever_; ///< shared with the store
   const std::vector<Retriever::Id> requests_;
};

void addUp(const std::shared_ptr<ReadTally>& tally, const S3Answer& answer, size_t size) {
   if (!tally) return;
   tally->requests.fetch_add(answer.requests, std::memory_order_relaxed);
   tally->retries.fetch_add(answer.retries, std::memory_order_relaxed);
   tally->hedges.fetch_add(answer.hedges, std::memory_order_relaxed);
   if (answer.status == 200 || answer.status == 206) tally->bytes.fetch_add(size, std::memory_order_relaxed);
}

/// The error of a read for an answer that the retriever delivered, such as 404; null for an answer with the bytes.
std::exception_ptr problemOf(const S3Answer& answer, const std::string& display) {
   const char* why = nullptr;
   SqlState state = sqlstate::ioError;
   switch (answer.status) {
   case 200:
   case 206: return nullptr;
   case 404:
      why = "it does not exist";
      state = sqlstate::undefinedFile;
      break;
   case 412: why = "it was replaced while it was read"; break;
   case 416: why = "it is shorter than it should be"; break;
   default:
      if (answer.error) return answer.error;
      why = "the store does not say why";
   }
   return std::make_exception_ptr(SqlError(state, "could not read object \"" + display + "\": " + why));
}

} // namespace

std::unique_ptr<PendingRead> S3Reader::readAsync(uint64_t offset, size_t size, void* target,
                                                 std::function<void(std::exception_ptr)> done) const {
   const std::string display = retriever_->location().display(name_);
   if (offset > size_ || size > size_ - offset) {
      done(std::make_exception_ptr(SqlError(sqlstate::ioError, "could not read object \"" + display + "\": it has " +
                                                                   std::to_string(size_) + " bytes, not " +
                                                                   std::to_string(offset + size))));
      return nullptr;
   }
   if (size == 0) {
      done(nullptr);
      return nullptr;
   }
   const size_t count = (size + requestSizeMax - 1) / requestSizeMax;
   const size_t step = ((size + count - 1) / count + alignment - 1) / alignment * alignment;
   const auto shared = std::make_shared<SharedRead>(std::move(done), (size + step - 1) / step);
   std::vector<Retriever::Id> ids;
   for (size_t start = 0; start < size; start += step) {
      S3Request request;
      request.object = name_;
      request.target = static_cast<char*>(target) + start;
      request.offset = offset + start;
      request.targetSize = std::min(step, size - start);
      request.mayHedge = true;
      if (!tag_.empty()) request.headers.emplace_back("if-match", tag_);
      const size_t part = request.targetSize;
      ids.push_back(retriever_->submit(std::move(request),
                                       [shared, display, part, tally = ReadTallyScope::current()](S3Answer&& answer) {
                                          addUp(tally, answer, part);
                                          shared->finish(problemOf(answer, display));
                                       }));
   }
   return std::make_unique<S3PendingRead>(retriever_, std::move(ids));
}

void S3Reader::read(uint64_t offset, size_t size, void* target) const {
   readAndWait(*this, offset, size, target);
}

} // namespace ouzel::io
