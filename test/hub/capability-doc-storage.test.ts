import { plans } from "#src/plans/Plan.ts"
import { Effect, Exit, Scope } from "effect"
import { createHash } from "node:crypto"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { Berth } from "../support/Berth.ts"
import { type Bucket, fakeBucket, swiftBucket } from "../support/bucket.ts"
import { docOf, listed, sendDoc, skillMd } from "../support/documents.ts"
import { describeWhen } from "../support/needs.ts"
import { accessDenied, type FakeS3, fakeS3 } from "../support/s3.ts"
import { runSql } from "../support/sql.ts"
import { missingSwift, type Swift, swiftServer } from "../support/swift.ts"

const content = (berth: Berth, id: string, headers: Readonly<Record<string, string>> = {}) =>
  berth.request("GET", `${docOf(id)}/content`, { headers })
const named = (name: string, size = 0) => skillMd.replace("copper-ladle", name) + "x".repeat(size)

/** What holds in any store. */
const usualTests = (berth: () => Berth, owner: () => Account, bucket: () => Bucket) => {
  it("that are uploaded at once leave one whole document", async () => {
    const { listingId } = await listed(owner())
    const sent = Array.from({ length: 12 }, (_, at) => named(`document-${at}`, at * 40_000))
    const answers = await Promise.all(sent.map((text) => sendDoc(owner(), listingId, text)))
    expect(answers.map(({ status }) => status)).toEqual(sent.map(() => 201))
    const { body } = await berth().request<{ data: { parsed: { name: string } } }>("GET", docOf(listingId))
    const { text } = await content(berth(), listingId)
    expect(sent).toContain(text)
    expect(text).toContain(`name: ${body.data.parsed.name}\n`)
    const [row] = await runSql(berth().databaseUrl, "SELECT digest FROM capability_documents WHERE listing_id = $1", [
      listingId
    ])
    expect(row?.["digest"]).toBe(createHash("sha256").update(text).digest("hex"))
  })

  it("that were changed or lost there are not passed off as the owner's", async () => {
    const { listingId } = await listed(owner())
    await sendDoc(owner(), listingId, named("genuine"))
    const [key] = [...await bucket().objects()].find(([, text]) => text === named("genuine")) ?? [""]
    await bucket().put(key, "another's")
    expect((await content(berth(), listingId)).status).toBe(503)
    await bucket().remove(key)
    expect((await content(berth(), listingId)).status).toBe(503)
    expect((await berth().request("GET", docOf(listingId))).status).toBe(200)
    await sendDoc(owner(), listingId, named("genuine"))
    expect((await content(berth(), listingId)).status).toBe(200)
  })

  it("are so many bytes an account by its plan, also of those replaced within the hour", async () => {
    const free = await berth().signUp()
    const { listingId } = await listed(free)
    await sendDoc(free, listingId, named("mine"))
    await runSql(berth().databaseUrl, "INSERT INTO capability_blobs (key, account_id, bytes) VALUES ('x/y', $1, $2)", [
      free.id,
      plans.free.quotas.documentBytes! - skillMd.length - 600
    ])
    const answers = await Promise.all(
      [1, 2, 3].map(() => sendDoc(free, listingId, named("next", 400 - skillMd.length)))
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 403, 403])
    const refused = answers.find(({ status }) => status === 403)
    expect(refused?.body).toMatchObject({ error: { code: "plan_limit_reached", details: { limit: "documentBytes" } } })
  })
}

