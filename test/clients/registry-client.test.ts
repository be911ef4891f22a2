import { beforeAll, describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { freshAddress } from "../support/http.ts"
import { served, withDeployment } from "../support/served.ts"

/**
 * An editor that was given a registry's URL (MCP registry, version 0.1): it knows nothing but the URL, runs in a page of
 * its own origin, pages through all servers, and reads the latest version of one before it connects.
 */
const editor = (registry: string) => {
  const origin = "vscode-file://vscode-app"
  const read = async (path: string) => {
    const url = `${registry.replace(/\/$/, "")}${path}`
    const headers = { "x-forwarded-for": freshAddress(), origin }
    const preflight = await fetch(url, {
      method: "OPTIONS",
      headers: {
        ...headers,
        "access-control-request-method": "GET",
        "access-control-request-headers": "authorization, content-type"
      }
    })
    const allowed = (name: string) => preflight.headers.get(`access-control-allow-${name}`)?.toLowerCase() ?? ""
    expect([preflight.ok, allowed("origin")]).toEqual([true, "*"])
    expect(allowed("methods")).toContain("get")
    expect(allowed("headers")).toMatch(/authorization.*content-type/)
    const answer = await fetch(url, { headers: { ...headers, accept: "application/json" } })
    expect(answer.headers.get("access-control-allow-origin")).toBe("*")
    return { status: answer.status, body: await answer.json() as unknown }
  }
  return {
    list: async (limit: number) => {
      const all: Array<Entry> = []
      let cursor: string | undefined
      do {
        const query = new URLSearchParams({ limit: String(limit), ...(cursor === undefined ? {} : { cursor }) })
        const { body, status } = await read(`/v0.1/servers?${query}`)
        expect(status).toBe(200)
        const page = body as Page
        all.push(...page.servers)
        cursor = page.metadata.nextCursor
      } while (cursor !== undefined)
      return all
    },
    version: (name: string, version: string) =>
      read(`/v0.1/servers/${encodeURIComponent(name)}/versions/${encodeURIComponent(version)}`)
  }
}

interface Entry {
  readonly server: {
    readonly name: string
    readonly version: string
    readonly remotes: ReadonlyArray<{ readonly type: string; readonly url: string }>
  }
}
interface Page {
  readonly servers: ReadonlyArray<Entry>
  readonly metadata: { readonly nextCursor?: string }
}

const berth = useBerth({ variables: { MCP_DOMAIN: "mcp.example.com" } })
let owner: Account
const slugs = ["alder", "birch", "cedar"]
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  for (const slug of slugs) await withDeployment(berth, await served(owner, slug))
})

describe("an editor that was given the platform's URL as its organisation's registry", () => {
  it.each(["", "/"])("finds every server, and the version that serves (URL ends with %j)", async (end) => {
    const { list, version } = editor(berth.url + end)
    for (const limit of [1, 2, 100]) {
      expect((await list(limit)).map(({ server }) => server.name)).toEqual(
        slugs.map((slug) => `com.example.mcp/${slug}`)
      )
    }
    const [first] = await list(1)
    const { name, remotes, version: number } = first!.server
    expect(remotes[0]).toEqual({ type: "streamable-http", url: expect.stringMatching(/^https?:\/\/alder\..*\/mcp$/) })
    const latest = await version(name, "latest")
    expect(latest).toEqual({ status: 200, body: first })
    expect(await version(name, number)).toEqual(latest)
  })

  it("is told that a server or version is not there", async () => {
    const { version } = editor(berth.url)
    for (const [name, number] of [["com.example.mcp/none", "latest"], ["com.example.mcp/alder", "9.9.9"]] as const) {
      expect(await version(name, number)).toMatchObject({ status: 404, body: { error: { code: "NOT_FOUND" } } })
    }
  })
})
