import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { dataOf } from "../support/account.ts"
import { docOf, sendDoc, skillMd } from "../support/documents.ts"
import { send, type Sent } from "../support/http.ts"
import { describeLong } from "../support/needs.ts"
import { type FakeS3, fakeS3, s3Variables } from "../support/s3.ts"
import { build, clear, newPlace, type Place, run, sweep } from "./support/program.ts"

describeLong("a platform that is killed in an upload of a document", () => {
  const scope = Effect.runSync(Scope.make())
  let place: Place
  let s3: FakeS3
  beforeAll(async () => {
    place = await newPlace()
    await build(place)
    s3 = await Effect.runPromise(Scope.extend(fakeS3, scope))
  }, 120_000)
  afterAll(async () => {
    sweep(place)
    clear(place)
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  const start = async () => {
    const program = run(place, ["node", "dist/berth.js", "serve", "--no-demo"], s3Variables(s3.url))
    await program.printed(/Berth is ready/)
    return { program, base: program.url.replace("localhost", "127.0.0.1") }
  }

  it("has the document of before, whole, when the bytes of the next were stored and no row named them", async () => {
    let { base, program } = await start()
    const account = { email: "owner@example.com", password: "correct horse battery" }
    const { token } = dataOf(
      await send<{ data: { token: string } }>(base, "POST", "/v1/auth/signup", { body: account })
    )
    const owner = {
      request: <Body>(method: string, path: string, sent: Sent = {}) =>
        send<Body>(base, method, path, { token, ...sent })
    }
    type Made = { readonly data: { readonly id: string; readonly listingId: string } }
    const project = dataOf(await owner.request<Made>("POST", "/v1/projects", { body: { name: "Kill" } }))
    const { listingId } = dataOf(
      await owner.request<Made>("POST", "/api/v1/ready/businesses", { body: { projectId: project.id, name: "Kill" } })
    )
    await owner.request("PATCH", `/v1/directory/${listingId}`, { body: { visible: true } })

    const read = async () => ({
      said: await owner.request("GET", docOf(listingId)),
      bytes: await owner.request("GET", `${docOf(listingId)}/content`)
    })
    for (const before of [undefined, skillMd]) {
      if (before !== undefined) expect((await sendDoc(owner, listingId, before)).status).toBe(201)
      const stored = s3.objects.size
      s3.held = new Promise(() => {})
      const cut = sendDoc(owner, listingId, skillMd.replace("Soups", "Pies")).catch(() => undefined)
      await expect.poll(() => s3.objects.size).toBe(stored + 1)
      await program.end("SIGKILL")
      await cut
      s3.held = Promise.resolve()
      ;({ base, program } = await start())
      const { bytes, said } = await read()
      if (before === undefined) expect([said.status, bytes.status]).toEqual([404, 404])
      else {
        expect([bytes.status, bytes.text]).toEqual([200, before])
        expect(said.body).toMatchObject({ data: { parsed: { description: "Soups and stews." } } })
      }
    }
    const again = await sendDoc(owner, listingId, skillMd.replace("Soups", "Pies"))
    expect([again.status, (await read()).bytes.text]).toEqual([201, skillMd.replace("Soups", "Pies")])
    expect(await program.end("SIGTERM")).toEqual({ code: 0, signal: null })
  }, 120_000)
})
