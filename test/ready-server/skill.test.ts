import { decodeReadyConfig } from "#src/format/ReadyConfig.ts"
import { readyTools } from "#src/ready-server/ready-tools.ts"
import { servedSkill } from "#src/ready-server/skill.ts"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { type Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { Either, FastCheck as fc } from "effect"
import { createHash } from "node:crypto"
import { parseFrontmatter, validateMetadata } from "skills-ref"
import { afterEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { outputValidators } from "../support/output-validators.ts"
import { type Running, start } from "./bundle.ts"
import { minimal, restaurant } from "./config.ts"

const flags = ["menuBrowsing", "faq", "appointmentBooking", "quoteRequests", "onlineOrdering"] as const
const configOf = (raw: object) => Either.getOrThrow(decodeReadyConfig(raw))

const Anything = z.looseObject({})
let server: Running | undefined
afterEach(async () => {
  await server?.stop()
})

const connect = async (config: object) => {
  server = await start(config)
  const client = new Client({ name: "test", version: "1" }, { jsonSchemaValidator: outputValidators })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`)) as Transport)
  return client
}

describe("the skill of a ready-made server (SEP-2640)", () => {
  it("is listed, got and read, and its bytes are those of its digest", async () => {
    const client = await connect(restaurant)
    expect(client.getServerCapabilities()).toMatchObject({
      resources: {},
      extensions: { "io.modelcontextprotocol/skills": {} }
    })
    const uri = "skill://the-copper-ladle/SKILL.md"
    const read = (await client.readResource({ uri })).contents[0]
    const text = read !== undefined && "text" in read ? String(read.text) : ""
    const digest = `sha256:${createHash("sha256").update(text).digest("hex")}`
    const skill = {
      uri,
      frontmatter: {
        name: "the-copper-ladle",
        description: expect.stringContaining("The Copper Ladle (New American)")
      },
      resources: [{ uri, digest, size: Buffer.byteLength(text) }]
    }
    const cached = { resultType: "complete", ttlMs: 60_000, cacheScope: "public" }
    expect(await client.request({ method: "skills/list" } as never, Anything)).toEqual({ ...cached, skills: [skill] })
    expect(await client.request({ method: "skills/get", params: { uri } } as never, Anything)).toEqual({
      ...cached,
      skill
    })
    for (const wrong of ["skill://none/SKILL.md", "", 7, undefined]) {
      await expect(client.request({ method: "skills/get", params: { uri: wrong } } as never, Anything)).rejects
        .toMatchObject({ code: -32602 })
    }
    await expect(client.readResource({ uri: "skill://none/SKILL.md" })).rejects.toMatchObject({ code: -32602 })
    await client.close()
  }, 60_000)

  it.each(
    [[[]], [[...flags]], [["faq"]], [["menuBrowsing", "onlineOrdering"]]] as ReadonlyArray<[ReadonlyArray<string>]>
  )(
    "names the tools that the server has with %j on",
    async (on) => {
      const featureFlags = Object.fromEntries(flags.map((flag) => [flag, on.includes(flag)]))
      const raw = { ...restaurant, featureFlags }
      const client = await connect(raw)
      const names = (await client.listTools()).tools.map(({ name }) => name)
      const { text } = servedSkill(configOf(raw)).file
      expect([...text.matchAll(/^- `(\w+)`/gm)].map(([, name]) => name)).toEqual(names)
      const { featureFlags: decoded } = configOf(raw)
      expect(readyTools({ featureFlags: decoded, isPublished: true }).map(({ name }) => name)).toEqual(names)
      await client.close()
    },
    60_000
  )

  it("passes the validator whatever the business's name", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("ラーメン", "x\n---\n# y", "É à", "---", "a".repeat(300), "`_*[x](y)")
    )
    fc.assert(fc.property(text, text, (name, description) => {
      const config = decodeReadyConfig({ ...minimal, business: { name, description, category: name } })
      if (Either.isLeft(config)) return
      const { file, uri } = servedSkill(config.right)
      const [frontmatter] = parseFrontmatter(file.text)
      expect(validateMetadata(frontmatter, uri.split("/")[2])).toEqual([])
      expect(frontmatter).toEqual(file.frontmatter)
      expect(file.text.match(/^#.*$/gm)).toHaveLength(1)
    }))
  })
})
