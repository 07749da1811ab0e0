#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace ouzel::executor {

/// A loser tree over sorted inputs: gives their elements in order, one comparison per level and element (Knuth, TAOCP
/// 3, 5.4.1). Inner node n keeps the input that lost there; the winner of all is kept apart.
template <typename T, typename Less>
class MergeTree {
public:
   MergeTree(std::vector<std::span<const T>> inputs, Less less) : inputs_(std::move(inputs)), less_(less) {
      leaves_ = 1;
      while (leaves_ < inputs_.size())
         leaves_ *= 2;
      inputs_.resize(leaves_);
      losers_.resize(leaves_);
      winner_ = build(1);
   }

   /// The least element left; null at the end.
   const T* next() {
      std::span<const T>& input = inputs_[winner_];
      if (input.empty()) return nullptr;
      const T* element = &input.front();
      input = input.subspan(1);
      for (uint32_t node = (winner_ + leaves_) / 2; node > 0; node /= 2)
         if (wins(losers_[node], winner_)) std::swap(losers_[node], winner_);
      return element;
   }

private:
   bool wins(uint32_t a, uint32_t b) const {
      if (inputs_[a].empty()) return false;
      return inputs_[b].empty() || less_(inputs_[a].front(), inputs_[b].front());
   }
   uint32_t build(uint32_t node) {
      if (node >= leaves_) return node - leaves_;
      const uint32_t left = build(2 * node), right = build(2 * node + 1);
      const bool rightWins = wins(right, left);
      losers_[node] = rightWins ? left : right;
      return rightWins ? right : left;
   }

   std::vector<std::span<const T>> inputs_;
   Less less_;
   uint32_t leaves_ = 1, winner_ = 0;
   std::vector<uint32_t> losers_;
};

} // namespace ouzel::executor
