#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Which names a place in a program sees. Names are never taken back: each place keeps the newest name that it sees, and
// each name the one before it, so that scopes are chains in one list.

namespace ouzel::sql::program {

using VariableId = uint32_t; ///< index in Program::variables
inline constexpr VariableId noVariable = ~VariableId{0};
using NameId = uint32_t; ///< index in Names
inline constexpr NameId noName = ~NameId{0};

enum class NameKind : uint8_t {
   BlockLabel, ///< begins the names of a block; its name may be empty
   LoopLabel,
   OtherLabel, ///< of a cursor, over its arguments
   Scalar,
   Record,
};
constexpr bool isLabel(NameKind kind) {
   return kind < NameKind::Scalar;
}

struct Name {
   NameKind kind;
   std::string text;
   VariableId variable = noVariable;
   NameId previous = noName;
};

/// What a dotted name begins with.
struct FoundName {
   const Name* name = nullptr; ///< null: no variable
   uint32_t parts = 0;         ///< of the dotted name that are the variable's: 2 with a label before it
};

class Names {
public:
   NameId add(NameKind kind, std::string text, VariableId variable, NameId previous);
   const Name& at(NameId id) const { return names_[id]; }

   /// The variable that `first`, or the beginning of `first.second.third`, stands for in `scope`: innermost first, and
   /// in a block a variable before the block's label. A scalar is not found where a further part would be its field.
   FoundName find(NameId scope, std::string_view first, std::string_view second = {},
                  std::string_view third = {}) const;
   /// A variable of the innermost block only.
   bool isDeclaredHere(NameId scope, std::string_view text) const;
   /// The label of an enclosing block or loop; null: there is none.
   const Name* findLabel(NameId scope, std::string_view text) const;
   bool isInLoop(NameId scope) const;
   /// The last name before the label that begins this scope: the scope around it.
   NameId outer(NameId scope) const;

private:
   NameId label(NameId scope) const;
   const Name* findHere(NameId scope, std::string_view text, bool hasMore) const;

   std::vector<Name> names_;
};

} // namespace ouzel::sql::program
