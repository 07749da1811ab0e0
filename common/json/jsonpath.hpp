#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/memory/arena.hpp"
#include "common/value/sql_type.hpp"
#include "common/value/string_view.hpp"

// The type jsonpath: its tree, its bytes and its text. Running paths is the executor's (executor/function/jsonpath).
//
// The bytes (PhysicalType::String) are a mode, 0 strict or 1 lax, and then the chain of items that the path is:
//
//   item    = operation (the value of a PathOp), plus 128 if an accessor follows; then what the operation has; then the
//             accessor, which is an item
//   text    = its length as a number; its bytes
//   number  = 7 bits a byte, the lowest first; all bytes but the last plus 128
//
//   operation                         has
//   String, Variable, Key             text
//   Number                            text: a decimal of common/number/decimal.hpp
//   Boolean                           one byte, 0 or 1
//   And ... Modulo, StartsWith        two items: the operands
//   Not, IsUnknown, Exists, Filter,
//   Plus, Minus                       an item: the operand
//   LikeRegex                         one byte: PathRegexFlags; text: the pattern; an item: the operand
//   Any                               two numbers: the first and the last level, each plus 1, 0 for the leaves
//   Subscripts                        a number, how many; for each one byte, 1 if it is a range, and one or two items
//   DateTime                          one byte, 1 if there is a template; text: the template
//   others                            nothing
//
// The form is canonical: equal paths have equal bytes. Their texts may be equal where the paths are not: PostgreSQL
// prints some parentheses before an accessor not, `($ + $).a == 2` as `($ + $."a" == 2)`.

namespace ouzel::oid {
inline constexpr Oid jsonpath = 4072; // not in sql_type.hpp: few files need it
} // namespace ouzel::oid

namespace ouzel::json {

enum class PathOp : uint8_t {
   // Values.
   Null,
   Boolean,
   Number,
   String,
   Variable, ///< $x
   Root,     ///< $
   Current,  ///< @
   Last,     ///< last
   // Predicates.
   And,
   Or,
   Equal,
   NotEqual,
   Less,
   LessOrEqual,
   Greater,
   GreaterOrEqual,
   StartsWith,
   LikeRegex,
   Not,
   IsUnknown,
   Exists,
   // Arithmetic.
   Add,
   Subtract,
   Multiply,
   Divide,
   Modulo,
   Plus,
   Minus,
   // Accessors.
   Key,        ///< .key
   AnyKey,     ///< .*
   AnyElement, ///< [*]
   Subscripts, ///< [1, 3 to last]
   Any,        ///< .**
   Filter,     ///< ?(...)
   // Methods, which are accessors as well.
   Type,
   Size,
   Abs,
   Floor,
   Ceiling,
   Double,
   KeyValue,
   DateTime,
};
inline constexpr uint8_t pathOpCount = static_cast<uint8_t>(PathOp::DateTime) + 1;

constexpr bool isPredicate(PathOp op) {
   return op >= PathOp::And && op <= PathOp::Exists;
}
constexpr bool isComparison(PathOp op) {
   return op >= PathOp::Equal && op <= PathOp::GreaterOrEqual;
}
constexpr bool hasTwoOperands(PathOp op) {
   return (op >= PathOp::And && op <= PathOp::StartsWith) || (op >= PathOp::Add && op <= PathOp::Modulo);
}
/// Operations with an operand in `left` and no `right`.
constexpr bool hasOneOperand(PathOp op) {
   return (op >= PathOp::LikeRegex && op <= PathOp::Exists) || op == PathOp::Plus || op == PathOp::Minus ||
          op == PathOp::Filter;
}
constexpr bool isAccessor(PathOp op) {
   return op >= PathOp::Key;
}
/// Whether the operands are predicates.
constexpr bool joinsTruths(PathOp op) {
   return op == PathOp::And || op == PathOp::Or || op == PathOp::Not || op == PathOp::IsUnknown || op == PathOp::Filter;
}
/// "+", "&&", "starts with", "like_regex", "floor".
const char* pathOpName(PathOp op);

/// Flags of like_regex, as XQuery defines them.
enum PathRegexFlags : uint8_t {
   regexIgnoreCase = 1, ///< i
   regexDotAll = 2,     ///< s: . matches a newline
   regexMultiLine = 4,  ///< m: ^ and $ match at lines
   regexWhiteSpace = 8, ///< x: accepted beside q only, which makes it meaningless
   regexLiteral = 16,   ///< q
   regexFlagsAll = 31,
};

struct PathNode;
struct PathSubscript {
   const PathNode* from;
   const PathNode* to; ///< null: one element
};

/// An item of a path. It applies to the result of the item that has it as `next`.
struct PathNode {
   static constexpr uint32_t leaves = UINT32_MAX; ///< a level of Any: {last}

   PathOp op = PathOp::Null;
   bool boolean = false;   ///< Boolean; DateTime: whether there is a template
   uint8_t regexFlags = 0; ///< LikeRegex
   const PathNode* next = nullptr;
   const PathNode* left = nullptr; ///< the first or only operand
   const PathNode* right = nullptr;
   std::string_view text; ///< String, Variable, Key; the pattern of LikeRegex; the template of DateTime
   StringView number;     ///< Number
   uint32_t first = 0;    ///< Any: levels
   uint32_t last = 0;
   std::span<const PathSubscript> subscripts;
};

/// A path as a tree. Its nodes and texts live in the arena that it was made in.
struct JsonPath {
   bool isLax = true;
   const PathNode* root = nullptr;
};

/// Reads a path as jsonpath_in. Throws 42601, 22P02, 22P05, 22003, 2201B, 0A000, 54001 with PostgreSQL's words. Texts
/// without escapes stay in `text`.
JsonPath parsePath(std::string_view text, Arena& arena);
/// The bytes of a path.
std::string encodePath(const JsonPath& path);
/// The path of bytes that encodePath() made; texts stay in `bytes`. Throws XX001 for other bytes.
JsonPath decodePath(std::string_view bytes, Arena& arena);
/// Appends the path as jsonpath_out prints it.
void appendPath(std::string& out, const JsonPath& path);

/// From text to bytes and back, as input and output functions do. The tree is charged to `memory` meanwhile.
std::string pathFromText(std::string_view text, Reservation* memory = nullptr);
void appendPathText(std::string& out, std::string_view bytes);

/// Reading a path checks the patterns in it, and regular expressions are the executor's: it sets the check before the
/// first path is read. The check throws 2201B, 0A000.
using PatternCheck = void (*)(std::string_view pattern, uint8_t regexFlags);
void setPatternCheck(PatternCheck check);

} // namespace ouzel::json
