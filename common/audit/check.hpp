#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ouzel {

/// What the verification of audit files has found.
struct AuditCheck {
   uint64_t records = 0;
   uint64_t broken = 0;         ///< places where the chain does not hold
   uint64_t unchained = 0;      ///< records without a hash before the chain begins
   uint64_t torn = 0, lost = 0; ///< lines that a crash has cut; records that the server could not write
   uint64_t firstNumber = 0;    ///< greater than 1: records before it are not in the files
   uint64_t lastNumber = 0;
   std::string lastHash; ///< to be compared with one that is kept elsewhere; empty: there is no chain
};
/// Verify files, the oldest first. `tell` gets a line for each finding. Throws 58030 when a file cannot be read.
AuditCheck checkAudit(const std::vector<std::string>& files, const std::function<void(const std::string&)>& tell);

} // namespace ouzel
