#include "picture.hpp"

#include <serried/serried.hpp>

#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace apps {

namespace {

constexpr std::int64_t largest_side = 4096;
constexpr std::int64_t wanted_side = 512;

// Black body: black, dark red, orange, yellow, white, evenly spaced in value.
struct color {
  double red, green, blue;
};
constexpr std::array palette{color{5, 4, 30},     color{70, 10, 90},   color{150, 30, 95},  color{215, 65, 60},
                             color{248, 130, 30}, color{250, 200, 60}, color{252, 252, 210}};

// `value` from 0 to 1.
void paint(double value, std::uint8_t* pixel) {
  const double at = value * static_cast<double>(palette.size() - 1);
  const auto i = std::min(static_cast<std::size_t>(at), palette.size() - 2);
  const double t = at - static_cast<double>(i);
  const auto mix = [t](double a, double b) { return static_cast<std::uint8_t>(std::lround(a + t * (b - a))); };
  pixel[0] = mix(palette[i].red, palette[i + 1].red);
  pixel[1] = mix(palette[i].green, palette[i + 1].green);
  pixel[2] = mix(palette[i].blue, palette[i + 1].blue);
}

}  // namespace

void write_png(const std::string& path, const serried::array& field) {
  std::vector<std::int64_t> sides;
  for (const std::int64_t n : field.shape())
    if (n != 1) sides.push_back(n);
  if (sides.size() > 2) throw serried::value_error("write_png: a field of one or two dimensions is needed");
  if (field.size() == 0) throw serried::value_error(path + ": an empty field cannot be drawn");
  const bool band = sides.size() < 2;
  const std::int64_t rows = band ? 1 : sides[0];
  const std::int64_t columns = sides.empty() ? 1 : sides.back();
  const auto values = field.to_vector<double>();
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  // Halved, so that the widest range does not overflow.
  const double low = *least / 2;
  const double range = *most / 2 - low;
  const auto share = [&](double v) { return range > 0 ? std::clamp((v / 2 - low) / range, 0.0, 1.0) : 0; };

  const std::int64_t longest = std::max(rows, columns);
  const std::int64_t magnified = std::max<std::int64_t>(1, wanted_side / longest);
  const std::int64_t thinned = (longest + largest_side - 1) / largest_side;
  const std::int64_t width = (columns + thinned - 1) / thinned * magnified;
  const std::int64_t height = band ? std::max<std::int64_t>(16, width / 8) : (rows + thinned - 1) / thinned * magnified;
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(width * height * 3));
  for (std::int64_t y = 0; y < height; ++y) {
    const std::int64_t row = band ? 0 : y / magnified * thinned;
    for (std::int64_t x = 0; x < width; ++x)
      paint(share(values[static_cast<std::size_t>(row * columns + x / magnified * thinned)]),
            &pixels[static_cast<std::size_t>((y * width + x) * 3)]);
  }

  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::vector<std::byte> encoded(bytes);
  if (png_image_write_to_memory(&image, encoded.data(), &bytes, 0, pixels.data(), 0, nullptr) == 0)
    throw serried::io_error(path + ": " + image.message);
  serried::write_file(path, std::span(encoded).first(bytes));
}

}  // namespace apps
