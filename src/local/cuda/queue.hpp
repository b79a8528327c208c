// Queues of a GPU: CUDA streams, with marks that are CUDA events.
#pragma once

#include "local/queue.hpp"

#include <cuda_runtime_api.h>

#include <memory>

namespace serried::inline v0::cuda {

/// The stream of a queue that this file made.
[[nodiscard]] cudaStream_t stream_of(const queue& q);

/// A queue of its own, beside the default stream; urgent: with the highest priority. Throws device_error.
[[nodiscard]] std::shared_ptr<queue> make_queue(int device, bool urgent);
/// Over a stream of somebody else's, on the GPU of another queue; its owner destroys it after the queue.
[[nodiscard]] std::shared_ptr<queue> wrap_stream(const queue& sibling, cudaStream_t stream);

}  // namespace serried::inline v0::cuda
