#include "tests/object_server/connection.hpp"

#include <algorithm>
#include <array>
#include <sys/epoll.h>

#include "tests/object_server/s3_error.hpp"

namespace ouzel::object_server {

namespace {

Clock::duration ofMs(double ms) {
   return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::milli>(ms));
}

HttpResponse faultResponse(FaultKind kind, const HttpRequest& request) {
   const S3Error error =
       kind == FaultKind::Error500 ? S3Error(500, "InternalError", "We encountered an internal error.")
       : kind == FaultKind::Conflict
           ? S3Error(409, "ConditionalRequestConflict", "A conflict occurred.")
           : S3Error(kind == FaultKind::Error503 ? 503 : 429, "SlowDown", "Please reduce your request rate.");
   return errorResponse(error, request.path);
}

} // namespace

Connection::Connection(Site& site, Descriptor socket, SSL_CTX* tls) : site_(site), transport_(std::move(socket), tls) {
   ++site_.counters.connections;
   ++site_.counters.connectionsOpen;
}

Connection::~Connection() {
   endRequest();
   --site_.counters.connectionsOpen;
}

void Connection::onReady(uint32_t events) {
   if (events & (EPOLLIN | EPOLLRDHUP)) isReadable_ = true;
   if (events & EPOLLOUT) isWritable_ = true;
   // The client does not wait for the answer any more.
   const bool isAnswer = state_ != State::Head && state_ != State::Body;
   if ((events & (EPOLLERR | EPOLLHUP)) || (isAnswer && (events & EPOLLRDHUP))) return close();
   run();
}

void Connection::run() {
   // Most steps of one connection before the others' turn.
   for (int steps = 0; steps < 8; ++steps) {
      Step step = Step::Blocked;
      switch (state_) {
      case State::Head: step = takeHead(); break;
      case State::Body: step = takeBody(); break;
      case State::Delayed: step = waitForDelay(); break;
      case State::Sending: step = sendSome(); break;
      case State::Answering:
      case State::Closed: break;
      }
      if (step == Step::Blocked) return;
   }
   site_.loop.wakeSoon(id());
}

void Connection::wakeAt(TimePoint time) {
   if (armedFor_ == time) return;
   armedFor_ = time;
   site_.loop.wakeAt(time, id());
}

Connection::Step Connection::takeHead() {
   const size_t size = parseHead(input_, request_);
   if (size == headMalformed) {
      close();
      return Step::Blocked;
   }
   if (size != headIncomplete) {
      input_.erase(0, size);
      beginRequest();
      return Step::Progress;
   }
   if (!isReadable_) return Step::Blocked;
   char buffer[16 << 10];
   const ptrdiff_t got = transport_.receive(buffer, sizeof buffer);
   if (got == Transport::wouldBlock) {
      isReadable_ = false;
      return Step::Blocked;
   }
   if (got <= 0) {
      close();
      return Step::Blocked;
   }
   input_.append(buffer, static_cast<size_t>(got));
   return Step::Progress;
}

void Connection::beginRequest() {
   ++number_;
   isServing_ = true;
   isControl_ = site_.isControl(request_);
   begunAt_ = Clock::now();
   received_ = 0;
   fault_ = {};
   faultAt_.reset();
   decoder_.reset();
   exchange_.reset();
   if (request_.isChunked) decoder_.emplace();
   state_ = State::Body;
   if (isControl_) {
      exchange_ = site_.control.begin(request_);
      pace_.start(begunAt_, 0);
   } else {
      Counters& counters = site_.counters;
      counters.outstandingMax = std::max(counters.outstandingMax, ++counters.outstanding);
      fault_ = site_.faults.draw(site_.settings.faults, request_);
      if (fault_.kind == FaultKind::ResetBefore) {
         count(fault_.kind);
         return reset();
      }
      if (!fault_.isError()) exchange_ = site_.service.begin(request_);
      if (fault_.isInBody() && request_.contentLength > 0)
         faultAt_ = static_cast<uint64_t>(fault_.fraction * static_cast<double>(request_.contentLength));
      pace_.start(begunAt_, Pace::rateOf(site_.settings.network));
   }
   static constexpr std::string_view goOn = "HTTP/1.1 100 Continue\r\n\r\n";
   if (request_.expectsContinue && input_.empty() && transport_.send(goOn.data(), goOn.size(), false) < 0) close();
}

