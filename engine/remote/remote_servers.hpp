#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engine/core/session_core.hpp"
#include "io/format/external_table.hpp"
#include "io/remote/remote_link.hpp"

// A session's connections to the servers of postgres_fdw.

namespace ouzel::engine {

/// Opens foreign tables, and keeps the connections that their scans make: one for each user mapping, until the session
/// ends. A transaction of the session is one of each connection that it uses. Used by the session's thread; workers use
/// the links.
class RemoteServers {
public:
   explicit RemoteServers(SessionCore& core);
   ~RemoteServers();
   RemoteServers(const RemoteServers&) = delete;

   /// The table of another server, for scans in the name of a role; null: the wrapper has no handler. Connects nowhere
   /// yet, and what is wrong with the user mapping is said by the scan.
   io::ExternalTablePtr open(const catalog::Relation& relation, Oid role);
   /// The same link for a query of the engine's own. Throws what is wrong with the user mapping.
   std::shared_ptr<io::RemoteLink> link(const catalog::ForeignServer& server, Oid role);

   /// Whether the running transaction has used another server.
   bool isUsed() const;
   /// A server to which there is a connection.
   struct Connected {
      std::string server;  ///< empty: it was dropped
      bool isValid = true; ///< the options are those with which the connection was made
   };
   std::vector<Connected> connections();
   /// Close connections, unless the running transaction uses them, which is a warning. Whether any was closed.
   bool disconnect(Oid server);
   bool disconnectAll();

private:
   struct Link {
      Oid server = invalidOid, mapping = invalidOid;
      std::shared_ptr<io::RemoteLink> link;
   };
   bool isValid(const Link& link) const;
   /// Closes connections whose server or mapping was changed or dropped, except those that a transaction uses.
   void closeOutdated();
   bool close(const Link& link, const std::string& server);
   void transactionEnded(bool commits) noexcept;

   SessionCore& core_;
   std::vector<Link> links_; ///< of a mapping whose options have changed, the old one too while a transaction uses it
};

} // namespace ouzel::engine
