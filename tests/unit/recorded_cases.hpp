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

/// Runs every case by `evaluate`, which returns the text of the result or throws SqlError, and checks the answers. A
/// case for which `isKnownDeviation` returns true must only not crash.
void checkRecordedCases(const std::string& family, const std::function<std::string(const RecordedCase&)>& evaluate,
                        const std::function<bool(const RecordedCase&)>& isKnownDeviation = {});

} // namespace ouzel::test