Connection::Step Connection::takeBody() {
   const bool isComplete = decoder_ ? decoder_->isComplete() : received_ == request_.contentLength;
   if (isComplete) {
      finishBody();
      return Step::Progress;
   }
   if (Clock::now() < resumeAt_) {
      wakeAt(resumeAt_);
      return Step::Blocked;
   }
   if (input_.empty()) return receiveBody();
   size_t size = input_.size();
   if (!decoder_) size = std::min<uint64_t>(size, request_.contentLength - received_);
   std::string bytes = input_.substr(0, size);
   input_.erase(0, size);
   return acceptBody(bytes.data(), size) ? Step::Progress : Step::Blocked;
}

Connection::Step Connection::receiveBody() {
   static std::array<char, 256 << 10> buffer; // the server has one thread
   if (!isReadable_) return Step::Blocked;
   size_t want = std::min(buffer.size(), pace_.slice());
   if (!decoder_) want = std::min<uint64_t>(want, request_.contentLength - received_);
   if (const TimePoint time = pace_.timeOf(received_ + want); pace_.isLimited() && Clock::now() < time) {
      wakeAt(time);
      return Step::Blocked;
   }
   const size_t granted = isControl_ ? want : site_.inward.take(id(), want);
   if (granted == 0) return Step::Blocked;
   const ptrdiff_t got = transport_.receive(buffer.data(), granted);
   if (!isControl_) site_.inward.giveBack(granted - static_cast<size_t>(std::max<ptrdiff_t>(got, 0)));
   if (got == Transport::wouldBlock) {
      isReadable_ = false;
      return Step::Blocked;
   }
   if (got <= 0) {
      close();
      return Step::Blocked;
   }
   return acceptBody(buffer.data(), static_cast<size_t>(got)) ? Step::Progress : Step::Blocked;
}

/// Passes received bytes of the body to the exchange. False: the connection is closed or must wait.
bool Connection::acceptBody(char* bytes, size_t size) {
   if (faultAt_ && *faultAt_ < received_ + size) {
      const size_t before = *faultAt_ - received_;
      if (fault_.kind == FaultKind::Flip) {
         count(fault_.kind);
         bytes[before] = static_cast<char>(bytes[before] ^ (1 << fault_.bit));
         faultAt_.reset();
      } else {
         faultAt_.reset();
         input_.insert(0, bytes + before, size - before);
         if (before > 0 && !acceptBody(bytes, before)) return false;
         return doFault();
      }
   }
   size_t used = size;
   const auto sink = [this](std::string_view part) {
      if (exchange_) exchange_->consume(part);
   };
   if (decoder_) {
      used = decoder_->feed({bytes, size}, sink);
      input_.insert(0, bytes + used, size - used);
      if (decoder_->isMalformed()) {
         close();
         return false;
      }
   } else {
      sink({bytes, size});
   }
   received_ += used;
   site_.counters.bytesReceived += used;
   return true;
}

void Connection::finishBody() {
   state_ = State::Answering;
   if (!exchange_) return respond(number_, faultResponse(fault_.kind, request_));
   isFinishing_ = true;
   exchange_->finish([&site = site_, connection = id(), number = number_](HttpResponse response) {
      if (auto* found = dynamic_cast<Connection*>(site.loop.find(connection)))
         found->respond(number, std::move(response));
   });
   isFinishing_ = false;
}

