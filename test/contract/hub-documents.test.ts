import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { businesses, newBusiness } from "../support/business.ts"
import { type Doc, docOf, listed, sendDoc, skillMd } from "../support/documents.ts"
import { multipart } from "../support/imports.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { row } from "./row.ts"
import { failure, ulid } from "./shapes.ts"

const home = temporaryDirectory()
const berth = useBerth({ variables: { BERTH_HOME: home } })
let owner: Account
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
})

const fresh = async () => (await listed(owner)).listingId
const noListing = "01J00000000000000000000000"
const read = (id: string) => berth.request<{ data: Doc }>("GET", docOf(id))
const fetched = (url: string, headers: Record<string, string> = {}) => fetch(url, { headers })

const parsed = {
  name: "copper-ladle",
  description: "Soups and stews.",
  tools: [{ name: "order_soup", description: "Orders a soup." }]
}

describe("a capability document", () => {
  row("POST /api/v1/hub/listings/:id/capability-doc → 201 { capabilityDocUrl, format, parsed }", async () => {
    const id = await fresh()
    const { body, status } = await sendDoc(owner, id, skillMd)
    expect([status, body]).toEqual([201, {
      capabilityDocUrl: `${berth.url}${docOf(id)}/content`,
      format: "skill_md",
      parsed
    }])
    const file = await fetched(body.capabilityDocUrl)
    expect([file.status, await file.text()]).toEqual([200, skillMd])
  })

  row("GET /api/v1/hub/listings/:id/capability-doc → 200 { data: { capabilityDocUrl, format, parsed } }", async () => {
    const id = await fresh()
    const sent = await sendDoc(owner, id, skillMd)
    const { body, status } = await read(id)
    expect([status, body]).toEqual([200, { data: sent.body }])
  })

  row(
    "capability document: skill_md by text/markdown, text/plain or text/x-markdown; json by application/json",
    async () => {
      const id = await fresh()
      const as = async (type: string, filename: string, content: string) => {
        const { body, status } = await sendDoc(owner, id, content, { type, filename })
        return [status, status === 201 ? body.format : undefined]
      }
      for (const type of ["text/markdown", "text/plain", "text/x-markdown", "Text/Markdown; charset=utf-8"]) {
        expect(await as(type, "x.json", skillMd), type).toEqual([201, "skill_md"])
      }
      expect(await as("application/json", "SKILL.md", "{\"name\":\"x\"}")).toEqual([201, "json"])
      // What a program sends that knows no type: the name decides.
      const unknown = "application/octet-stream"
      expect(await as(unknown, "SKILL.MD", skillMd)).toEqual([201, "skill_md"])
      expect(await as(unknown, "doc.json", "{}")).toEqual([201, "json"])
      expect((await as(unknown, "doc.pdf", skillMd))[0]).toBe(400)
      expect((await as("image/png", "SKILL.md", skillMd))[0]).toBe(400)
      const json = await fetched((await read(id)).body.data.capabilityDocUrl)
      expect([json.headers.get("content-type"), await json.text()]).toEqual(["application/json", "{}"])
    }
  )

  row(
    "capability document: name, description, tools[] of { name, description }; one per listing, the last one uploaded",
    async () => {
      const id = await fresh()
      const first = await sendDoc(owner, id, skillMd)
      const etag = (await fetched(first.body.capabilityDocUrl)).headers.get("etag") ?? ""
      const known = await fetched(first.body.capabilityDocUrl, { "if-none-match": `W/${etag}` })
      expect([known.status, await known.text()]).toEqual([304, ""])
      const json = JSON.stringify({ name: "Ladle", tools: [{ name: "a", description: "b", inputSchema: {} }, "c"] })
      const second = await sendDoc(owner, id, json, { type: "application/json" })
      const now = {
        capabilityDocUrl: first.body.capabilityDocUrl,
        format: "json",
        parsed: {
          name: "Ladle",
          description: "",
          tools: [{ name: "a", description: "b" }, { name: "c", description: "" }]
        }
      }
      expect([second.body, (await read(id)).body.data]).toEqual([now, now])
      const changed = await fetched(now.capabilityDocUrl, { "if-none-match": etag })
      expect([changed.status, await changed.text()]).toEqual([200, json])
      const head = await fetch(now.capabilityDocUrl, { method: "HEAD" })
      expect([head.status, head.headers.get("etag"), await head.text()]).toEqual([200, changed.headers.get("etag"), ""])
    }
  )

  row("get capability doc: Cache-Control public, max-age=120, stale-while-revalidate=600", async () => {
    const id = await fresh()
    const { body } = await sendDoc(owner, id, skillMd)
    const expected = "public, max-age=120, stale-while-revalidate=600"
    expect((await read(id)).headers.get("cache-control")).toBe(expected)
    expect((await fetched(body.capabilityDocUrl)).headers.get("cache-control")).toBe(expected)
  })

  row(
    "upload capability doc: 400 validation_error, bad id, missing or empty file, unsupported MIME, file over 512 KB",
    async () => {
      const id = await fresh()
      await sendDoc(owner, id, skillMd)
      const bad = (sent: Parameters<Account["request"]>[2], to = id) => owner.request("POST", docOf(to), sent)
      const markdown = { filename: "SKILL.md", type: "text/markdown", content: skillMd }
      const most = 512 * 1024
      expect((await sendDoc(owner, id, "x".repeat(most))).status).toBe(201)
      await sendDoc(owner, id, skillMd)
      for (
        const [what, answer] of [
          ["bad id", await bad(multipart([markdown]), "x")],
          ["no body", await bad({})],
          ["JSON", await bad({ body: { file: "x" } })],
          ["no part", await bad(multipart([]))],
          ["another part", await bad(multipart([markdown, { ...markdown, name: "other" }]))],
          ["two files", await bad(multipart([markdown, markdown]))],
          ["empty", await bad(multipart([{ ...markdown, content: "" }]))],
          ["blank", await bad(multipart([{ ...markdown, content: " \r\n\n" }]))],
          ["a form's field", await bad(multipart([{ name: "file", type: "image/png", content: "x" }]))],
          ["type", await bad(multipart([{ ...markdown, type: "application/pdf" }]))],
          ["a byte too long", await bad(multipart([{ ...markdown, content: "x".repeat(most + 1) }]))],
          ["20 MB", await bad(multipart([{ ...markdown, content: Buffer.alloc(20 << 20, "x") }]))],
          ["cut off", await bad({ ...multipart([markdown]), body: multipart([markdown]).body.subarray(0, 150) })]
        ] as const
      ) expect([answer.status, answer.body], what).toMatchObject([400, failure("validation_error")])
      expect((await read(id)).body.data.parsed).toEqual(parsed)
    }
  )

  row(
    "upload capability doc: 403 forbidden, not owner; 404 not_found, listing missing; 422 validation_error, delisted",
    async () => {
      const id = await fresh()
      const stranger = await berth.signUp()
      const answers = async (...tries: ReadonlyArray<ReturnType<typeof sendDoc>>) =>
        (await Promise.all(tries)).map(({ body, status }) => [status, body])
      await owner.patch(`/v1/directory/${id}`, { visible: false })
      expect(
        await answers(
          sendDoc(stranger, id, skillMd),
          sendDoc(owner, noListing, skillMd),
          sendDoc(owner, id, skillMd),
          sendDoc(owner, id, ""),
          sendDoc(berth, id, skillMd)
        )
      ).toEqual([
        [403, failure("forbidden")],
        [404, failure("not_found")],
        [422, failure("validation_error")],
        [422, failure("validation_error")],
        [401, failure("unauthorized")]
      ])
      const key = await owner.holder((await owner.project()).id)
      expect((await sendDoc(key, id, skillMd)).status).toBe(401)
    }
  )

  row(
    "get capability doc: 400 validation_error, bad id; 404 not_found, listing missing, inactive or without a document",
    async () => {
      const [without, hidden] = [await fresh(), await fresh()]
      await sendDoc(owner, hidden, skillMd)
      await owner.patch(`/v1/directory/${hidden}`, { visible: false })
      for (const to of [docOf, (id: string) => `${docOf(id)}/content`]) {
        for (
          const [id, status, code] of [
            ["x", 400, "validation_error"],
            [noListing, 404, "not_found"],
            [without, 404, "not_found"],
            [hidden, 404, "not_found"]
          ] as const
        ) {
          const answer = await berth.request("GET", to(id))
          expect([answer.status, answer.body], to(id)).toEqual([status, failure(code)])
        }
      }
      await owner.patch(`/v1/directory/${hidden}`, { visible: true })
      expect((await read(hidden)).body.data.parsed).toEqual(parsed)
    }
  )

  it("is uploaded once by one Idempotency-Key, however the bytes are wrapped", async () => {
    const id = await fresh()
    const headers = { "idempotency-key": "one-upload" }
    const ask = (content: string, boundary: string) => {
      const { body, headers: { "content-type": type } } = multipart([
        { filename: "SKILL.md", type: "text/markdown", content }
      ])
      return owner.request<Doc>("POST", docOf(id), {
        body: body.toString().replaceAll("----a-boundary-of-the-tests", boundary),
        headers: { ...headers, "content-type": type.replace("----a-boundary-of-the-tests", boundary) }
      })
    }
    const first = await ask(skillMd, "first")
    await sendDoc(owner, id, "# Between\n")
    const second = await ask(skillMd, "second")
    expect([second.status, second.body]).toEqual([201, first.body])
    expect((await read(id)).body.data.parsed.name).toBe("Between")
    expect((await ask("# Other\n", "third")).status).toBe(422)
    const none = await owner.request("POST", docOf(id), { headers: { "idempotency-key": "another" }, body: { a: 1 } })
    expect([none.status, none.body]).toMatchObject([400, failure("validation_error")])
  })

  it("goes with its business", async () => {
    const business = await listed(owner)
    const { body } = await sendDoc(owner, business.listingId, skillMd)
    await owner.delete(`${businesses}/${business.id}`)
    expect([(await read(business.listingId)).status, (await fetched(body.capabilityDocUrl)).status]).toEqual([404, 404])
  })

  row("upload capability doc: 503 service_unavailable, rate limits or storage unavailable", async () => {
    const id = await fresh()
    const { body: kept } = await sendDoc(owner, id, skillMd)
    // In place of its folder there is a file: nothing can be written there, nor read, also by root.
    const folder = join(home, "blobs", "capability-docs")
    rmSync(folder, { recursive: true })
    writeFileSync(folder, "")
    const other = await sendDoc(owner, id, skillMd.replace("Soups", "Pies"))
    expect([other.status, other.body]).toEqual([503, failure("service_unavailable")])
    expect((await fetched(kept.capabilityDocUrl)).status).toBe(503)
    // What was read from it is in the database, and is what it was.
    expect((await read(id)).body.data).toEqual(kept)
    rmSync(folder)
    mkdirSync(folder)
    chmodSync(folder, 0o700)
    expect((await sendDoc(owner, id, skillMd)).status).toBe(201)
    expect(berth.unexpected).toEqual([])
  })
})

