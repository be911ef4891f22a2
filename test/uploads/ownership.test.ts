import { beforeAll, describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type TestImage, testImage } from "../support/image.ts"
import { digestOf, refusal, RegistryClient, repository } from "./support/client.ts"

const berth = useBerth()
let owner: Account
let stranger: Account
let own: Awaited<ReturnType<typeof repository>>
let image: TestImage

beforeAll(async () => {
  ;[owner, stranger] = await Promise.all([berth.signUp(), berth.signUp()])
  own = await repository(owner)
  image = await testImage()
  await own.image(image, "v1")
})

describe("what was pushed", () => {
  it("has no tag of a name that no tag can have, also where the database could not look for it", async () => {
    for (const reference of ["a%00b", "..", "-v1", "a".repeat(129), "v1%20", "%F0%9F%98%80"]) {
      for (const method of ["GET", "DELETE"]) {
        const answer = await own.ask(method, `manifests/${reference}`)
        expect([reference, ...refusal(answer)]).toEqual([reference, 404, "MANIFEST_UNKNOWN"])
      }
    }
    for (const [last, tags] of [["%00", ["v1"]], ["v0%00", ["v1"]], ["v".repeat(5_000), []]] as const) {
      expect((await own.ask("GET", `tags/list?last=${last}`)).body).toEqual({ name: own.name, tags })
    }
  })

  it("does not exist for another account: neither the project nor, in its own, blobs and manifests", async () => {
    const asked = new RegistryClient(stranger, own.name)
    const [blob] = [...image.blobs.keys()]
    for (
      const [method, path] of [
        ["HEAD", `blobs/${blob}`],
        ["GET", `blobs/${blob}`],
        ["GET", "manifests/v1"],
        ["PUT", "manifests/v1"],
        ["DELETE", "manifests/v1"],
        ["POST", "blobs/uploads/"],
        ["GET", "tags/list"],
        ["GET", `referrers/${image.digest}`]
      ] as const
    ) {
      const answer = await asked.ask(method, path)
      expect([path, answer.status]).toEqual([path, 404])
      if (method !== "HEAD") expect(refusal(answer)).toEqual([404, "NAME_UNKNOWN"])
    }
    const theirs = await repository(stranger, "copy", await stranger.project("Copies"))
    expect(await theirs.has(blob!)).toBe(false)
    expect(refusal(await theirs.ask("GET", `blobs/${blob}`))).toEqual([404, "BLOB_UNKNOWN"])
  })

  it("can't be named or mounted by who only knows its digest", async () => {
    const theirs = await repository(stranger, "thief", await stranger.project("Thief"))
    expect(refusal(await theirs.manifest("v1", image.manifest, image.mediaType))).toEqual([
      400,
      "MANIFEST_BLOB_UNKNOWN"
    ])
    for (const from of [own.name, `${own.project.id.toLowerCase()}/app`]) {
      const [blob] = [...image.blobs.keys()]
      const answer = await theirs.ask("POST", `blobs/uploads/?mount=${blob}&from=${from}`)
      expect(answer.status).toBe(202)
    }
    expect((await theirs.image(image, "v1")).status).toBe(201)
  })

  it("is read by keys with deployments:read, written by those with deployments:write, in their project alone", async () => {
    const reader = new RegistryClient(await owner.holder(own.project.id, ["deployments:read"]), own.name)
    const writer = new RegistryClient(await owner.holder(own.project.id, ["deployments:write"]), own.name)
    const neither = new RegistryClient(await owner.holder(own.project.id, ["logs:read"]), own.name)
    expect((await reader.ask("GET", "manifests/v1")).status).toBe(200)
    expect(refusal(await reader.ask("POST", "blobs/uploads/"))).toEqual([403, "DENIED"])
    expect(refusal(await reader.ask("DELETE", "manifests/v1"))).toEqual([403, "DENIED"])
    expect((await writer.blob(Buffer.from("written"))).status).toBe(201)
    expect(await writer.has(digestOf(Buffer.from("written")))).toBe(true)
    expect(refusal(await writer.ask("GET", "manifests/v1"))).toEqual([403, "DENIED"])
    expect((await neither.ask("HEAD", "manifests/v1")).status).toBe(403)
    const elsewhere = new RegistryClient(await owner.holder((await owner.project("Second")).id), own.name)
    expect(refusal(await elsewhere.ask("GET", "manifests/v1"))).toEqual([404, "NAME_UNKNOWN"])
  })

  it("is reached by the project's id in lower case, too", async () => {
    const byId = new RegistryClient(owner, `${own.project.id.toLowerCase()}/app`)
    expect((await byId.ask("GET", "manifests/v1")).status).toBe(200)
  })
})

describe("a caller of /v2", () => {
  const ask = (headers: Readonly<Record<string, string>>, path = "/v2/") => berth.request("GET", path, { headers })
  const basic = (user: string, password: string) => ({
    authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`
  })

  it("without a credential is told to log in", async () => {
    for (const path of ["/v2/", "/v2", `/v2/${own.name}/tags/list`, "/v2/x"]) {
      const answer = await ask({}, path)
      expect(refusal(answer)).toEqual([401, "UNAUTHORIZED"])
      expect(answer.headers.get("www-authenticate")).toMatch(/^Basic realm=/)
      expect(answer.headers.get("docker-distribution-api-version")).toBe("registry/2.0")
    }
  })

  it("is told of its rate by each answer, whatever it is", async () => {
    const credential = { authorization: `Bearer ${owner.token}` }
    const answers = [
      await ask(credential),
      await ask({}),
      await ask(credential, `/v2/${own.name}/manifests/nowhere`),
      await ask(credential, "/v2/nothing/here/at/all")
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 404, 404])
    for (const { headers } of answers) {
      for (const name of ["limit", "remaining", "reset"]) expect(headers.get(`x-ratelimit-${name}`)).toMatch(/^\d+$/)
    }
    expect(answers[0]?.headers.get("x-ratelimit-limit")).toBe("3000")
  })

  it("is known by a key or session token, as Bearer or as the password of any user", async () => {
    const { key } = await owner.key(own.project.id)
    for (const token of [key, owner.token]) {
      for (const headers of [{ authorization: `Bearer ${token}` }, basic("any", token), basic("", token)]) {
        expect((await ask(headers)).status).toBe(200)
      }
    }
    for (
      const headers of [basic(key, ""), basic("any", `${key}x`), { authorization: "Basic !" }, {
        cookie: `svc_session=${owner.token}`
      }]
    ) {
      expect(refusal(await ask(headers as Readonly<Record<string, string>>))).toEqual([401, "UNAUTHORIZED"])
    }
  })
})
