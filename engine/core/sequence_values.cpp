#include "engine/core/sequence_values.hpp"

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel::engine {

namespace {

/// `steps` values after `value`, but not past the end; nullopt when that is past the end.
std::optional<int64_t> advance(const catalog::SequenceDefinition& definition, int64_t value, int64_t steps) {
   DCHECK(definition.increment != 0);
   DCHECK(steps >= 0);
   const __int128 wanted = static_cast<__int128>(value) + static_cast<__int128>(definition.increment) * steps;
   if (definition.increment > 0 ? wanted > definition.maximum : wanted < definition.minimum) return std::nullopt;
   return static_cast<int64_t>(wanted);
}

[[noreturn]] void exhausted(const catalog::Relation& sequence, const char* bound, int64_t value) {
   throw SqlError(sqlstate::sequenceGeneratorLimitExceeded, std::string("nextval: reached ") + bound +
                                                                " value of sequence \"" + sequence.name + "\" (" +
                                                                std::to_string(value) + ")");
}

/// The counter after `counter`. Throws 2200H at the end of a sequence that does not cycle.
storage::Counter following(const catalog::Relation& sequence, storage::Counter counter) {
   const catalog::SequenceDefinition& definition = *sequence.sequence;
   if (!counter.isCalled) return {counter.value, true};
   if (const auto value = advance(definition, counter.value, 1)) return {*value, true};
   if (definition.cycles) return {definition.increment > 0 ? definition.minimum : definition.maximum, true};
   if (definition.increment > 0) exhausted(sequence, "maximum", definition.maximum);
   exhausted(sequence, "minimum", definition.minimum);
}

} // namespace

SequenceValues::State& SequenceValues::stateOf(const catalog::Relation& sequence) {
   DCHECK(sequence.sequence.has_value());
   const auto [it, isNew] = states_.try_emplace(sequence.oid);
   if (isNew)
      it->second.counter = storage_.counter(sequence.oid).value_or(storage::Counter{sequence.sequence->start, false});
   return it->second;
}

std::optional<int64_t> SequenceValues::next(const catalog::Relation& sequence) {
   const catalog::SequenceDefinition& definition = *sequence.sequence;
   const MutexLock lock(mutex_);
   if (held_.contains(sequence.oid)) return std::nullopt;
   State& state = stateOf(sequence);
   const storage::Counter counter = following(sequence, state.counter);
   const bool hasWrapped =
       state.counter.isCalled && (counter.value > state.counter.value) != (definition.increment > 0);
   if (hasWrapped) state.ahead = 0;
   if (state.ahead == 0) {
      int64_t ahead = loggedAhead;
      auto logged = advance(definition, counter.value, ahead);
      if (!logged) {
         ahead = 0;
         logged = counter.value;
      }
      storage_.setCounter(sequence.oid, {*logged, true});
      state.ahead = ahead;
   } else {
      --state.ahead;
   }
   DCHECK(counter.value >= definition.minimum);
   DCHECK(counter.value <= definition.maximum);
   state.counter = counter;
   return counter.value;
}

bool SequenceValues::set(Oid sequence, storage::Counter counter) {
   const MutexLock lock(mutex_);
   if (held_.contains(sequence)) return false;
   storage_.setCounter(sequence, counter);
   states_[sequence] = {counter, 0};
   return true;
}

void SequenceValues::hold(Oid sequence) {
   const MutexLock lock(mutex_);
   held_.insert(sequence);
}

void SequenceValues::release(Oid sequence) {
   const MutexLock lock(mutex_);
   held_.erase(sequence);
}

void SequenceValues::setHeld(Oid sequence, storage::Counter counter) {
   const MutexLock lock(mutex_);
   DCHECK(held_.contains(sequence));
   storage_.setCounter(sequence, counter);
   states_[sequence] = {counter, 0};
}

void SequenceValues::logAnew(const catalog::Relation& sequence) {
   const MutexLock lock(mutex_);
   State& state = stateOf(sequence);
   storage_.setCounter(sequence.oid, state.counter);
   state.ahead = 0;
}

storage::Counter SequenceValues::current(const catalog::Relation& sequence) {
   const MutexLock lock(mutex_);
   return stateOf(sequence).counter;
}

void SequenceValues::forget() {
   const MutexLock lock(mutex_);
   states_.clear();
}

void SequenceValues::logExactValues() {
   const MutexLock lock(mutex_);
   for (auto& [oid, state] : states_)
      if (state.ahead > 0) {
         storage_.setCounter(oid, state.counter);
         state.ahead = 0;
      }
}

void RestartedSequences::restart(Oid sequence, storage::Counter counter) {
   const MutexLock lock(mutex_);
   shared_.hold(sequence);
   counters_[sequence] = counter;
}

std::optional<int64_t> RestartedSequences::next(const catalog::Relation& sequence) {
   const MutexLock lock(mutex_);
   const auto found = counters_.find(sequence.oid);
   if (found == counters_.end()) return std::nullopt;
   found->second = following(sequence, found->second);
   return found->second.value;
}

bool RestartedSequences::set(Oid sequence, storage::Counter counter) {
   const MutexLock lock(mutex_);
   const auto found = counters_.find(sequence);
   if (found == counters_.end()) return false;
   found->second = counter;
   return true;
}

std::optional<storage::Counter> RestartedSequences::current(Oid sequence) const {
   const MutexLock lock(mutex_);
   const auto found = counters_.find(sequence);
   return found == counters_.end() ? std::nullopt : std::optional(found->second);
}

RestartedSequences::Counters RestartedSequences::counters() const {
   const MutexLock lock(mutex_);
   return counters_;
}

void RestartedSequences::restore(const Counters& counters) noexcept {
   const MutexLock lock(mutex_);
   std::erase_if(counters_, [&](const auto& entry) {
      const bool isGone = !counters.contains(entry.first);
      if (isGone) shared_.release(entry.first);
      return isGone;
   });
   for (auto& [sequence, counter] : counters_)
      counter = counters.at(sequence);
}

void SessionSequences::remember(Oid sequence, int64_t value) {
   const MutexLock lock(mutex_);
   values_[sequence] = value;
   last_ = sequence;
}

void SessionSequences::rememberSet(Oid sequence, int64_t value) {
   const MutexLock lock(mutex_);
   values_[sequence] = value;
}

std::optional<int64_t> SessionSequences::last(Oid sequence) const {
   const MutexLock lock(mutex_);
   const auto it = values_.find(sequence);
   return it == values_.end() ? std::nullopt : std::optional(it->second);
}

std::optional<SessionSequences::Last> SessionSequences::last() const {
   const MutexLock lock(mutex_);
   if (last_ == invalidOid) return std::nullopt;
   return Last{last_, values_.at(last_)};
}

void SessionSequences::clear() {
   const MutexLock lock(mutex_);
   values_.clear();
   last_ = invalidOid;
}

} // namespace ouzel::engine
