#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/value/sql_type.hpp"
#include "common/value/value.hpp"

namespace ouzel::engine {

/// What the functions of event triggers may ask of the command for which they are called.
struct EventState {
   enum class Phase : uint8_t { Start, Drop, End, Rewrite };
   /// An object that the command has made or changed. A command on privileges has none.
   struct Changed {
      Oid classOid = invalidOid, object = invalidOid; ///< invalidOid: none
      int32_t attribute = 0;
      std::string tag, type;
      std::optional<std::string> schema, identity;
   };
   struct Dropped {
      Oid classOid = invalidOid, object = invalidOid;
      int32_t attribute = 0;
      bool isNamed = false;    ///< by the command
      bool isCascaded = false; ///< needed one that is named
      bool isTemporary = false;
      std::string type;
      std::optional<std::string> schema, name;
      std::string identity;
      std::vector<std::string> names, args; ///< for pg_get_object_address()
   };

   Phase phase = Phase::Start;
   std::vector<Changed> changed;
   std::vector<Dropped> dropped;
   Oid rewritten = invalidOid; ///< the table that is about to be rewritten
   int32_t rewriteReason = 0;  ///< bits of these
   static constexpr int32_t newDefault = 2, columnType = 4;
};

/// What the functions give: see executor::SessionFunctions. `state`: null outside event triggers.
std::vector<std::vector<Value>> eventRows(const EventState* state, std::string_view function);
int64_t eventNumber(const EventState* state, std::string_view function);

} // namespace ouzel::engine
