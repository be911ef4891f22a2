import { CliFailure } from "#src/cli/CliFailure.ts"
import { ErrorAnswer, errorText } from "#src/cli/error-answer.ts"
import { exitCodeOf } from "#src/cli/exit-codes.ts"
import { Prompt } from "@effect/cli"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { Data, Effect, Option, Redacted, Schema } from "effect"

export class NoTerminal extends Data.TaggedError("NoTerminal")<{ readonly message: string }> {}

const Answer = Schema.Struct({
  ...ErrorAnswer.fields,
  data: Schema.optional(Schema.Struct({ token: Schema.String, expiresAt: Schema.String }))
})

/** Whether there is somebody to ask. */
export const hasTerminal = () => process.stdin.isTTY === true

/** Prompts, and fails without a terminal. */
const ask = <A>(prompt: Prompt.Prompt<A>, instead: string) =>
  Effect.if(hasTerminal(), {
    onTrue: () => prompt,
    onFalse: () => new NoTerminal({ message: `There is no terminal to ask in: give ${instead}` })
  })

export interface Account {
  readonly email: Option.Option<string>
  readonly password: Option.Option<Redacted.Redacted>
  readonly signUp: boolean
}

/** Opens a session, or with `signUp` an account and a session. */
export const byPassword = Effect.fn("cli.logInByPassword")(function*(root: string, account: Account) {
  const email = yield* Option.match(account.email, {
    onNone: () => ask(Prompt.text({ message: "E-mail" }), "--email, and --password or BERTH_PASSWORD"),
    onSome: Effect.succeed
  })
  const password = yield* Option.match(account.password, {
    onNone: () => ask(Prompt.password({ message: "Password" }), "--password or set BERTH_PASSWORD"),
    onSome: Effect.succeed
  })
  const request = HttpClientRequest.post(`${root}${account.signUp ? "/v1/auth/signup" : "/v1/auth/login"}`).pipe(
    HttpClientRequest.bodyUnsafeJson({ email, password: Redacted.value(password) })
  )
  const response = yield* HttpClient.execute(request)
  const answer = yield* HttpClientResponse.schemaBodyJson(Answer)(response)
  return answer.data ??
    (yield* new CliFailure({ message: errorText(answer), code: exitCodeOf(response.status, answer.error?.code) }))
})
