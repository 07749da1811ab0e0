#include "executor/operator/window/window_carry.hpp"

#include <algorithm>

#include "executor/operator/window/window_plan.hpp"

namespace ouzel::executor {

WindowCarry WindowCarry::none(const WindowPlan& plan) {
   WindowCarry out;
   size_t bytes = 0;
   for (const WindowCallPlan& call : plan.calls) {
      out.stateAt.push_back(bytes);
      bytes += call.kernel ? (call.kernel->stateSize + 15) / 16 * 16 : 0;
   }
   out.states.resize(bytes);
   for (size_t i = 0; i < plan.calls.size(); ++i)
      if (plan.calls[i].kernel) plan.calls[i].kernel->initialize(out.state(i));
   return out;
}

void WindowCarry::add(const WindowPlan& plan, const WindowCarry& later, Reservation& memory) {
   rows += later.rows;
   groups += later.groups;
   Arena unused(&memory); // states without strings need no arena
   for (size_t i = 0; i < plan.calls.size(); ++i) {
      if (!plan.calls[i].kernel) continue;
      std::byte* into = state(i);
      const std::byte* from = later.state(i);
      plan.calls[i].kernel->combine(&into, &from, 1, unused);
   }
}

bool mayCarry(const WindowPlan& plan) {
   const FrameClause& frame = plan.frame;
   const bool isRunning = frame.start == sql::FrameBoundKind::UnboundedPreceding &&
                          frame.end == sql::FrameBoundKind::CurrentRow && frame.exclusion == sql::FrameExclusion::None;
   return std::all_of(plan.calls.begin(), plan.calls.end(), [&](const WindowCallPlan& call) {
      if (!call.kernel)
         return call.source == "window_row_number" || call.source == "window_rank" ||
                call.source == "window_dense_rank";
      return isRunning && call.mayCombine && !call.kernel->ordered && call.kernel->strings.empty();
   });
}

CarryChain::CarryChain(const WindowPlan& plan, uint32_t ranges, Reservation& memory)
   : plan_(plan), memory_(memory), entries_(ranges), running_(WindowCarry::none(plan)) {}

bool CarryChain::add(uint32_t number, Range range) {
   const MutexLock lock(mutex_);
   DCHECK(!entries_[number].isAdded);
   entries_[number].range = std::move(range);
   entries_[number].isAdded = true;
   const uint32_t before = known_;
   for (; known_ < entries_.size() && entries_[known_].isAdded; ++known_) {
      Entry& entry = entries_[known_];
      const bool goesOn = known_ > 0 && entry.range.firstPartition == partition_;
      entry.before = goesOn ? running_ : WindowCarry::none(plan_);
      if (goesOn && entry.range.isOnePartition)
         running_.add(plan_, entry.range.last, memory_);
      else
         running_ = std::move(entry.range.last);
      partition_ = std::move(entry.range.lastPartition);
      entry.range = {};
   }
   return known_ > before + 1 || (known_ > before && before != number);
}

bool CarryChain::take(uint32_t number, WindowCarry& out) {
   const MutexLock lock(mutex_);
   if (number >= known_) return false;
   out = std::move(entries_[number].before);
   return true;
}

} // namespace ouzel::executor
