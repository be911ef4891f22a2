import { request } from "node:http"
import { expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { freshAddress, sendRaw } from "../support/http.ts"

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

it("a client that asks for the end of the connection gets it", async () => {
  const { token } = await berth.signUp()
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })
  const head = [
    "POST /mcp HTTP/1.1",
    "Host: localhost",
    `Authorization: Bearer ${token}`,
    "Accept: application/json, text/event-stream",
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    "Connection: close"
  ]
  expect(await sendRaw(berth.url, `${head.join("\r\n")}\r\n\r\n${body}`)).toMatch(/^HTTP\/1\.1 200 /)
})

it("DNS rebinding: the MCP door takes our hosts, addresses and localhost, and answers any other name with 421", async () => {
  const { token } = await berth.signUp()
  const { port } = new URL(berth.url)
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, "[::1]", "10.0.0.7", "app.example"]) {
    expect(await statusFor(host, token), host).toBe(200)
  }
  for (const host of ["evil.example", `127.0.0.1.evil.example:${port}`, "localhost.evil.example"]) {
    expect(await statusFor(host, token), host).toBe(421)
    expect(await statusFor(host, token, "/message?sessionId=x"), host).toBe(421)
  }
})
