// Ends the program with a message where the processor lacks instructions that the other sources are compiled to. It
// runs before all initialisers, so that no SIGILL comes first; like processor.cpp, it is compiled for x86-64 alone.

#include <cstring>
#include <unistd.h>

#include "server/processor.hpp"

namespace {

void say(const char* text) {
   if (write(STDERR_FILENO, text, strlen(text)) < 0) return; // nobody can be told
}

void requireProcessor() {
   char names[256];
   if (ouzel::server::missingFeatures(ouzel::server::askProcessor(), names, sizeof names) == 0) return;
   say("ouzel: this processor cannot run the program, which is built for x86-64-v3; missing: ");
   say(names);
   say("\nProcessors have these since Intel Haswell (2013) and AMD Excavator (2015). ");
   say("A virtual machine has them when it is given its host's model of processor.\n");
   _exit(1);
}

// The linker lists here what runs before the initialisers of shared libraries, some of which need more than x86-64 too.
[[gnu::section(".preinit_array"), gnu::used]] void (*const entry)() = requireProcessor;

} // namespace
