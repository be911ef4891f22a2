import { beforeAll, describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type TestImage, testImage, testIndex } from "../support/image.ts"
import { digestOf, refusal, RegistryClient, repository } from "./support/client.ts"

/** The cases of the OCI distribution specification's conformance suite that apply, in its order. */
const berth = useBerth()
let owner: Account
let client: RegistryClient
let image: TestImage
const bytes = (text: string) => Buffer.from(text)

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  client = await repository(owner)
  image = await testImage()
})

describe("pull", () => {
  it("serves a pushed image's manifest by tag and digest, and its blobs, with type, length and digest", async () => {
    expect((await client.image(image, "v1")).status).toBe(201)
    for (const reference of ["v1", image.digest]) {
      for (const method of ["GET", "HEAD"]) {
        const answer = await client.ask(method, `manifests/${reference}`)
        expect([
          answer.status,
          answer.headers.get("content-type"),
          answer.headers.get("content-length"),
          answer.headers.get("docker-content-digest"),
          answer.text
        ]).toEqual([
          200,
          image.mediaType,
          String(image.manifest.length),
          image.digest,
          method === "GET" ? image.manifest.toString() : ""
        ])
      }
    }
    const [digest, content] = [...image.blobs][0]!
    const got = await client.ask("GET", `blobs/${digest}`)
    expect([got.status, got.text, got.headers.get("docker-content-digest")]).toEqual([200, content.toString(), digest])
    const head = await client.ask("HEAD", `blobs/${digest}`)
    expect([head.status, head.headers.get("content-length")]).toEqual([200, String(content.length)])
  })

  it("answers 404 with the code for what is not there", async () => {
    const absent = digestOf(bytes("absent"))
    expect(refusal(await client.ask("GET", `blobs/${absent}`))).toEqual([404, "BLOB_UNKNOWN"])
    expect(refusal(await client.ask("GET", `manifests/${absent}`))).toEqual([404, "MANIFEST_UNKNOWN"])
    expect(refusal(await client.ask("GET", "manifests/absent"))).toEqual([404, "MANIFEST_UNKNOWN"])
    expect((await client.ask("HEAD", "manifests/absent")).status).toBe(404)
    expect(refusal(await client.ask("GET", "/v2/nothing/app/tags/list"))).toEqual([404, "NAME_UNKNOWN"])
    expect(refusal(await client.ask("GET", "/v2/_catalog"))).toEqual([404, "NAME_UNKNOWN"])
  })

  it("serves a part of a blob", async () => {
    const content = bytes("0123456789")
    await client.blob(content)
    const part = (range: string) => client.ask("GET", `blobs/${digestOf(content)}`, undefined, { range })
    const middle = await part("bytes=2-4")
    expect([middle.status, middle.text, middle.headers.get("content-range")]).toEqual([206, "234", "bytes 2-4/10"])
    expect([(await part("bytes=7-")).text, (await part("bytes=-2")).text]).toEqual(["789", "89"])
    expect(refusal(await part("bytes=10-"))).toEqual([416, "RANGE_INVALID"])
  })
})

