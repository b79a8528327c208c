// Everything, but for the opt-in headers that need a vendor's (cuda.hpp, mpi.hpp).
#pragma once

#include <serried/array.hpp>
#include <serried/boundary.hpp>
#include <serried/communicator.hpp>
#include <serried/context.hpp>
#include <serried/creation.hpp>
#include <serried/dist/array.hpp>
#include <serried/dist/layout.hpp>
#include <serried/dist/mesh.hpp>
#include <serried/dtype.hpp>
#include <serried/elementwise.hpp>
#include <serried/error.hpp>
#include <serried/expr.hpp>
#include <serried/functions.hpp>
#include <serried/index.hpp>
#include <serried/indexing.hpp>
#include <serried/io.hpp>
#include <serried/logic.hpp>
#include <serried/manipulation.hpp>
#include <serried/memory.hpp>
#include <serried/reduce.hpp>
#include <serried/runtime.hpp>
#include <serried/scalar.hpp>
#include <serried/shape.hpp>
#include <serried/stream.hpp>
#include <serried/version.hpp>
