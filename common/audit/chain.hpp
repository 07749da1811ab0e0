#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Records that prove their order: each one has the SHA-256 of the hash before it and of its own bytes.
//
//    {"number":7,...,"previous":"<hash of record 6>","hash":"<hash>"}
//
// `hash` is SHA-256 over the 64 hexadecimal digits of the previous hash and the line up to, not with, `,"hash":`. Only
// the first record of a file, and the first one after a start of the server, names the previous hash.

namespace ouzel {

inline constexpr size_t chainDigits = 64;
/// Before the first record of all.
std::string firstChainHash();

/// The parts of a line of the audit, found by its bytes alone.
struct AuditLine {
   uint64_t number = 0;
   std::string_view content; ///< what the hash is of; all of a line that has none
   std::optional<std::string_view> previous, hash;
};
/// nullopt: this is not a whole record. `line` has no line feed.
std::optional<AuditLine> parseAuditLine(std::string_view line);

/// The hash of a record's content behind `previous`, in hexadecimal digits.
std::string chainHash(std::string_view previous, std::string_view content);

/// Gives records their hashes, one after the other.
class AuditChain {
public:
   explicit AuditChain(std::string last = firstChainHash()) : last_(std::move(last)) {}

   /// The line of a record, "{...}", with its hash.
   std::string link(std::string_view line);
   /// The next record names the previous hash: it is the first one of a file.
   void beginFile() { isFirst_ = true; }
   /// The hash of the last record.
   const std::string& last() const { return last_; }
   /// Take back the records since the one with this hash: they have not been written.
   void returnTo(std::string last) { last_ = std::move(last); }

private:
   std::string last_;
   bool isFirst_ = true;
};

} // namespace ouzel