describe("push", () => {
  it("takes a blob in one POST, in POST and PUT, and as a stream without a length of its parts", async () => {
    const one = bytes("one request")
    const single = await client.ask("POST", `blobs/uploads/?digest=${digestOf(one)}`, one)
    expect([single.status, single.headers.get("location")]).toEqual([201, `/v2/${client.name}/blobs/${digestOf(one)}`])
    const two = bytes("two requests")
    expect((await client.blob(two)).status).toBe(201)
    const stream = bytes("a stream")
    const location = await client.begin()
    expect((await client.chunk(location, stream)).status).toBe(202)
    expect((await client.end(location, digestOf(stream))).status).toBe(201)
    for (const content of [one, two, stream]) expect(await client.has(digestOf(content))).toBe(true)
    expect((await client.blob(bytes(""))).status).toBe(201)
  })

  it("takes chunks in order, answers 416 to others, and says how far it has come", async () => {
    const content = bytes("first second third")
    const location = await client.begin()
    const status = async () => {
      const answer = await client.ask("GET", location)
      return [answer.status, answer.headers.get("range"), answer.headers.get("location")]
    }
    expect(await status()).toEqual([204, "0-0", location])
    expect((await client.chunk(location, content.subarray(0, 6), 0)).headers.get("range")).toBe("0-5")
    const wrong = await client.chunk(location, content.subarray(7), 7)
    expect([...refusal(wrong), wrong.headers.get("range")]).toEqual([416, "RANGE_INVALID", "0-5"])
    expect(refusal(await client.chunk(location, content.subarray(0, 6), 0))).toEqual([416, "RANGE_INVALID"])
    expect(await status()).toEqual([204, "0-5", location])
    expect((await client.chunk(location, content.subarray(6, 13), 6)).status).toBe(202)
    expect((await client.end(location, digestOf(content), content.subarray(13))).status).toBe(201)
    expect((await client.ask("GET", `blobs/${digestOf(content)}`)).text).toBe(content.toString())
    expect(refusal(await client.ask("GET", location))).toEqual([404, "BLOB_UPLOAD_UNKNOWN"])
  })

  it("keeps nothing of bytes that have another digest, and of an upload that is canceled", async () => {
    const content = bytes("mine")
    const location = await client.begin()
    expect(refusal(await client.end(location, digestOf(bytes("other")), content))).toEqual([400, "DIGEST_INVALID"])
    expect(refusal(await client.ask("GET", location))).toEqual([404, "BLOB_UPLOAD_UNKNOWN"])
    expect([await client.has(digestOf(content)), await client.has(digestOf(bytes("other")))]).toEqual([false, false])
    const canceled = await client.begin()
    await client.chunk(canceled, content)
    expect((await client.ask("DELETE", canceled)).status).toBe(204)
    expect(refusal(await client.end(canceled, digestOf(content)))).toEqual([404, "BLOB_UPLOAD_UNKNOWN"])
  })

  it("mounts what another repository of the account has, and else begins an upload", async () => {
    const content = bytes("shared")
    await client.blob(content)
    const other = await repository(owner, "other")
    const mount = (digest: string, from: string) =>
      other.ask("POST", `blobs/uploads/?mount=${digest}&from=${encodeURIComponent(from)}`)
    const mounted = await mount(digestOf(content), client.name)
    expect([mounted.status, mounted.headers.get("docker-content-digest")]).toEqual([201, digestOf(content)])
    expect(await other.has(digestOf(content))).toBe(true)
    expect((await mount(digestOf(bytes("absent")), client.name)).status).toBe(202)
    expect((await mount(digestOf(content), "nothing/there")).status).toBe(202)
  })

  it("mounts from whichever project of the account has it when none is named, and from no other account's", async () => {
    const content = bytes("somewhere")
    await client.blob(content)
    const mount = (to: RegistryClient) => to.ask("POST", `blobs/uploads/?mount=${digestOf(content)}`)
    const second = await repository(owner, "app", await owner.project("Second of them"))
    const narrow = new RegistryClient(await owner.holder(second.project.id, ["deployments:write"]), second.name)
    // A key of one project does not see what the account's others have.
    expect((await mount(narrow)).status).toBe(202)
    expect((await mount(second)).status).toBe(201)
    expect(await second.has(digestOf(content))).toBe(true)
    expect((await mount(await repository(await berth.signUp()))).status).toBe(202)
  })

  it("takes manifests whose blobs it has, by tag and by digest, of OCI and of Docker, and indexes", async () => {
    const docker = await testImage({ docker: true })
    expect((await client.image(docker, "docker")).status).toBe(201)
    const index = testIndex([{ image }, { image: docker }])
    const indexed = await client.manifest("multi", index.manifest, index.mediaType)
    expect([indexed.status, indexed.headers.get("docker-content-digest")]).toEqual([201, index.digest])
    expect(refusal(await client.manifest(digestOf(bytes("x")), image.manifest, image.mediaType)))
      .toEqual([400, "DIGEST_INVALID"])
    const absent = await testImage({ layers: [[{ name: "absent", content: "absent" }]] })
    expect(refusal(await client.manifest("v2", absent.manifest, absent.mediaType)))
      .toEqual([400, "MANIFEST_BLOB_UNKNOWN"])
    expect(refusal(await client.manifest("v2", bytes("{"), image.mediaType))).toEqual([400, "MANIFEST_INVALID"])
    expect(refusal(await client.manifest("v2", image.manifest, docker.mediaType))).toEqual([400, "MANIFEST_INVALID"])
    expect(refusal(await client.manifest("v2", Buffer.alloc(4 * 1024 ** 2 + 1, " "), image.mediaType)))
      .toEqual([400, "SIZE_INVALID"])
  })
})

