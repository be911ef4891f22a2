import { outageIn } from "#src/shared/outage.ts"
import { Message, MessageStorage } from "@effect/cluster"
import { type Rpc } from "@effect/rpc"
import { Cause, Effect, Layer } from "effect"

const longestPause = 3_000

/**
 * Tries again while the database is away or has no room. The engine itself gives up after a second, and never asks for
 * the reply again: what waits for it, a stage of a deployment, would wait until the next start. Only a pause can be
 * interrupted, so that the end of the process is not held up.
 */
const patiently = <A, R, E>(save: (reply: A) => Effect.Effect<R, E>, pause = 250) => (reply: A): Effect.Effect<R, E> =>
  Effect.catchIf(
    save(reply),
    (error) => outageIn(Cause.fail(error)) !== undefined,
    () =>
      Effect.zipRight(
        Effect.interruptible(Effect.sleep(pause)),
        patiently(save, Math.min(longestPause, pause * 2))(reply)
      )
  )

const withPatience = <R extends Rpc.Any>(message: Message.Incoming<R>): Message.Incoming<R> =>
  message._tag === "IncomingRequest"
    ? new Message.IncomingRequest({
      envelope: message.envelope,
      lastSentReply: message.lastSentReply,
      respond: patiently(message.respond)
    })
    : message

/** The engine's storage, which does not lose the reply of a stage for want of room or of the database. */
export const patientReplies = Layer.effect(
  MessageStorage.MessageStorage,
  Effect.map(MessageStorage.MessageStorage, (storage) =>
    MessageStorage.MessageStorage.of({
      ...storage,
      saveReply: (reply) => patiently(storage.saveReply)(reply),
      unprocessedMessages: (shardIds) =>
        Effect.map(storage.unprocessedMessages(shardIds), (found) => found.map(withPatience)),
      unprocessedMessagesById: (ids) =>
        Effect.map(storage.unprocessedMessagesById(ids), (found) => found.map(withPatience))
    }))
)
