#include "common/memory/machine_memory.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

using namespace ouzel;

namespace {

/// A directory that looks like /: the process's group, and the limits of groups.
class FakeRoot {
public:
   explicit FakeRoot(const std::string& groups) { write("/proc/self/cgroup", groups); }
   ~FakeRoot() { std::filesystem::remove_all(path); }

   void limit(const std::string& group, const std::string& bytes) {
      write("/sys/fs/cgroup" + group + "/memory.max", bytes + "\n");
   }
   size_t memory() const { return machineMemory(path); }

private:
   void write(const std::string& name, const std::string& text) {
      std::filesystem::create_directories(std::filesystem::path(path + name).parent_path());
      std::ofstream(path + name) << text;
   }

   const std::string path = "machine_memory_test.root";
};

} // namespace

CATCH_TEST_CASE("the memory is the machine's where no control group limits it") {
   FakeRoot root("0::/system.slice/ouzel.service\n");
   const size_t machine = root.memory();
   CATCH_CHECK(machine > size_t{64} << 20);
   root.limit("/system.slice/ouzel.service", "max");
   CATCH_CHECK(root.memory() == machine);
   root.limit("/system.slice/ouzel.service", "1000000000000000");
   CATCH_CHECK(root.memory() == machine);
}

CATCH_TEST_CASE("the lowest limit of the groups around the process counts") {
   FakeRoot root("12:pids:/elsewhere\n0::/system.slice/ouzel.service\n");
   root.limit("/system.slice/ouzel.service", "50000000");
   CATCH_CHECK(root.memory() == 50'000'000);
   root.limit("/system.slice", "40000000");
   CATCH_CHECK(root.memory() == 40'000'000);
   root.limit("/other.slice", "10000000");
   CATCH_CHECK(root.memory() == 40'000'000);
}

CATCH_TEST_CASE("a container's limit is that of the topmost group it sees") {
   FakeRoot own("0::/\n");
   own.limit("", "30000000");
   CATCH_CHECK(own.memory() == 30'000'000);
   FakeRoot outside("0::/docker/0123\n");
   outside.limit("", "20000000");
   CATCH_CHECK(outside.memory() == 20'000'000);
}
