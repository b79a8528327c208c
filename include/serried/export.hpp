// Symbols of the shared library are hidden unless marked with SERRIED_API.
#pragma once

#define SERRIED_API [[gnu::visibility("default")]]
