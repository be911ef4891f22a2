import { mkdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { temporaryDirectory } from "../../support/Settings.ts"
import { berthCli } from "./run.ts"

const config = temporaryDirectory("session")
const sent: Array<string | undefined> = []
/** An installation that notes what credential it is sent, and lets in nobody. */
const installation = createServer((request, response) => {
  sent.push(request.headers.authorization)
  request.resume()
  response.writeHead(401, { "content-type": "application/json" }).end("{}")
})
let port = 0

beforeAll(async () => {
  await new Promise<void>((resolve) => installation.listen(0, "127.0.0.1", resolve))
  port = (installation.address() as AddressInfo).port
  mkdirSync(join(config, "berth"))
  const saved = { [`http://127.0.0.1:${port}`]: "svc_sess_mine" }
  writeFileSync(join(config, "berth/credentials.json"), JSON.stringify(saved))
})
afterAll(() => {
  installation.closeAllConnections()
  installation.close()
})

const credentialsFor = async (url: string) => {
  sent.length = 0
  for (const args of [["tools", url], ["call", url, "composite_members"]]) {
    expect((await berthCli(args, { XDG_CONFIG_HOME: config })).code).toBe(3)
  }
  expect(sent.length).toBeGreaterThan(1)
  return [...new Set(sent)]
}

describe("the session of berth login", () => {
  it.each(["mcp", "sse", "mcp/composites/01J00000000000000000000001", "mcp/composites/01J00000000000000000000001?a=b"])(
    "goes to the platform's own %s",
    async (path) => {
      expect(await credentialsFor(`http://127.0.0.1:${port}/${path}`)).toEqual(["Bearer svc_sess_mine"])
    }
  )

  it.each([
    "s/copper-ladle/mcp",
    "s/copper-ladle/mcp/composites/01J00000000000000000000001",
    "s/mcp/composites/01J00000000000000000000001",
    "s/%2e%2e/s/mcp",
    "mcp/composites/",
    "mcp/composites/a/b",
    "mcp/directory"
  ])("goes to no hosted server, and nowhere that takes no credential: %s", async (path) => {
    expect(await credentialsFor(`http://127.0.0.1:${port}/${path}`)).toEqual([undefined])
  })

  it.each(["localhost", "copper-ladle.mcp.localhost"])("goes to no other host: %s", async (host) => {
    expect(await credentialsFor(`http://${host}:${port}/mcp/composites/01J00000000000000000000001`)).toEqual([
      undefined
    ])
  })
})
