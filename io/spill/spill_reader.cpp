#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "common/env/clock.hpp"
#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/error/test_point.hpp"
#include "common/thread/interruption.hpp"
#include "io/spill/read_lane.hpp"
#include "io/spill/spill.hpp"

// The reading side: pages are read in the order of add(), as many at once as `aheadBytes` allows.

namespace ouzel::io {

ReadLane::Buffer ReadLane::take(size_t bytes) {
   for (Buffer& buffer : buffers_)
      if (buffer.capacity >= bytes) {
         std::swap(buffer, buffers_.back());
         Buffer taken = std::move(buffers_.back());
         buffers_.pop_back();
         DCHECK(keptBytes_ >= taken.capacity);
         keptBytes_ -= taken.capacity;
         return taken;
      }
   // Capacities are rounded up, so that pages of similar sizes can reuse buffers.
   const size_t capacity = (bytes + 65535) / 65536 * 65536;
   return {allocateAligned(capacity), capacity};
}

void ReadLane::give(Buffer buffer) {
   if (!buffer.bytes || keptBytes_ + buffer.capacity > keptBytesMax) return;
   keptBytes_ += buffer.capacity;
   buffers_.push_back(std::move(buffer));
}

/// A page in `pages`: first waiting, then being read, then arrived.
struct SpillReader::State {
   struct Page {
      SpilledPage page;
      bool isLastUse;
      SpillLocator locator;
      ReadLane::Buffer buffer;
      size_t read = 0;
      bool isInFlight = false;
      int error = 0;
      int64_t due = 0;      ///< steadyNanos() at which the throttle lets the read end
      int64_t begun = 0;    ///< steadyNanos()
      uint64_t atBegin = 0; ///< Flow::begin() at `begun`
   };

   SpillSpace::State& space;
   const size_t aheadBytes;
   std::unique_ptr<ReadLane> lane;
   std::deque<Page> pages;   ///< in the order of next(); addresses stay while they are inside
   uint64_t firstNumber = 0; ///< number of the front page; a page's userData is its number
   size_t started = 0;       ///< pages, from the front, whose reads have started
   size_t startedBytes = 0;
   int64_t lastPage = 0; ///< steadyNanos() at the end of next(); 0: none yet
   uint32_t lastBytes = 0;

