# `cmake --install build/release --prefix PREFIX`, which `make install`, the Debian package and the image use. The program finds
# Arrow beside itself (PREFIX/lib/ouzel), wherever PREFIX is moved to; other libraries are the system's.
if(NOT TARGET ouzel)
   return()
endif()
set_target_properties(ouzel PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/ouzel")
install(TARGETS ouzel RUNTIME DESTINATION bin)

set(OUZEL_DOC_DESTINATION share/doc/ouzel)
install(FILES README.md CHANGELOG.md LICENSE NOTICE docs/OPERATIONS.md docs/COMPATIBILITY.md docs/EXTERNAL.md docs/FORMAT.md
   DESTINATION ${OUZEL_DOC_DESTINATION})
install(FILES packaging/ouzel.conf DESTINATION ${OUZEL_DOC_DESTINATION}/examples)
if(OUZEL_PARQUET)
   install(FILES ${OUZEL_ARROW_LIBRARIES} DESTINATION lib/ouzel)
   # Of Arrow, and of what its libraries contain.
   file(GLOB OUZEL_ARROW_LICENSES "${OUZEL_ARROW_FOUND}/../pyarrow-*.dist-info/licenses/*")
   install(FILES ${OUZEL_ARROW_LICENSES} DESTINATION ${OUZEL_DOC_DESTINATION}/arrow)
endif()

# The unit names the prefix, which is known when it is installed.
set(OUZEL_UNIT ${CMAKE_BINARY_DIR}/generated/ouzel.service)
install(CODE "configure_file(\"${CMAKE_SOURCE_DIR}/packaging/ouzel.service.in\" \"${OUZEL_UNIT}\" @ONLY)")
install(FILES ${OUZEL_UNIT} DESTINATION lib/systemd/system)
install(FILES packaging/sysusers.conf DESTINATION lib/sysusers.d RENAME ouzel.conf)
