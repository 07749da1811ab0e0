#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/core/session_core.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

/// What CREATE AGGREGATE says, before anything is looked up. Options that it does not know are a warning.
struct AggregateOptions {
   using Names = std::vector<std::string>;
   Names transition, final, combine, serialize, deserialize, movingTransition, movingInverse, movingFinal, sortOperator;
   const ::DefElem *baseType = nullptr, *stateType = nullptr, *movingStateType = nullptr;
   std::optional<std::string> initial, movingInitial;
   bool finalTakesArgs = false, movingFinalTakesArgs = false, isHypothetical = false;
   char finalModify = '\0', movingFinalModify = '\0'; ///< '\0': not said
   char parallel = 'u';
   int32_t stateSpace = 0, movingStateSpace = 0;

   AggregateOptions(SessionCore& core, const ::List* definition);

private:
   bool readNames(const ::DefElem& option);
   bool readValue(const ::DefElem& option);
};

} // namespace ouzel::engine
