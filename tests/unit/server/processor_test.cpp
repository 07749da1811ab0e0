#include "server/processor.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>

using namespace ouzel::server;

namespace {

constexpr uint32_t allBits = ~uint32_t{0};
constexpr ProcessorAnswers everything = {allBits, allBits, allBits, 7};

std::string missing(const ProcessorAnswers& answers, size_t* count = nullptr) {
   char names[256];
   const size_t found = missingFeatures(answers, names, sizeof names);
   if (count != nullptr) *count = found;
   return names;
}

} // namespace

CATCH_TEST_CASE("a processor without x86-64-v3 is told what it lacks") {
   size_t count = 1;
   CATCH_CHECK(missing(everything, &count).empty());
   CATCH_CHECK(count == 0);

   ProcessorAnswers answers = everything;
   answers.leaf7Ebx = ~(uint32_t{1} << 5);
   CATCH_CHECK(missing(answers, &count) == "avx2");
   CATCH_CHECK(count == 1);
   answers.extendedEcx = ~(uint32_t{1} << 5);
   CATCH_CHECK(missing(answers, &count) == "avx2 abm");
   CATCH_CHECK(count == 2);

   // Intel Nehalem: x86-64-v2, no XSAVE.
   const ProcessorAnswers nehalem = {0x0098e3bd, 0, 1, 0};
   CATCH_CHECK(missing(nehalem) == "fma movbe avx f16c bmi1 avx2 bmi2 abm xsave of avx");
   // A system that does not save AVX's registers, on a processor that has everything.
   answers = everything;
   answers.xcr0 = 3;
   CATCH_CHECK(missing(answers) == "xsave of avx");
}

CATCH_TEST_CASE("a list that does not fit is cut, and all that is missing is counted") {
   char names[8] = "#######";
   CATCH_CHECK(missingFeatures({}, names, sizeof names) == 16);
   CATCH_CHECK(std::string(names) == "pni sss");
   CATCH_CHECK(missingFeatures({}, names, 0) == 16);
}

CATCH_TEST_CASE("this machine's processor is read as the kernel reads it") {
   std::ifstream file("/proc/cpuinfo");
   std::string line;
   while (std::getline(file, line) && !line.starts_with("flags")) {
   }
   std::istringstream flags(line.substr(line.find(':') + 1));
   std::string known = " ";
   for (std::string flag; flags >> flag;)
      known += flag + " ";
   std::istringstream absent(missing(askProcessor()));
   for (std::string name; absent >> name;)
      CATCH_CHECK(known.find(" " + name + " ") == std::string::npos);
   CATCH_CHECK(known.find(" avx2 ") != std::string::npos); // or this test would not run
}
