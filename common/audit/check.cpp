#include "common/audit/check.hpp"

#include <cerrno>
#include <fmt/format.h>
#include <fstream>

#include "common/audit/chain.hpp"
#include "common/error/sql_error.hpp"
#include "common/log/rotation.hpp"

namespace ouzel {

namespace {

/// Follows the chain from line to line.
class Verifier {
public:
   explicit Verifier(const std::function<void(const std::string&)>& tell) : tell_(tell) {}

   void run(const std::string& file) {
      errno = 0;
      std::ifstream in(file, std::ios::binary);
      if (!in) throw SqlError(sqlstate::ioError, fileProblem("open audit file", file));
      file_ = file;
      number_ = 0;
      for (std::string line; std::getline(in, line);) {
         ++number_;
         take(line, in.eof());
      }
      if (in.bad()) throw SqlError(sqlstate::ioError, fileProblem("read audit file", file));
   }

   /// After the last file.
   void finish() {
      if (!torn_.empty()) tellTorn();
      torn_.clear();
   }

   AuditCheck result;

private:
   /// `isCut`: the file ends without a line feed.
   void take(const std::string& line, bool isCut) {
      const auto parsed = parseAuditLine(line);
      if (isCut || !parsed) {
         finish();
         torn_ = place();
         return;
      }
      if (!torn_.empty()) {
         // A crash cuts a line, and the first record of the next start names the hash before it.
         if (parsed->hash && !parsed->previous)
            broken("the line before is not a record");
         else
            tellTorn();
         torn_.clear();
      }
      if (++result.records == 1) result.firstNumber = parsed->number;
      follow(*parsed);
      result.lastNumber = parsed->number;
   }
   void follow(const AuditLine& line) {
      if (!line.hash) {
         if (result.lastHash.empty())
            ++result.unchained;
         else
            broken(fmt::format("record {} has no hash", line.number));
         return;
      }
      std::string before = result.lastHash;
      if (before.empty() && line.previous) before = *line.previous;
      if (before.empty())
         broken(fmt::format("record {} does not tell the hash before it, and no record is before it", line.number));
      else if (line.previous && *line.previous != before)
         broken(fmt::format("record {} follows a record that is not here", line.number));
      else if (chainHash(before, line.content) != *line.hash)
         broken(fmt::format("record {} is not what was written, or the record before it is missing", line.number));
      else
         countLost(line.number);
      result.lastHash = *line.hash; // further breaks are those of other records
   }
   /// A gap in the numbers is no break when the chain holds.
   void countLost(uint64_t number) {
      if (result.lastNumber == 0 || number == result.lastNumber + 1) return;
      if (number <= result.lastNumber) return broken(fmt::format("record {} comes too late", number));
      const uint64_t count = number - result.lastNumber - 1;
      result.lost += count;
      tell_(fmt::format("{}: {} record{} before record {} could not be written by the server", place(), count,
                        count == 1 ? "" : "s", number));
   }
   void tellTorn() {
      ++result.torn;
      tell_(fmt::format("{}: torn: the end of this line is missing", torn_));
   }
   void broken(const std::string& what) {
      ++result.broken;
      tell_(fmt::format("{}: BROKEN: {}", place(), what));
   }
   std::string place() const { return fmt::format("{}:{}", file_, number_); }

   const std::function<void(const std::string&)>& tell_;
   std::string file_;
   std::string torn_;    ///< the place of a line that is no record, until the next one tells why; empty: none
   uint64_t number_ = 0; ///< of the line
};

} // namespace

AuditCheck checkAudit(const std::vector<std::string>& files, const std::function<void(const std::string&)>& tell) {
   Verifier verifier(tell);
   for (const std::string& file : files)
      verifier.run(file);
   verifier.finish();
   return verifier.result;
}

} // namespace ouzel
