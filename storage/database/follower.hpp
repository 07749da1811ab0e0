#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/sync/mutex.hpp"
#include "storage/database/committer.hpp"
#include "storage/database/retired_segments.hpp"
#include "storage/manifest/manifest.hpp"

namespace ouzel::storage {

/// Shows what another process writes. What its checkpoints publish becomes, manifest by manifest, what we show. A
/// manifest is one commit of ours, with a timestamp of our own: its new segments exist from that on, segments it does
/// not name are retired at it, rows it knows to be deleted are so since. So a snapshot goes on seeing the manifest it
/// was taken from, as long as the objects are there: the writer removes what its newest manifest has no use for, and
/// knows nothing of us.
///
/// Threads: any; shownMutex_ is held while one manifest is brought in, and is the first lock taken.
/// Invariants:
/// 1. Everything is read before anything is changed, and what is changed shows when the timestamp is published.
/// 2. Blocks and headers that are known are not read again: a segment's id never stands for other rows.
class Follower {
public:
   Follower(DatabaseFiles& files, StorageContext& context, TableRegistry& tables, Counters& counters,
            RetiredSegments& retired, Committer& committer)
      : files_(files), context_(context), tables_(tables), counters_(counters), retired_(retired),
        committer_(committer) {}
   Follower(const Follower&) = delete;
   Follower& operator=(const Follower&) = delete;

   // See Database.
   bool follow(const FollowCallback& publish);
   bool hasLostBlock() const { return hasLostBlock_.load(); }

private:
   struct Update;
   // With shownMutex_ held:
   /// Read that manifest and publish it.
   void followTo(const std::string& name, const FollowCallback& publish);
   bool isShown(const Manifest::Table& entry, const Table& table) const;
   void read(Update& update);
   std::shared_ptr<Segment> makeSegment(const ListOfHeaders::Entry& entry, BlockHeader header);
   void apply(Update& update, Timestamp timestamp);
   void forgetDropped();

   // PROPERTIES
   DatabaseFiles& files_;
   StorageContext& context_;
   TableRegistry& tables_;
   Counters& counters_;
   RetiredSegments& retired_;
   Committer& committer_;
   // STATE
   std::atomic<bool> hasLostBlock_{false}; ///< the writer has removed a block that was read

   Mutex shownMutex_;                           ///< guards what follows
   Manifest shown_;                             ///< version 0: none yet
   std::map<StorageId, std::string> listNames_; ///< of its tables' lists of headers
   /// Tables that the manifest does not name any more, and since when.
   std::vector<std::pair<Timestamp, StorageId>> dropped_;
};

} // namespace ouzel::storage
