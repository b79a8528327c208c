# cmake -DROOT=DIR "-DFILES=a;b" -DOUTPUT=FILE -P embed.cmake: writes a C++ source that holds the files' text under their
# names relative to ROOT, for local/cuda/embedded.hpp.
set(text "#include \"local/cuda/embedded.hpp\"\n\nnamespace serried::inline v0::cuda {\n\nnamespace {\n")
string(APPEND text "constexpr embedded_file files[] = {\n")
foreach(file ${FILES})
  file(READ ${ROOT}/${file} content)
  string(APPEND text "    {\"${file}\", R\"serried(${content})serried\"},\n")
endforeach()
string(APPEND text "};\n}  // namespace\n\nstd::span<const embedded_file> embedded_files() { return files; }\n\n"
  "}  // namespace serried::inline v0::cuda\n")
file(WRITE ${OUTPUT} "${text}")
