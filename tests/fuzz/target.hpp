#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// What a fuzz target gives to whoever drives it: libFuzzer, or driver.cpp, which needs no clang.

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace ouzel::fuzz {

/// Inputs to begin from.
std::vector<std::string> seeds();
/// True: after its first byte an input is SQL text, mutated token by token.
bool isText();
/// For text: worth running. Most mutations are no SQL, and a few of those that are not are enough.
bool isWellFormed(const std::string& input);

} // namespace ouzel::fuzz
