#include "common/base_type/type_form.hpp"

#include "common/base_type/bit_string.hpp"
#include "common/base_type/citext.hpp"
#include "common/base_type/cube.hpp"
#include "common/base_type/geometry.hpp"
#include "common/base_type/hstore.hpp"
#include "common/base_type/ltree.hpp"
#include "common/base_type/ltree_query.hpp"
#include "common/base_type/mac_address.hpp"
#include "common/base_type/money.hpp"
#include "common/base_type/network_address.hpp"
#include "common/base_type/pg_lsn.hpp"
#include "common/base_type/shapes.hpp"
#include "common/base_type/statistics_lists.hpp"
#include "common/base_type/tid.hpp"
#include "common/base_type/ts_query.hpp"
#include "common/base_type/ts_vector.hpp"
#include "common/base_type/vector.hpp"
#include "common/base_type/xid_snapshot.hpp"

namespace ouzel {

const TypeForm* findTypeForm(Oid type) {
   switch (type) {
   case oid::point: return &pointForm;
   case oid::box: return &boxForm;
   case oid::lseg: return &lsegForm;
   case oid::line: return &lineForm;
   case oid::path: return &pathForm;
   case oid::polygon: return &polygonForm;
   case oid::circle: return &circleForm;
   case oid::bit: return &bitForm;
   case oid::varbit: return &varbitForm;
   case oid::inet: return &inetForm;
   case oid::cidr: return &cidrForm;
   case oid::macaddr: return &macaddrForm;
   case oid::macaddr8: return &macaddr8Form;
   case oid::money: return &moneyForm;
   case oid::pgLsn: return &pgLsnForm;
   case oid::pgSnapshot: return &xidSnapshotForm;
   case oid::txidSnapshot: return &txidSnapshotForm;
   case oid::tid: return &tidForm;
   case oid::tsvector: return &tsvectorForm;
   case oid::tsquery: return &tsqueryForm;
   case oid::vector: return &vectorForm;
   case oid::hstore: return &hstoreForm;
   case oid::citext: return &citextForm;
   case oid::ltree: return &ltreeForm;
   case oid::lquery: return &lqueryForm;
   case oid::ltxtquery: return &ltxtqueryForm;
   case oid::cube: return &cubeForm;
   case oid::pgNdistinct: return &ndistinctForm;
   case oid::pgDependencies: return &dependenciesForm;
   case oid::pgMcvList: return &mcvListForm;
   default: return nullptr;
   }
}

} // namespace ouzel
