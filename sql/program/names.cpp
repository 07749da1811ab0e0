#include "sql/program/names.hpp"

namespace ouzel::sql::program {

NameId Names::add(NameKind kind, std::string text, VariableId variable, NameId previous) {
   names_.push_back({kind, std::move(text), variable, previous});
   return static_cast<NameId>(names_.size() - 1);
}

NameId Names::label(NameId scope) const {
   while (!isLabel(at(scope).kind))
      scope = at(scope).previous;
   return scope;
}

NameId Names::outer(NameId scope) const {
   return at(label(scope)).previous;
}

const Name* Names::findHere(NameId scope, std::string_view text, bool hasMore) const {
   for (; !isLabel(at(scope).kind); scope = at(scope).previous) {
      const Name& name = at(scope);
      if (name.text == text && (!hasMore || name.kind == NameKind::Record)) return &name;
   }
   return nullptr;
}

FoundName Names::find(NameId scope, std::string_view first, std::string_view second, std::string_view third) const {
   const bool isDotted = !second.empty();
   for (; scope != noName; scope = outer(scope)) {
      if (const Name* name = findHere(scope, first, isDotted)) return {name, 1};
      if (!isDotted || at(label(scope)).text != first) continue;
      if (const Name* name = findHere(scope, second, !third.empty())) return {name, 2};
   }
   return {};
}

bool Names::isDeclaredHere(NameId scope, std::string_view text) const {
   return findHere(scope, text, false) != nullptr;
}

const Name* Names::findLabel(NameId scope, std::string_view text) const {
   for (; scope != noName; scope = at(scope).previous)
      if (isLabel(at(scope).kind) && at(scope).text == text) return &at(scope);
   return nullptr;
}

bool Names::isInLoop(NameId scope) const {
   for (; scope != noName; scope = at(scope).previous)
      if (at(scope).kind == NameKind::LoopLabel) return true;
   return false;
}

} // namespace ouzel::sql::program
