import { clients, withServer } from "#src/cli/hosting/client-config.ts"
import { parse } from "jsonc-parser"
import { describe, expect, it } from "vitest"

const url = "https://menu.example.com/mcp"

describe("the configuration of a client", () => {
  it("has the server under the name that each client knows", () => {
    const of = (name: keyof typeof clients) => JSON.parse(withServer("", clients[name], "menu", url) ?? "")
    expect([of("claude"), of("cursor"), of("vscode")]).toEqual([
      { mcpServers: { menu: { type: "http", url } } },
      { mcpServers: { menu: { url } } },
      { servers: { menu: { type: "http", url } } }
    ])
  })

  it("says so where the server's address is that of the older transport", () => {
    expect(withServer("", clients.claude, "menu", "https://menu.example.com/sse")).toContain("\"type\": \"sse\"")
  })

  it("keeps the other servers and the comments of a file", () => {
    const before = "{\n  // mine\n  \"servers\": { \"other\": { \"command\": \"npx\" } },\n  \"inputs\": [],\n}\n"
    const after = withServer(before, clients.vscode, "menu", url) ?? ""
    expect(after).toContain("// mine")
    expect(parse(after, [], { allowTrailingComma: true })).toEqual({
      servers: { other: { command: "npx" }, menu: { type: "http", url } },
      inputs: []
    })
    expect(withServer(after, clients.vscode, "menu", url)).toBe(after)
  })

  it("changes nothing that is no configuration", () => {
    for (const text of ["[]", "{ \"mcpServers\": [] }", "{ \"mcpServers\": ", "hello", "3"]) {
      expect(withServer(text, clients.cursor, "menu", url)).toBeUndefined()
    }
  })

  it("takes a server's name for a name, whatever it is", () => {
    const after = withServer("{}", clients.claude, "__proto__", url) ?? ""
    expect(after).toContain("\"__proto__\"")
    expect(({} as Record<string, unknown>)["url"]).toBeUndefined()
  })
})
