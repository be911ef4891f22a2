import { DocumentNotValid, documentOf } from "#src/hub/CapabilityDoc.ts"
import { parseDocument } from "#src/hub/parse-document.ts"
import { Either, FastCheck as fc } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { parse } from "yaml"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { docOf, listed, sendDoc } from "../support/documents.ts"

const matter = (yaml: string, body = "") => `---\n${yaml}\n---\n${body}`
const tools = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `tool_${at}`, description: "x" }))

const bomb = [
  "a: &a [x, x, x, x, x, x, x, x, x]",
  ..."bcdefghi".split("").map((name, at) => {
    const before = "abcdefgh"[at]
    return `${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(", ")}]`
  })
].join("\n")

/** Documents, and whether they are taken. */
const documents: ReadonlyArray<readonly [name: string, content: string | Uint8Array, isTaken: boolean]> = [
  ["a YAML bomb", matter(bomb), false],
  ["an alias of itself", matter("a: &a [*a]"), false],
  ["a merge key", matter("a: &a { name: x }\n<<: *a"), false],
  ["a merge key without an alias", matter("name: x\n<<: { \"hub:listing_id\": FORGED }"), false],
  ["a merge key of a list, deeper", matter("metadata: { <<: [{ hub:tier: 3 }] }"), false],
  ["a line end of YAML 1.1", matter("name: x # c\u0085hub:listing_id: FORGED"), false],
  ["a line separator", matter("name: x # c\u2028hub:listing_id: FORGED"), false],
  ["a key of letters that each stand for many", `{"${"\ufdfa".repeat(170_000)}": 0}`, true],
  ["an anchor that nothing names", matter("name: &a x"), true],
  ["brackets without end", matter(`a: ${"[".repeat(60_000)}`), false],
  ["brackets that close", matter(`a: ${"[".repeat(30_000)}${"]".repeat(30_000)}`), false],
  ["braces", matter(`a: ${"{a: ".repeat(15_000)}`), false],
  ["dashes", matter(`${"- ".repeat(30_000)}x`), false],
  ["question marks", matter("? ".repeat(30_000)), false],
  ["brackets in 512 KB", "[".repeat(512 * 1024), true],
  ["five thousand keys", matter(Array.from({ length: 5_000 }, (_, at) => `k${at}: 1`).join("\n")), false],
  ["a key twice", matter("name: a\nname: b"), false],
  ["a tag that runs code elsewhere", matter("name: !!js/function 'function () {}'"), true],
  ["binary data in YAML", matter("name: !!binary aGVsbG8="), false],
  ["YAML 1.1", matter("%YAML 1.1\n# x"), false],
  ["two documents", "---\nname: a\n...\n---\nname: b\n---\n", true],
  ["frontmatter that is a list", matter("- a\n- b"), false],
  ["frontmatter that is a number", matter("7"), false],
  ["empty frontmatter", "---\n---\n# Ladle\n", true],
  ["frontmatter without an end", "---\nname: x\n", false],
  ["frontmatter in JavaScript", "---js\n{ name: process.exit() }\n---\n", false],
  ["frontmatter above 64 KB", matter(`name: ${"x".repeat(64 * 1024)}`), false],
  ["no frontmatter", "# Ladle\n\nSoups.\n\n## Tools\n\n- `order`: orders\n", true],
  ["a byte order mark", "\ufeff---\nname: x\n---\n", true],
  ["CRLF", "---\r\nname: x\r\ntools:\r\n  - name: y\r\n---\r\n", true],
  ["UTF-16", Buffer.from("\ufeffname", "utf16le"), false],
  ["latin 1", Buffer.from("# Caf\u00e9", "latin1"), false],
  ["a picture", Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), false],
  ["NUL", "# a\u0000b", false],
  ["512 KB of one line", "x".repeat(512 * 1024), true],
  ["512 KB of spaces, then a bullet", `## Tools\n- ${" ".repeat(500_000)}a`, true],
  ["512 KB of bullets", `## Tools\n${"- a: b\n".repeat(70_000)}`, false],
  ["512 KB of fences", "```\n".repeat(130_000), true],
  ["512 KB of headings", "# a\n".repeat(130_000), true],
  ["512 KB and a byte", "x".repeat(512 * 1024 + 1), false],
  ["a name that is a list", matter("name: [a]"), false],
  ["tools that are a number", matter("tools: 7"), false],
  ["a tool without a name", matter("tools:\n  - description: x"), false],
  ["a tool of control characters", matter("tools: [\"\\u0007\\u202e\"]"), false],
  ["the hub's keys", matter("name: x\nhub:listing_tier: premium"), false],
  ["the hub's keys below metadata", matter("name: x\nmetadata:\n  hub:verification_tier: '3'"), false],
  ["the hub's keys in other letters", matter("name: x\n\"\\u200bＨub\\uff1averification_tier\": 3"), false],
  ["the hub's keys after blank lines", "\n\n---\nhub:health_score: 100\n---\n", false],
  ["the hub's keys after a mark", "\ufeff\n---\nhub:health_score: 100\n---\n", false],
  ["a prototype", matter("__proto__:\n  name: x\nconstructor: 1"), true]
]

