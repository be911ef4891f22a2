import { parseUrl } from "#src/format/parse-url.ts"
import { Invalid } from "#src/shared/Failure.ts"
import { Input, List, optional, Text } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"

const isUrl = (text: string) => /^https?:$/.test(parseUrl(text)?.protocol ?? "")

const Endpoint = Text(2048).pipe(
  Schema.filter((text) => isUrl(text) || "must be an https URL", { jsonSchema: { format: "uri" } })
)

/**
 * The customer's own authorization server (contract: Update server body, byoa). The URLs are published exactly as sent;
 * the platform never fetches them.
 */
export const ByoaConfig = Input({
  issuer: Endpoint,
  jwksUri: Endpoint,
  authorizationEndpoint: Endpoint,
  tokenEndpoint: Endpoint
}).annotations({ title: "ByoaConfig" })
export type ByoaConfig = typeof ByoaConfig.Type

const Email = Text(254).pipe(
  Schema.pattern(/^[^\s@]+@[^\s@]+$/, { message: () => "must be an e-mail address" })
)

/** `PUT /v1/servers/:serverId/auth`. `byoaConfig` is required for byoa and rejected otherwise. */
export const authFields = {
  authMode: Schema.Literal("service_managed", "byoa"),
  byoaConfig: optional(ByoaConfig),
  access: optional(Schema.Literal("public", "owner", "list")).annotations({
    description: "Whom the server lets in: public any user, owner its owner, list its owner and the users of " +
      "allowedEmails whose addresses the operator has verified"
  }),
  allowedEmails: optional(List(Email).pipe(Schema.maxItems(1000, { message: () => "must be at most 1000 addresses" })))
}
export const ConfigureAuth = Input(authFields)

const loopback = new Set(["localhost", "127.0.0.1", "[::1]"])

const problem = (text: string, development: boolean) => {
  const url = new URL(text)
  if (url.protocol !== "https:" && !(development && loopback.has(url.hostname))) return "must be an https URL"
  if (url.username !== "" || url.password !== "") return "must not carry a user name or password"
  return url.hash === "" ? undefined : "must not have a fragment"
}

/** The rules that span fields or depend on the environment: https, or http on loopback in development. */
export const checkAuth = (input: typeof ConfigureAuth.Type, development: boolean) => {
  if (input.authMode === "service_managed") {
    return input.byoaConfig === undefined ? Effect.void : Invalid.field("byoaConfig", "only for authMode byoa")
  }
  if (input.byoaConfig === undefined) return Invalid.field("byoaConfig", "is required for authMode byoa")
  const issues = Object.entries(input.byoaConfig).flatMap(([name, text]) => {
    const message = problem(text, development)
    return message === undefined ? [] : [{ path: `byoaConfig.${name}`, message }]
  })
  return issues.length > 0 ? new Invalid({ issues }) : Effect.void
}
