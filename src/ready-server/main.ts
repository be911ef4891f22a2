import { decodeReadyConfig, describeIssue } from "#src/format/ReadyConfig.ts"
import { Either } from "effect"
import { readFileSync } from "node:fs"
import { type Following, following, notFollowing } from "./follow.ts"
import { type Check, gatewayCheck, noCheck } from "./gateway-check.ts"
import { makeHttpServer } from "./http.ts"
import { introspection } from "./introspection.ts"
import { makeServers } from "./mcp.ts"
import { served, type ServedConfig } from "./served-config.ts"

// A program of its own, in an image of its own: it reads its variables itself, src/config/Settings.ts is the platform's.

const refuse = (message: string): never => {
  process.stderr.write(`Error: ${message}\n`)
  process.exit(1)
}

const given = (text: string | undefined): text is string => text !== undefined && text.trim() !== ""

/** A configuration too long for a variable comes in a file. The name of what it was read from, for messages. */
const configText = ({ SVC_READY_CONFIG: text, SVC_READY_CONFIG_FILE: path }: NodeJS.ProcessEnv) => {
  if (given(text)) return ["SVC_READY_CONFIG", text] as const
  if (!given(path)) return refuse("SVC_READY_CONFIG is not set: give it a ReadyConfig")
  try {
    return ["SVC_READY_CONFIG_FILE", readFileSync(path, "utf8")] as const
  } catch (error) {
    return refuse(`SVC_READY_CONFIG_FILE can't be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const readConfig = (env: NodeJS.ProcessEnv): ServedConfig => {
  const [name, text] = configText(env)
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return refuse(`${name} is not JSON`)
  }
  const config = decodeReadyConfig(json)
  if (Either.isLeft(config)) return refuse(`${name} is wrong: ${describeIssue(config.left)}`)
  return served(config.right)
}

const readPort = (text = "8080"): number =>
  /^\d{1,5}$/.test(text) && +text <= 65_535 ? +text : refuse("PORT is not a port number")

/** On the platform these are set; elsewhere there is no gateway to insist on. */
const readCheck = (
  { OAUTH_BASE_URL: issuer, PLATFORM_MCP_REPLAY_TOKEN: token, SVC_MCP_PUBLIC_URL: publicUrl }: NodeJS.ProcessEnv
): Check => {
  if (token === undefined || token === "") return noCheck
  const introspect = issuer === undefined
    ? () => Promise.resolve("unknown" as const)
    : introspection({ issuer, credential: token })
  return gatewayCheck({ replayToken: token, issuer, publicUrl, introspect })
}

/** Only the platform knows of changes. */
const readFollowing = (
  initial: ServedConfig,
  { OAUTH_BASE_URL: baseUrl, PLATFORM_MCP_REPLAY_TOKEN: credential }: NodeJS.ProcessEnv
): Following =>
  given(baseUrl) && given(credential) ? following({ initial, baseUrl, credential }) : notFollowing(initial)

const { current, follow } = readFollowing(readConfig(process.env), process.env)
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
server.on("error", (error) => refuse(`Cannot listen on PORT ${port}: ${error.message}`))
server.listen(port, () => {
  const address = server.address()
  process.stdout.write(
    `${current().business.name} is served on port ${typeof address === "object" ? address?.port : port} (/mcp, /sse)\n`
  )
})

/** Requests under way get 5 seconds. */
const stop = () => {
  endStreams()
  server.close(() => process.exit(0))
  server.closeIdleConnections()
  setTimeout(() => process.exit(0), 5000).unref()
}
process.on("SIGTERM", stop)
process.on("SIGINT", stop)
