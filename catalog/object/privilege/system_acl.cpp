#include "catalog/object/privilege/system_acl.hpp"

#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "catalog/object/function.hpp"
#include "catalog/object/function_text.hpp"
#include "catalog/object/snapshot.hpp"
#include "common/error/sql_error.hpp"

// Built-in objects are not in the catalog, but what GRANT and REVOKE change of them is.

namespace ouzel::catalog {

namespace {

constexpr Oid monitor = 3373, readAllStats = 3375; // pg_authid.dat

/// Of the built-in functions that PUBLIC may not call (system_functions.sql), ascending.
constexpr Oid ofOwner[] = {764,  765,  767,  2172, 2274, 2307, 2621, 2622, 2623, 2624, 2625, 2739, 2848,
                           3071, 3072, 3098, 3293, 3295, 3297, 3307, 3329, 3400, 3401, 3436, 3775, 3776,
                           3777, 3800, 3801, 3826, 3827, 3828, 4543, 6003, 6004, 6005, 6006, 6007, 6008,
                           6009, 6010, 6011, 6012, 6013, 6014, 6170, 6230, 6232, 6250};
constexpr Oid ofMonitor[] = {3353, 3354, 5029, 5030, 5031, 6270, 6271, 6272};
constexpr Oid ofReadAllStats[] = {2282, 5052};

template <size_t n>
bool has(const Oid (&sorted)[n], Oid oid) {
   return std::binary_search(std::begin(sorted), std::end(sorted), oid);
}

} // namespace

Acl initialAcl(Oid classOid, Oid object) {
   const auto owned = [](uint32_t privileges) {
      return std::vector<AclItem>{{bootstrapRole, bootstrapRole, privileges, 0}};
   };
   if (classOid != class_oid::pgProc) return {};
   const bool monitors = has(ofMonitor, object), readers = has(ofReadAllStats, object);
   if (!monitors && !readers && !has(ofOwner, object)) return {};
   std::vector<AclItem> items = owned(privilege::execute);
   if (monitors) items.push_back({monitor, bootstrapRole, privilege::execute, 0});
   if (readers) items.push_back({readAllStats, bootstrapRole, privilege::execute, 0});
   return items;
}

Acl systemAcl(const Snapshot& snapshot, Oid classOid, Oid object) {
   if (const auto changed = snapshot.systemAcl(classOid, object)) return changed->acl;
   return initialAcl(classOid, object);
}

std::string systemObjectText(const Snapshot& snapshot, const SearchPath& path, Oid classOid, Oid object) {
   if (classOid == class_oid::pgLanguage) return "language " + std::string(languageName(object));
   const FunctionInfo* function = builtins().function(object);
   if (!function) throwInternal("privileges of a function that is not built in");
   std::string text;
   for (const Oid type : function->argTypes)
      text += (text.empty() ? "" : ",") + typeText(snapshot, path, type);
   return "function " + quoteIdentifier(function->name) + "(" + text + ")";
}

std::string_view languageName(Oid language) {
   switch (language) {
   case language_oid::internal: return "internal";
   case language_oid::c: return "c";
   case language_oid::sql: return "sql";
   default: return "plpgsql";
   }
}

Oid findLanguage(std::string_view name) {
   for (const Oid language : {language_oid::internal, language_oid::c, language_oid::sql, language_oid::plpgsql})
      if (languageName(language) == name) return language;
   return invalidOid;
}

std::vector<Oid> functionsWithInitialAcl() {
   std::vector<Oid> all(std::begin(ofOwner), std::end(ofOwner));
   all.insert(all.end(), std::begin(ofMonitor), std::end(ofMonitor));
   all.insert(all.end(), std::begin(ofReadAllStats), std::end(ofReadAllStats));
   std::sort(all.begin(), all.end());
   return all;
}

} // namespace ouzel::catalog
