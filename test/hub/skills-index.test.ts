import { createHash } from "node:crypto"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { validate } from "skills-ref"
import { beforeAll, describe, expect, it } from "vitest"
import { failure } from "../contract/shapes.ts"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Business, businesses, newBusiness } from "../support/business.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { runSql } from "../support/sql.ts"

interface Entry {
  readonly name: string
  readonly type: string
  readonly description: string
  readonly url: string
  readonly digest: string
  readonly files: ReadonlyArray<string>
}
interface Index {
  readonly $schema: string
  readonly skills: ReadonlyArray<Entry>
}

const berth = useBerth()
let owner: Account
let projectId = ""
let shop: Business

const show = (business: Business, visible = true) => owner.patch(`/v1/directory/${business.listingId}`, { visible })
const listed = async (fields: Readonly<Record<string, unknown>>) => {
  const business = await newBusiness(owner, { projectId, ...fields })
  await show(business)
  return business
}

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  projectId = (await owner.project()).id
  shop = await listed({ name: "Copper Ladle", description: "Soups." })
})

const own = readdirSync("skills").sort()
const folders = ["agent-skills", "skills"] as const
const indexPath = (folder: string, slug?: string) =>
  `${slug === undefined ? "" : `/l/${slug}`}/.well-known/${folder}/index.json`
/** The root's index is kept for 5 seconds. */
const read = async (folder: string, slug?: string) => {
  berth.advance(5_000)
  return (await berth.request<Index>("GET", indexPath(folder, slug))).body
}
const names = ({ skills }: Index) => skills.map(({ name }) => name)

/** What a client of each version of the discovery requires. */
const expectBothForms = ({ $schema, skills }: Index) => {
  expect($schema).toBe("https://schemas.agentskills.io/discovery/0.2.0/schema.json")
  for (const entry of skills) {
    expect(entry).toEqual({
      name: expect.stringMatching(/^[a-z0-9]+(-[a-z0-9]+)*$/),
      type: "skill-md",
      description: expect.stringMatching(/^[^]{1,1024}$/),
      url: expect.stringMatching(new RegExp(`/${entry.name}/SKILL\\.md$`)),
      digest: expect.stringMatching(/^sha256:[a-f0-9]{64}$/),
      files: ["SKILL.md"]
    })
    expect(entry.name.length).toBeLessThanOrEqual(64)
  }
}

