#include "io/object_store/store_statistics.hpp"

namespace ouzel::io {

double requestPrice(RequestKind kind) {
   switch (kind) {
   case RequestKind::Get:
   case RequestKind::Head: return 0.40e-6;
   case RequestKind::Put:
   case RequestKind::List: return 5e-6;
   case RequestKind::Delete: break;
   }
   return 0;
}

double RetrieverStatistics::estimatedCost(RequestKind kind) const {
   return static_cast<double>(of(kind).requests) * requestPrice(kind);
}

double RetrieverStatistics::estimatedCost() const {
   double sum = 0;
   for (size_t kind = 0; kind < requestKinds; ++kind)
      sum += estimatedCost(static_cast<RequestKind>(kind));
   return sum;
}

} // namespace ouzel::io
