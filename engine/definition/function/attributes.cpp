#include <algorithm>

#include "common/error/sql_error.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/function/function.hpp"
#include "engine/setting/set_statement.hpp"

// Attributes of functions.

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::stringOf;

namespace {

double numberOf(const ::DefElem& option) {
   if (isNode(option.arg, T_Integer)) return as<::Integer>(option.arg)->ival;
   if (isNode(option.arg, T_Float)) return std::stod(as<::Float>(option.arg)->fval);
   throw SqlError(sqlstate::syntaxError, std::string(option.defname) + " requires a numeric value");
}

/// SET and RESET of a setting in the list of the function's.
void applySetting(SessionCore& core, const ::VariableSetStmt& statement,
                  std::vector<std::pair<std::string, std::string>>& settings) {
   if (statement.kind == VAR_RESET_ALL) return settings.clear();
   const SettingInfo* info = findSetting(statement.name);
   const std::string name(info ? info->name : statement.name);
   core.settings.check(name, std::nullopt);
   const auto known =
       std::find_if(settings.begin(), settings.end(), [&](const auto& one) { return one.first == name; });
   if (statement.kind == VAR_RESET || statement.kind == VAR_SET_DEFAULT) {
      if (known != settings.end()) settings.erase(known);
      return;
   }
   std::string value = statement.kind == VAR_SET_CURRENT ? core.settings.show(name) : valueOf(statement);
   core.settings.check(name, value);
   if (known != settings.end())
      known->second = std::move(value);
   else
      settings.emplace_back(name, std::move(value));
}

bool isTrue(const ::DefElem& option) {
   return as<::Boolean>(option.arg)->boolval;
}

} // namespace

void FunctionAttributes::take(CommandContext& context, const ::DefElem*& place, const ::DefElem& option) {
   if (place)
      throw SqlError(sqlstate::syntaxError, "conflicting or redundant options").at(context.position(option.location));
   place = &option;
}

bool FunctionAttributes::read(CommandContext& context, const ::DefElem& option, bool isProcedure) {
   const std::string_view name = option.defname;
   if (name == "set") {
      settings_.push_back(&option);
      return true;
   }
   const std::pair<std::string_view, const ::DefElem**> places[] = {
       {"security", &security_},   {"volatility", &volatility_}, {"strict", &strict_},
       {"leakproof", &leakproof_}, {"parallel", &parallel_},     {"cost", &cost_},
       {"rows", &rows_},           {"support", &support_}};
   for (const auto& [word, place] : places) {
      if (word != name) continue;
      if (isProcedure && name != "security")
         throw SqlError(sqlstate::invalidFunctionDefinition, "invalid attribute in procedure definition")
             .at(context.position(option.location));
      take(context, *place, option);
      return true;
   }
   return false;
}

void FunctionAttributes::apply(CommandContext& context, catalog::FunctionDefinition& function) const {
   using catalog::Volatility;
   if (support_) throwNotSupported("SUPPORT of a function");
   if (volatility_) {
      const std::string_view word = stringOf(volatility_->arg);
      function.volatility = word == "immutable" ? Volatility::Immutable
                            : word == "stable"  ? Volatility::Stable
                                                : Volatility::Volatile;
   }
   if (strict_) function.isStrict = isTrue(*strict_);
   if (security_) function.isSecurityDefiner = isTrue(*security_);
   if (leakproof_) {
      function.isLeakproof = isTrue(*leakproof_);
      if (function.isLeakproof) requireSuperuser(context.core, "only superuser can define a leakproof function");
   }
   if (parallel_) {
      const std::string_view word = stringOf(parallel_->arg);
      if (word != "safe" && word != "unsafe" && word != "restricted")
         throw SqlError(sqlstate::invalidParameterValue, "parameter \"parallel\" must be SAFE, RESTRICTED, or UNSAFE");
      function.parallel = word[0];
   }
   if (cost_) {
      function.cost = static_cast<float>(numberOf(*cost_));
      if (function.cost <= 0) throw SqlError(sqlstate::invalidParameterValue, "COST must be positive");
   }
   if (rows_) {
      function.rows = static_cast<float>(numberOf(*rows_));
      if (function.rows <= 0) throw SqlError(sqlstate::invalidParameterValue, "ROWS must be positive");
      if (!function.returnsSet)
         throw SqlError(sqlstate::invalidParameterValue, "ROWS is not applicable when function does not return a set");
   }
   for (const ::DefElem* option : settings_)
      applySetting(context.core, *as<::VariableSetStmt>(option->arg), function.settings);
}

} // namespace ouzel::engine
