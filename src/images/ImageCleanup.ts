import { Effect, Queue } from "effect"

/**
 * Requests the removal of unused images after a deployment failed or a server was deleted. A request doesn't wait, and
 * concurrent requests are merged into one. Retention.ts does the work.
 */
export class ImageCleanup extends Effect.Service<ImageCleanup>()("images/ImageCleanup", {
  effect: Effect.map(Queue.sliding<void>(1), (requests) => ({
    request: Effect.asVoid(Queue.offer(requests, undefined)),
    /** Waits for a request since the last call. */
    requested: Queue.take(requests)
  }))
}) {}
