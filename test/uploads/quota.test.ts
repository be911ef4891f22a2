import { plans } from "#src/plans/Plan.ts"
import { randomBytes } from "node:crypto"
import { describe, expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { testImage } from "../support/image.ts"
import { runSql } from "../support/sql.ts"
import { digestOf, messageOf, refusal, repository } from "./support/client.ts"

const berth = useBerth()
const allowed = plans.free.quotas.uploadBytes!
const kB = 1000

interface Usage {
  readonly data: {
    readonly limits: ReadonlyArray<{ readonly limit: string; readonly used: number; readonly over: boolean }>
  }
}

/** A free account's repository, with so many bytes left of what its plan allows. */
const almostFull = async (left: number) => {
  const owner = await berth.signUp()
  const client = await repository(owner)
  await runSql(
    berth.databaseUrl,
    "INSERT INTO uploaded_blobs (project_id, digest, size, asked_at) VALUES ($1, 'sha256:full', $2, now())",
    [client.project.id, allowed - left]
  )
  const used = async () =>
    (await owner.get<Usage>("/v1/billing/usage")).body.data.limits.find(({ limit }) => limit === "uploadBytes")!.used
  return { client, left: async () => allowed - await used() }
}

describe("a plan's bytes of pushed images", () => {
  it("refuse what has no room, in words that say what to do, and keep nothing of it", async () => {
    const { client, left } = await almostFull(10 * kB)
    const large = randomBytes(11 * kB)
    const refused = await client.blob(large)
    expect(refusal(refused)).toEqual([403, "DENIED"])
    expect(messageOf(refused)).toMatch(
      /^The free plan allows 2 GB of pushed images: delete some \(.*\), or change to the developer plan/
    )
    expect(await client.has(digestOf(large))).toBe(false)
    const location = await client.begin()
    expect(refusal(await client.chunk(location, large))).toEqual([403, "DENIED"])
    expect((await client.ask("GET", location)).headers.get("range")).toBe("0-0")
    await client.ask("DELETE", location)
    expect((await client.blob(randomBytes(10 * kB))).status).toBe(201)
    expect(await left()).toBe(0)
    expect(refusal(await client.blob(randomBytes(1)))).toEqual([403, "DENIED"])
  })

  it("count each blob once, whatever project has it, and are free again once it is deleted", async () => {
    const { client, left } = await almostFull(50 * kB)
    const image = await testImage()
    await client.image(image, "v1")
    const afterFirst = await left()
    expect(afterFirst).toBe(
      50 * kB - image.manifest.length - [...image.blobs.values()].reduce((sum, { length }) => sum + length, 0)
    )
    await client.image(image, "v2")
    expect(await left()).toBe(afterFirst)
    await runSql(berth.databaseUrl, "UPDATE uploaded_blobs SET asked_at = NULL WHERE digest <> 'sha256:full'")
    await client.ask("DELETE", `manifests/${image.digest}`)
    expect(await left()).toBe(50 * kB)
  })

  it("hold while many push at once", async () => {
    const { client, left } = await almostFull(30 * kB)
    const answers = await Promise.all(Array.from({ length: 10 }, () => client.blob(randomBytes(7 * kB))))
    const taken = answers.filter(({ status }) => status === 201).length
    expect(taken).toBeLessThanOrEqual(4)
    for (const answer of answers) if (answer.status !== 201) expect(refusal(answer)).toEqual([403, "DENIED"])
    await runSql(berth.databaseUrl, "DELETE FROM unfinished_uploads WHERE project_id = $1", [client.project.id])
    expect(await left()).toBe(30 * kB - taken * 7 * kB)
  })

  it("make room by what a cut-off push left", async () => {
    const { client } = await almostFull(10 * kB)
    const location = await client.begin()
    expect((await client.chunk(location, randomBytes(8 * kB))).status).toBe(202)
    expect(refusal(await client.blob(randomBytes(8 * kB)))).toEqual([403, "DENIED"])
    await runSql(
      berth.databaseUrl,
      "UPDATE unfinished_uploads SET written_at = now() - interval '16 minutes' WHERE project_id = $1",
      [client.project.id]
    )
    expect((await client.blob(randomBytes(8 * kB))).status).toBe(201)
    expect(refusal(await client.ask("GET", location))).toEqual([404, "BLOB_UPLOAD_UNKNOWN"])
  })

  it("make room by the oldest of them, and by no more than is needed", async () => {
    const { client } = await almostFull(10 * kB)
    const locations: Array<string> = []
    for (const minutes of [30, 20, 5]) {
      const location = await client.begin()
      locations.push(location)
      await client.chunk(location, randomBytes(3 * kB))
      await runSql(
        berth.databaseUrl,
        "UPDATE unfinished_uploads SET written_at = now() - $2 * interval '1 minute' WHERE id = $1",
        [location.split("/").at(-1), minutes]
      )
    }
    const kept = async () => Promise.all(locations.map(async (location) => (await client.ask("GET", location)).status))
    expect((await client.blob(randomBytes(4 * kB))).status).toBe(201)
    expect(await kept()).toEqual([404, 204, 204])
    expect(refusal(await client.blob(randomBytes(7 * kB)))).toEqual([403, "DENIED"])
    expect((await client.ask("GET", locations[2]!)).status).toBe(204)
  })
})

describe("the uploads of a project that have not ended", () => {
  it("are 100 at most, with the time to try again, and idle ones make way for another", async () => {
    const client = await repository(await berth.signUp())
    const first = await client.begin()
    await runSql(
      berth.databaseUrl,
      "INSERT INTO unfinished_uploads (id, project_id, repository) SELECT gen_random_uuid(), $1, 'app' FROM generate_series(1, 99)",
      [client.project.id]
    )
    const refused = await client.ask("POST", "blobs/uploads/")
    expect([...refusal(refused), refused.headers.get("retry-after")]).toEqual([429, "TOOMANYREQUESTS", "60"])
    await runSql(
      berth.databaseUrl,
      "UPDATE unfinished_uploads SET written_at = now() - interval '16 minutes' WHERE id = $1",
      [first.split("/").at(-1)]
    )
    expect((await client.ask("POST", "blobs/uploads/")).status).toBe(202)
    expect((await client.ask("GET", first)).status).toBe(404)
  })
})
