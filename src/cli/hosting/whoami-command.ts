import { json, show } from "#src/cli/json-output.ts"
import { Command } from "@effect/cli"
import { Effect, Option } from "effect"
import { access, connect, facts, orEnd } from "./platform.ts"

interface Held {
  readonly type: string
  readonly expiresAt?: Date
  readonly environment?: string
  readonly projectId?: string
}

/** How one is logged in, in words. */
const wayOf = ({ environment, expiresAt, projectId, type }: Held) => {
  switch (type) {
    case "session":
      return `a session, until ${expiresAt?.toISOString().slice(0, 10)} or longer while it is used`
    case "oauth":
      return "the browser; renewed by itself, until berth logout or 30 days without use"
    default:
      return `an API key (${environment}) of the project ${projectId}`
  }
}

/** `berth whoami`: whose account commands act for, and by what. */
export const whoamiCommand = Command.make(
  "whoami",
  { ...access, json },
  ({ json, token, url }) =>
    Effect.gen(function*() {
      const { api } = yield* connect({ url, token })
      const { data: { credential, plan, user } } = yield* api.accounts.me()
      const from = Option.isSome(token) ? "--token or BERTH_TOKEN" : "berth login"
      const scopes = "scopes" in credential ? credential.scopes : undefined
      yield* show(json, { url, from, email: user.email, accountId: user.id, plan, credential }, () =>
        facts({
          Account: user.email,
          Plan: plan,
          Installation: url,
          "Logged in by": wayOf(credential),
          From: from,
          Scopes: scopes?.join(" ")
        }))
    }).pipe(orEnd(url))
)
