import { decodeReadyConfig, describeIssue } from "#src/format/ReadyConfig.ts"
import { Either } from "effect"
import { readFileSync } from "node:fs"
import { type ConfigFollower, following, notFollowing } from "./follow.ts"
import { type Check, gatewayCheck, noCheck } from "./gateway-check.ts"
import { makeHttpServer } from "./http.ts"
import { introspection } from "./introspection.ts"
import { makeServers } from "./mcp.ts"
import { type ServedConfig, withoutCredentials } from "./served-config.ts"

// A separate program in its own image: it reads its variables itself; src/config/Settings.ts is the platform's.

const fail = (message: string): never => {
  process.stderr.write(`Error: ${message}\n`)
  process.exit(1)
}

const isSet = (text: string | undefined): text is string => text !== undefined && text.trim() !== ""

/** A configuration too long for a variable comes in a file. The result names its source, for messages. */
const configText = ({ SVC_READY_CONFIG: text, SVC_READY_CONFIG_FILE: path }: NodeJS.ProcessEnv) => {
  if (isSet(text)) return ["SVC_READY_CONFIG", text] as const
  if (!isSet(path)) return fail("SVC_READY_CONFIG is not set: give it a ReadyConfig")
  try {
    return ["SVC_READY_CONFIG_FILE", readFileSync(path, "utf8")] as const
  } catch (error) {
    return fail(`SVC_READY_CONFIG_FILE can't be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const readConfig = (env: NodeJS.ProcessEnv): ServedConfig => {
  const [name, text] = configText(env)
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return fail(`${name} is not JSON`)
  }
  const config = decodeReadyConfig(json)
  if (Either.isLeft(config)) return fail(`${name} is wrong: ${describeIssue(config.left)}`)
  return withoutCredentials(config.right)
}

const readPort = (text = "8080"): number =>
  /^\d{1,5}$/.test(text) && +text <= 65_535 ? +text : fail("PORT is not a port number")

/** The platform sets these; elsewhere there is no gateway, and no check. */
const readCheck = (
  { OAUTH_BASE_URL: issuer, PLATFORM_MCP_REPLAY_TOKEN: token, SVC_MCP_PUBLIC_URL: publicUrl }: NodeJS.ProcessEnv
): Check => {
  if (token === undefined || token === "") return noCheck
  const introspect = issuer === undefined
    ? () => Promise.resolve("unknown" as const)
    : introspection({ issuer, credential: token })
  return gatewayCheck({ replayToken: token, issuer, publicUrl, introspect })
}

/** Only a server on the platform can learn of changes. */
const makeFollower = (
  initial: ServedConfig,
  { OAUTH_BASE_URL: baseUrl, PLATFORM_MCP_REPLAY_TOKEN: credential }: NodeJS.ProcessEnv
): ConfigFollower =>
  isSet(baseUrl) && isSet(credential) ? following({ initial, baseUrl, credential }) : notFollowing(initial)

const { current, follow } = makeFollower(readConfig(process.env), process.env)
const port = readPort(process.env.PORT)
const check = readCheck(process.env)
delete process.env.SVC_READY_CONFIG
delete process.env.PLATFORM_MCP_REPLAY_TOKEN

const { endStreams, server } = makeHttpServer({
  name: () => current().business.name,
  makeServer: makeServers(current),
  check,
  follow
})
server.on("error", (error) => fail(`Cannot listen on PORT ${port}: ${error.message}`))
server.listen(port, () => {
  const address = server.address()
  process.stdout.write(
    `${current().business.name} is served on port ${typeof address === "object" ? address?.port : port} (/mcp, /sse)\n`
  )
})

/** Requests in flight get 5 seconds. */
const stop = () => {
  endStreams()
  server.close(() => process.exit(0))
  server.closeIdleConnections()
  setTimeout(() => process.exit(0), 5000).unref()
}
process.on("SIGTERM", stop)
process.on("SIGINT", stop)