describe("uploads by one user", () => {
  const few = useBerth({ variables: { HUB_RATE_LIMIT: "3" } })

  row("upload capability doc: 429 rate_limited by user, Retry-After at most 60", async () => {
    const [one, other] = [await few.signUp("enterprise"), await few.signUp("enterprise")]
    const [mine, theirs] = [await listed(one), await listed(other)]
    for (const _ of [1, 2, 3]) expect((await sendDoc(one, mine.listingId, skillMd)).status).toBe(201)
    const full = await sendDoc(one, mine.listingId, skillMd)
    expect([full.status, full.body]).toEqual([429, failure("rate_limited")])
    const after = Number(full.headers.get("retry-after"))
    expect(after >= 1 && after <= 60).toBe(true)
    expect((await sendDoc(other, theirs.listingId, skillMd)).status).toBe(201)
    few.advance(61_000)
    expect((await sendDoc(one, mine.listingId, skillMd)).status).toBe(201)
  })
})

describe("the skills registry", () => {
  const hub = useBerth()
  const path = "/.well-known/mcp-skills"
  interface Page {
    readonly listings: ReadonlyArray<Readonly<Record<string, string>>>
    readonly next_cursor?: string
  }
  const list = (query = "") => hub.request<Page>("GET", `${path}${query}`)
  const ids: Array<string> = []
  let keeper: Account
  beforeAll(async () => {
    keeper = await hub.signUp("enterprise")
    for (let at = 0; at < 5; at++) {
      const { listingId } = await listed(keeper, { name: `Shop ${at}` })
      await sendDoc(keeper, listingId, at % 2 === 0 ? skillMd : "{}", {
        type: at % 2 === 0 ? "text/markdown" : "application/json"
      })
      ids.push(listingId)
    }
    await listed(keeper, { name: "Without" })
    await newBusiness(keeper, { name: "Hidden" })
  })

  row("GET /.well-known/mcp-skills → 200 { listings[], next_cursor? }", async () => {
    const { body, status } = await list()
    expect([status, Object.keys(body), body.listings.map(({ id }) => id)]).toEqual([200, ["listings"], ids])
  })

  row("skills registry entry: id, name, capability_doc_url, capability_doc_format", async () => {
    const { body } = await list()
    expect(body.listings.slice(0, 2)).toEqual([
      {
        id: ulid,
        name: "Shop 0",
        capability_doc_url: `${hub.url}${docOf(ids[0] ?? "")}/content`,
        capability_doc_format: "skill_md"
      },
      {
        id: ids[1],
        name: "Shop 1",
        capability_doc_url: `${hub.url}${docOf(ids[1] ?? "")}/content`,
        capability_doc_format: "json"
      }
    ])
  })

  row(
    "skills registry query: listing_id, format, limit (1 to 200, 50), cursor; next_cursor only when more results exist",
    async () => {
      const seen: Array<string | undefined> = []
      let cursor: string | undefined
      do {
        const { body } = await list(`?limit=2${cursor === undefined ? "" : `&cursor=${cursor}`}`)
        seen.push(...body.listings.map(({ id }) => id))
        cursor = body.next_cursor
        if (cursor !== undefined) expect(cursor).toEqual(ulid)
      } while (cursor !== undefined)
      expect(seen).toEqual(ids)
      expect((await list("?limit=5")).body.next_cursor).toBeUndefined()
      const of = async (query: string) => (await list(query)).body.listings.map(({ id }) => id)
      expect(await of("?format=json")).toEqual([ids[1], ids[3]])
      expect(await of("?format=json&limit=1")).toEqual([ids[1]])
      expect(await of(`?listing_id=${ids[2]}`)).toEqual([ids[2]])
      expect(await of(`?listing_id=${ids[2]}&format=json`)).toEqual([])
      expect(await of(`?listing_id=${noListing}`)).toEqual([])
      // A listing that goes takes nothing from the page behind it.
      const first = (await list("?limit=2")).body
      await keeper.patch(`/v1/directory/${ids[1]}`, { visible: false })
      expect(await of(`?limit=2&cursor=${first.next_cursor}`)).toEqual(ids.slice(2, 4))
      await keeper.patch(`/v1/directory/${ids[1]}`, { visible: true })
    }
  )

  row("skills registry: Cache-Control public, max-age=60, stale-while-revalidate=300", async () => {
    expect((await list()).headers.get("cache-control")).toBe("public, max-age=60, stale-while-revalidate=300")
  })

  row("skills registry: 400 validation_error, bad listing_id, bad format, limit out of range, bad cursor", async () => {
    for (
      const query of [
        ...["listing_id=x", "listing_id=", "format=md", "format=SKILL_MD", "cursor=x", "cursor="],
        ...["limit=0", "limit=201", "limit=-1", "limit=1.5", "limit=x", "limit=", "limit=1e1", "limit=1&limit=2"]
      ]
    ) {
      const { body, status } = await list(`?${query}`)
      expect([status, body], query).toMatchObject([400, failure("validation_error")])
    }
  })
})
