#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fuzz/mutator.hpp"
#include "tests/fuzz/target.hpp"

// Drives a fuzz target without libFuzzer: runs every seed unchanged, then mutations of seeds. Iteration i with one
// --seed is always the same input, so a failure can be repeated by its number.
//
//    TARGET [--seed N] [--iterations N] [--first N] [--seconds N] [--failures N] [--artifacts DIR] [FILE...]
//
// With FILEs, runs each of these once instead. The target runs in a child process. When a child dies, its input is
// printed and written to DIR, and another child continues behind it.

namespace {

constexpr size_t inputBytesMax = size_t{1} << 20;

struct Options {
   uint64_t seed = 1, first = 0, iterations = UINT64_MAX;
   int64_t seconds = 0;
   uint64_t failures = 20; ///< the driver stops after so many
   std::string artifacts = ".";
   std::vector<std::string> files;
};

/// The child's current iteration, in memory shared with the parent.
struct Progress {
   uint64_t iteration;
   size_t size;
   char bytes[inputBytesMax];
};

Options parseOptions(int count, char** arguments) {
   Options options;
   for (int i = 1; i < count; ++i) {
      const std::string_view flag = arguments[i];
      const auto value = [&] { return i + 1 < count ? arguments[++i] : ""; };
      if (flag == "--seed")
         options.seed = std::strtoull(value(), nullptr, 10);
      else if (flag == "--first")
         options.first = std::strtoull(value(), nullptr, 10);
      else if (flag == "--iterations")
         options.iterations = std::strtoull(value(), nullptr, 10);
      else if (flag == "--seconds")
         options.seconds = std::strtoll(value(), nullptr, 10);
      else if (flag == "--failures")
         options.failures = std::strtoull(value(), nullptr, 10);
      else if (flag == "--artifacts")
         options.artifacts = value();
      else
         options.files.emplace_back(flag);
   }
   if (options.seconds == 0 && options.iterations == UINT64_MAX) options.iterations = 1000;
   return options;
}

std::string readFile(const std::string& path) {
   std::ifstream file(path, std::ios::binary);
   std::ostringstream text;
   text << file.rdbuf();
   return text.str();
}

std::string makeInput(const ouzel::fuzz::Mutator& mutator, uint64_t number) {
   constexpr uint64_t tries = 12;
   std::string input = mutator.mutate(number * tries);
   if (!ouzel::fuzz::isText() || number % 32 == 0) return input;
   for (uint64_t i = 1; i < tries && !ouzel::fuzz::isWellFormed(input); ++i)
      input = mutator.mutate(number * tries + i);
   return input;
}

[[noreturn]] void child(const Options& options, Progress& progress, uint64_t first,
                        std::chrono::steady_clock::time_point end) {
   const bool isReplay = !options.files.empty();
   std::vector<std::string> inputs = ouzel::fuzz::seeds();
   const ouzel::fuzz::Mutator mutator(inputs, ouzel::fuzz::isText());
   const uint64_t last = isReplay ? options.files.size() : options.iterations;
   for (uint64_t i = first; i < last && (options.seconds == 0 || std::chrono::steady_clock::now() < end); ++i) {
      std::string input = isReplay            ? readFile(options.files[i])
                          : i < inputs.size() ? inputs[i]
                                              : makeInput(mutator, options.seed * 1'000'000'007 + i);
      input.resize(std::min(input.size(), inputBytesMax));
      progress.size = input.size();
      std::memcpy(progress.bytes, input.data(), input.size());
      progress.iteration = i;
      // A copy without spare capacity, so that sanitizers detect reads past the end.
      const std::vector<uint8_t> exact(input.begin(), input.end());
      LLVMFuzzerTestOneInput(exact.data(), exact.size());
      progress.iteration = i + 1;
   }
   std::fflush(nullptr);
   std::exit(0);
}

void report(const Options& options, const Progress& progress, int status) {
   const std::string path =
       options.artifacts + "/crash-" + std::to_string(options.seed) + "-" + std::to_string(progress.iteration);
   std::ofstream(path, std::ios::binary).write(progress.bytes, static_cast<std::streamsize>(progress.size));
   std::printf("iteration %lu ended with %s %d; its input, also in %s:\n", progress.iteration,
               WIFSIGNALED(status) ? "signal" : "exit code",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), path.c_str());
   if (ouzel::fuzz::isText() && progress.size > 0)
      std::printf("[%02x] %.*s\n", static_cast<unsigned char>(progress.bytes[0]),
                  static_cast<int>(std::min<size_t>(progress.size - 1, 4000)), progress.bytes + 1);
}

} // namespace

int main(int count, char** arguments) {
   const Options options = parseOptions(count, arguments);
   void* shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
   if (shared == MAP_FAILED) return 2;
   auto& progress = *static_cast<Progress*>(shared);
   const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(options.seconds);
   uint64_t failures = 0;
   progress.iteration = options.first;
   while (failures < options.failures) {
      const uint64_t first = progress.iteration;
      std::fflush(nullptr);
      const pid_t pid = fork();
      if (pid == 0) child(options, progress, first, end);
      int status = 0;
      waitpid(pid, &status, 0);
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
      ++failures;
      report(options, progress, status);
      ++progress.iteration;
   }
   const uint64_t done = progress.iteration - options.first;
   std::printf("%lu passed, %lu failed\n", done - std::min(done, failures), failures);
   return failures == 0 ? 0 : 1;
}
