import { Effect, Queue } from "effect"

/**
 * Where it is said that images may have become unneeded: a deployment failed, a server is gone. Whoever says so does not
 * wait; many words that come at once are one (Retention.ts acts on them).
 */
export class ImageCleanup extends Effect.Service<ImageCleanup>()("images/ImageCleanup", {
  effect: Effect.map(Queue.sliding<void>(1), (requests) => ({
    request: Effect.asVoid(Queue.offer(requests, undefined)),
    /** Waits until somebody has said so since the last time. */
    requested: Queue.take(requests)
  }))
}) {}
