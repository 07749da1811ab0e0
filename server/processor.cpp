#include "server/processor.hpp"

#include <cpuid.h>

namespace ouzel::server {

namespace {

enum class Register { Leaf1Ecx, Leaf7Ebx, ExtendedEcx };

struct Feature {
   const char* name; ///< as /proc/cpuinfo has it
   Register where;
   unsigned bit;
};

// x86-64-v2 and v3 of the System V ABI, AMD64 supplement, table 3.1. AVX is usable when the system saves its registers.
constexpr Feature features[] = {
    {"pni", Register::Leaf1Ecx, 0},     {"ssse3", Register::Leaf1Ecx, 9},
    {"fma", Register::Leaf1Ecx, 12},    {"cx16", Register::Leaf1Ecx, 13},
    {"sse4_1", Register::Leaf1Ecx, 19}, {"sse4_2", Register::Leaf1Ecx, 20},
    {"movbe", Register::Leaf1Ecx, 22},  {"popcnt", Register::Leaf1Ecx, 23},
    {"avx", Register::Leaf1Ecx, 28},    {"f16c", Register::Leaf1Ecx, 29},
    {"bmi1", Register::Leaf7Ebx, 3},    {"avx2", Register::Leaf7Ebx, 5},
    {"bmi2", Register::Leaf7Ebx, 8},    {"lahf_lm", Register::ExtendedEcx, 0},
    {"abm", Register::ExtendedEcx, 5}, // LZCNT
};
constexpr unsigned osxsaveBit = 27;
constexpr uint64_t avxState = 0b110; // SSE's and AVX's registers

uint32_t registerOf(const ProcessorAnswers& answers, Register where) {
   switch (where) {
   case Register::Leaf1Ecx: return answers.leaf1Ecx;
   case Register::Leaf7Ebx: return answers.leaf7Ebx;
   case Register::ExtendedEcx: return answers.extendedEcx;
   }
   return 0;
}

} // namespace

ProcessorAnswers askProcessor() {
   ProcessorAnswers answers;
   unsigned a = 0, b = 0, c = 0, d = 0;
   if (__get_cpuid(1, &a, &b, &c, &d) != 0) answers.leaf1Ecx = c;
   if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) answers.leaf7Ebx = b;
   if (__get_cpuid(0x80000001, &a, &b, &c, &d) != 0) answers.extendedEcx = c;
   if ((answers.leaf1Ecx >> osxsaveBit & 1) != 0) {
      uint32_t low, high;
      asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
      answers.xcr0 = uint64_t{high} << 32 | low;
   }
   return answers;
}

size_t missingFeatures(const ProcessorAnswers& answers, char* names, size_t size) {
   size_t count = 0, used = 0;
   const auto add = [&](const char* name) {
      if (count++ > 0 && used + 1 < size) names[used++] = ' ';
      for (; *name != '\0' && used + 1 < size; ++name)
         names[used++] = *name;
   };
   for (const Feature& feature : features)
      if ((registerOf(answers, feature.where) >> feature.bit & 1) == 0) add(feature.name);
   if ((answers.xcr0 & avxState) != avxState) add("xsave of avx");
   if (size > 0) names[used] = '\0';
   return count;
}

} // namespace ouzel::server
