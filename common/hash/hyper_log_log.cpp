#include "common/hash/hyper_log_log.hpp"

#include <algorithm>
#include <cmath>

namespace ouzel {

namespace {
constexpr uint8_t denseVersion = 1, sparseVersion = 2;
static_assert(HyperLogLog::registerCount <= UINT16_MAX, "an index is stored in two bytes");
} // namespace

void HyperLogLog::merge(const HyperLogLog& other) {
   for (uint32_t i = 0; i < registerCount; ++i)
      registers_[i] = std::max(registers_[i], other.registers_[i]);
}

bool HyperLogLog::isEmpty() const {
   return std::all_of(registers_.begin(), registers_.end(), [](uint8_t r) { return r == 0; });
}

// Ertl 2017, "New cardinality estimation algorithms for HyperLogLog sketches", section 3: no bias tables, no switch to
// linear counting, valid over the whole range.
double HyperLogLog::estimate() const {
   constexpr uint32_t q = 64 - registerBits;
   std::array<uint32_t, q + 2> histogram{};
   for (const uint8_t r : registers_)
      ++histogram[std::min<uint32_t>(r, q + 1)];
   constexpr double m = registerCount;
   // tau: correction for saturated registers
   double x = 1.0 - static_cast<double>(histogram[q + 1]) / m;
   double tau = 0;
   if (x > 0 && x < 1) {
      double y = 1, z = 1 - x, previous;
      do {
         x = std::sqrt(x);
         previous = z;
         y *= 0.5;
         z -= (1 - x) * (1 - x) * y;
      } while (previous != z);
      tau = z / 3;
   }
   double z = m * tau;
   for (uint32_t k = q; k >= 1; --k)
      z = 0.5 * (z + histogram[k]);
   // sigma: correction for empty registers
   x = static_cast<double>(histogram[0]) / m;
   if (x == 1.0) return 0;
   double y = 1, sigma = x, previous;
   do {
      x *= x;
      previous = sigma;
      sigma += x * y;
      y += y;
   } while (previous != sigma);
   z += m * sigma;
   constexpr double alphaInfinity = 0.721347520444481703680; // 1 / (2 ln 2)
   return alphaInfinity * m * m / z;
}

void HyperLogLog::serialize(std::string& out) const {
   const auto used = static_cast<uint32_t>(registerCount - std::count(registers_.begin(), registers_.end(), 0));
   if (used * 3 + 3 >= registerCount) {
      out.push_back(static_cast<char>(denseVersion));
      out.append(reinterpret_cast<const char*>(registers_.data()), registerCount);
      return;
   }
   out.push_back(static_cast<char>(sparseVersion));
   out.push_back(static_cast<char>(used & 0xff));
   out.push_back(static_cast<char>(used >> 8));
   for (uint32_t i = 0; i < registerCount; ++i) {
      if (registers_[i] == 0) continue;
      out.push_back(static_cast<char>(i & 0xff));
      out.push_back(static_cast<char>(i >> 8));
      out.push_back(static_cast<char>(registers_[i]));
   }
}

bool HyperLogLog::deserialize(std::string_view& bytes) {
   registers_.fill(0);
   if (bytes.empty()) return false;
   const auto at = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
   if (at(0) == denseVersion) {
      if (bytes.size() < 1 + registerCount) return false;
      std::copy_n(bytes.begin() + 1, registerCount, reinterpret_cast<char*>(registers_.data()));
      bytes.remove_prefix(1 + registerCount);
      return true;
   }
   if (at(0) != sparseVersion || bytes.size() < 3) return false;
   const size_t used = at(1) | at(2) << 8;
   if (bytes.size() < 3 + used * 3) return false;
   for (size_t i = 0; i < used; ++i) {
      const size_t index = at(3 + i * 3) | at(4 + i * 3) << 8;
      if (index >= registerCount) return false;
      registers_[index] = at(5 + i * 3);
   }
   bytes.remove_prefix(3 + used * 3);
   return true;
}

} // namespace ouzel
