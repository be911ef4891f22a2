import { type Actor, CurrentActor } from "#src/accounts/CurrentActor.ts"
import { type Answer, type Asked, invalid, type Question } from "#src/format/served-mcp.ts"
import { CallerLeft } from "#src/shared/CallerLeft.ts"
import { canonicalJson } from "#src/shared/canonical-json.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { Secrets } from "#src/shared/Secrets.ts"
import { Clock, Data, Effect, Option, Predicate, Schema } from "effect"
import { createHash } from "node:crypto"
import { openQuestions } from "./open-questions.ts"
import { type Tool } from "./Tool.ts"

/** The person said no, or nothing: nothing was done. */
class NotConfirmed extends Schema.TaggedError<NotConfirmed>()("NotConfirmed", {
  reason: Schema.String
}, failsWith(409, "NOT_CONFIRMED")) {
  override get message() {
    return `${this.reason}: nothing was done. Ask the user before you call it again`
  }
}

/** A `requestState` that is none of ours for this call: the protocol's error, and no result of a tool. */
export class ForeignState extends Data.TaggedError("ForeignState") {
  readonly error = invalid(
    "requestState was not given for this call, or more than ten minutes ago; call the tool again without it"
  )
}

const lifetimeMillis = 600_000
const field = "confirm"

const questionOf = (message: string): Question => ({
  message,
  requestedSchema: {
    type: "object",
    // Clients may accept with the defaults.
    properties: { [field]: { type: "boolean", title: "Yes, do it", default: false } },
    required: [field]
  }
})

const verdictOf = (answer: unknown) => {
  const { action, content } = Predicate.isRecord(answer) ? answer : { action: undefined, content: undefined }
  if (action === "accept" && Predicate.isRecord(content) && content[field] === true) return Effect.void
  return new NotConfirmed({
    reason: action === "cancel" ? "The user dismissed the question" : "The user did not confirm it"
  })
}

/** What a state is for: this caller, tool and arguments. Sealed with it, it opens for nothing else. */
const contextOf = ({ accountId, credential }: Actor, { name }: Tool, args: unknown) => {
  const digest = createHash("sha256").update(canonicalJson(JSON.stringify(args))).digest("base64url")
  return ["mcp confirm", accountId, credential.kind, credential.id, name, digest].join(" ")
}

/**
 * Asks the person before a tool with a `question` runs, where the client can be asked; others are asked by their host,
 * which sees `destructiveHint` (docs/decisions/confirmations.md). The answer is the result to give instead of the call's.
 */
export const confirmations = Effect.map(Secrets, (secrets) => {
  const whileOpen = openQuestions()
  const stateFor = Effect.fn("mcp.confirm.ask")(function*(context: string) {
    const until = (yield* Clock.currentTimeMillis) + lifetimeMillis
    return yield* secrets.seal(String(until), context)
  })
  const checkState = Effect.fn("mcp.confirm.check")(function*(state: string, context: string) {
    const until = yield* Effect.option(secrets.open(state, context))
    const now = yield* Clock.currentTimeMillis
    if (Option.isNone(until) || Number(until.value) < now) return yield* new ForeignState()
  })

  return Effect.fn("mcp.confirm")(function*(tool: Tool, args: unknown, { elicit, rounds }: Asked) {
    const actor = yield* CurrentActor
    const state = rounds?.state
    if (tool.question === undefined) return state === undefined ? undefined : yield* new ForeignState()
    const canBeAsked = elicit !== undefined || rounds?.canBeAsked === true || state !== undefined
    // Who may not call it is told so by the call.
    if (!canBeAsked || !tool.allows(actor)) return undefined
    // Wrong arguments, and what there is not, end here.
    const question = questionOf(yield* tool.question(args))
    const context = contextOf(actor, tool, args)
    if (state !== undefined) {
      yield* checkState(state, context)
      return yield* verdictOf(rounds?.responses[field])
    }
    if (elicit !== undefined) {
      const asked = Effect.tryPromise({
        try: (signal) => elicit(question, signal),
        catch: () => new NotConfirmed({ reason: "The client gave no answer to the question" })
      })
      // A client that gave up waiting has told its agent so: a later yes would surprise both.
      const left = Effect.zipRight(yield* CallerLeft, new NotConfirmed({ reason: "The call was canceled" }))
      return yield* Effect.flatMap(whileOpen(actor.accountId, Effect.raceFirst(asked, left)), verdictOf)
    }
    const request = { method: "elicitation/create", params: { mode: "form", ...question } }
    const asking: Answer = {
      resultType: "input_required",
      inputRequests: { [field]: request },
      requestState: yield* stateFor(context)
    }
    return asking
  })
})
