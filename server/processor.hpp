#pragma once
#include <cstddef>
#include <cstdint>

// Which instructions of x86-64-v3 the processor lacks. The program is compiled for that level, so the question is asked
// before anything else runs (processor_check.cpp), and this source is compiled for x86-64 alone. It calls no functions
// that other sources have, too: the linker might keep their copy, which uses AVX2.

namespace ouzel::server {

/// What a processor says of itself: registers that CPUID returns, and the registers that the system saves (XCR0).
struct ProcessorAnswers {
   uint32_t leaf1Ecx = 0;
   uint32_t leaf7Ebx = 0;
   uint32_t extendedEcx = 0; ///< of leaf 0x80000001
   uint64_t xcr0 = 0;        ///< 0 when the system does not let programs read it
};

/// Ask the processor that runs this.
ProcessorAnswers askProcessor();
/// Write the names of what is missing, separated by blanks and ended by a zero byte, as far as they fit, and return how
/// many there are.
size_t missingFeatures(const ProcessorAnswers& answers, char* names, size_t size);

} // namespace ouzel::server
