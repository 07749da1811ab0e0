#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <sys/stat.h>

#include "catalog/builtin/builtin.hpp"
#include "executor/function/session_functions.hpp"
#include "executor/function/system/server_files.hpp"
#include "executor/function/table/table_function_rows.hpp"

// pg_ls_dir(), pg_stat_file(), pg_ls_waldir() and their kin: what the server's directories have.

namespace ouzel::executor {

namespace {

namespace fs = std::filesystem;

int64_t timestampOf(const timespec& time) {
   constexpr int64_t epochSeconds = 946'684'800; // 2000-01-01 since 1970
   return (time.tv_sec - epochSeconds) * 1'000'000 + time.tv_nsec / 1'000;
}

/// Writes rows that are all known when the call begins.
class FileRows : public TableFunction {
public:
   FileRows(std::string_view function, std::vector<Representation> columns, FunctionContext& context,
            Reservation& memory)
      : function_(function), context_(context), out_(std::move(columns), memory) {}

   uint32_t next(uint32_t rowsMax, std::span<Vector> columns) override {
      out_.clear();
      for (; next_ < entries_.size() && out_.rowCount() < rowsMax; ++next_)
         write(entries_[next_], out_);
      out_.give(columns);
      return out_.rowCount();
   }

protected:
   struct Entry {
      std::string name;
      struct stat status {};
   };
   virtual void write(const Entry& entry, RowWriter& out) const = 0;
   void restart() {
      entries_.clear();
      next_ = 0;
   }
   /// The entries of a directory. `what`: its name for errors.
   void list(const std::string& path, const std::string& shown, bool missingOk, bool withStatus) {
      std::error_code error;
      for (auto it = fs::directory_iterator(path, error); !error && it != fs::directory_iterator();
           it.increment(error)) {
         Entry entry{it->path().filename().string()};
         // A file may be removed meanwhile.
         if (withStatus && (::stat(it->path().c_str(), &entry.status) != 0 || !S_ISREG(entry.status.st_mode))) continue;
         entries_.push_back(std::move(entry));
      }
      if (error && !(missingOk && error.value() == ENOENT))
         throwFileError("could not open directory %", shown, error.value());
   }

   const std::string function_;
   FunctionContext& context_;
   RowWriter out_;
   std::vector<Entry> entries_;
   size_t next_ = 0;
};

/// pg_ls_dir(): names.
class DirectoryNames final : public FileRows {
public:
   using FileRows::FileRows;
   void begin(std::span<const Vector> args, uint32_t row) override {
      restart();
      const RowCall call{args, row};
      for (size_t i = 0; i < call.size(); ++i)
         if (call.isNull(i)) return;
      const std::string shown(call.text(0));
      const bool missingOk = call.size() > 1 && call.value<bool>(1), withDots = call.size() > 1 && call.value<bool>(2);
      const std::string path = context_.requireSession("pg_ls_dir").serverFile(shown);
      if (withDots && fs::is_directory(path)) entries_ = {{"."}, {".."}};
      list(path, shown, missingOk, false);
   }

private:
   void write(const Entry& entry, RowWriter& out) const override { out.addText(entry.name); }
};

/// What a function's directory has; empty: nothing is archived.
std::string_view kindOf(std::string_view function) {
   if (function == "pg_ls_waldir") return "wal";
   if (function == "pg_ls_logdir") return "log";
   return function == "pg_ls_tmpdir" ? "spill" : "";
}

/// pg_ls_waldir() and its kin: names, sizes and times of the files that one of the server's directories has.
class ServerDirectory final : public FileRows {
public:
   using FileRows::FileRows;
   void begin(std::span<const Vector>, uint32_t) override {
      restart();
      const std::string directory = context_.requireSession(function_.c_str()).serverDirectory(kindOf(function_));
      if (!directory.empty()) list(directory, directory, true, true);
      std::erase_if(entries_, [](const Entry& entry) { return entry.name.starts_with('.'); });
   }

private:
   void write(const Entry& entry, RowWriter& out) const override {
      const int64_t size = entry.status.st_size, time = timestampOf(entry.status.st_mtim);
      out.addText(entry.name);
      out.add(PhysicalType::I64, &size);
      out.add(PhysicalType::I64, &time);
   }
};

/// pg_stat_file(): one row, of NULLs if the file is missing and may be.
class FileStatus final : public FileRows {
public:
   using FileRows::FileRows;
   void begin(std::span<const Vector> args, uint32_t row) override {
      restart();
      const RowCall call{args, row};
      const bool isNull = call.isNull(0) || (call.size() > 1 && call.isNull(1));
      Entry& entry = entries_.emplace_back();
      if (isNull) return;
      entry.name = call.text(0);
      if (::stat(context_.requireSession("pg_stat_file").serverFile(entry.name).c_str(), &entry.status) == 0) return;
      const int error = errno;
      if (!(call.size() > 1 && call.value<bool>(1) && error == ENOENT))
         throwFileError("could not stat file %", entry.name, error);
      entry.name.clear();
   }

private:
   void write(const Entry& entry, RowWriter& out) const override {
      if (entry.name.empty()) {
         for (int i = 0; i < 6; ++i)
            out.addNull();
         return;
      }
      const int64_t values[] = {entry.status.st_size, timestampOf(entry.status.st_atim),
                                timestampOf(entry.status.st_mtim), timestampOf(entry.status.st_ctim)};
      for (const int64_t& value : values)
         out.add(PhysicalType::I64, &value);
      out.addNull(); // no time of creation
      out.add(static_cast<bool>(S_ISDIR(entry.status.st_mode)));
   }
};

} // namespace

std::unique_ptr<TableFunction> makeFileRows(TableFunctionSignature& signature, FunctionContext& context,
                                            Reservation& memory) {
   const std::string_view source = signature.function->source;
   const auto make = [&]<typename Rows>(std::type_identity<Rows>) {
      return std::make_unique<Rows>(signature.function->name, signature.resultReprs, context, memory);
   };
   if (source == "pg_ls_dir" || source == "pg_ls_dir_1arg") return make(std::type_identity<DirectoryNames>());
   if (source == "pg_stat_file" || source == "pg_stat_file_1arg") return make(std::type_identity<FileStatus>());
   if (source == "pg_ls_waldir" || source == "pg_ls_logdir" || source == "pg_ls_tmpdir_noargs" ||
       source == "pg_ls_archive_statusdir")
      return make(std::type_identity<ServerDirectory>());
   return nullptr;
}

} // namespace ouzel::executor
