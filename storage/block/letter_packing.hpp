#pragma once
#include <cstddef>
#include <string>
#include <string_view>

// Packs pages of strings letter by letter. Ids, hashes, keys and dates use few different letters at each position: a
// letter of base 32 takes five bits, a digit four, and a letter that never changes none. LZ4 finds no repeats there.
//
//   stored page: PackedHead
//                the page up to its strings' bytes, LZ4-compressed if that is smaller
//                alphabets: number of letters - 1, letters in ascending order
//                the alphabet of each position, and one for all positions behind them; a byte each
//                exceptions: the number of each string that has another letter somewhere (u32, ascending)
//                the letters of all other strings, as bits, one string behind the other
//                8 bytes of padding
//                the bytes of the exceptions

namespace ouzel::storage {

/// The packed form of a page whose encoding is PlainStrings or Dictionary. Empty if it would take more than `sizeMax`
/// bytes.
std::string packLetters(std::string_view page, size_t sizeMax);

/// Restores the page of `size` bytes at `out`, which has room for 8 bytes more. Throws XX001.
void unpackLetters(std::string_view stored, char* out, size_t size);

} // namespace ouzel::storage
