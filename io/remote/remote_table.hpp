#pragma once
#include <exception>
#include <memory>
#include <string>

#include "io/format/external_table.hpp"
#include "io/remote/remote_link.hpp"

namespace ouzel::io {

/// A table of another server. A scan sends a query whose rows come by a cursor, a few at a time, so that it takes
/// little memory however large the table is. Values come as texts.
class RemoteTable final : public ExternalTable {
public:
   struct Description {
      std::string localName; ///< for errors
      RemoteRelation relation;
      std::vector<ExternalColumn> columns;
      std::vector<std::string> localColumns; ///< their names here, for errors
      uint32_t fetchSize = 100;              ///< rows at a time
      const UserTypes* types = nullptr;      ///< of the session
   };
   /// `problem`: why scans cannot begin; null: they can, and `link` is there.
   RemoteTable(Description description, std::shared_ptr<RemoteLink> link, std::exception_ptr problem);

   std::string_view formatName() const override { return "Foreign"; }
   const RemoteRelation* remote() const override { return &description_.relation; }
   std::unique_ptr<ExternalScan> scan(ExternalScanSpec spec) const override;

private:
   const Description description_;
   const std::shared_ptr<RemoteLink> link_;
   const std::exception_ptr problem_;
};

} // namespace ouzel::io
