import { join } from "node:path"
import { beforeAll, expect, it } from "vitest"
import { useProgram } from "../program/support/program.ts"
import { describeWhen } from "../support/needs.ts"
import { type Doors, doorsOf } from "./support/addresses.ts"
import { newMachine, runNode } from "./support/machine.ts"
import { newMcpc } from "./support/mcpc.ts"
import { findPeers } from "./support/peers.ts"
import { personByHttp } from "./support/person-by-http.ts"

const found = await findPeers()

describeWhen(typeof found === "string" ? found : undefined, "a whole job, unaided, by clients that others made", () => {
  if (typeof found === "string") return
  const program = useProgram()
  let doors: Doors
  beforeAll(async () => {
    doors = await doorsOf(program())
  })

  it("mcpc finds a business in the directory, has a person sign in at its server, and reads its menu", async () => {
    const mcpc = newMcpc(found)
    const call = async (session: string, ...args: ReadonlyArray<string>) => {
      const { code, err, out } = await mcpc.run(["--json", session, "tools-call", ...args])
      expect(code, err).toBe(0)
      return (JSON.parse(out) as { structuredContent: unknown }).structuredContent
    }
    try {
      // It knows no credential yet.
      const opened = await mcpc.connect(`${doors.platform}/mcp/directory`, "@directory")
      expect(opened, opened.err).toMatchObject({ code: 0, out: expect.stringContaining("search_businesses") })
      const answer = await call("@directory", "search_businesses", "query:=smoked trout")
      expect(answer).toMatchObject({ businesses: [{ slug: "copper-ladle" }] })
      const business = await call("@directory", "get_business", "slug:=copper-ladle")

      const { mcpServerUrl: url } = business as { mcpServerUrl: string }
      const person = personByHttp(doors.platform, doors.tokens.session)
      const login = await mcpc.run(["login", url], person.browse)
      expect(login, login.err).toMatchObject({ code: 0 })
      expect(person.read).toEqual([expect.stringMatching(/mcpc[^]*Copper Ladle/)])
      const connected = await mcpc.connect(url, "@menu")
      expect(connected, connected.err).toMatchObject({ code: 0, out: expect.stringContaining("search_catalog") })
      expect(await call("@menu", "search_catalog", "query:=trout")).toMatchObject({
        items: [{ name: "Smoked Trout Toast" }]
      })
    } finally {
      await mcpc.close()
    }
  }, 240_000)

  it("LangChain's adapters make one set of tools of all doors, and ask a composite that they make", async () => {
    const module = found.script("@langchain/mcp-adapters/dist/index.js")
    const script = join(import.meta.dirname, "support/langchain.mjs")
    const { code, err, out } = await runNode(found, [script, module, doors.platform, doors.tokens.session], {
      environment: newMachine().environment,
      timeout: 120_000
    })
    expect(code, err).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      names: expect.arrayContaining(["platform__deploy", "older__find_tools", "directory__get_menus"]) as unknown,
      found: { businesses: [{ slug: "copper-ladle" }] },
      told: expect.arrayContaining(["hub_create_composite"]) as unknown,
      members: expect.arrayContaining(["composite__composite_members"]) as unknown,
      who: { members: [{ slug: "copper-ladle", callable: true }] },
      answer: { items: [{ name: "Smoked Trout Toast" }] },
      // What went wrong and what to do reach the model.
      failure: expect.stringMatching(/NOT_FOUND|VALIDATION_ERROR/) as unknown
    })
  }, 240_000)
})
