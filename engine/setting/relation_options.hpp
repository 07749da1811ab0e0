#pragma once
#include <string>
#include <string_view>
#include <vector>

struct List;

namespace ouzel::engine {

/// The options of CREATE ... WITH (...) and ALTER ... SET (...): PostgreSQL's, checked and kept as "name=value".
/// Clients and dumps see them; of those of columns, planning takes the number of different values.
using RelationOptions = std::vector<std::string>;

enum class OptionOwner : unsigned {
   Table = 1,
   ToastTable = 2, ///< "toast.name" of a table: checked, and not kept, because there are no such tables
   View = 4,
   Btree = 8,
   Hash = 16,
   Gist = 32,
   SpGist = 64,
   Gin = 128,
   Brin = 256,
   Column = 512,
};

/// The owner of an index's options, by its access method. Throws 42704 for a method that does not exist.
OptionOwner indexOptionOwner(std::string_view method);

/// Checks the options of CREATE. Throws 22023 for options and values that the owner does not have.
RelationOptions checkedOptions(OptionOwner owner, const ::List* options);
/// ALTER ... SET (...): `old` with the options that change at the end. Throws as checkedOptions().
RelationOptions withOptions(OptionOwner owner, const RelationOptions& old, const ::List* changes);
/// ALTER ... RESET (...). Throws 42601 if a value is given.
RelationOptions withoutOptions(OptionOwner owner, const RelationOptions& old, const ::List* names);
/// Whether a view has WITH CHECK OPTION, which is an option of views, too.
bool hasCheckOption(const RelationOptions& options);

} // namespace ouzel::engine
