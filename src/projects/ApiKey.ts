import { Scope } from "#src/accounts/CurrentActor.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { Id } from "#src/shared/ids.ts"
import { Input, List, Name, Timestamp } from "#src/shared/text.ts"
import { Schema } from "effect"
import { ProjectId } from "./Project.ts"

export const ApiKeyId = Id("ApiKeyId", "API key id, key_ and a ULID")
const Environment = Schema.Literal("live", "test")

/** Contract: Platform resources, API keys. `keyPrefix` is the start of the key, enough to recognise it. */
export const ApiKey = Schema.Struct({
  id: ApiKeyId,
  projectId: ProjectId,
  name: Schema.String,
  environment: Environment,
  keyPrefix: Schema.String,
  scopes: Schema.Array(Scope),
  createdAt: Timestamp,
  lastUsedAt: Schema.NullOr(Timestamp),
  expiresAt: Schema.NullOr(Timestamp),
  grantId: Schema.NullOr(Schema.String).annotations({
    description: "The grant of the OAuth client that made it: revoking it ends the key; null when its owner made it"
  })
}).annotations({ title: "ApiKey" })

export const ApiKeyRow = Schema.Struct({
  ...ApiKey.fields,
  createdAt: Schema.DateFromSelf,
  lastUsedAt: Schema.NullOr(Schema.DateFromSelf),
  expiresAt: Schema.NullOr(Schema.DateFromSelf)
})

/** The answer to the creation; no other shows `key`. */
export const CreatedApiKey = Schema.Struct({ key: Schema.String, ...ApiKey.fields })

export const ApiKeyInput = Input({
  name: Name,
  environment: Schema.optionalWith(Environment, { exact: true, default: () => "live" as const }),
  scopes: List(Scope).pipe(
    Schema.minItems(1, { message: () => "must name at least one scope" }),
    Schema.filter((scopes) => new Set(scopes).size === scopes.length || "must not repeat a scope", { jsonSchema: {} })
  )
})

export class ApiKeyNotFound extends Schema.TaggedError<ApiKeyNotFound>()("ApiKeyNotFound", {}, failsWith(404)) {
  override get message() {
    return "There is no such API key"
  }
}

export class TooManyKeys extends Schema.TaggedError<TooManyKeys>()("TooManyKeys", {}, failsWith(409)) {
  override get message() {
    return "A project can have at most 100 API keys; delete one first"
  }
}
