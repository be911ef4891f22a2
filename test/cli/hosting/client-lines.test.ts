import { clientLines, foundAt } from "#src/cli/hosting/client-lines.ts"
import { execFileSync } from "node:child_process"
import { describe, expect, it } from "vitest"

const at = (url: string) => foundAt(new URL(url), "https://berth.example")

describe("the commands that set clients up", () => {
  it("call a server by its slug, and the installation's doors by what they are", () => {
    const names = [
      ["https://berth.example/s/copper-ladle/", "copper-ladle", "https://berth.example/s/copper-ladle/mcp"],
      ["https://copper-ladle.mcp.example/sse", "copper-ladle", "https://copper-ladle.mcp.example/sse"],
      ["https://berth.example", "berth", "https://berth.example/mcp"],
      ["https://berth.example/mcp/directory", "berth-directory", "https://berth.example/mcp/directory"],
      [
        "https://berth.example/mcp/composites/01M8CK7S67Y6H9302442BSC0WH",
        "composite-bsc0wh",
        "https://berth.example/mcp/composites/01M8CK7S67Y6H9302442BSC0WH"
      ]
    ] as const
    for (const [url, name, endpoint] of names) expect(at(url)).toEqual({ name, endpoint })
  })

  it("name the older transport where the address is of that, and leave out who can't speak it", () => {
    const lines = clientLines(at("https://copper-ladle.mcp.example/sse"))
    expect(lines).toMatchObject({
      "Claude Code": expect.stringContaining("--transport sse") as string,
      "Gemini CLI": expect.stringContaining("--transport sse") as string,
      "VS Code": expect.stringContaining("\"type\":\"sse\"") as string
    })
    expect(Object.keys(lines)).not.toContain("Codex")
  })

  it("are words of a shell and nothing else, whatever a listing's URL has in it", () => {
    const found = at("https://berth.example/s/--header;echo$(id)'`id`&\"/mcp")
    expect(found.name).toMatch(/^\w[\w-]*$/)
    for (const [client, line] of Object.entries(clientLines(found))) {
      const words = execFileSync("sh", ["-c", `printf '%s\\n' ${line}`], { encoding: "utf8" })
      expect(words, client).toContain(found.endpoint.slice(0, 40))
      expect(words, client).not.toContain("uid=")
    }
  })
})
