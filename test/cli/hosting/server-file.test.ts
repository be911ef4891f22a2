import { readServerFile } from "#src/cli/hosting/read-server-file.ts"
import { serverFileJsonSchema } from "#src/cli/hosting/ServerFile.ts"
import { readToml } from "#src/cli/hosting/toml.ts"
import { Either, FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"

const smallest = "[project]\nname = \"Cafe\"\n[server]\nname = \"Menu\"\n"

const problemsOf = (text: string) => {
  const read = readServerFile(text, "berth.toml")
  return Either.isLeft(read) ? read.left.split("\n") : []
}

describe("berth.toml", () => {
  it("has the keys of the contract, and image, slug, env, egress and how the program is run", () => {
    const text = `${smallest}slug = "menu"
region = "ams"
cpu = "shared-2x"
memory = "512mb"
image = "npm:@modelcontextprotocol/server-everything"
env = ["API_KEY"]
egress = { allow = ["api.example.com"] }
registry_credential = "robot"
[health]
path = "/ready"
timeout = 45
[deploy]
auto_rollback = false
retention_count = 4
args = ["/tmp", "--quiet"]
command = "server-everything"
transport = "stdio"
processes = "shared"
package_scripts = true
`
    expect(Either.getOrThrow(readServerFile(text, "berth.toml"))).toEqual({
      project: { name: "Cafe" },
      server: {
        name: "Menu",
        slug: "menu",
        region: "ams",
        cpu: "shared-2x",
        memory: "512mb",
        image: "npm:@modelcontextprotocol/server-everything",
        env: ["API_KEY"],
        egress: { allow: ["api.example.com"] },
        registry_credential: "robot"
      },
      health: { path: "/ready", timeout: 45 },
      deploy: {
        auto_rollback: false,
        retention_count: 4,
        args: ["/tmp", "--quiet"],
        command: "server-everything",
        transport: "stdio",
        processes: "shared",
        package_scripts: true
      }
    })
  })

  it("needs the names of project and server alone", () => {
    expect(problemsOf(smallest)).toEqual([])
    expect(problemsOf("[project]\nname = \"Cafe\"\n")).toEqual(["berth.toml:1:1: server is required"])
  })

  it("tells every wrong value with its line and column", () => {
    const text = `${smallest}memory = 256\nregion = "mars"\n\n[health]\ntimeout = 0\npath = "ready"\n`
    expect(problemsOf(text)).toEqual([
      "berth.toml:5:1: server.memory must be one of 256mb, 512mb, 1024mb, 1gb, 2048mb, 2gb",
      "berth.toml:6:1: server.region must be one of ord, iad, lax, ams, syd",
      "berth.toml:9:1: health.timeout must be an integer between 1 and 300",
      "berth.toml:10:1: health.path must be a URL path that starts with one /"
    ])
  })

  it("tells the key that somebody may have meant", () => {
    expect(problemsOf(`${smallest}memroy = "1gb"\n[helth]\npath = "/"\n`)).toEqual([
      "berth.toml:5:1: server.memroy is not a known key. Did you mean \"memory\"?",
      "berth.toml:6:1: helth is not a known key. Did you mean \"health\"?"
    ])
    expect(problemsOf(`${smallest}[[deploy]]\nauto_rollback = true\n`)).toHaveLength(1)
  })

  it("tells where it is no TOML", () => {
    expect(problemsOf("[project]\nname = \"Cafe\nx = 1\n")).toEqual([
      expect.stringMatching(/^berth\.toml:2:\d+: /)
    ])
    expect(problemsOf(`${smallest}name = "Again"\n`)).toEqual([expect.stringMatching(/^berth\.toml:5:\d+: /)])
  })

  it("gives no key power over objects", () => {
    for (
      const text of ["__proto__.polluted = 1", "[__proto__]\npolluted = 1", "a = { __proto__ = { polluted = 1 } }"]
    ) {
      const read = readToml(text)
      expect("value" in read && JSON.stringify(read.value)).toContain("polluted")
      expect(problemsOf(`${text}\n${smallest}`).length).toBeGreaterThan(0)
      expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined()
    }
  })

  it("any text is either read or has a problem with a place in it", () => {
    const word = fc.constantFrom(
      "[",
      "]",
      "{",
      "}",
      "=",
      ".",
      ",",
      "\"",
      "'",
      "\n",
      "#",
      "server",
      "name",
      "__proto__",
      "1"
    )
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(word, { maxLength: 40 }).map((words) => words.join(""))
    )
    fc.assert(fc.property(text, (text) => {
      const read = readServerFile(text, "f")
      if (Either.isLeft(read)) expect(read.left).toMatch(/^f:[1-9]\d*:[1-9]\d*: ./)
    }))
  })

  it("has a JSON Schema with the same keys", () => {
    const { properties, required } = serverFileJsonSchema() as {
      readonly properties: Record<string, { readonly properties: object }>
      readonly required: ReadonlyArray<string>
    }
    expect(required).toEqual(["project", "server"])
    expect(Object.keys(properties["server"]?.properties ?? {})).toEqual([
      "name",
      "slug",
      "region",
      "cpu",
      "memory",
      "image",
      "env",
      "egress",
      "guest_requests_per_minute",
      "guest_month_percent",
      "registry_credential"
    ])
  })
})