describe("content discovery", () => {
  it("lists tags in their order, in pages", async () => {
    const tagged = await repository(owner, "tagged")
    await tagged.image(image, "b")
    for (const tag of ["a", "C", "d"]) await tagged.manifest(tag, image.manifest, image.mediaType)
    const list = (query = "") => tagged.ask("GET", `tags/list${query}`)
    expect((await list()).body).toEqual({ name: tagged.name, tags: ["C", "a", "b", "d"] })
    const first = await list("?n=2")
    expect([first.body, first.headers.get("link")]).toEqual([
      { name: tagged.name, tags: ["C", "a"] },
      `</v2/${tagged.name}/tags/list?n=2&last=a>; rel="next"`
    ])
    const second = await list("?n=2&last=a")
    expect([second.body, second.headers.get("link")]).toEqual([{ name: tagged.name, tags: ["b", "d"] }, null])
    expect((await list("?n=0")).body).toEqual({ name: tagged.name, tags: [] })
    for (const n of ["-1", "1.5", "many", ""]) {
      expect(refusal(await list(`?n=${n}`))).toEqual([400, "PAGINATION_NUMBER_INVALID"])
    }
    const unknown = await tagged.ask("GET", `/v2/${tagged.name}-x/tags/list?n=0`)
    expect(refusal(unknown)).toEqual([404, "NAME_UNKNOWN"])
    expect(JSON.stringify(unknown.body)).toMatch(/The project has no repository [\w-]+-x: /)
  })

  it("answers referrers with an empty index", async () => {
    const answer = await client.ask("GET", `referrers/${image.digest}`)
    expect([answer.status, answer.headers.get("content-type"), answer.body]).toEqual([
      200,
      "application/vnd.oci.image.index.v1+json",
      { schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json", manifests: [] }
    ])
  })
})

describe("content management", () => {
  it("deletes a tag alone, then a manifest with its tags and blobs, but no blob that is named", async () => {
    const managed = await repository(owner, "managed")
    await managed.image(image, "one")
    await managed.manifest("two", image.manifest, image.mediaType)
    const [blob] = [...image.blobs.keys()]
    expect(refusal(await managed.ask("DELETE", `blobs/${blob}`))).toEqual([405, "UNSUPPORTED"])
    expect((await managed.ask("DELETE", "manifests/one")).status).toBe(202)
    expect(refusal(await managed.ask("GET", "manifests/one"))).toEqual([404, "MANIFEST_UNKNOWN"])
    expect((await managed.ask("GET", "manifests/two")).status).toBe(200)
    expect((await managed.ask("DELETE", `manifests/${image.digest}`)).status).toBe(202)
    expect(refusal(await managed.ask("GET", "manifests/two"))).toEqual([404, "MANIFEST_UNKNOWN"])
    for (const digest of image.blobs.keys()) expect(await managed.has(digest)).toBe(false)
    expect(refusal(await managed.ask("DELETE", `manifests/${image.digest}`))).toEqual([404, "MANIFEST_UNKNOWN"])
    const loose = bytes("loose")
    await managed.blob(loose)
    expect((await managed.ask("DELETE", `blobs/${digestOf(loose)}`)).status).toBe(202)
    expect(await managed.has(digestOf(loose))).toBe(false)
  })

  it("deletes what an index names with the index, and not before", async () => {
    const managed = await repository(owner, "indexed")
    const index = testIndex([{ image }])
    await managed.image(image, image.digest)
    await managed.manifest("multi", index.manifest, index.mediaType)
    expect(refusal(await managed.ask("DELETE", `manifests/${image.digest}`))).toEqual([403, "DENIED"])
    expect((await managed.ask("DELETE", "manifests/multi")).status).toBe(202)
    expect(refusal(await managed.ask("GET", `manifests/${image.digest}`))).toEqual([404, "MANIFEST_UNKNOWN"])
  })
})
