import { failsWith } from "#src/shared/Failure.ts"
import { Id } from "#src/shared/ids.ts"
import { Input, Text, Timestamp } from "#src/shared/text.ts"
import { Schema } from "effect"
import { ServerId } from "./Server.ts"

/** Contract: Platform resources, an environment variable. The value is stored encrypted and never returned. */
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

/** The one variable that may exceed the kernel's limit: it then reaches its machine in a file. */
export const readyConfigName = "SVC_READY_CONFIG"

/** UTF-8 bytes of a value: the kernel allows 128 KiB for one string of the environment (execve(2)). */
export const valueBytes = 96 * 1024
const readyConfigBytes = 1024 * 1024
/** For all values but the ready configuration: the kernel allows 2 MiB, of which an image's own need some. */
const totalBytes = 768 * 1024

const VariableValue = Text(readyConfigBytes).annotations({
  description: `At most 96 KiB of UTF-8; ${readyConfigName} at most 1 MiB`
})

/** Why a value is too long for its variable, or undefined. */
export const lengthProblem = (name: string, value: string): string | undefined => {
  const isConfig = name === readyConfigName
  return Buffer.byteLength(value) <= (isConfig ? readyConfigBytes : valueBytes)
    ? undefined
    : `must be at most ${isConfig ? "1 MiB" : `96 KiB (${readyConfigName} alone may be 1 MiB)`}`
}

/** Whether variables, by their values' lengths in bytes, exceed what a process can get. */
export const exceedsTotal = (variables: Iterable<readonly [name: string, bytes: number]>): boolean => {
  let sum = 0
  for (const [name, bytes] of variables) sum += name === readyConfigName ? 0 : bytes
  return sum > totalBytes
}

export const variableFields = { name: VariableName, value: VariableValue }
export const NamedVariable = Input(variableFields)
export const VariableUpdate = Input({ value: VariableValue })

/** Set by the platform at deploy time; a customer's value is stored and ignored (contract: Platform resources). */
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

export class TooManyVariables extends Schema.TaggedError<TooManyVariables>()("TooManyVariables", {
  what: Schema.Literal("number", "size")
}, failsWith(409)) {
  override get message() {
    return this.what === "number"
      ? "A server can have at most 100 environment variables; delete one first"
      : `A server's environment variables can hold at most 768 KiB together, ${readyConfigName} aside; delete one first`
  }
}
