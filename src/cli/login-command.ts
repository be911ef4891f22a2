import { Command, Options } from "@effect/cli"
import { Config, Console, Effect, Option } from "effect"
import { exitCodes } from "./exit-codes.ts"
import { fail } from "./fail.ts"
import { installationUrl, isInstallation, notInstallation } from "./installation.ts"
import { json, show } from "./json-output.ts"
import { byPassword, hasTerminal, NoTerminal } from "./login/by-password.ts"
import { type Credential, credentialsFolder, saveCredential } from "./login/credentials.ts"
import { givenToken } from "./login/given-token.ts"

const email = Options.text("email").pipe(
  Options.withDescription("Log in by password in the terminal, and not in the browser"),
  Options.optional
)
const password = Options.redacted("password").pipe(
  Options.withDescription("Asked for when left out; BERTH_PASSWORD in scripts"),
  Options.withFallbackConfig(Config.redacted("BERTH_PASSWORD")),
  Options.optional
)
const signUp = Options.boolean("sign-up").pipe(Options.withDescription("Open a new account, by password"))
const web = Options.boolean("web").pipe(
  Options.withDescription("Log in in the browser, also where there is no terminal")
)
const withToken = Options.boolean("with-token").pipe(
  Options.withDescription("Keep a session token or API key, read from standard input")
)

/** With the library of OAuth, which the other ways don't need. */
const loadBrowser = Effect.promise(() => import("./login/by-browser.ts"))

/** Keeps what a login gave, and ends a browser's login that it takes the place of. */
const keep = (url: string) =>
  Effect.fnUntraced(function*(credential: Credential) {
    const { file, former } = yield* saveCredential(url, credential)
    if (former !== undefined && typeof former !== "string") yield* (yield* loadBrowser).revoke(former)
    return file
  })

/** On standard error, also with `--json`: without the address nobody can go on. */
const tellPage =
  (url: string, isJson: boolean) =>
  ({ opened, page, port }: { readonly opened: boolean; readonly page: string; readonly port: number }) => {
    const lines = opened
      ? [
        `Opened in your browser; if you don't see it, go to\n\n  ${page}\n`,
        "Waiting until you allow it there (Ctrl-C cancels)"
      ]
      : [
        `Open this address in a browser on this machine:\n\n  ${page}\n`,
        `From another machine: ssh -L ${port}:127.0.0.1:${port} to this one, and open it there`,
        `Without a browser: berth login --url ${url} --email you@example.com, or --with-token for an API key`,
        "Waiting until you allow it there (Ctrl-C cancels)"
      ]
    const text = lines.join("\n")
    return isJson ? Effect.sync(() => void process.stderr.write(`${text}\n`)) : Console.error(text)
  }

/** `berth login`: in the browser, by password, or with a token; keeps what the other commands then use. */
export const loginCommand = Command.make(
  "login",
  { url: installationUrl, web, email, password, signUp, withToken, json },
  ({ email, json, password, signUp, url, web, withToken }) =>
    Effect.gen(function*() {
      if (!isInstallation(url)) return yield* fail(notInstallation(url))
      const root = url.replace(/\/$/, "")
      const isByPassword = signUp || Option.isSome(email) || !web && !withToken && Option.isSome(password)
      if (Number(web) + Number(withToken) + Number(isByPassword) > 1) {
        return yield* fail("Give one of --web, --with-token, and --email or --sign-up")
      }
      yield* credentialsFolder
      if (isByPassword) {
        const { expiresAt, token } = yield* byPassword(root, { email, password, signUp })
        const file = yield* keep(url)(token)
        return yield* show(
          json,
          { url, expiresAt, file },
          () => `Logged in until ${expiresAt.slice(0, 10)}; the session is kept in ${file}`
        )
      }
      if (withToken) {
        const file = yield* keep(url)(yield* givenToken(root))
        return yield* show(json, { url, file }, () => `Logged in; the token is kept in ${file}`)
      }
      if (!web && (json || !hasTerminal())) {
        return yield* new NoTerminal({
          message: "There is no terminal to ask in: give --email, and --password or BERTH_PASSWORD; --web for the " +
            "browser; or --with-token"
        })
      }
      const { byBrowser } = yield* loadBrowser
      const file = yield* byBrowser(root, tellPage(url, json), keep(url))
      yield* show(json, { url, file }, () => `Logged in to ${url}; the login is kept in ${file}`)
    }).pipe(
      Effect.catchTags({
        NoTerminal: ({ message }) => fail(message),
        SettingError: ({ message }) => fail(message),
        CliFailure: ({ code, message }) => fail(message, code),
        RequestError: () =>
          fail(`Nothing answers at ${url}; is berth running there? (--url says where)`, exitCodes.noAnswer),
        ResponseError: () => fail(`${url} does not answer like a Berth installation`),
        ParseError: () => fail(`${url} does not answer like a Berth installation`),
        QuitException: () => fail("Cancelled")
      })
    )
)
