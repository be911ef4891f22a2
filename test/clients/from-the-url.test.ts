import { type CallToolResult, CallToolResultSchema, ListToolsResultSchema } from "@modelcontextprotocol/sdk/types.js"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import { useChromium } from "../browser/chromium.ts"
import { allow, type Credentials, signIn, signUp } from "../browser/person.ts"
import { run, useProgram } from "../program/support/program.ts"
import { describeWhen, missingProgram, soak } from "../support/needs.ts"
import { type Doors, doorsOf } from "./support/addresses.ts"
import { newMachine } from "./support/machine.ts"
import {
  inspector,
  signInThroughInspector,
  signInThroughMcpRemote,
  spoilAccessTokens,
  throughAiSdk,
  throughMcporter,
  throughMcpRemote
} from "./support/peer-programs.ts"
import { findPeers } from "./support/peers.ts"

const found = await findPeers()
const missing = typeof found === "string" ? found : missingProgram("chromium")

describeWhen(missing, "clients that others made, from nothing but the URL, with a person at a browser", () => {
  if (typeof found === "string") return
  const program = useProgram()
  const visit = useChromium()
  let doors: Doors
  let demo: Credentials
  beforeAll(async () => {
    doors = await doorsOf(program())
    demo = JSON.parse(readFileSync(join(program().place.home, "demo.json"), "utf8")) as Credentials
    // These programs send more than the free plan's requests, one after the other.
    await run(program().place, ["node", "dist/berth.js", "admin", "plan", demo.email, "enterprise"]).printed(
      /is on the/
    )
  })

  const menu = {
    name: "Copper Ladle",
    tool: ["search_catalog", { query: "trout" }],
    answer: { items: [{ name: "Smoked Trout Toast" }] },
    sign: "Smoked Trout Toast"
  } as const
  const platform = {
    name: "Berth",
    tool: ["list_projects", {}],
    answer: { data: [{ name: "Demo" }] },
    sign: "Demo"
  } as const

  const ways = [
    ["a hosted server, path form", menu, () => `${doors.hosted["path form"]}/mcp`],
    ["a hosted server, host form", menu, () => `${doors.hosted["host form"]}/mcp`],
    ["a hosted server, SSE", menu, () => `${doors.hosted["path form"]}/sse`],
    ["the platform", platform, () => `${doors.platform}/mcp`],
    ["the platform, SSE", platform, () => `${doors.platform}/sse`]
  ] as const

  /** A newcomer at hosted servers; the demo's owner, who has a project to list, at the platform. */
  const person = (kind: typeof menu | typeof platform) => {
    const read: Array<string> = []
    const browse = async (url: string) => {
      const { page } = await visit()
      await (kind === menu ? signUp(page, url) : signIn(page, url, demo))
      read.push(await allow(page))
    }
    return { browse, read }
  }

  const expectAnswer = ({ answer }: typeof menu | typeof platform, { structuredContent }: CallToolResult) =>
    expect(structuredContent).toMatchObject(answer)

  // What a door answers to one of these it answers to the other: both try the usual address, one each of the others.
  // Over which transport they then talk, third-party.test.ts tries of both at all.
  const both = /^a hosted server, path form$/
  const byMcpRemote = new RegExp(soak ? "" : `${both.source}|hosted server, SSE|the platform$`)
  const byInspector = new RegExp(soak ? "" : `${both.source}|host form|platform, SSE`)

  describe.each(ways)("%s", (way, kind, url) => {
    const [name, args] = kind.tool

    if (byMcpRemote.test(way)) {
      it("mcp-remote has a person sign in, lists the tools and calls one, and asks nobody afterwards", async () => {
        const machine = newMachine()
        const { browse, read } = person(kind)
        const client = await signInThroughMcpRemote(found, machine, browse, url())
        try {
          expect((await client.listTools()).tools.map(({ name }) => name)).toContain(name)
          expectAnswer(kind, CallToolResultSchema.parse(await client.callTool({ name, arguments: args })))
        } finally {
          await client.close()
        }
        await expect.poll(() => read).toEqual([
          expect.stringMatching(new RegExp(`^Allow MCP CLI Proxy.* to use ${kind.name}\\?`))
        ])
        expect(spoilAccessTokens(machine)).toBe(1)
        const again = await throughMcpRemote(found, url(), undefined, machine)
        try {
          expectAnswer(kind, CallToolResultSchema.parse(await again.callTool({ name, arguments: args })))
        } finally {
          await again.close()
        }
      }, 240_000)
    }

    if (byInspector.test(way)) {
      it("the Inspector's command line has a person sign in, and asks nobody afterwards", async () => {
        const machine = newMachine()
        const { browse, read } = person(kind)
        const listed = await signInThroughInspector(found, machine, browse)(url(), "--method", "tools/list")
        expect(listed.code, listed.err).toBe(0)
        expect(
          ListToolsResultSchema.parse(JSON.parse(listed.out)).tools.map(({ name }) => name)
        ).toContain(name)
        await expect.poll(() => read).toEqual([
          expect.stringMatching(new RegExp(`^Allow .*Inspector.* to use ${kind.name}\\?`))
        ])
        expect(spoilAccessTokens(machine)).toBe(1)
        const call = ["--method", "tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(args)]
        const called = await inspector(found, machine)(url(), undefined, ...call)
        expect(called.code, called.err).toBe(0)
        expectAnswer(kind, CallToolResultSchema.parse(JSON.parse(called.out)))
      }, 240_000)
    }
  })

  // Both ask for exactly the scopes of the 401, which offline_access is not among. The form of the address is nothing to
  // them; mcporter can't sign in at an SSE address that answers a POST by 404, as the platform's does.
  describe.each(ways.filter(([way]) => !/host form|platform, SSE/.test(way)))("%s", (way, kind, url) => {
    const clients = [
      ["the AI SDK's client", throughAiSdk, "AI SDK"],
      ["mcporter", throughMcporter, "mcporter"]
    ] as const
    it.each(clients.filter(([name]) => soak || both.test(way) || (name === "mcporter") === (kind === platform)))(
      "%s has a person sign in, calls a tool, and asks nobody afterwards",
      async (_name, program, called) => {
        const machine = newMachine()
        const { browse, read } = person(kind)
        const call = await program(found, machine, url())
        const [name, args] = kind.tool
        const first = await call(name, args, browse)
        expect(first, first.err).toMatchObject({ code: 0, out: expect.stringContaining(kind.sign) })
        await expect.poll(() => read).toEqual([
          expect.stringMatching(new RegExp(`^Allow ${called}.* to use ${kind.name}\\?`))
        ])
        expect(read[0]).toContain("Stay connected when you are away")
        for (let round = 0; round < 2; round++) {
          expect(spoilAccessTokens(machine)).toBe(1)
          const again = await call(name, args)
          expect(again, again.err).toMatchObject({ code: 0, out: expect.stringContaining(kind.sign) })
        }
      },
      240_000
    )
  })

  it(
    "what a person takes back on the page of connected applications, the Inspector's command line has lost",
    async () => {
      const machine = newMachine()
      const { page } = await visit()
      const browse = async (url: string) => {
        await signUp(page, url)
        await allow(page)
      }
      const url = `${doors.hosted["path form"]}/mcp`
      const first = await signInThroughInspector(found, machine, browse)(url, "--method", "tools/list")
      expect(first.code, first.err).toBe(0)
      await page.goto(`${doors.platform}/oauth/grants`, { timeout: 60_000 })
      await page.getByRole("button", { name: "Revoke" }).click({ timeout: 60_000 })
      await page.getByText("No application may act for you").waitFor({ timeout: 60_000 })
      expect(spoilAccessTokens(machine)).toBe(1)
      const second = await inspector(found, machine)(url, undefined, "--method", "tools/list")
      expect(second).toMatchObject({ code: 3, out: "" })
      expect(second.err).toContain("auth_required")
    },
    240_000
  )
})
