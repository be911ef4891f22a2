import { credentialsFolder, saveToken } from "#src/cli/mcp/credentials.ts"
import { parseUrl } from "#src/format/parse-url.ts"
import { Command, Options, Prompt } from "@effect/cli"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { Config, Data, Effect, Option, Redacted, Schema } from "effect"
import { ErrorAnswer, errorText } from "./error-answer.ts"
import { exitCodeOf, exitCodes } from "./exit-codes.ts"
import { fail } from "./fail.ts"
import { json, show } from "./json-output.ts"

class NoTerminal extends Data.TaggedError("NoTerminal")<{ readonly message: string }> {}

const Answer = Schema.Struct({
  ...ErrorAnswer.fields,
  data: Schema.optional(Schema.Struct({ token: Schema.String, expiresAt: Schema.String }))
})

/** Prompts, and fails without a terminal. */
const ask = <A>(prompt: Prompt.Prompt<A>, instead: string) =>
  Effect.if(process.stdin.isTTY === true, {
    onTrue: () => prompt,
    onFalse: () => new NoTerminal({ message: `There is no terminal to ask in: give ${instead}` })
  })

export const installationUrl = Options.text("url").pipe(
  Options.withDescription("The installation's base URL; BERTH_URL in scripts, else http://localhost:8787"),
  Options.withFallbackConfig(Config.string("BERTH_URL")),
  Options.withDefault("http://localhost:8787")
)
export const isInstallation = (url: string) => /^https?:\/\/./.test(url) && parseUrl(url) !== undefined
export const notInstallation = (url: string) =>
  `--url, or BERTH_URL, must be an http or https URL, but is ${JSON.stringify(url)}`

const email = Options.text("email").pipe(Options.withDescription("Asked for when left out"), Options.optional)
const password = Options.redacted("password").pipe(
  Options.withDescription("Asked for when left out; BERTH_PASSWORD in scripts"),
  Options.withFallbackConfig(Config.redacted("BERTH_PASSWORD")),
  Options.optional
)
const signUp = Options.boolean("sign-up").pipe(Options.withDescription("Open a new account"))

/** `berth login`: opens a session and keeps its token for `berth tools` and `berth call` on this installation. */
export const loginCommand = Command.make(
  "login",
  { url: installationUrl, email, password, signUp, json },
  ({ email, json, password, signUp, url }) =>
    Effect.gen(function*() {
      if (!isInstallation(url)) return yield* fail(notInstallation(url))
      yield* credentialsFolder
      const address = yield* Option.match(email, {
        onNone: () => ask(Prompt.text({ message: "E-mail" }), "--email, and --password or BERTH_PASSWORD"),
        onSome: Effect.succeed
      })
      const secret = yield* Option.match(password, {
        onNone: () => ask(Prompt.password({ message: "Password" }), "--password or set BERTH_PASSWORD"),
        onSome: Effect.succeed
      })
      const path = signUp ? "/v1/auth/signup" : "/v1/auth/login"
      const request = HttpClientRequest.post(`${url.replace(/\/$/, "")}${path}`).pipe(
        HttpClientRequest.bodyUnsafeJson({ email: address, password: Redacted.value(secret) })
      )
      const response = yield* HttpClient.execute(request)
      const answer = yield* HttpClientResponse.schemaBodyJson(Answer)(response)
      if (answer.data === undefined) return yield* fail(errorText(answer), exitCodeOf(response.status))
      const { expiresAt, token } = answer.data
      const file = yield* saveToken(url, token)
      yield* show(
        json,
        { url, expiresAt, file },
        () => `Logged in until ${expiresAt.slice(0, 10)}; the session is kept in ${file}`
      )
    }).pipe(
      Effect.catchTags({
        NoTerminal: ({ message }) => fail(message),
        SettingError: ({ message }) => fail(message),
        RequestError: () =>
          fail(`Nothing answers at ${url}; is berth running there? (--url says where)`, exitCodes.noAnswer),
        ResponseError: () => fail(`${url} does not answer like a Berth installation`),
        ParseError: () => fail(`${url} does not answer like a Berth installation`),
        QuitException: () => fail("Cancelled")
      })
    )
)
