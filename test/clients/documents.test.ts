import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js"
import type { Page } from "playwright-core"
import { beforeAll, describe, expect, it } from "vitest"
import { useChromium } from "../browser/chromium.ts"
import { allow, type Credentials, signIn, signUp } from "../browser/person.ts"
import { type Owner, owner } from "../program/support/owner.ts"
import { useProgram } from "../program/support/program.ts"
import { describeWhen, missingProgram } from "../support/needs.ts"
import { useDocumentHost } from "./support/document-host.ts"
import { newMachine } from "./support/machine.ts"
import { signInThroughInspector, signInThroughMcpRemote } from "./support/peer-programs.ts"
import { findPeers } from "./support/peers.ts"
import { connectWebClient } from "./support/web-client.ts"

const found = await findPeers()
const missing = missingProgram("chromium") ?? missingProgram("openssl")

describeWhen(missing, "clients described by a document, with a person at a browser", () => {
  const documents = useDocumentHost()
  const program = useProgram(documents.variables)
  const visit = useChromium()
  let own: Owner
  let url = ""
  beforeAll(async () => {
    own = await owner(program())
    url = `${(await own.server()).publicUrl}/mcp`
  })

  const trust = async (clientId: string) => {
    const body = { clientMetadataUrl: clientId }
    const { status, text } = await own.request("POST", `/api/v1/servers/${own.serverId}/clients`, { body })
    expect(status, text).toBe(201)
  }
  const whoItIs = () => `Identity\n${documents.host()} (it is described there)`

  describeWhen(typeof found === "string" ? found : undefined, "a program on the user's machine", () => {
    if (typeof found === "string") return
    const redirects = ["http://localhost/oauth/callback", "http://127.0.0.1/oauth/callback"]

    it("mcp-remote is asked about by its host's name, each time, also when the server's owner trusts it", async () => {
      const clientId = documents.publish("Editor", ...redirects)
      const read: Array<string> = []
      const { page } = await visit()
      let known: Credentials | undefined
      const browse = async (asked: string) => {
        if (known === undefined) known = await signUp(page, asked)
        else await page.goto(asked)
        read.push(await allow(page))
      }
      const session = async () => {
        const client = await signInThroughMcpRemote(
          found,
          newMachine(),
          browse,
          url,
          "--client-metadata-url",
          clientId
        )
        try {
          expect((await client.listTools()).tools.map(({ name }) => name)).toContain("get_hours")
        } finally {
          await client.close()
        }
      }
      await session()
      await trust(clientId)
      await session()
      expect(read).toHaveLength(2)
      for (const text of read) {
        expect(text).toContain("Allow Editor to use Copper Ladle?")
        expect(text).toContain(whoItIs())
        expect(text).toContain("any program can call itself Editor")
      }
    }, 240_000)

    it("the Inspector's command line, too", async () => {
      const clientId = documents.publish("Inspector of documents", ...redirects)
      await trust(clientId)
      const read: Array<string> = []
      const browse = async (asked: string) => {
        const { page } = await visit()
        await signUp(page, asked)
        read.push(await allow(page))
      }
      const inspect = signInThroughInspector(found, newMachine(), browse)
      const listed = await inspect(url, "--client-metadata-url", clientId, "--method", "tools/list")
      expect(listed.code, listed.err).toBe(0)
      expect(listed.out).toContain("get_hours")
      expect(read).toEqual([expect.stringContaining(whoItIs())])
    }, 240_000)
  })

  describe("a web application", () => {
    const redirectUri = "https://agent.invalid/callback"

    /** The user's way back to the application, whose name nobody resolves. */
    const backAt = (page: Page) =>
      page.waitForRequest((request) => request.url().startsWith(`${redirectUri}?`), { timeout: 120_000 })

    const useMenu = async (clientId: string, browse: (url: string) => Promise<string>) => {
      const { client, sentTo } = await connectWebClient({ clientId, redirectUri, url }, browse)
      expect(sentTo.get("client_id")).toBe(clientId)
      const asked = { name: "search_catalog", arguments: { query: "trout" } }
      const { structuredContent } = CallToolResultSchema.parse(await client.callTool(asked))
      expect(structuredContent).toMatchObject({ items: [{ name: "Smoked Trout Toast" }] })
      await client.close()
    }

    it("that nobody registered is asked about once, by its host's name", async () => {
      const clientId = documents.publish("Table Agent", redirectUri)
      const { page } = await visit()
      let read = ""
      await useMenu(clientId, async (asked) => {
        const back = backAt(page)
        await signUp(page, asked)
        await page.getByRole("button", { name: "Allow" }).waitFor({ timeout: 60_000 })
        read = await page.getByRole("main").innerText()
        await page.getByRole("button", { name: "Allow" }).click()
        return (await back).url()
      })
      expect(read).toContain("Allow Table Agent to use Copper Ladle?")
      expect(read).toContain(whoItIs())
      expect(read).toContain("You return to\nagent.invalid")
      const next = await page.context().newPage()
      await useMenu(clientId, async (asked) => {
        const back = backAt(next)
        await next.goto(asked, { timeout: 60_000 }).catch(() => undefined)
        return (await back).url()
      })
    }, 240_000)

    it("that the server's owner registered is let in without a question; elsewhere it is asked about", async () => {
      const clientId = documents.publish("House Agent", redirectUri)
      await trust(clientId)
      const { page } = await visit()
      let person: Credentials | undefined
      await useMenu(clientId, async (asked) => {
        const back = backAt(page)
        // Nobody presses a button after this one.
        person = await signUp(page, asked)
        return (await back).url()
      })
      // In a tab of its own: the first one still arrives at the name that nobody resolves.
      const grants = await page.context().newPage()
      await grants.goto(`${program().url}/oauth/grants`, { timeout: 60_000 })
      await grants.getByRole("heading", { level: 2, name: "House Agent" }).waitFor({ timeout: 60_000 })

      const other = await own.newServer("Elsewhere")
      const query = new URLSearchParams({
        response_type: "code",
        client_id: clientId,
        redirect_uri: redirectUri,
        resource: other.publicUrl,
        code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        code_challenge_method: "S256"
      })
      const second = await visit()
      await signIn(second.page, `${program().url}/api/v1/oauth/authorize?${query}`, person!)
      const heading = { level: 1, name: "Allow House Agent to use Elsewhere?" } as const
      await second.page.getByRole("heading", heading).waitFor({ timeout: 60_000 })
    }, 240_000)
  })
})