describe.each(folders)("/.well-known/%s", (folder) => {
  it("names the platform's skills and the listings, each file with its digest, and each passes the validator", async () => {
    const index = await read(folder)
    expectBothForms(index)
    expect(names(index)).toEqual([...own, shop.slug])
    const home = temporaryDirectory("skills")
    for (const { digest, name, url } of index.skills) {
      const { headers, status, text } = await berth.request("GET", new URL(url).pathname)
      expect([status, headers.get("content-type")], url).toEqual([200, "text/markdown; charset=utf-8"])
      expect(`sha256:${createHash("sha256").update(text).digest("hex")}`).toBe(digest)
      mkdirSync(join(home, name))
      writeFileSync(join(home, name, "SKILL.md"), text)
      expect(await validate(join(home, name)), name).toEqual([])
    }
  })

  it("has an index of each listing below its own address, with that listing alone", async () => {
    const index = await read(folder, shop.slug)
    expectBothForms(index)
    expect(names(index)).toEqual([shop.slug])
    const [entry] = index.skills
    expect(entry?.url).toBe(`${berth.url}/l/${shop.slug}/.well-known/${folder}/${shop.slug}/SKILL.md`)
    const file = await berth.request("GET", new URL(entry?.url ?? "").pathname)
    expect(file.text).toBe((await berth.request("GET", `/.well-known/${folder}/${shop.slug}/SKILL.md`)).text)
  })

  it("is read by any page, kept by caches, and told by HEAD, without a click", async () => {
    const paths = [
      indexPath(folder),
      indexPath(folder, shop.slug),
      `/.well-known/${folder}/${shop.slug}/SKILL.md`,
      `/l/${shop.slug}/.well-known/${folder}/${shop.slug}/SKILL.md`
    ]
    for (const path of paths) {
      const { headers, status } = await berth.request("GET", path)
      const etag = headers.get("etag") ?? ""
      expect([status, headers.get("access-control-allow-origin"), headers.get("cache-control")], path).toEqual([
        200,
        "*",
        "public, max-age=60, stale-while-revalidate=300"
      ])
      expect(etag).toMatch(/^"\S{22}"$/)
      const again = await berth.request("GET", path, { headers: { "if-none-match": etag } })
      expect([again.status, again.text]).toEqual([304, ""])
      const head = await berth.request("HEAD", path)
      expect([head.status, head.text, head.headers.get("etag")]).toEqual([200, "", etag])
      expect((await berth.request("POST", path)).status).toBe(405)
    }
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(await runSql(berth.databaseUrl, "SELECT * FROM listing_events WHERE kind = 'click'")).toEqual([])
  })

  it("is 404 for what is not there, whatever its name", async () => {
    const hidden = await newBusiness(owner, { projectId, name: `Hidden ${folder}` })
    for (
      const path of [
        `/.well-known/${folder}/${hidden.slug}/SKILL.md`,
        `/l/${hidden.slug}/.well-known/${folder}/index.json`,
        `/l/${shop.slug}/.well-known/${folder}/${own[0]}/SKILL.md`,
        `/.well-known/${folder}/${shop.slug.toUpperCase()}/SKILL.md`,
        `/.well-known/${folder}/%2e%2e/SKILL.md`,
        `/.well-known/${folder}/%00/SKILL.md`,
        `/.well-known/${folder}/${"a".repeat(200)}/SKILL.md`,
        `/l/%E2%80%AE/.well-known/${folder}/index.json`
      ]
    ) {
      const answer = await berth.request("GET", path)
      expect([answer.status, answer.body], path).toEqual([404, failure("not_found")])
    }
    expect(names(await read(folder))).not.toContain(hidden.slug)
  })
})

describe("an index", () => {
  it("has the file's new digest as soon as the listing is another", async () => {
    const before = (await read("agent-skills", shop.slug)).skills[0]?.digest
    await owner.patch(`${businesses}/${shop.id}`, { description: "Soups and pies." })
    const after = (await read("agent-skills", shop.slug)).skills[0]?.digest
    expect(after).not.toBe(before)
    expect((await read("skills")).skills.find(({ name }) => name === shop.slug)?.digest).toBe(after)
  })

  it("keeps the platform's skill where a business has its name; the business has its own address", async () => {
    const taken = await listed({ name: "Keep a catalog" })
    expect(taken.slug).toBe("keep-a-catalog")
    const index = await read("agent-skills")
    expect(names(index).filter((name) => name === taken.slug)).toHaveLength(1)
    const { text } = await berth.request("GET", `/.well-known/agent-skills/${taken.slug}/SKILL.md`)
    expect(text).toContain("# Keep a business's catalog up to date")
    expect((await berth.request("GET", `/l/${taken.slug}/.well-known/agent-skills/${taken.slug}/SKILL.md`)).text)
      .toContain("# Keep a catalog")
    await show(taken, false)
  })

  it("names no more than 50 listings, the best; each other has its file all the same", async () => {
    const more = await Promise.all(Array.from({ length: 52 }, (_, n) => listed({ name: `Stall ${n}` })))
    const index = await read("agent-skills")
    expectBothForms(index)
    expect(index.skills).toHaveLength(own.length + 50)
    const directory = await berth.request<{ readonly data: ReadonlyArray<{ readonly businessSlug: string }> }>(
      "GET",
      "/v1/directory?limit=50"
    )
    expect(names(index).slice(own.length)).toEqual(directory.body.data.map(({ businessSlug }) => businessSlug))
    const left = more.find(({ slug }) => !names(index).includes(slug))
    expect((await berth.request("GET", `/.well-known/agent-skills/${left?.slug}/SKILL.md`)).status).toBe(200)
  })
})
