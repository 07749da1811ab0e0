#include "io/http/address_book.hpp"

#include <algorithm>
#include <cstring>
#include <netdb.h>

#include "common/env/clock.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel::io {

namespace {
constexpr int64_t second = 1'000'000'000;
constexpr int64_t resolveEveryMs = 60'000;
constexpr int64_t forgottenAfter = 1800 * second; ///< since the resolver last returned the address
constexpr int64_t avoidedFor = 30 * second;
constexpr size_t addressesMax = 32;
constexpr uint32_t samplesToJudge = 8;
constexpr double slowShare = 0.5; ///< slower than this share of the peers' speed
} // namespace

bool SocketAddress::operator==(const SocketAddress& other) const {
   return size == other.size && std::memcmp(&storage, &other.storage, size) == 0;
}

AddressBook::AddressBook(std::string host, uint16_t port) : host_(std::move(host)), port_(port) {
   const int64_t now = steadyNanos();
   for (const SocketAddress& address : resolve())
      entries_.push_back({.address = address, .seenAt = now});
   addrinfo hints{};
   hints.ai_flags = AI_NUMERICHOST;
   addrinfo* numeric = nullptr;
   if (getaddrinfo(host_.c_str(), nullptr, &hints, &numeric) == 0)
      freeaddrinfo(numeric);
   else
      resolver_.start(resolveEveryMs, [this] { return refresh(); });
}

std::vector<SocketAddress> AddressBook::resolve() const {
   addrinfo hints{};
   hints.ai_socktype = SOCK_STREAM;
   hints.ai_flags = AI_NUMERICSERV;
   addrinfo* found = nullptr;
   const int error = getaddrinfo(host_.c_str(), std::to_string(port_).c_str(), &hints, &found);
   if (error != 0)
      throw SqlError(sqlstate::ioError, "could not resolve \"" + host_ + "\": " + gai_strerror(error))
          .hint("Is the endpoint, or the region, in the address of the bucket right?");
   const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(found, freeaddrinfo);
   std::vector<SocketAddress> result;
   for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
      SocketAddress address;
      if (entry->ai_addrlen > sizeof address.storage) continue;
      std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
      address.size = entry->ai_addrlen;
      if (std::find(result.begin(), result.end(), address) == result.end()) result.push_back(address);
   }
   if (result.empty()) throw SqlError(sqlstate::ioError, "could not resolve \"" + host_ + "\": it has no address");
   return result;
}

int64_t AddressBook::refresh() {
   std::vector<SocketAddress> found;
   try {
      found = resolve();
   } catch (const SqlError&) {
      return resolveEveryMs / 6; // keep the known addresses and try again soon
   }
   const int64_t now = steadyNanos();
   const MutexLock lock(mutex_);
   for (const SocketAddress& address : found)
      if (Entry* known = find(address)) known->seenAt = now;
   std::erase_if(entries_, [&](const Entry& entry) {
      return now - entry.seenAt > forgottenAfter || (entry.failures > 0 && entry.seenAt != now);
   });
   for (const SocketAddress& address : found)
      if (find(address) == nullptr && entries_.size() < addressesMax)
         entries_.push_back({.address = address, .seenAt = now});
   return resolveEveryMs;
}

AddressBook::Entry* AddressBook::find(const SocketAddress& address) {
   const auto found =
       std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.address == address; });
   return found == entries_.end() ? nullptr : &*found;
}

SocketAddress AddressBook::choose() {
   const int64_t now = steadyNanos();
   const MutexLock lock(mutex_);
   // If all addresses are avoided, the one whose time ends first is best.
   const auto isBetter = [&](const Entry& a, const Entry& b) {
      const int64_t aUntil = std::max(a.avoidedUntil, now), bUntil = std::max(b.avoidedUntil, now);
      return aUntil != bUntil ? aUntil < bUntil : a.connections < b.connections;
   };
   return std::min_element(entries_.begin(), entries_.end(), isBetter)->address;
}

void AddressBook::onConnected(const SocketAddress& address) {
   const MutexLock lock(mutex_);
   if (Entry* entry = find(address)) ++entry->connections;
}

void AddressBook::onClosed(const SocketAddress& address) {
   const MutexLock lock(mutex_);
   if (Entry* entry = find(address); entry != nullptr && entry->connections > 0) --entry->connections;
}

void AddressBook::onFailure(const SocketAddress& address) {
   const MutexLock lock(mutex_);
   Entry* const entry = find(address);
   if (entry == nullptr) return;
   entry->failures = std::min(entry->failures + 1, 8U);
   // A single failure may be chance, so two in a row are needed.
   if (entry->failures >= 2) entry->avoidedUntil = steadyNanos() + (second << std::min(entry->failures, 5U));
}

/// Average speed of the other measured addresses; 0 if there are none.
double AddressBook::peerSpeed(const Entry& of) const {
   double sum = 0;
   uint32_t count = 0;
   for (const Entry& entry : entries_)
      if (&entry != &of && entry.samples >= samplesToJudge) {
         sum += entry.bytesPerSecond;
         ++count;
      }
   return count == 0 ? 0 : sum / count;
}

void AddressBook::onReceived(const SocketAddress& address, double bytesPerSecond) {
   const MutexLock lock(mutex_);
   Entry* const entry = find(address);
   if (entry == nullptr) return;
   entry->failures = 0;
   entry->bytesPerSecond = entry->samples == 0 ? bytesPerSecond : entry->bytesPerSecond * 0.8 + bytesPerSecond * 0.2;
   if (++entry->samples < samplesToJudge || entry->bytesPerSecond >= peerSpeed(*entry) * slowShare) return;
   entry->avoidedUntil = steadyNanos() + avoidedFor;
   entry->samples = 0; // measured anew after the pause
}

bool AddressBook::isAvoided(const SocketAddress& address) const {
   const MutexLock lock(mutex_);
   const auto found =
       std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.address == address; });
   // An address that is not listed any more is avoided, too: its idle connections are closed.
   return found == entries_.end() || (entries_.size() > 1 && found->avoidedUntil > steadyNanos());
}

} // namespace ouzel::io
