import { FastCheck as fc } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { testImage } from "../support/image.ts"
import { full } from "../support/needs.ts"
import { runSql } from "../support/sql.ts"
import { digestOf, type RegistryClient, repository } from "./support/client.ts"

const berth = useBerth()
let client: RegistryClient

beforeAll(async () => {
  client = await repository(await berth.signUp("enterprise"))
})

const runs = { numRuns: full ? 300 : 40 }
/** What a header or a path may hold. */
const printable = fc.string({ unit: fc.integer({ min: 33, max: 126 }).map((code) => String.fromCharCode(code)) })
const piece = (text: string) => encodeURIComponent(text).replace(/^\.+$/, "%2E")

/** A refusal in the specification's form, and never a fault of ours. */
const expectRefusal = (answer: Awaited<ReturnType<RegistryClient["ask"]>>, statuses: ReadonlyArray<number>) => {
  expect(statuses).toContain(answer.status)
  if (answer.status >= 400) {
    expect(answer.body).toEqual({
      errors: [expect.objectContaining({ code: expect.stringMatching(/^[A-Z_]+$/), message: expect.any(String) })]
    })
  }
}

describe("the registry refuses in plain words", () => {
  it("any Content-Range that is not the next part, and keeps the bytes as they were", async () => {
    const location = await client.begin()
    await client.chunk(location, Buffer.from("0123456789"), 0)
    const odd = fc.oneof(
      printable,
      fc.tuple(fc.integer({ min: -5, max: 2 ** 53 }), fc.integer({ min: -5, max: 2 ** 53 })).map(([a, b]) => `${a}-${b}`),
      fc.constantFrom("10-", "-10", "bytes 9-9/10", "10-9", "1e1-2e1", "0x0a-0x0b", "10-99999999999999999999")
    ).filter((range) => !/^(bytes[ =])?0*10-0*14(\/.*)?$/.test(range) && range !== "")
    await fc.assert(
      fc.asyncProperty(odd, async (range) => {
        const answer = await client.ask("PATCH", location, Buffer.from("abcde"), { "content-range": range })
        expectRefusal(answer, [400, 416])
        expect((await client.ask("GET", location)).headers.get("range")).toBe("0-9")
      }),
      runs
    )
    await client.ask("DELETE", location)
  })

  it("any digest that is none", async () => {
    const digest = fc.oneof(
      printable,
      fc.constantFrom("sha256:", "sha512:" + "a".repeat(128), `sha256:${"A".repeat(64)}`, `sha256:${"a".repeat(63)}`, "../../x")
    )
    await fc.assert(
      fc.asyncProperty(digest, async (text) => {
        const query = encodeURIComponent(text)
        expectRefusal(await client.ask("GET", `blobs/${piece(text)}`), [400, 404, 405])
        expectRefusal(await client.ask("PUT", `${await client.begin()}?digest=${query}`, Buffer.from("x")), [400])
        expectRefusal(await client.ask("POST", `blobs/uploads/?mount=${query}&from=${query}`), [202, 400])
        for (const { id } of await unfinished()) await client.ask("DELETE", `blobs/uploads/${id}`)
      }),
      { numRuns: runs.numRuns / 4 }
    )
  })

  const unfinished = async () => {
    const rows = await runSql(berth.databaseUrl, "SELECT id FROM unfinished_uploads")
    return rows.map(({ id }) => ({ id: String(id) }))
  }

  it("any name of a repository or reference", async () => {
    const name = fc.array(fc.oneof(printable, fc.constantFrom("..", ".", "%00", "blobs", "manifests", "UP", "a__b", "")), {
      minLength: 1,
      maxLength: 4
    })
    await fc.assert(
      fc.asyncProperty(name, printable, fc.constantFrom("GET", "HEAD", "PUT", "DELETE"), async (names, reference, method) => {
        const path = `/v2/${names.map(piece).join("/")}/manifests/${piece(reference) || "x"}`
        const answer = await client.ask(method, path, method === "PUT" ? Buffer.from("{}") : undefined)
        expect([400, 404]).toContain(answer.status)
        expect((await client.ask(method, `manifests/${piece(reference) || "x"}`)).status).toBeLessThan(500)
      }),
      runs
    )
  })

  it("any manifest that is none", async () => {
    const image = await testImage()
    await client.image(image, "good")
    const good = JSON.parse(image.manifest.toString()) as Record<string, unknown>
    const broken = fc.oneof(
      fc.json(),
      fc.record({
        schemaVersion: fc.oneof(fc.constant(2), fc.jsonValue()),
        mediaType: fc.oneof(fc.constant(image.mediaType), fc.jsonValue()),
        config: fc.oneof(fc.constant(good["config"]), fc.jsonValue()),
        layers: fc.oneof(fc.constant(good["layers"]), fc.array(fc.jsonValue()), fc.jsonValue())
      }).map((value) => JSON.stringify(value)),
      fc.string()
    )
    await fc.assert(
      fc.asyncProperty(broken, async (text) => {
        const answer = await client.manifest("odd", Buffer.from(text), image.mediaType)
        expectRefusal(answer, [201, 400])
        if (answer.status === 201) expect(answer.headers.get("docker-content-digest")).toBe(digestOf(Buffer.from(text)))
      }),
      runs
    )
    expect((await client.ask("GET", "manifests/good")).text).toBe(image.manifest.toString())
  })
})
