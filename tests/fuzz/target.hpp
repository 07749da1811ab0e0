#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// The functions of a fuzz target, called by libFuzzer or by driver.cpp, which needs no clang.

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace ouzel::fuzz {

/// The initial inputs.
std::vector<std::string> seeds();
/// Whether the input behind its first byte is SQL text, which is mutated token by token.
bool isText();
/// For text: whether the input parses. Most mutations do not, and the driver runs only a few of those.
bool isWellFormed(const std::string& input);

} // namespace ouzel::fuzz
