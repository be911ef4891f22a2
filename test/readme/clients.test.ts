import { clientLines } from "#src/cli/hosting/client-lines.ts"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"

const readme = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8")

it("the README sets each client up by the command that berth connect prints", () => {
  const [, block = ""] = /^```sh clients\n([\s\S]*?)^```$/m.exec(readme) ?? []
  const told = block.trim().split("\n").map((line) => {
    const [command = "", client = ""] = line.split(/ +# /)
    return [client, command]
  })
  const printed = clientLines({ name: "berth", endpoint: "http://localhost:8787/mcp" })
  expect(told.length).toBeGreaterThan(8)
  expect(told).toEqual(Object.entries(printed))
})
