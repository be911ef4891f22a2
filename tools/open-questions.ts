import { failsWith } from "#src/shared/Failure.ts"
import { Effect, Schema } from "effect"

/** An agent asks one person, and one question after the other. */
const mostOfAccount = 20
/** Each holds a call open for as long as a person thinks. */
const mostInAll = 1_000

export class TooManyQuestions extends Schema.TaggedError<TooManyQuestions>()("TooManyQuestions", {
  most: Schema.Int
}, failsWith(429)) {
  readonly retryAfter = 60
  override get message() {
    return `${this.most} questions to this account's user wait for an answer already: nothing was done. ` +
      "Call it again when one of them is answered"
  }
}

export class NoRoomForQuestions extends Schema.TaggedError<NoRoomForQuestions>()(
  "NoRoomForQuestions",
  {},
  failsWith(503)
) {
  readonly retryAfter = 60
  override get message() {
    return "Too many questions wait for people's answers at this moment: nothing was done. Call it again in a minute"
  }
}

/** The questions that wait for a person, so many an account and in all: a call that would ask one more is refused. */
export const openQuestions = () => {
  const open = new Map<string, number>()
  let all = 0

  const begin = (accountId: string) =>
    Effect.suspend((): Effect.Effect<void, TooManyQuestions | NoRoomForQuestions> => {
      const own = open.get(accountId) ?? 0
      if (own >= mostOfAccount) return new TooManyQuestions({ most: mostOfAccount })
      if (all >= mostInAll) return new NoRoomForQuestions()
      open.set(accountId, own + 1)
      all++
      return Effect.void
    })

  const end = (accountId: string) =>
    Effect.sync(() => {
      const left = (open.get(accountId) ?? 1) - 1
      if (left === 0) open.delete(accountId)
      else open.set(accountId, left)
      all--
    })

  return <A, E, R>(accountId: string, ask: Effect.Effect<A, E, R>) =>
    Effect.acquireUseRelease(begin(accountId), () => ask, () => end(accountId))
}
