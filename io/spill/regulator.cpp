#include "io/spill/regulator.hpp"

#include <algorithm>

#include "common/error/check.hpp"

namespace ouzel::io {

namespace {

/// Another level must promise to be so much cheaper: measurements are no better than that.
constexpr double worthwhile = 0.99;
/// CPU and device work at the same time, but not quite.
constexpr double overlap = 0.1;
/// After so many runs what was seen of a level says nothing any more.
constexpr uint32_t forgottenAfter = 500;

double together(double cpu, double io) {
   return std::max(cpu, io) + overlap * std::min(cpu, io);
}

} // namespace

bool Regulator::add(size_t rawBytes, size_t storedBytes, int64_t workNanos, int64_t encodeNanos) {
   rawBytes_ += rawBytes;
   storedBytes_ += storedBytes;
   workNanos_ += workNanos;
   encodeNanos_ += encodeNanos;
   return ++pages_ >= runPages;
}

double Regulator::ratio(uint32_t level) const {
   if (seen_[level].ratio > 0) return seen_[level].ratio;
   return 1 - savings_ * (1 - spillLevels()[level].ratio);
}

double Regulator::encode(uint32_t level) const {
   return seen_[level].ratio > 0 ? seen_[level].encode : slowness_ * spillLevels()[level].encodeNanos;
}

Regulator::Costs Regulator::costs(uint32_t level, double work, const Surroundings& around, double& total) const {
   const auto device = [&](double bandwidth) {
      return bandwidth > 0 ? ratio(level) * around.lanes * 1e9 / bandwidth : 0;
   };
   const double writeCpu = work + encode(level), writeIo = device(around.writeBandwidth);
   const double readCpu =
       (around.readWork >= 0 ? around.readWork : work) + slowness_ * spillLevels()[level].decodeNanos;
   const double readIo = device(around.readBandwidth > 0 ? around.readBandwidth : around.writeBandwidth);
   total = together(writeCpu, writeIo) + together(readCpu, readIo);
   return {writeCpu + readCpu, writeIo + readIo};
}

Regulator::Costs Regulator::decide(const Surroundings& around) {
   DCHECK(pages_ > 0 && spillLevels().size() <= seen_.size());
   const double raw = static_cast<double>(rawBytes_);
   const double ratioNow = static_cast<double>(storedBytes_) / raw, encodeNow = static_cast<double>(encodeNanos_) / raw;
   const double work = std::max(0.0, static_cast<double>(workNanos_ - encodeNanos_) / raw);
   Seen& now = seen_[level_];
   now =
       now.ratio > 0 ? Seen{(now.ratio + ratioNow) / 2, (now.encode + encodeNow) / 2, 0} : Seen{ratioNow, encodeNow, 0};
   const SpillLevel& said = spillLevels()[level_];
   if (level_ > 0) {
      savings_ = std::max(0.0, 1 - now.ratio) / (1 - said.ratio);
      slowness_ = now.encode / said.encodeNanos;
   }
   for (uint32_t level = 0; level < spillLevels().size(); ++level)
      if (level != level_ && ++seen_[level].age > forgottenAfter) seen_[level] = {};
   double totalNow = 0;
   const Costs result = costs(level_, work, around, totalNow);
   uint32_t best = level_;
   double totalBest = totalNow * worthwhile;
   for (uint32_t level = 0; level < spillLevels().size(); ++level) {
      double total = 0;
      costs(level, work, around, total);
      if (total < totalBest) {
         best = level;
         totalBest = total;
      }
   }
   // What saves nothing is not worth the CPU, even if nobody here misses it.
   if (best == level_ && level_ > 0 && ratio(level_) > 0.98 * ratio(level_ - 1)) best = level_ - 1;
   if (best != level_) level_ = best > level_ ? level_ + 1 : level_ - 1;
   pages_ = 0;
   rawBytes_ = storedBytes_ = 0;
   workNanos_ = encodeNanos_ = 0;
   return result;
}

} // namespace ouzel::io
