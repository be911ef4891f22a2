import { Message, MessageStorage } from "@effect/cluster"
import { type Rpc } from "@effect/rpc"
import { Effect, Layer } from "effect"
import { RoomWaits } from "./RoomWaits.ts"

type Patiently = RoomWaits["patiently"]

const withPatience = (patiently: Patiently) => <R extends Rpc.Any>(message: Message.Incoming<R>): Message.Incoming<R> =>
  message._tag === "IncomingRequest"
    ? new Message.IncomingRequest({
      envelope: message.envelope,
      lastSentReply: message.lastSentReply,
      respond: (reply) => patiently(message.respond(reply))
    })
    : message

/**
 * The engine's storage, which does not lose the reply of a stage for want of room or of the database. The engine itself
 * gives up after a second, and never asks for the reply again: what waits for it would wait until the next start.
 */
export const patientReplies = Layer.effect(
  MessageStorage.MessageStorage,
  Effect.gen(function*() {
    const storage = yield* MessageStorage.MessageStorage
    const { patiently } = yield* RoomWaits
    const patient = withPatience(patiently)
    return MessageStorage.MessageStorage.of({
      ...storage,
      saveReply: (reply) => patiently(storage.saveReply(reply)),
      unprocessedMessages: (shardIds) =>
        Effect.map(storage.unprocessedMessages(shardIds), (found) => found.map(patient)),
      unprocessedMessagesById: (ids) => Effect.map(storage.unprocessedMessagesById(ids), (found) => found.map(patient))
    })
  })
)