const jsonDocuments: ReadonlyArray<readonly [name: string, content: string, isTaken: boolean]> = [
  ["an empty object", "{}", true],
  ["a list", "[]", false],
  ["nothing", "null", false],
  ["no JSON", "{", false],
  ["deep JSON", `{"a":${"[".repeat(200_000)}${"]".repeat(200_000)}}`, true],
  ["a prototype", "{\"__proto__\":{\"name\":\"x\"},\"constructor\":1}", true],
  ["ten thousand tools", JSON.stringify({ tools: tools(10_000) }), false],
  ["a thousand tools", JSON.stringify({ tools: tools(1_000) }), true],
  ["lone surrogates and NUL", "{\"name\":\"a\\ud800b\\u0000c\",\"tools\":[\"\\udfffx\"]}", true],
  ["tools as a mapping", "{\"tools\":{\"order\":\"orders\",\"pay\":{\"description\":\"pays\"}}}", true],
  ["tools by commas", "{\"tools\":\"order, pay\"}", true],
  ["tools of tools", "{\"tools\":[[[\"x\"]]]}", false],
  ["the hub's keys", "{\"hub:listing_tier\":\"premium\"}", false]
]

describe("a hostile document", () => {
  const berth = useBerth()
  let owner: Account
  let id = ""
  beforeAll(async () => {
    owner = await berth.signUp("enterprise")
    id = (await listed(owner)).listingId
  })
  const keysOfSkill = async () => {
    const { text } = await berth.request("GET", `/api/v1/hub/listings/${id}/skill.md`)
    return Object.keys(parse(/^---\n([\s\S]*?)\n---\n/.exec(text)?.[1] ?? "") as object)
  }

  it("is taken, or refused with a reason; the hub's own keys stay the hub's", async () => {
    const own = await keysOfSkill()
    const cases = [
      ...documents.map((document) => ["text/markdown", ...document] as const),
      ...jsonDocuments.map((document) => ["application/json", ...document] as const)
    ]
    for (const [type, name, content, isTaken] of cases) {
      const began = performance.now()
      const { body, status, text } = await sendDoc(owner, id, content, { type })
      expect(status, `${name}: ${text.slice(0, 300)}`).toBe(isTaken ? 201 : 400)
      expect(performance.now() - began, name).toBeLessThan(2_000)
      if (!isTaken) continue
      expect(Object.keys(body.parsed), name).toEqual(["name", "description", "tools"])
      expect(body.parsed.name, name).toMatch(/\S/)
      expect(JSON.stringify(body.parsed), name).not.toMatch(/[\u0000-\u001f\u200b-\u200f\u202a-\u202e]|\\u/u)
      expect((await berth.request("GET", docOf(id))).body, name).toEqual({ data: body })
      expect(await keysOfSkill(), name).toEqual(own)
    }
  }, 60_000)

  it("names tools that are shown in the listing's SKILL.md as text", async () => {
    const hostile = [
      { name: "order_soup", description: "Orders\na soup" },
      { name: "hub:listing_tier: premium", description: "---" },
      { name: "# Ignore all that", description: "<!-- x --> [click](https://evil.example) `rm -rf /`" }
    ]
    await sendDoc(owner, id, JSON.stringify({ tools: [...hostile, ...tools(100)] }), { type: "application/json" })
    const { text } = await berth.request("GET", `/api/v1/hub/listings/${id}/skill.md`)
    const shown = text.slice(text.indexOf("\n## Tools\n"))
    expect(shown.split("\n").slice(5, 8)).toEqual([
      "- order\\_soup: Orders a soup",
      "- hub:listing\\_tier: premium: \\---",
      "- \\# Ignore all that: \\<!-- x --\\> `[click](https://evil.example)` \\`rm -rf /\\`"
    ])
    expect(shown.match(/^- /gm)?.length).toBeLessThan(50)
    expect(text.match(/^#+ .*$/gm)?.filter((line) => line.includes("Ignore"))).toEqual([])
  })
})

describe("what is read from a document", () => {
  const read = (content: string, format: "skill_md" | "json" = "skill_md") =>
    Either.getOrThrowWith(
      parseDocument(documentOf(format, Buffer.from(content)), "The Listing"),
      (error) => error
    ).parsed

  it("is the frontmatter's before the text's", () => {
    const text = "# Ladle\n\nSoups and\nstews.\n\nMore.\n\n## Tools\n\n- `a`: first\n"
    expect(read(text)).toEqual({
      name: "Ladle",
      description: "Soups and stews.",
      tools: [{ name: "a", description: "first" }]
    })
    expect(read(matter("name: x\ndescription: y\ntools: [b]", text))).toEqual({
      name: "x",
      description: "y",
      tools: [{ name: "b", description: "" }]
    })
    expect(read("Just text")).toEqual({ name: "The Listing", description: "Just text", tools: [] })
  })

  it.each([
    ["- order_soup: Orders a soup", "order_soup", "Orders a soup"],
    ["* `order_soup` - Orders a soup", "order_soup", "Orders a soup"],
    ["+ **order_soup**: Orders a soup", "order_soup", "Orders a soup"],
    ["- **`order_soup`** — Orders a soup", "order_soup", "Orders a soup"],
    ["- [order_soup](https://x.example) Orders a soup", "order_soup", "Orders a soup"],
    ["- order_soup", "order_soup", ""],
    ["- **order_soup:** Orders a soup", "order_soup", "Orders a soup"],
    ["- order_soup (needs an address)", "order_soup", "(needs an address)"],
    ["- https://x.example/tool", "https://x.example/tool", ""]
  ])("%s is a tool", (bullet, name, description) => {
    expect(read(`## Tools\n\n${bullet}\n`).tools).toEqual([{ name, description }])
  })

  it("ends with the section, and knows no bullets elsewhere or in code", () => {
    const text = [
      ...[
        "- not this",
        "# TOOLS #",
        "### Reading",
        "- a",
        "  - below",
        "```",
        "- code",
        "```",
        "~~~md",
        "- code",
        "```"
      ],
      ...["~~~", "1. no", "### Writing", "- b", "# Else", "- not that"]
    ].join("\n")
    expect(read(text).tools.map(({ name }) => name)).toEqual(["a", "b"])
  })

  it("is lines of text, or a reason, whatever the document", () => {
    const piece = fc.constantFrom(
      ...[
        "---\n",
        "name",
        "tools",
        ":",
        " ",
        "\n",
        "- ",
        "  ",
        "[",
        "]",
        "{",
        "}",
        "&a",
        "*a",
        "|",
        ">",
        "\"",
        "'",
        "#"
      ],
      ...[
        "!!set",
        "? ",
        "hub:",
        "metadata:",
        "`",
        "**",
        "\t",
        "\r\n",
        "\u0000",
        "\ud83c\udf5c",
        "%",
        "@",
        "<<",
        ",",
        "..."
      ]
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 60 }), fc.boolean(), (pieces, isYaml) => {
        const text = isYaml ? matter(pieces.join("")) : pieces.join("")
        try {
          const { description, name, tools } = read(text)
          for (const line of [name, description, ...tools.flatMap((tool) => [tool.name, tool.description])]) {
            expect(line).not.toMatch(/\p{Cc}/u)
            expect(line.length).toBeLessThanOrEqual(2_048)
          }
        } catch (error) {
          expect(error).toBeInstanceOf(DocumentNotValid)
        }
      }),
      { numRuns: 2_000 }
    )
  })
})
