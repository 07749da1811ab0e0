#include "tests/crash/bucket.hpp"

#include <csignal>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/directory/directory_store.hpp"
#include "storage/manifest/manifest.hpp"
#include "storage/manifest/writer_lease.hpp"

namespace ouzel::crash {

namespace {

constexpr const char *bucketName = "data", *prefix = "base";
constexpr const char *key = "AKIAOUZELTEST", *secret = "secret/of+the=tests";

std::vector<std::string> argumentsOf(const std::string& objectServer, const std::string& root,
                                     const std::string& settings) {
   std::vector<std::string> arguments = {
       objectServer, "--root", root, "--bucket", bucketName, "--credentials", std::string(key) + ":" + secret};
   for (size_t at = 0; at < settings.size();) {
      const size_t end = std::min(settings.find(',', at), settings.size()), equals = settings.find('=', at);
      require(equals < end, "what is " + settings.substr(at, end - at) + "?");
      arguments.push_back("--" + settings.substr(at, equals - at));
      arguments.push_back(settings.substr(equals + 1, end - equals - 1));
      at = end + 1;
   }
   return arguments;
}

} // namespace

Bucket::Bucket(const std::string& objectServer, const std::string& directory, const std::string& settings)
   : root_(directory + "/bucket") {
   std::filesystem::create_directories(root_);
   int output[2];
   require(::pipe2(output, O_CLOEXEC) == 0, "pipe");
   std::vector<std::string> arguments = argumentsOf(objectServer, root_, settings);
   std::vector<char*> pointers;
   for (std::string& argument : arguments)
      pointers.push_back(argument.data());
   pointers.push_back(nullptr);
   pid_ = ::fork();
   if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::dup2(output[1], STDOUT_FILENO);
      ::execv(pointers[0], pointers.data());
      ::_exit(127);
   }
   ::close(output[1]);
   std::string line;
   for (char c; line.find('\n') == std::string::npos && ::read(output[0], &c, 1) == 1;)
      line += c;
   ::close(output[0]);
   constexpr const char* start = "listening on ";
   require(line.starts_with(start), "object_server did not start: " + objectServer);
   const std::string where = line.substr(std::strlen(start), line.size() - std::strlen(start) - 1);
   address_ = std::string("s3://") + bucketName + "/" + prefix + "?endpoint=http://" + where +
              "&path_style=true&region=us-east-1";
}

Bucket::~Bucket() {
   if (pid_ <= 0) return;
   ::kill(pid_, SIGKILL);
   ::waitpid(pid_, nullptr, 0);
}

ServerProcess::Environment Bucket::environment() {
   return {{"AWS_ACCESS_KEY_ID", key}, {"AWS_SECRET_ACCESS_KEY", secret}};
}

size_t Bucket::pendingUploads() const {
   std::error_code missing;
   size_t count = 0;
   const std::string uploads = root_ + "/.object_server/uploads/" + bucketName;
   for (const auto& entry : std::filesystem::directory_iterator(uploads, missing))
      count += entry.is_directory();
   return count;
}

size_t Bucket::objects() const {
   return io::DirectoryStore(root_ + "/" + bucketName + "/" + prefix).list("", SIZE_MAX).size();
}

std::vector<std::string> Bucket::leftovers() const {
   io::DirectoryStore store(root_ + "/" + bucketName + "/" + prefix);
   const auto manifest = storage::Manifest::load(store);
   const auto lease = storage::LeaseEntry::newest(store);
   require(manifest && lease, "the bucket holds no database");
   // The previous manifest is kept, its objects are not.
   std::set<std::string> needed = {storage::Manifest::objectName(manifest->version),
                                   storage::Manifest::objectName(manifest->version - 1),
                                   storage::LeaseEntry::objectName(lease->number), manifest->catalogObject};
   for (const storage::Manifest::Table& table : manifest->tables) {
      if (table.listOfHeaders.empty()) continue;
      needed.insert(table.listOfHeaders);
      const auto list = storage::ListOfHeaders::deserialize(storage::getSealed(store, table.listOfHeaders));
      needed.insert(list.deleteObject);
      for (const storage::ListOfHeaders::Entry& entry : list.entries) {
         needed.insert(entry.headerObject);
         needed.insert(entry.blockObject);
         require(store.tag(entry.blockObject).has_value(), "there is no " + entry.blockObject);
      }
   }
   std::vector<std::string> found;
   for (const io::ObjectInfo& object : store.list("", SIZE_MAX))
      if (!needed.contains(object.name)) found.push_back(object.name);
   for (size_t i = pendingUploads(); i > 0; --i)
      found.emplace_back("an upload in parts");
   return found;
}

} // namespace ouzel::crash