   void start(Page& page, uint64_t number);
   void refill();
   void prepare(Page& page, uint64_t number);
   SpillChannel& channel(uint32_t device);
   void reap(uint32_t device);
   void noteWork(int64_t nanos);
};

SpillChannel& SpillReader::State::channel(uint32_t device) {
   auto& channel = lane->channels[device];
   if (!channel) channel = space.manager.devices[device]->makeChannel(ReadLane::depth);
   return *channel;
}

void SpillReader::State::prepare(Page& page, uint64_t number) {
   const SpillExtent extent = page.locator.extent;
   CHECK(extent.size <= page.buffer.capacity); // the request writes to the buffer
   page.isInFlight = true;
   channel(page.locator.device)
       .read(space.file(page.locator.device), {extent.offset + page.read, extent.size - page.read},
             page.buffer.bytes.get() + page.read, number);
}

void SpillReader::State::start(Page& page, uint64_t number) {
   if (page.locator.extent.size == 0) return;
   // The page may still be in a staging area.
   space.awaitWrites(page.locator.device, page.locator.extent);
   page.buffer = lane->take(page.locator.extent.size);
   page.due = space.readDue(page.locator.device, page.locator.extent.size);
   page.begun = steadyNanos();
   page.atBegin = space.reads(page.locator.device).begin();
   prepare(page, number);
}

/// One round: asks for as many pages as may be ahead.
void SpillReader::State::refill() {
   uint64_t prepared = 0; // a bit for each device
   while (started < pages.size()) {
      Page& page = pages[started];
      if (page.locator.extent.size > 0 && !channel(page.locator.device).hasRoom()) break;
      if (started > 0 && startedBytes + page.locator.extent.size > aheadBytes) break;
      start(page, firstNumber + started);
      ++started;
      startedBytes += page.locator.extent.size;
      if (page.locator.extent.size > 0) prepared |= uint64_t{1} << page.locator.device;
   }
   for (uint32_t device = 0; prepared != 0; ++device, prepared >>= 1) {
      if ((prepared & 1) == 0) continue;
      channel(device).submit();
      space.manager.devices[device]->countReadRound();
   }
}

void SpillReader::State::reap(uint32_t device) {
   std::array<RingCompletion, ReadLane::depth> completions;
   const size_t count = channel(device).reap(completions, true);
   for (const RingCompletion& completion : std::span(completions).first(count)) {
      DCHECK(completion.userData >= firstNumber);
      DCHECK(completion.userData - firstNumber < started);
      Page& page = pages[completion.userData - firstNumber];
      page.isInFlight = false;
      const int error = completion.result < 0 ? -completion.result : TEST_POINT("spill.read");
      if (error == 0)
         page.read += static_cast<size_t>(completion.result);
      else if (error != EINTR && error != EAGAIN)
         page.error = error;
      // A read at the end of the file: the file is damaged.
      if (error == 0 && completion.result == 0) page.error = EIO;
      if (page.error == 0 && page.read < page.locator.extent.size) prepare(page, completion.userData);
   }
}

/// Updates the operator's time per raw byte between two pages, for the regulators.
void SpillReader::State::noteWork(int64_t nanos) {
   constexpr int64_t pauseNanos = 100'000'000;
   if (lastBytes == 0 || nanos > pauseNanos) return;
   const double sample = static_cast<double>(nanos) / lastBytes;
   auto& work = space.manager.readWork;
   const double before = work.load(std::memory_order_relaxed);
   work.store(before < 0 ? sample : before + (sample - before) / 64, std::memory_order_relaxed);
}

SpillReader::SpillReader(SpillSpace& space, size_t aheadBytes)
   : state_(new State{*space.state_,
                      space.state_->policy.aheadBytes >= 0 ? static_cast<size_t>(space.state_->policy.aheadBytes)
                                                           : aheadBytes,
                      nullptr,
                      {},
                      0,
                      0,
                      0,
                      0,
                      0}) {}

SpillReader::~SpillReader() {
   State& s = *state_;
   if (!s.lane) return;
   for (const auto& channel : s.lane->channels)
      if (channel) channel->abandon();
   for (State::Page& page : s.pages)
      s.lane->give(std::move(page.buffer));
   s.space.manager.giveReader(std::move(s.lane));
}

void SpillReader::add(const SpilledPage& page, bool isLastUse) {
   State& s = *state_;
   if (!s.lane) s.lane = s.space.manager.takeReader();
   s.pages.push_back({page, isLastUse, SpillLocator::unpack(page.locator), {}});
}

void SpillReader::start() {
   if (state_->aheadBytes > 0 && state_->started == 0 && !isEmpty()) state_->refill();
}

bool SpillReader::isEmpty() const {
   return state_->pages.empty();
}

uint32_t SpillReader::nextBytes() const {
   DCHECK(!isEmpty());
   return state_->pages.front().page.rawBytes;
}

void SpillReader::next(std::byte* target) {
   State& s = *state_;
   CHECK(!isEmpty());
   const int64_t entered = steadyNanos();
   if (s.lastPage > 0) s.noteWork(entered - s.lastPage);
   if (s.started == 0) s.refill();
   State::Page& page = s.pages.front();
   const SpillExtent extent = page.locator.extent;
   SpillDevice& device = *s.space.manager.devices[page.locator.device];
   if (const int error = TEST_POINT("spill.get")) device.throwFailure(SpillDevice::Doing::Read, error);
   if (extent.size > 0) {
      const int64_t asked = steadyNanos();
      while (page.isInFlight) {
         s.reap(page.locator.device);
         if (page.isInFlight) checkInterrupted();
      }
      const int64_t there = steadyNanos();
      const bool hasWaited = there - entered > 20'000;
      s.space.throwIfFailed();
      if (page.error != 0) device.throwFailure(SpillDevice::Doing::Read, page.error);
      if (const int64_t left = page.due - steadyNanos(); left > 0)
         std::this_thread::sleep_for(std::chrono::nanoseconds(left));
      device.countReadWait(static_cast<uint64_t>(steadyNanos() - asked));
      // With few reads in flight the time measures latency, not bandwidth.
      const bool isExact = page.due > 0 ? steadyNanos() - page.due < 200'000 : hasWaited && s.started >= 4;
      s.space.reads(page.locator.device)
          .finish(page.atBegin, page.begun, page.due > 0 && !hasWaited ? page.due : std::max(page.due, there),
                  extent.size, isExact);
      const SpillFile& file = s.space.file(page.locator.device);
      if (!s.lane->decoder.decodePage({page.buffer.bytes.get(), extent.size}, {file.number(), extent.offset},
                                      file.blockBytes(), {target, page.page.rawBytes}))
         throw SqlError(sqlstate::dataCorrupted, device.damageText());
      device.succeeded();
      s.space.bytesRead.fetch_add(extent.size, std::memory_order_relaxed);
      device.countReadBytes(extent.size);
      device.rawBytesRead.fetch_add(page.page.rawBytes, std::memory_order_relaxed);
      s.lane->give(std::move(page.buffer));
      if (page.isLastUse) s.space.free(page.page);
   }
   s.lastBytes = page.page.rawBytes;
   s.pages.pop_front();
   ++s.firstNumber;
   --s.started;
   s.startedBytes -= extent.size;
   const bool isHalfEmpty = s.startedBytes <= s.aheadBytes / 2 && s.started <= ReadLane::depth / 2;
   if (s.aheadBytes > 0 && isHalfEmpty && s.started < s.pages.size()) s.refill();
   s.lastPage = steadyNanos();
}

} // namespace ouzel::io
