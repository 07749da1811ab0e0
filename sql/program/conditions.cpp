#include "sql/program/conditions.hpp"

#include <algorithm>

#include "common/error/sql_error.hpp"

namespace ouzel::sql::program {

namespace {

struct NamedCode {
   std::string_view name, code;
};

constexpr NamedCode conditionTable[] = {
#define CONDITION(name, code) {name, code},
#include "sql/program/conditions.def"
#undef CONDITION
};

[[noreturn]] void throwUnrecognized(std::string_view name) {
   throw SqlError(sqlstate::undefinedObject, "unrecognized exception condition \"" + std::string(name) + "\"");
}

} // namespace

bool isConditionCode(std::string_view text) {
   return text.size() == 5 && std::all_of(text.begin(), text.end(),
                                          [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); });
}

std::vector<Condition> conditionsNamed(std::string_view name) {
   if (name == "others") return {{std::string(name), {}}};
   std::vector<Condition> found;
   for (const NamedCode& entry : conditionTable)
      if (entry.name == name) found.push_back({std::string(name), std::string(entry.code)});
   if (found.empty()) throwUnrecognized(name);
   return found;
}

std::string_view conditionCode(std::string_view name) {
   for (const NamedCode& entry : conditionTable)
      if (entry.name == name) return entry.code;
   throwUnrecognized(name);
}

std::string_view conditionCodeOf(std::string_view nameOrCode) {
   return isConditionCode(nameOrCode) ? nameOrCode : conditionCode(nameOrCode);
}

std::string_view conditionName(std::string_view code) {
   for (const NamedCode& entry : conditionTable)
      if (entry.code == code) return entry.name;
   return {};
}

bool catches(const Condition& condition, std::string_view code) {
   if (condition.code.empty()) return code != sqlstate::queryCanceled.text() && code != sqlstate::assertFailure.text();
   if (condition.code == code) return true;
   const bool isClass = condition.code.ends_with("000");
   return isClass && code.substr(0, 2) == std::string_view(condition.code).substr(0, 2);
}

} // namespace ouzel::sql::program
