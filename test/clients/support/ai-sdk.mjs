// Calls one tool with the AI SDK's MCP client, which keeps its sign-in in a file as an application would:
// node ai-sdk.mjs MODULE URL TOOL ARGUMENTS. Where to sign in is printed on stderr, the tool's result on stdout.
import { once } from "node:events"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { homedir } from "node:os"
import { join } from "node:path"

const [module, url, tool, args] = process.argv.slice(2)
const { auth, createMCPClient, UnauthorizedError } = await import(module)

const file = join(homedir(), "ai-sdk.json")
const kept = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {}
const read = (name) => () => kept[name]
const keep = (name) => (value) => {
  kept[name] = value
  writeFileSync(file, JSON.stringify(kept))
}

const callback = createServer().listen(kept.port ?? 0, "127.0.0.1")
await once(callback, "listening")
keep("port")(callback.address().port)
const redirectUrl = `http://127.0.0.1:${kept.port}/callback`
const answered = new Promise((resolve) => {
  callback.on("request", (request, response) => {
    resolve(new URL(request.url, redirectUrl).searchParams)
    response.end("Go back to the program")
  })
})

const authProvider = {
  redirectUrl,
  clientMetadata: {
    client_name: "AI SDK",
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none"
  },
  isClientInformationDynamicallyRegistered: () => true,
  clientInformation: read("client"),
  saveClientInformation: keep("client"),
  authorizationServerInformation: read("authorizationServer"),
  saveAuthorizationServerInformation: keep("authorizationServer"),
  tokens: read("tokens"),
  saveTokens: keep("tokens"),
  codeVerifier: read("verifier"),
  saveCodeVerifier: keep("verifier"),
  redirectToAuthorization: (to) => void console.error(`Sign in at ${to.href} `)
}

const connect = () => createMCPClient({ transport: { type: url.endsWith("/sse") ? "sse" : "http", url, authProvider } })

const signIn = async (error) => {
  if (!(error instanceof UnauthorizedError)) throw error
  await auth(authProvider, { serverUrl: url, authorizationCode: (await answered).get("code") })
  return connect()
}

const client = await connect().catch(signIn)
const tools = await client.tools()
console.log(JSON.stringify(await tools[tool].execute(JSON.parse(args), { toolCallId: "1", messages: [] })))
await client.close()
process.exit(0)
