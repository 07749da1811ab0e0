#include "engine/definition/function/aggregate_options.hpp"

#include "engine/definition/function/function_use.hpp"

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::ListOf;

namespace {

char modifyOf(const ::DefElem& option) {
   const std::string word = textOf(option);
   if (word == "read_only") return 'r';
   if (word == "shareable") return 's';
   if (word == "read_write") return 'w';
   throw SqlError(sqlstate::syntaxError,
                  "parameter \"" + std::string(option.defname) + "\" must be READ_ONLY, SHAREABLE, or READ_WRITE");
}
char parallelOf(const ::DefElem& option) {
   const std::string word = textOf(option);
   if (word == "safe" || word == "restricted" || word == "unsafe") return word[0];
   throw SqlError(sqlstate::syntaxError, "parameter \"parallel\" must be SAFE, RESTRICTED, or UNSAFE");
}
int32_t spaceOf(const ::DefElem& option) {
   if (!option.arg || !isNode(option.arg, T_Integer))
      throw SqlError(sqlstate::syntaxError, std::string(option.defname) + " requires an integer value");
   return as<::Integer>(option.arg)->ival;
}

} // namespace

AggregateOptions::AggregateOptions(SessionCore& core, const ::List* definition) {
   for (const ::DefElem* option : ListOf<::DefElem>(definition))
      if (!readNames(*option) && !readValue(*option))
         core.report({Notice::Severity::Warning, sqlstate::syntaxError,
                      "aggregate attribute \"" + std::string(option->defname) + "\" not recognized", "", ""});
}

bool AggregateOptions::readNames(const ::DefElem& option) {
   const std::pair<std::string_view, Names*> places[] = {{"sfunc", &transition},        {"sfunc1", &transition},
                                                         {"finalfunc", &final},         {"combinefunc", &combine},
                                                         {"serialfunc", &serialize},    {"deserialfunc", &deserialize},
                                                         {"msfunc", &movingTransition}, {"minvfunc", &movingInverse},
                                                         {"mfinalfunc", &movingFinal},  {"sortop", &sortOperator}};
   for (const auto& [word, place] : places)
      if (word == option.defname) {
         *place = namesOf(option);
         return true;
      }
   return false;
}

bool AggregateOptions::readValue(const ::DefElem& option) {
   const std::string_view name = option.defname;
   if (name == "basetype")
      baseType = &option;
   else if (name == "stype" || name == "stype1")
      stateType = &option;
   else if (name == "mstype")
      movingStateType = &option;
   else if (name == "initcond" || name == "initcond1")
      initial = textOf(option);
   else if (name == "minitcond")
      movingInitial = textOf(option);
   else if (name == "finalfunc_extra")
      finalTakesArgs = isTrue(option);
   else if (name == "mfinalfunc_extra")
      movingFinalTakesArgs = isTrue(option);
   else if (name == "hypothetical")
      isHypothetical = isTrue(option);
   else if (name == "finalfunc_modify")
      finalModify = modifyOf(option);
   else if (name == "mfinalfunc_modify")
      movingFinalModify = modifyOf(option);
   else if (name == "sspace")
      stateSpace = spaceOf(option);
   else if (name == "msspace")
      movingStateSpace = spaceOf(option);
   else if (name == "parallel")
      parallel = parallelOf(option);
   else
      return false;
   return true;
}

} // namespace ouzel::engine
