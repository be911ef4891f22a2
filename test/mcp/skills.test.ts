import { type Client } from "@modelcontextprotocol/sdk/client/index.js"
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { beforeAll, describe, expect, it } from "vitest"
import { parse } from "yaml"
import { z } from "zod"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Business, businesses, newBusiness } from "../support/business.ts"
import { connectMcp, type Way } from "../support/mcp.ts"
import { runSql } from "../support/sql.ts"

const berth = useBerth()
let owner: Account
let shop: Business
let key = ""
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  shop = await newBusiness(owner, { name: "Copper Ladle", description: "Soups." })
  await owner.patch(`/v1/directory/${shop.listingId}`, { visible: true })
  key = (await owner.key(shop.projectId, ["logs:read"])).key
})

/** SEP-2640, Skill Entries, as a host requires it. */
const Skill = z.strictObject({
  uri: z.string().regex(/^skill:\/\/.+\/SKILL\.md$/),
  frontmatter: z.looseObject({ name: z.string(), description: z.string() }),
  resources: z.array(
    z.strictObject({ uri: z.string(), digest: z.string().regex(/^sha256:[a-f0-9]{64}$/), size: z.int() })
  ).length(1)
})
const cacheable = {
  resultType: z.literal("complete"),
  ttlMs: z.int().nonnegative(),
  cacheScope: z.enum(["public", "private"])
}
const Listed = z.strictObject({ ...cacheable, skills: z.array(Skill) })
const Got = z.strictObject({ ...cacheable, skill: Skill })

/** The list is kept for 5 seconds. */
const list = (client: Client, params?: object) => {
  berth.advance(5_000)
  return client.request({ method: "skills/list", ...(params === undefined ? {} : { params }) } as never, Listed)
}
const get = (client: Client, uri: unknown) => client.request({ method: "skills/get", params: { uri } } as never, Got)

/** Reads a skill as a host has to: bytes, digest and frontmatter must be those of its entry. */
const load = async (client: Client, { frontmatter, resources, uri }: z.infer<typeof Skill>) => {
  const [content] = (await client.readResource({ uri })).contents
  const text = content !== undefined && "text" in content ? String(content.text) : ""
  expect(resources).toEqual([{
    uri,
    digest: `sha256:${createHash("sha256").update(text).digest("hex")}`,
    size: Buffer.byteLength(text)
  }])
  expect(parse(/^---\n([\s\S]*?)\n---\n/.exec(text)?.[1] ?? "")).toEqual(frontmatter)
  expect(uri.split("/").at(-2)).toBe(frontmatter.name)
  return text
}

const clicks = async () =>
  (await runSql(berth.databaseUrl, "SELECT n FROM listing_events WHERE kind = 'click' AND listing_id = $1", [
    shop.listingId
  ])).reduce((sum, row) => sum + Number(row["n"]), 0)

describe.each<Way>(["Streamable HTTP", "SSE"])("skills over MCP (SEP-2640), over %s", (way) => {
  const connect = () => connectMcp(berth.url, { token: key, way })

  it("are declared with the resources that they are, and listed whole: ours, then listings", async () => {
    const client = await connect()
    expect(client.getServerCapabilities()).toMatchObject({
      resources: {},
      extensions: { "io.modelcontextprotocol/skills": {} }
    })
    const { cacheScope, skills } = await list(client)
    expect(cacheScope).toBe("public")
    expect(skills.map(({ uri }) => uri)).toEqual([
      ...readdirSync("skills").sort().map((name) => `skill://berth/${name}/SKILL.md`),
      `skill://listings/${shop.slug}/SKILL.md`
    ])
    for (const skill of skills) {
      const text = await load(client, skill)
      expect((await get(client, skill.uri)).skill).toEqual(skill)
      if (skill.uri.startsWith("skill://berth/")) {
        expect(text).toBe(readFileSync(`skills/${skill.frontmatter.name}/SKILL.md`, "utf8"))
      } else {
        expect(text).toBe((await berth.request("GET", `/.well-known/agent-skills/${shop.slug}/SKILL.md`)).text)
      }
    }
    expect((await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      "skill://listings/{slug}/SKILL.md",
      "skill://composites/{name}/SKILL.md"
    ])
    await client.close()
  })

  it("have another digest when the listing changes", async () => {
    const client = await connect()
    const uri = `skill://listings/${shop.slug}/SKILL.md`
    const { skill } = await get(client, uri)
    await owner.patch(`${businesses}/${shop.id}`, { description: `Soups, ${way}.` })
    const fresh = (await get(client, uri)).skill
    expect(fresh.resources).not.toEqual(skill.resources)
    expect(await load(client, fresh)).toContain(`> Soups, ${way}.`)
    await client.close()
  })

  it("are -32602 where there is none, and where the parameters do not fit", async () => {
    const hidden = await newBusiness(owner, { name: `Hidden ${way}` })
    const client = await connect()
    const unknown = [
      "skill://berth/none/SKILL.md",
      "skill://berth/deploy-mcp-server",
      "skill://listings/none/SKILL.md",
      `skill://listings/${hidden.slug}/SKILL.md`,
      `skill://listings/${shop.slug}/../SKILL.md`,
      `skill://listings/${shop.slug}`,
      `skill://listings/${shop.slug}/SKILL.md?`,
      "skill://listings/\u0000/SKILL.md",
      "skill://listings/" + "a".repeat(5_000) + "/SKILL.md",
      "https://example.com/SKILL.md",
      ""
    ]
    for (const uri of unknown) {
      await expect(get(client, uri), uri).rejects.toMatchObject({ code: -32602 })
      await expect(client.readResource({ uri }), uri).rejects.toMatchObject({ code: -32602 })
    }
    for (const uri of [undefined, null, 7, {}, []]) {
      await expect(get(client, uri)).rejects.toMatchObject({ code: -32602 })
    }
    await expect(list(client, { cursor: "x" })).rejects.toMatchObject({ code: -32602 })
    await client.close()
  })
})

describe("a listing's skill over MCP", () => {
  it("counts as a click when it is read, not when it is listed or described", async () => {
    const client = await connectMcp(berth.url, { token: key })
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    const before = await clicks()
    const uri = `skill://listings/${shop.slug}/SKILL.md`
    await list(client)
    await get(client, uri)
    await client.readResource({ uri })
    await expect.poll(clicks, { timeout: 5_000 }).toBe(before + 1)
    await client.close()
  })
})
