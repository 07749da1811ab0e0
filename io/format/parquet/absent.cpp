#include "common/error/sql_error.hpp"
#include "io/format/parquet/parquet.hpp"

// Replaces the other sources of this folder in builds without Arrow (cmake/arrow.cmake).

namespace ouzel::io {

namespace {
[[noreturn]] void throwAbsent() {
   throw SqlError(sqlstate::featureNotSupported, "this build has no Parquet support")
       .hint("Run scripts/install-deps and build again.");
}
} // namespace

ExternalTablePtr openParquet(const ExternalRequest&) {
   throwAbsent();
}

std::unique_ptr<ParquetWriter> makeParquetWriter(OutputFile&, const std::vector<ExternalColumn>&,
                                                 const std::vector<Representation>&, const ParquetOptions&,
                                                 Reservation&) {
   throwAbsent();
}

} // namespace ouzel::io
