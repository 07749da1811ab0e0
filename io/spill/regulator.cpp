#include "io/spill/regulator.hpp"

#include <algorithm>
#include <cmath>

#include "common/error/check.hpp"

namespace ouzel::io {

namespace {

/// Another level must be cheaper than the current one by this factor, which is the precision of the measurements.
constexpr double worthwhile = 0.99;
/// Share of the smaller cost that is not hidden behind the larger: CPU and device do not overlap completely.
constexpr double overlap = 0.1;
/// Runs after which the measurements of an unused level are dropped.
constexpr uint32_t forgottenAfter = 128;
/// Weight of one run's sample: a run lasts milliseconds, in which other threads may have had the core.
constexpr double weightOfRun = 0.25;
/// A level's own factor is learned more slowly than the machine's current one.
constexpr double weightForLevel = 1.0 / 16;
/// Runs without compression after which the factors of compression are half forgotten, since the data may have changed.
constexpr double halfForgottenAfter = 64;

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
   return std::exp(slowness_ + seen_[level].dearness) * spillLevels()[level].encodeNanos;
}

Regulator::Costs Regulator::costs(uint32_t level, double work, const Surroundings& around, double& total) const {
   const auto device = [&](double bandwidth) {
      return bandwidth > 0 ? ratio(level) * around.lanes * 1e9 / bandwidth : 0;
   };
   const double writeCpu = work + encode(level), writeIo = device(around.writeBandwidth);
   const double readCpu =
       (around.readWork >= 0 ? around.readWork : work) + std::exp(slowness_) * spillLevels()[level].decodeNanos;
   const double readIo = device(around.readBandwidth > 0 ? around.readBandwidth : around.writeBandwidth);
   total = together(writeCpu, writeIo) + together(readCpu, readIo);
   return {writeCpu + readCpu, writeIo + readIo};
}

Regulator::Costs Regulator::decide(const Surroundings& around) {
   DCHECK(pages_ > 0 && spillLevels().size() <= seen_.size());
   const double raw = static_cast<double>(rawBytes_);
   const double ratioNow = static_cast<double>(storedBytes_) / raw, encodeNow = static_cast<double>(encodeNanos_) / raw;
   const double weight = std::max(weightOfRun, 1.0 / ++runs_);
   const double workNow = std::max(0.0, static_cast<double>(workNanos_ - encodeNanos_) / raw);
   work_ = work_ < 0 ? workNow : work_ + weight * (workNow - work_);
   const double work = work_;
   Seen& now = seen_[level_];
   now.ratio = now.ratio > 0 ? (now.ratio + ratioNow) / 2 : ratioNow;
   now.age = 0;
   const SpillLevel& said = spillLevels()[level_];
   if (level_ > 0) {
      savings_ = std::max(0.0, 1 - now.ratio) / (1 - said.ratio);
      const double error = std::log(std::max(encodeNow, 1e-3) / encode(level_));
      slowness_ += weight * error;
      now.dearness += weightForLevel * error;
   } else {
      const double forgotten = 1 - std::exp2(-1 / halfForgottenAfter);
      savings_ += forgotten * (1 - savings_);
      slowness_ -= forgotten * slowness_;
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
   // A level that stores hardly fewer bytes than the level below wastes CPU, even when CPU is not the bottleneck.
   if (best == level_ && level_ > 0 && ratio(level_) > 0.98 * ratio(level_ - 1)) best = level_ - 1;
   if (best != level_) level_ = best > level_ ? level_ + 1 : level_ - 1;
   pages_ = 0;
   rawBytes_ = storedBytes_ = 0;
   workNanos_ = encodeNanos_ = 0;
   return result;
}

} // namespace ouzel::io