describe("documents in a bucket", () => {
  const scope = Effect.runSync(Scope.make())
  const berth = new Berth()
  let s3: FakeS3
  let owner: Account
  beforeAll(async () => {
    s3 = await Effect.runPromise(Scope.extend(fakeS3, scope))
    await berth.start({ variables: fakeBucket(s3).variables() })
    owner = await berth.signUp("enterprise")
  }, 60_000)
  afterAll(async () => {
    await berth.stop()
    await Effect.runPromise(Scope.close(scope, Exit.void))
    expect(berth.unexpected).toEqual([])
  })

  it("are served from there, and whoever has one costs no read", async () => {
    const { listingId } = await listed(owner)
    await sendDoc(owner, listingId, skillMd)
    expect([...s3.objects].map(([name, bytes]) => [name.replace(/\w{26}$/, ""), bytes.toString()]))
      .toEqual([["files/berth/capability-docs/", skillMd]])
    const first = await content(berth, listingId)
    expect([first.status, first.text]).toEqual([200, skillMd])
    s3.asked.length = 0
    const etag = first.headers.get("etag") ?? ""
    for (const to of [docOf(listingId), "/.well-known/mcp-skills"]) await berth.request("GET", to)
    const again = await content(berth, listingId, { "if-none-match": etag })
    expect([again.status, s3.asked]).toEqual([304, []])
  })

  usualTests(() => berth, () => owner, () => fakeBucket(s3))

  it("are those of before while the bucket takes no other, and nobody is told of the key", async () => {
    const { listingId } = await listed(owner)
    await sendDoc(owner, listingId, named("before"))
    s3.failures.push(accessDenied)
    const refused = await sendDoc(owner, listingId, named("after"))
    expect([refused.status, refused.text]).toEqual([503, expect.not.stringMatching(/AccessDenied|AKIA|bucket/)])
    expect((await content(berth, listingId)).text).toBe(named("before"))
    expect(berth.logged.join("\n")).not.toContain("hunter2")
  })

  it("that could not be stored count in no plan", async () => {
    const free = await berth.signUp()
    const { listingId } = await listed(free)
    const most = plans.free.quotas.documentBytes!
    s3.failures.push(accessDenied)
    expect((await sendDoc(free, listingId, named("refused", 400_000))).status).toBe(503)
    const [row] = await runSql(
      berth.databaseUrl,
      "SELECT coalesce(sum(bytes), 0)::int AS used FROM capability_blobs WHERE account_id = $1",
      [free.id]
    )
    expect([row?.["used"], most > 400_000]).toEqual([0, true])
    expect((await sendDoc(free, listingId, named("taken"))).status).toBe(201)
  })

  it("whose bytes stop coming from the bucket are 503 within seconds", async () => {
    const { listingId } = await listed(owner)
    await sendDoc(owner, listingId, named("slow"))
    s3.stalls = true
    s3.asked.length = 0
    const answering = content(berth, listingId)
    await expect.poll(() => s3.asked.length).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 500))
    // Its fifteen seconds are over.
    berth.hurry(15_000)
    expect((await answering).status).toBe(503)
    s3.stalls = false
    expect((await content(berth, listingId)).status).toBe(200)
  })

  it("whose business is deleted while they arrive are not taken", async () => {
    const { id, listingId } = await listed(owner)
    let release = () => {}
    s3.held = new Promise((resolve) => (release = resolve))
    const sending = sendDoc(owner, listingId, named("late"))
    await expect.poll(() => [...s3.objects.values()].some((bytes) => bytes.toString() === named("late"))).toBe(true)
    await owner.delete(`/api/v1/ready/businesses/${id}`)
    release()
    expect((await sending).status).toBe(404)
    expect((await content(berth, listingId)).status).toBe(404)
  })
})

describeWhen(missingSwift, "documents in a bucket of OpenStack Swift", () => {
  const scope = Effect.runSync(Scope.make())
  const berth = new Berth()
  let swift: Swift
  let bucket: Bucket
  let owner: Account
  beforeAll(async () => {
    swift = await Effect.runPromise(Scope.extend(swiftServer, scope))
    bucket = swiftBucket(swift)
    await berth.start({ variables: bucket.variables() })
    owner = await berth.signUp("enterprise")
  }, 120_000)
  afterAll(async () => {
    await berth.stop()
    await Effect.runPromise(Scope.close(scope, Exit.void))
    expect(berth.unexpected).toEqual([])
  })

  usualTests(() => berth, () => owner, () => bucket)

  it("that is stopped are 503, except to who has them, and are there once it is started again", async () => {
    const { listingId } = await listed(owner)
    expect((await sendDoc(owner, listingId, named("before"))).status).toBe(201)
    const first = await content(berth, listingId)
    expect([first.status, first.text]).toEqual([200, named("before")])
    await swift.stop()
    expect((await content(berth, listingId)).status).toBe(503)
    expect((await sendDoc(owner, listingId, named("after"))).status).toBe(503)
    const etag = first.headers.get("etag") ?? ""
    expect((await content(berth, listingId, { "if-none-match": etag })).status).toBe(304)
    expect((await berth.request("GET", docOf(listingId))).body).toMatchObject({ data: { parsed: { name: "before" } } })
    await swift.start()
    expect((await content(berth, listingId)).text).toBe(named("before"))
    expect((await sendDoc(owner, listingId, named("after"))).status).toBe(201)
    expect((await content(berth, listingId)).text).toBe(named("after"))
  }, 120_000)

  it("whose store is stopped in the middle of uploads are each that of before or the next, whole", async () => {
    const listings = await Promise.all(Array.from({ length: 6 }, () => listed(owner)))
    for (const { listingId } of listings) await sendDoc(owner, listingId, named("before"))
    const next = named("after", 400_000)
    const sending = listings.map(({ listingId }) => sendDoc(owner, listingId, next))
    await Promise.race(sending)
    await swift.stop()
    const statuses = (await Promise.all(sending)).map(({ status }) => status)
    expect(statuses).toContain(201)
    await swift.start()
    for (const [at, { listingId }] of listings.entries()) {
      const { status, text } = await content(berth, listingId)
      expect([status, text === (statuses[at] === 201 ? next : named("before"))]).toEqual([200, true])
    }
  }, 120_000)
})
