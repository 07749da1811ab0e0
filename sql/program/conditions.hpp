#pragma once
#include <string>
#include <string_view>
#include <vector>

// The conditions that WHEN of an exception handler and RAISE name.

namespace ouzel::sql::program {

/// What `WHEN name` or `WHEN SQLSTATE 'code'` catches.
struct Condition {
   std::string name;
   std::string code; ///< the SQLSTATE; empty: OTHERS

   bool operator==(const Condition&) const = default;
};

/// True for five digits or capital letters.
bool isConditionCode(std::string_view text);
/// The conditions of a name, among them "others"; a few names stand for two SQLSTATEs. Throws 42704.
std::vector<Condition> conditionsNamed(std::string_view name);
/// The SQLSTATE that RAISE gives a name, the first of those it stands for. Throws 42704.
std::string_view conditionCode(std::string_view name);
/// As conditionCode(), of a name or of an SQLSTATE itself: what RAISE ... USING ERRCODE takes. Throws 42704.
std::string_view conditionCodeOf(std::string_view nameOrCode);
/// The first name of an SQLSTATE; empty: it has none.
std::string_view conditionName(std::string_view code);

/// Whether a handler of the condition takes an error of this SQLSTATE: the same code, any code of the class that a code
/// ending in 000 stands for, and for OTHERS all but query_canceled and assert_failure.
bool catches(const Condition& condition, std::string_view code);

} // namespace ouzel::sql::program
