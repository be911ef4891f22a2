import { request } from "node:http"
import { expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { freshAddress } from "../support/http.ts"

const berth = useBerth({ variables: { ALLOWED_ORIGINS: "https://app.example" } })

/** `fetch` does not let a Host be set. */
const statusFor = (host: string, token: string, path = "/mcp") =>
  new Promise<number | undefined>((resolve, reject) => {
    const headers = {
      host,
      authorization: `Bearer ${token}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "x-forwarded-for": freshAddress()
    }
    const sent = request(`${berth.url}${path}`, { method: "POST", headers, agent: false }, (response) => {
      resolve(response.statusCode)
      response.destroy()
    })
    sent.on("error", reject).end(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }))
  })

it("DNS rebinding: the MCP door takes our hosts, addresses and localhost, and answers any other name with 421", async () => {
  const { token } = await berth.signUp()
  const { port } = new URL(berth.url)
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, "[::1]", "10.0.0.7", "app.example"]) {
    expect([host, await statusFor(host, token)]).toEqual([host, 200])
  }
  for (const host of ["evil.example", `127.0.0.1.evil.example:${port}`, "localhost.evil.example"]) {
    expect([host, await statusFor(host, token)]).toEqual([host, 421])
    expect([host, await statusFor(host, token, "/message?sessionId=x")]).toEqual([host, 421])
  }
})
