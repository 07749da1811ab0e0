#include "catalog/object/language/language.hpp"

#include <algorithm>

#include "catalog/object/privilege/system_acl.hpp"

namespace ouzel::catalog {

namespace {

template <typename Value, typename Member>
const Language* find(const Snapshot& snapshot, Value value, Member member) {
   const DatabasePtr database = snapshot.database(snapshot.database());
   if (!database) return nullptr;
   const auto found = std::ranges::find(database->languages, value, member);
   return found == database->languages.end() ? nullptr : &*found;
}

} // namespace

const Language* findUserLanguage(const Snapshot& snapshot, std::string_view name) {
   return find(snapshot, name, &Language::name);
}

const Language* userLanguage(const Snapshot& snapshot, Oid oid) {
   return oid < firstUserOid ? nullptr : find(snapshot, oid, &Language::oid);
}

std::string_view nameOfLanguage(const Snapshot& snapshot, Oid oid) {
   const Language* made = userLanguage(snapshot, oid);
   return made ? std::string_view(made->name) : languageName(oid);
}

} // namespace ouzel::catalog