void Connection::respond(uint64_t number, HttpResponse response) {
   if (number != number_ || state_ != State::Answering) return;
   if (fault_.isError()) count(fault_.kind);
   if (fault_.kind == FaultKind::ResetAfter) {
      count(fault_.kind);
      site_.loop.wakeSoon(id()); // the answer may come outside of an event of this connection
      return reset();
   }
   response_ = std::move(response);
   if (!isControl_) {
      char requestId[32];
      std::snprintf(requestId, sizeof requestId, "%08llX%08llX", static_cast<unsigned long long>(id()),
                    static_cast<unsigned long long>(number_));
      response_.headers.emplace_back("x-amz-request-id", requestId);
   }
   response_.isHeadOnly |= request_.method == "HEAD";
   text_ = response_.head(request_.keepsAlive);
   headSize_ = text_.size();
   size_ = headSize_ + response_.sentSize();
   if (!response_.file && !response_.isHeadOnly) text_ += response_.body;
   sent_ = 0;
   const bool hasBody = size_ > headSize_;
   if (fault_.isInBody() && request_.contentLength == 0 && (hasBody || fault_.kind != FaultKind::Flip)) {
      const uint64_t begin = hasBody ? headSize_ : 0;
      faultAt_ = begin + static_cast<uint64_t>(fault_.fraction * static_cast<double>(size_ - begin));
   }
   const Settings& settings = site_.settings;
   double delayMs = isControl_ ? 0 : settings.network.latencyMs;
   if (fault_.kind == FaultKind::StallHeader) {
      count(fault_.kind);
      delayMs += settings.faults.stallMs;
   }
   resumeAt_ = delayMs > 0 ? Clock::now() + ofMs(delayMs) : TimePoint{};
   state_ = State::Delayed;
   if (!isFinishing_) site_.loop.wakeSoon(id());
}

Connection::Step Connection::waitForDelay() {
   const TimePoint now = resumeAt_ == TimePoint{} ? TimePoint{} : Clock::now();
   if (now < resumeAt_) {
      wakeAt(resumeAt_);
      return Step::Blocked;
   }
   const FaultSettings& faults = site_.settings.faults;
   if (fault_.kind == FaultKind::Slow) count(fault_.kind);
   const double rate = fault_.kind == FaultKind::Slow ? faults.slowRate : Pace::rateOf(site_.settings.network);
   pace_.start(Clock::now(), isControl_ ? 0 : rate);
   state_ = State::Sending;
   return Step::Progress;
}

/// The fault at `faultAt_`, except flipped bits.
bool Connection::doFault() {
   count(fault_.kind);
   if (fault_.kind == FaultKind::ResetBody) {
      reset();
      return false;
   }
   if (fault_.kind == FaultKind::Truncate) {
      close();
      return false;
   }
   resumeAt_ = Clock::now() + ofMs(site_.settings.faults.stallMs);
   wakeAt(resumeAt_);
   return false;
}

void Connection::finishRequest() {
   if (site_.log && !isControl_) {
      const double ms = std::chrono::duration<double, std::milli>(Clock::now() - begunAt_).count();
      std::fprintf(site_.log, "%s %s %s %d %s %llu %s %.1f\n", request_.method.c_str(), request_.target.c_str(),
                   request_.headerOr("range").c_str(), response_.status, response_.code.c_str(),
                   static_cast<unsigned long long>(size_ - headSize_), name(fault_.kind), ms);
      std::fflush(site_.log);
   }
   const bool goesOn = request_.keepsAlive;
   endRequest();
   state_ = State::Head;
   if (!goesOn) close();
}

/// Ends the request, after success or failure.
void Connection::endRequest() {
   if (!isServing_) return;
   isServing_ = false;
   if (!isControl_) {
      Counters& counters = site_.counters;
      --counters.outstanding;
      ++counters.requests[exchange_ ? exchange_->kind() : "Refused"];
      if (response_.status != 0 && size_ > 0 && sent_ == size_) ++counters.statuses[response_.status];
   }
   exchange_.reset();
   response_ = {};
   response_.status = 0;
   text_.clear();
   size_ = sent_ = headSize_ = 0;
}

void Connection::close() {
   state_ = State::Closed;
}

void Connection::reset() {
   transport_.reset();
   state_ = State::Closed;
}

} // namespace ouzel::object_server
