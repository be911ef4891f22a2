import { afterAll, beforeAll, expect, it } from "vitest"
import { findPeers } from "../clients/support/peers.ts"
import { startClientHost } from "../oauth/support/client-host.ts"
import { type Account, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { freePort } from "../support/http.ts"
import { describeWhen } from "../support/needs.ts"
import { PlainBrowser, registerClient } from "../support/pages.ts"
import { runAuthorizationSuite, withStatus } from "./support/suite.ts"

const found = await findPeers()

/**
 * All that the suite checks of an authorization server at this version. Its server mode has no scenario that looks at
 * access tokens or at a 401, and its `auth/` scenarios are for clients: those of the MCP SDK, mcp-remote and the
 * Inspector are pointed at us in test/clients.
 */
const checks = [
  "authorization-code-grant:authorization-code-grant",
  "authorization-server-metadata-endpoint:authorization-server-metadata",
  "authorization-server-metadata-endpoint:authorization-server-metadata-cimd"
]

describeWhen(
  typeof found === "string" ? found : undefined,
  "the official conformance suite, authorization mode",
  () => {
    if (typeof found === "string") return
    const berth = useBerth({ variables: { ALLOWED_PRIVATE_HOSTS: "127.0.0.1" } })
    let user: Account
    let server: Server
    let stop = () => {}
    let described = ""

    beforeAll(async () => {
      const owner = await berth.signUp("enterprise")
      server = await owner.server((await owner.project()).id)
      user = await berth.signUp()
      const started = await startClientHost()
      stop = started.stop
      described = started.host.newId()
      // Programs list their callback without a port, as they do not know it yet (RFC 8252 §7.3).
      started.host.serve(started.host.document(described, { redirect_uris: ["http://127.0.0.1/callback"] }))
    })
    afterAll(() => stop())

    /** Signs in by the page, allows, and goes where the browser is sent. */
    const approve = async (url: string) => {
      const { pathname, search } = new URL(url)
      const browser = new PlainBrowser(berth)
      await browser.go(pathname + search)
      const signedIn = await browser.submit({ email: user.email, password: user.password })
      await browser.go(signedIn.headers.get("location") ?? "")
      const { headers, status, text } = await browser.submit({ decision: "allow" })
      const location = headers.get("location")
      if (location === null) throw new Error(`expected a redirect to the client, got ${status}: ${text}`)
      expect((await fetch(location)).status).toBe(200)
    }

    const clients = {
      "registers itself": () => registerClient(berth, "Conformance", "http://127.0.0.1/callback"),
      "is described by a document": () => Promise.resolve(described)
    } as const
    const resources = {
      "a hosted server": () => server.publicUrl,
      "the platform's /mcp": () => `${berth.url}/mcp`
    } as const

    for (const [kind, client] of Object.entries(clients)) {
      for (const [target, resource] of Object.entries(resources)) {
        it(`is passed wholly by a client that ${kind}, for ${target}`, async () => {
          const { code, outcomes, printed } = await runAuthorizationSuite(found, {
            issuer: berth.url,
            clientId: await client(),
            resource: resource(),
            port: await freePort(),
            approve
          })
          expect(withStatus(outcomes, "FAILURE", "WARNING", "SKIPPED", "INFO"), printed).toEqual([])
          expect(withStatus(outcomes, "SUCCESS"), printed).toEqual(checks)
          expect(code, printed).toBe(0)
        }, 150_000)
      }
    }
  }
)
