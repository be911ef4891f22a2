import { findServer } from "#src/cli/login/authorization-server.ts"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:http"
import { type AddressInfo } from "node:net"

/** An installation that names in its documents what it likes. */
const installation = (documents: (root: string) => { readonly resource?: string; readonly page?: string }) =>
  Effect.gen(function*() {
    let root = ""
    const server = yield* Effect.acquireRelease(
      Effect.async<ReturnType<typeof createServer>>((resume) => {
        const made = createServer(({ url = "" }, response) => {
          const { page = `${root}/authorize`, resource = `${root}/v1` } = documents(root)
          const body = url.includes("protected-resource")
            ? { resource, authorization_servers: [root], scopes_supported: ["account"] }
            : { issuer: root, authorization_endpoint: page, token_endpoint: `${root}/token` }
          response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body))
        })
        made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
      }),
      (made) =>
        Effect.sync(() => {
          made.closeAllConnections()
          made.close()
        })
    )
    root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return root
  })

describe("the authorization server of an installation", () => {
  it.scopedLive("has the page that it names, on this machine or by https", () =>
    Effect.gen(function*() {
      const own = yield* installation(() => ({}))
      assert.strictEqual((yield* findServer(own)).page, `${own}/authorize`)
      const elsewhere = yield* installation(() => ({ page: "https://login.example/authorize?tenant=1" }))
      assert.strictEqual((yield* findServer(elsewhere)).page, "https://login.example/authorize?tenant=1")
    }))

  it.scopedLive.each([
    "file:///bin/sh",
    "file://host.example/share/program.exe",
    "vscode://x/y",
    "javascript:alert(1)",
    "mailto:x@example.com",
    "http://login.example/authorize",
    "--help",
    ""
  ])("is refused when its page is %j", (page) =>
    Effect.gen(function*() {
      const { message } = yield* Effect.flip(findServer(yield* installation(() => ({ page }))))
      assert.include(message, "names no page to log in at that is https")
    }))

  it.scopedLive("says which installation it is of, and nothing that a shell would run", () =>
    Effect.gen(function*() {
      const moved = yield* installation(() => ({ resource: "https://berth.example:8443/base/v1" }))
      const { message } = yield* Effect.flip(findServer(moved))
      assert.include(message, "berth login --url https://berth.example:8443/base")
      for (const rest of ["; echo", "\n echo", "$(echo)", "`echo`", "\u001b[2J"]) {
        const root = yield* installation(() => ({ resource: `https://berth.example/${rest}/v1` }))
        const refused = yield* Effect.flip(findServer(root))
        assert.strictEqual(refused.message, `The installation at ${root} says that it is another`)
      }
    }))
})
