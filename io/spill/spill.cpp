#include "io/spill/spill.hpp"

#include "common/error/sql_error.hpp"

// Not there yet: everything says so.

namespace ouzel::io {

struct SpillManager::State {};
struct SpillSpace::State {};
struct SpillReader::State {};

namespace {
[[noreturn]] void notYet() {
   throw SqlError(sqlstate::outOfMemory, "out of memory");
}
} // namespace

SpillManager::SpillManager(SpillOptions) {}
SpillManager::~SpillManager() = default;
void SpillManager::setRates(uint64_t, uint64_t) {}
void SpillManager::setLevel(int) {}

uint32_t SpilledPage::storedBytes() const {
   return 0;
}

SpillSpace::SpillSpace(SpillManager&) {}
SpillSpace::~SpillSpace() = default;
SpilledPage SpillSpace::write(std::span<const std::span<const std::byte>>) {
   notYet();
}
void SpillSpace::free(const SpilledPage&) {}
SpillStatistics SpillSpace::statistics() const {
   return {};
}

SpillReader::SpillReader(SpillSpace&, size_t) {}
SpillReader::~SpillReader() = default;
void SpillReader::add(const SpilledPage&, bool) {}
bool SpillReader::isEmpty() const {
   return true;
}
uint32_t SpillReader::nextBytes() const {
   return 0;
}
void SpillReader::next(std::byte*) {
   notYet();
}

} // namespace ouzel::io
