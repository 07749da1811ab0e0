#include "executor/function/registry.hpp"

#include <mutex>
#include <string>
#include <unordered_map>

#include "executor/function/families.hpp"

namespace ouzel::executor {

namespace {

/// The registered kernels, by prosrc and arguments. Filled once at start, then only read.
std::unordered_map<std::string, KernelEntry>& kernels() {
   static std::unordered_map<std::string, KernelEntry> map;
   return map;
}

constexpr char letterOf(PhysicalType type) {
   constexpr char letters[] = "bhilwfdvns";
   static_assert(sizeof letters == physicalTypeCount + 1, "a letter for each physical type");
   return letters[static_cast<uint8_t>(type)];
}

std::string keyOf(std::string_view prosrc, std::string_view arguments) {
   std::string key;
   key.reserve(prosrc.size() + 1 + arguments.size());
   key.append(prosrc).append(1, '/').append(arguments);
   return key;
}

} // namespace

void registerKernel(std::string_view prosrc, std::string_view arguments, KernelEntry entry) {
   const bool isNew = kernels().emplace(keyOf(prosrc, arguments), entry).second;
   CHECK(isNew);
}

const KernelEntry* findKernel(std::string_view prosrc, std::span<const Representation> arguments) {
   registerAllKernels();
   std::string letters;
   for (const Representation& argument : arguments)
      letters.push_back(letterOf(argument.physical));
   auto it = kernels().find(keyOf(prosrc, letters));
   if (it == kernels().end()) it = kernels().find(keyOf(prosrc, anyArguments));
   return it == kernels().end() ? nullptr : &it->second;
}

void registerAllKernels() {
   static std::once_flag once;
   std::call_once(once, registerFamilies);
}

} // namespace ouzel::executor
