// The sending side of a connection: slices that the request's pace and the shared lane allow.
#include <algorithm>
#include <unistd.h>

#include "tests/object_server/connection.hpp"

namespace ouzel::object_server {

Connection::Step Connection::sendSome() {
   if (sent_ == size_) {
      if (!transport_.flush()) return Step::Blocked;
      finishRequest();
      return Step::Progress;
   }
   if (resumeAt_ != TimePoint{} && Clock::now() < resumeAt_) {
      wakeAt(resumeAt_);
      return Step::Blocked;
   }
   if (!isWritable_) return Step::Blocked;
   if (faultAt_ == sent_ && fault_.kind != FaultKind::Flip) {
      faultAt_.reset();
      doFault();
      return Step::Blocked;
   }
   const bool isFlip = faultAt_ == sent_;
   const uint64_t limit = faultAt_ && !isFlip ? *faultAt_ : size_;
   size_t want = std::min<uint64_t>(limit - sent_, pace_.slice());
   const bool isBody = sent_ >= headSize_, isSlow = fault_.kind == FaultKind::Slow;
   if (!isBody && !isSlow && (pace_.isLimited() || site_.settings.network.cap > 0))
      want = std::min<uint64_t>(limit, headSize_) - sent_;
   if (pace_.isLimited() && (isBody || isSlow)) {
      const TimePoint time = pace_.timeOf(sent_ + want - (isSlow ? 0 : headSize_));
      if (Clock::now() < time) {
         wakeAt(time);
         return Step::Blocked;
      }
   }
   const bool isCounted = isBody && !isControl_;
   const size_t granted = isFlip ? 1 : isCounted ? site_.outward.take(id(), want) : want;
   if (granted == 0) return Step::Blocked;
   const ptrdiff_t sent = isFlip ? sendFlipped() : sendRange(sent_, granted);
   if (isCounted && !isFlip) site_.outward.giveBack(granted - static_cast<size_t>(std::max<ptrdiff_t>(sent, 0)));
   if (sent == Transport::wouldBlock) {
      isWritable_ = false;
      return Step::Blocked;
   }
   if (sent < 0) {
      close();
      return Step::Blocked;
   }
   const uint64_t before = std::max(sent_, headSize_);
   sent_ += static_cast<uint64_t>(sent);
   if (!isControl_ && sent_ > before) site_.counters.bytesSent += sent_ - before;
   return Step::Progress;
}

/// Sends at most `size` bytes of the message from `position` on.
ptrdiff_t Connection::sendRange(uint64_t position, size_t size) {
   const bool isLast = position + size >= size_;
   if (position < text_.size()) {
      const size_t part = std::min<uint64_t>(size, text_.size() - position);
      return transport_.send(text_.data() + position, part,
                             part == text_.size() - position && !isLast && !pace_.isLimited());
   }
   return transport_.sendFile(response_.file.get(), response_.fileOffset + position - headSize_, size);
}

ptrdiff_t Connection::sendFlipped() {
   char byte = 0;
   if (sent_ < text_.size())
      byte = text_[sent_];
   else if (::pread(response_.file.get(), &byte, 1, static_cast<off_t>(response_.fileOffset + sent_ - headSize_)) != 1)
      return Transport::broken;
   byte = static_cast<char>(byte ^ (1 << fault_.bit));
   const ptrdiff_t sent = transport_.send(&byte, 1, false);
   if (sent == 1) {
      count(fault_.kind);
      faultAt_.reset();
   }
   return sent;
}

} // namespace ouzel::object_server
