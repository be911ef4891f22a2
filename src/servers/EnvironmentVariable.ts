import { failsWith } from "#src/shared/Failure.ts"
import { Id } from "#src/shared/ids.ts"
import { Input, Text, Timestamp } from "#src/shared/text.ts"
import { Schema } from "effect"
import { ServerId } from "./Server.ts"

/** Contract: "Environment variable". The value is stored encrypted and never returned. */
export const EnvironmentVariable = Schema.Struct({
  id: Id("EnvironmentVariableId", "Environment variable id, env_ and a ULID"),
  serverId: ServerId,
  name: Schema.String,
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotations({ title: "EnvironmentVariable" })

export const EnvironmentVariableRow = Schema.Struct({
  ...EnvironmentVariable.fields,
  createdAt: Schema.DateFromSelf,
  updatedAt: Schema.DateFromSelf
})

const namePattern = /^[A-Z_][A-Z0-9_]*$/

export const isVariableName = (text: string) => text.length <= 255 && namePattern.test(text)

const VariableName = Schema.String.pipe(
  Schema.pattern(namePattern, {
    message: () => "must be upper-case letters, digits and underscores, and not begin with a digit"
  }),
  Schema.maxLength(255, { message: () => "must be at most 255 characters" })
)

/** At most 32 KiB: the kernel takes 128 KiB for one string of the environment, and 2 MiB for all. */
const VariableValue = Text(32_768)

export const variableFields = { name: VariableName, value: VariableValue }
export const NamedVariable = Input(variableFields)
export const VariableUpdate = Input({ value: VariableValue })

/** What the platform itself sets at deploy time; a customer's value is stored and ignored (contract: reserved names). */
export const reservedNames: ReadonlySet<string> = new Set([
  "PORT",
  "AUTO_STOP_SECONDS",
  "HEALTH_CHECK_PATH",
  "HEALTH_CHECK_TIMEOUT_SECONDS",
  "SERVER_SUBDOMAIN",
  "OAUTH_BASE_URL",
  "SVC_MCP_PUBLIC_URL",
  "PLATFORM_MCP_REPLAY_TOKEN"
])

export class VariableNotFound extends Schema.TaggedError<VariableNotFound>()("VariableNotFound", {}, failsWith(404)) {
  override get message() {
    return "The server has no such environment variable"
  }
}

export class TooManyVariables extends Schema.TaggedError<TooManyVariables>()("TooManyVariables", {}, failsWith(409)) {
  override get message() {
    return "A server can have at most 100 environment variables; delete one first"
  }
}
