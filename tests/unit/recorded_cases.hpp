#pragma once
#include <functional>
#include <string>
#include <vector>

// Cases recorded from PostgreSQL by scripts/record_type_cases.py.

namespace ouzel::test {

struct RecordedCase {
   std::string operation;
   std::vector<std::string> arguments;
   std::string expected; ///< "!SQLSTATE message" if PostgreSQL refused
};

std::vector<RecordedCase> readRecordedCases(const std::string& family);

/// Run every case through `evaluate`, which returns the text of the result or throws SqlError, and check the answers.
/// A case for which `isKnownDeviation` says true is only required not to crash.
void checkRecordedCases(const std::string& family, const std::function<std::string(const RecordedCase&)>& evaluate,
                        const std::function<bool(const RecordedCase&)>& isKnownDeviation = {});

} // namespace ouzel::test
