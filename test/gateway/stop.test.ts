import { buildReadyImage } from "#src/ready-image/build-image.ts"
import { copyFileSync } from "node:fs"
import { request } from "node:http"
import { join } from "node:path"
import { expect, it } from "vitest"
import { readyServerBundle } from "../ready-server/bundle.ts"
import { dataOf } from "../support/account.ts"
import { Berth } from "../support/Berth.ts"
import { describeLong } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"

const notLinux = process.platform === "linux" ? undefined : "the ready image is made of this Node, on Linux only"

interface Published {
  readonly serverId: string
  readonly mcpUrl: string
}

/** A stream that has begun, and its end. */
const opened = (url: string, token: string) =>
  new Promise<{ readonly closed: Promise<void> }>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept: "*/*" }
    request(url, { headers }).on("error", reject).on("response", (response) => {
      const closed = new Promise<void>((done) => void response.on("close", done).on("error", () => undefined))
      if (response.statusCode !== 200) reject(new Error(`the stream was answered with ${response.statusCode}`))
      response.once("data", () => resolve({ closed }))
    }).end()
  })

describeLong("a stop, with an event stream of a hosted server open", () => {
  it("ends the stream at once, whatever its client said to accept", async () => {
    const home = temporaryDirectory("ready")
    const bundle = join(home, "server.js")
    copyFileSync(await readyServerBundle(), bundle)
    const { path } = await buildReadyImage(join(home, "layout"), { server: bundle })
    const berth = await new Berth().start({ machines: true, variables: { READY_IMAGE: `oci:${path}` } })
    const owner = await berth.signUp()
    const file = { filename: "menu.csv", content: "name\nSoup\n", name: "Ladle" }
    const { mcpUrl, serverId } = dataOf(
      await owner.post<{ data: Published }>("/api/v1/ready/businesses/publish", file)
    )
    const { accessToken } = dataOf(
      await owner.request<{ data: { accessToken: string } }>("POST", `/v1/servers/${serverId}/test-token`)
    )
    const stream = await opened(mcpUrl.replace(/mcp$/, "sse"), accessToken)
    const started = performance.now()
    await berth.stop()
    await stream.closed
    // Machines are given two seconds to end by themselves.
    expect(performance.now() - started).toBeLessThan(9_000)
    expect(berth.logged.filter((line) => line.includes("waiting for"))).toEqual([])
  }, 60_000)
}, notLinux)
