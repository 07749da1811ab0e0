#include "executor/function/context.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/large_object_functions.hpp"
#include "executor/function/session_functions.hpp"

// lo_create(), lo_open(), loread(), ... The session has the descriptors and writes the objects (LargeObjectFunctions).

namespace ouzel::executor {

namespace {

LargeObjectFunctions& objectsOf(KernelEnv& env) {
   return env.context.requireSession("large objects").largeObjects();
}

/// A position in an object for the functions that have only 32 bits for it.
int32_t narrowed(int64_t position, const char* function, int32_t descriptor) {
   if (position != static_cast<int32_t>(position))
      throw SqlError(sqlstate::numericValueOutOfRange, std::string(function) +
                                                           " result out of range for large-object descriptor " +
                                                           std::to_string(descriptor));
   return static_cast<int32_t>(position);
}

int64_t creat(int32_t, KernelEnv& env) {
   return objectsOf(env).create(invalidOid);
}
int64_t create(int64_t wanted, KernelEnv& env) {
   return objectsOf(env).create(static_cast<Oid>(wanted));
}
int64_t fromBytea(int64_t wanted, const StringView& bytes, KernelEnv& env) {
   const Oid object = objectsOf(env).create(static_cast<Oid>(wanted));
   objectsOf(env).put(object, 0, bytes.view());
   return object;
}
int32_t unlink(int64_t object, KernelEnv& env) {
   objectsOf(env).unlink(static_cast<Oid>(object));
   return 1;
}

int32_t open(int64_t object, int32_t mode, KernelEnv& env) {
   return objectsOf(env).open(static_cast<Oid>(object), mode, *env.context.catalog);
}
int32_t close(int32_t descriptor, KernelEnv& env) {
   objectsOf(env).close(descriptor);
   return 0;
}
StringView read(int32_t descriptor, int32_t count, KernelEnv& env) {
   return env.copy(objectsOf(env).read(descriptor, count));
}
int32_t write(int32_t descriptor, const StringView& bytes, KernelEnv& env) {
   return objectsOf(env).write(descriptor, bytes.view());
}
int64_t seek64(int32_t descriptor, int64_t offset, int32_t whence, KernelEnv& env) {
   return objectsOf(env).seek(descriptor, offset, whence);
}
int32_t seek(int32_t descriptor, int32_t offset, int32_t whence, KernelEnv& env) {
   return narrowed(objectsOf(env).seek(descriptor, offset, whence), "lo_lseek", descriptor);
}
int64_t tell64(int32_t descriptor, KernelEnv& env) {
   return objectsOf(env).tell(descriptor);
}
int32_t tell(int32_t descriptor, KernelEnv& env) {
   return narrowed(objectsOf(env).tell(descriptor), "lo_tell", descriptor);
}
int32_t truncate64(int32_t descriptor, int64_t size, KernelEnv& env) {
   objectsOf(env).truncate(descriptor, size);
   return 0;
}
int32_t truncate(int32_t descriptor, int32_t size, KernelEnv& env) {
   return truncate64(descriptor, size, env);
}

StringView get(int64_t object, KernelEnv& env) {
   return env.copy(objectsOf(env).get(static_cast<Oid>(object), 0, std::nullopt, *env.context.catalog));
}
StringView getFragment(int64_t object, int64_t offset, int32_t count, KernelEnv& env) {
   if (count < 0) throw SqlError(sqlstate::invalidParameterValue, "requested length cannot be negative");
   return env.copy(objectsOf(env).get(static_cast<Oid>(object), offset, count, *env.context.catalog));
}
StringView put(int64_t object, int64_t offset, const StringView& bytes, KernelEnv& env) {
   objectsOf(env).put(static_cast<Oid>(object), offset, bytes.view());
   return StringView();
}

int64_t importFile(const StringView& path, KernelEnv& env) {
   return objectsOf(env).importFile(std::string(path.view()), invalidOid);
}
int64_t importFileAs(const StringView& path, int64_t wanted, KernelEnv& env) {
   return objectsOf(env).importFile(std::string(path.view()), static_cast<Oid>(wanted));
}
int32_t exportFile(int64_t object, const StringView& path, KernelEnv& env) {
   objectsOf(env).exportFile(static_cast<Oid>(object), std::string(path.view()), *env.context.catalog);
   return 1;
}

} // namespace

void registerLargeObject() {
   addKernel<creat>("be_lo_creat");
   addKernel<create>("be_lo_create");
   addKernel<fromBytea>("be_lo_from_bytea");
   addKernel<unlink>("be_lo_unlink");
   addKernel<open>("be_lo_open");
   addKernel<close>("be_lo_close");
   addKernel<read>("be_loread");
   addKernel<write>("be_lowrite");
   addKernel<seek>("be_lo_lseek");
   addKernel<seek64>("be_lo_lseek64");
   addKernel<tell>("be_lo_tell");
   addKernel<tell64>("be_lo_tell64");
   addKernel<truncate>("be_lo_truncate");
   addKernel<truncate64>("be_lo_truncate64");
   addKernel<get>("be_lo_get");
   addKernel<getFragment>("be_lo_get_fragment");
   addKernel<put>("be_lo_put");
   addKernel<importFile>("be_lo_import");
   addKernel<importFileAs>("be_lo_import_with_oid");
   addKernel<exportFile>("be_lo_export");
}

} // namespace ouzel::executor
