#pragma once
#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "common/base_type/type_form.hpp"

// The type ltree of the extension of that name: a path of labels, "top.science.physics". Its bytes are its text. Labels
// consist of ASCII letters, digits and underscores, which all sort behind the dot: so the order of the bytes is that of
// ltree_cmp(), which goes from label to label. The path without labels is the empty text.

namespace ouzel {

namespace oid {
inline constexpr Oid ltree = 9206, ltreeArray = 9207;
} // namespace oid

inline constexpr uint32_t ltreeLabelsMax = 65535, ltreeLabelSizeMax = 255;

/// Whether the byte may stand in a label: what isalpha() and isdigit() know under the default collation, and '_'.
constexpr bool isLtreeLabelChar(char c) {
   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Throws 42622 for a label that is too long; `character` is where it ends, counted from 1.
void requireLtreeLabelSize(size_t size, size_t character);
/// Throws 42601 "... syntax error at character ..."
[[noreturn]] void throwLtreeSyntax(const char* type, size_t character);
/// Throws 42601 for a text that ends early.
[[noreturn]] void throwLtreeEnd(const char* type);

/// Throws 42601, 42622 or 54000 unless the text is a path.
void checkLtree(std::string_view text);

/// Number of labels.
uint32_t ltreeSize(std::string_view path);
/// The labels, which lie in the path.
std::vector<std::string_view> ltreeLabels(std::string_view path);

/// Binary form of the types of this extension: a version, which is 1, and the text.
void appendLtreeBinary(std::string& out, const void* value);
/// The text of a binary form. Throws XX000 for another version.
std::string_view receiveLtreeText(const char* type, std::string_view bytes);

extern const TypeForm ltreeForm;

} // namespace ouzel
