// Fields as pictures.
#pragma once

#include <serried/array.hpp>

#include <string>

namespace apps {

/// Draws a field of finite numbers of one or two dimensions (others of length 1 are dropped) as a PNG file, dark for
/// its smallest value and bright for its largest; a row is drawn as a band. Small fields are magnified, large ones
/// thinned out to at most 4096 pixels a side. Throws serried::io_error, leaving what was at `path` as it was.
void write_png(const std::string& path, const serried::array& field);

}  // namespace apps
